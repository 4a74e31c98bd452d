#include "runtime/util/cgroup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOUNT_FIELDS = 5, NAME_BYTES = 64 };

struct search {
	const char *controller;
	unsigned version;
	char path[PSI_HOSTFILE_PATH];	/* as /proc/self/cgroup has it */
	char top[PSI_HOSTFILE_PATH];	/* the group that the mount shows as its root */
	char mount[PSI_HOSTFILE_PATH];
};

static bool
cgroup_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list) {
		if (strncmp(list, word, len) == 0 && (list[len] == ',' || list[len] == '\0'))
			return true;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return false;
}

/* "4:cpu,cpuacct:/path" of version 1 ends the search; "0::/path" of version 2 is kept as second. */
static bool
cgroup_take(char *line, void *context)
{
	struct search *search = context;
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	bool v1;

	if (!path)
		return false;
	*path++ = '\0';
	v1 = cgroup_has_word(list + 1, search->controller);
	if (v1 || (strncmp(line, "0:", 2) == 0 && list[1] == '\0')) {
		search->version = v1 ? 1 : 2;
		snprintf(search->path, sizeof search->path, "%s", path);
	}
	return v1;
}

/* "31 23 0:28 /top /mount options - type source super-options" */
static bool
cgroup_take_mount(char *line, void *context)
{
	struct search *search = context;
	char *fields[MOUNT_FIELDS], type[NAME_BYTES], options[4 * NAME_BYTES];
	char *rest = strstr(line, " - "), *save = NULL;
	int i;

	if (!rest || sscanf(rest + 3, "%63s %*s %255s", type, options) != 2)
		return false;
	*rest = '\0';
	for (i = 0; i < MOUNT_FIELDS; i++) {
		fields[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
		if (!fields[i])
			return false;
	}
	if (search->version == 2
	            ? strcmp(type, "cgroup2") != 0
	            : strcmp(type, "cgroup") != 0 || !cgroup_has_word(options, search->controller))
		return false;
	snprintf(search->top, sizeof search->top, "%s", fields[3]);
	snprintf(search->mount, sizeof search->mount, "%s", fields[4]);
	return true;
}

/* The part of the group's path that can be seen below the mount. */
static const char *
cgroup_path_below(const struct search *search)
{
	size_t top = strcmp(search->top, "/") == 0 ? 0 : strlen(search->top);

	if (strncmp(search->path, search->top, top) != 0 || strstr(search->path, "/.."))
		return "";
	return strcmp(search->path + top, "/") == 0 ? "" : search->path + top;
}

bool
psi_cgroup_find(const char *root, const char *controller, struct psi_cgroup *out)
{
	struct search search = { .controller = controller };
	char whole[3 * PSI_HOSTFILE_PATH];

	psi_hostfile_lines(root, "/proc/self/cgroup", cgroup_take, &search);
	if (search.version == 0 ||
	    !psi_hostfile_lines(root, "/proc/self/mountinfo", cgroup_take_mount, &search))
		return false;
	out->version = search.version;
	if ((size_t)snprintf(out->mount, sizeof out->mount, "%s%s", root, search.mount) >=
	    sizeof out->mount)
		return false;
	snprintf(out->path, sizeof out->path, "%s", cgroup_path_below(&search));
	snprintf(whole, sizeof whole, "%s%s", out->mount, out->path);
	if (access(whole, X_OK) != 0)
		out->path[0] = '\0';
	return true;
}

bool
psi_cgroup_read(const struct psi_cgroup *group, const char *file, char *text, size_t size)
{
	char name[PSI_HOSTFILE_PATH + NAME_BYTES];

	snprintf(name, sizeof name, "%s/%s", group->path, file);
	return psi_hostfile_read(group->mount, name, text, size);
}

bool
psi_cgroup_up(struct psi_cgroup *group)
{
	char *last = strrchr(group->path, '/');

	if (!last)
		return false;
	*last = '\0';
	return true;
}
