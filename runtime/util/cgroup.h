/*
 * Control groups of this process, versions 1 and 2.  Limits of a group hold for all below it, so
 * the one in force is the least on the way from the process's group to the mount.
 */
#ifndef PSI_CGROUP_H
#define PSI_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/util/hostfile.h"

struct psi_cgroup {
	unsigned version;
	char mount[PSI_HOSTFILE_PATH];	/* where the hierarchy is mounted, root directory
	                                 * included */
	char path[PSI_HOSTFILE_PATH];	/* of the group below the mount; "" is the mount itself */
};

/* The group that limits `controller' for this process; false if there is none to be seen. */
bool psi_cgroup_find(const char *root, const char *controller, struct psi_cgroup *out);

/* A file of the group. */
bool psi_cgroup_read(const struct psi_cgroup *group, const char *file, char *text, size_t size);

/* Goes to the parent; false at the mount. */
bool psi_cgroup_up(struct psi_cgroup *group);

#endif
