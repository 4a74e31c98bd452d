/* A rank tells its test by a file that it has come to where the test wants it. */
#ifndef PT_TOUCH_H
#define PT_TOUCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Makes the file of that name, with the rank appended and the pid inside, in one step.  Processes
 * that do not know their rank yet may make one file at the same time. */
static inline bool
pt_touch_at(const char *at, unsigned rank)
{
	char path[4096], part[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s.%u", at, rank);
	snprintf(part, sizeof part, "%s-%u-%d", at, rank, (int)getpid());
	file = fopen(part, "w");
	if (!file)
		return false;
	fprintf(file, "%d\n", (int)getpid());
	return fclose(file) == 0 && rename(part, path) == 0;
}

/* The file named by MEMBER_AT. */
static inline void
pt_touch(unsigned rank)
{
	const char *at = getenv("MEMBER_AT");

	if (at && !pt_touch_at(at, rank))
		exit(99);
}

#endif
