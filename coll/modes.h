/* The modes of rules (tuning.txt): what connects the members of a team. */
#ifndef PCOLL_MODES_H
#define PCOLL_MODES_H

#include <stdbool.h>

#define PCOLL_MODES_KNOWN "smp, ibv, and providers of libfabric such as tcp, verbs, cxi"

/* False: no conduit and no provider that is known is named so, nor is what this job uses.  One that
 * came later may be. */
bool pcoll_mode_is_known(const char *mode);

#endif
