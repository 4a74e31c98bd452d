/* What a fuzzed reader promises, in either kind of program. */
#ifndef UNIT_FUZZ_NEED_H
#define UNIT_FUZZ_NEED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void
need(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

#endif
