/*
 * Calls of gasnet_tools.h, each beside the plain form of the same. Compiled apart from the other
 * files, for threads: in the rest of the program there are none, and locks are nothing.
 */
#ifndef PERF_TOOLS_PAIRS_H
#define PERF_TOOLS_PAIRS_H

struct perf_pair {
	const char *name, *group;
	const char *plain; /* what it is compared with */
	double most;       /* the ratio that is to be held */
	void (*side[2])(unsigned count); /* of the tools, plain */
};

extern const struct perf_pair perf_tools_pairs[]; /* up to one without a name */

#endif
