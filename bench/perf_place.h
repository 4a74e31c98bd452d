/* Where ranks 0 and 1 run. */
#ifndef PERF_PLACE_H
#define PERF_PLACE_H

#include "perf_job.h"

struct perf_place {
	const char *word; /* self crowded same-cpu smt near far unknown */
	int pinned, cpus;
	int cpu[2]; /* of ranks 0 and 1 */
};

extern const struct perf_module perf_place_module;
void perf_place_find(void);          /* all ranks */
void perf_place_again(void);         /* rank 0, while the others wait for orders */
extern struct perf_place perf_place; /* known to rank 0 */

#endif
