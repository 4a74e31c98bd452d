/*
 * Programs that watch jobs of their own: started without a case they run
 * themselves once per case, each as a job of GASNET_PSHM_NODES ranks, and
 * check how that job ended.
 */
#ifndef PT_SPAWN_H
#define PT_SPAWN_H

#include "tests/lib/pt.h"

struct pt_outcome {
	int status;  /* as a shell gives it: exit code, or 128 + signal */
	uint64_t ns; /* from start to end */
	size_t text_bytes;
	char text[16384]; /* the beginning of stdout and stderr together */
};

/*
 * Run `program which` with extra settings "NAME=value" (NULL ends the list, a
 * bare "NAME" removes one); fails the test when it lasts longer than limit_ms.
 */
void pt_spawn(const char *program, const char *which, const char *const *settings,
              unsigned limit_ms, struct pt_outcome *out);

#endif
