#include "runtime/util/oom.h"

#include <stdio.h>
#include <string.h>

#include "runtime/util/cgroup.h"
#include "runtime/util/hostfile.h"

enum { TEXT_BYTES = 512 };

/* "oom_kill 3" among lines of "name number". */
static bool
oom_find_count(const char *text, uint64_t *out)
{
	unsigned long long count;

	while (text && sscanf(text, "oom_kill %llu", &count) != 1) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	if (text)
		*out = count;
	return text != NULL;
}

static bool
oom_take_line(char *line, void *context)
{
	return oom_find_count(line, context);
}

uint64_t
psi_oom_kills(const char *root)
{
	struct psi_cgroup group;
	char text[TEXT_BYTES];
	uint64_t count = 0;

	if (psi_cgroup_find(root, "memory", &group) &&
	    psi_cgroup_read(&group, group.version == 2 ? "memory.events" : "memory.oom_control",
	                    text, sizeof text) &&
	    oom_find_count(text, &count))
		return count;
	psi_hostfile_lines(root, "/proc/vmstat", oom_take_line, &count);
	return count;
}
