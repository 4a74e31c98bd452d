/*
 * Names that appear in the environment of a job and are no settings of ours: knobs of other
 * conduits and other implementations of the interface (accepted, without effect), and what our
 * launcher tells its ranks.
 */
#ifndef PSI_SETTINGS_KNOWN_H
#define PSI_SETTINGS_KNOWN_H

#include <stdbool.h>

/* True for such a name. */
bool psi_settings_is_foreign(const char *name);

#endif
