/* The start of a rank under an engine. */
#ifndef PBOOT_JOIN_H
#define PBOOT_JOIN_H

#include "bootstrap/engine/pboot_engine.h"
#include "bootstrap/share/pboot_job.h"

/* Learns from the engine which rank this is and where the others are, and finalizes the connection
 * to the engine.  The lowest rank of a host forks the keeper.  Fills what a rank knows of its job,
 * except the memory, which the keeper tells.  Ends the process with one line if something fails. */
void pboot_join(const struct pboot_engine *engine, struct pboot_startup *startup_out,
    struct pboot_hosts *hosts_out);

#endif
