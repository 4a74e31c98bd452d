/*
 * For test programs of gasnet_tools.h, which are compiled both with a conduit
 * and without: the checks of pt.h, and main's beginning and end, in both.
 */
#ifndef PT_EITHER_H
#define PT_EITHER_H

#if defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR)

#include <gasnetex.h>

#include <gasnet_tools.h>

#include "tests/lib/pt.h"

#define PT_BEGIN(argc, argv) pt_start(&(argc), &(argv), NULL, 0, GASNET_PAGESIZE)
#define PT_END()             pt_finish()

#else

#include <gasnet_tools.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PT_FAIL(...)                                     \
	do {                                             \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);            \
		fputc('\n', stderr);                     \
		exit(1);                                 \
	} while (0)
#define PT_CHECK(cond)                                   \
	do {                                             \
		if (!(cond))                             \
			PT_FAIL("not true: %s", #cond);  \
	} while (0)
#define PT_EQ(got, want) PT_CHECK((long long)(got) == (long long)(want))
#define PT_LE(small, large) PT_CHECK((unsigned long long)(small) <= (unsigned long long)(large))
#define PT_STR(got, want) PT_CHECK(strcmp((got), (want)) == 0)
#define PT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PT_BEGIN(argc, argv) ((void)(argc), (void)(argv))
#define PT_END()             return 0

static inline unsigned long
pt_scale(unsigned long quick, unsigned long full)
{
	const char *level = getenv("CHECK_LEVEL");

	return level && strcmp(level, "quick") == 0 ? quick : full;
}

#endif

/* Threads may call in this program, so some are made. */
#if defined(GASNETT_THREAD_SAFE) || defined(GASNET_PARSYNC)
#define PT_THREADED 1
#else
#define PT_THREADED 0
#endif

#endif
