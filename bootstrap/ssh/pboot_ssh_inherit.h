/* What a rank of another host has from its launcher as if it were its child, besides environment
 * and directory: the umask and the soft limits of resources.  Hard limits, the nice value and
 * scheduling are the host's. */
#ifndef PBOOT_SSH_INHERIT_H
#define PBOOT_SSH_INHERIT_H

#include <stdint.h>

enum { PBOOT_SSH_LIMITS = 10, PBOOT_SSH_UMASK_MAX = 0777 };

struct pboot_ssh_inherit {
	uint32_t umask;
	int64_t limits[PBOOT_SSH_LIMITS];	/* by the table in pboot_ssh_inherit.c; -1: none */
};

/* Those of this process. */
void pboot_ssh_inherit_take(struct pboot_ssh_inherit *inherit_out);
/* Sets them; a limit as far as the host's hard limit lets it. */
void pboot_ssh_inherit_give(const struct pboot_ssh_inherit *inherit);

#endif
