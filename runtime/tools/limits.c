/* Raising resource limits. */
#include <stdio.h>
#include <sys/resource.h>

#include "gasnet_tools.h"

enum { NAME_BYTES = 96 };

int
gasnett_maximize_rlimit(int res, const char *lim_desc)
{
	char name[NAME_BYTES];
	struct rlimit limit;

	snprintf(name, sizeof name, "GASNET_MAXIMIZE_%s", lim_desc);
	if (!gasnett_getenv_yesno_withdefault(name, 1))
		return 0;
	if (getrlimit((__rlimit_resource_t)res, &limit) != 0)
		return 0;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit((__rlimit_resource_t)res, &limit) == 0;
}

/* The limits that a runtime reaches first: memory, CPU time, open files. */
int
gasnett_maximize_rlimits(void)
{
	static const struct {
		int resource;
		const char *name;
	} limits[] = {
		{ RLIMIT_AS, "RLIMIT_AS" },
		{ RLIMIT_DATA, "RLIMIT_DATA" },
		{ RLIMIT_RSS, "RLIMIT_RSS" },
		{ RLIMIT_STACK, "RLIMIT_STACK" },
		{ RLIMIT_CPU, "RLIMIT_CPU" },
		{ RLIMIT_NOFILE, "RLIMIT_NOFILE" },
	};
	int all = 1;
	size_t i;

	for (i = 0; i < sizeof limits / sizeof limits[0]; i++)
		all &= gasnett_maximize_rlimit(limits[i].resource, limits[i].name);
	return all;
}
