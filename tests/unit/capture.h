/* A child process whose end and stderr a test looks at. */
#ifndef PT_CAPTURE_H
#define PT_CAPTURE_H

#include <sys/types.h>

enum { PT_CAPTURE_BYTES = 16384 };

struct pt_child {
	pid_t pid;
	int fd;				/* the reading end of its stderr */
	int status;			/* as waitpid gives it */
	char text[PT_CAPTURE_BYTES];	/* what it wrote on stderr */
};

/* Forks a child with default signal actions, which calls body and then _exit(0). */
void pt_child_start(struct pt_child *child, void (*body)(void));

/* Reads until the text has `word' in it, or fails the test after 10 s. */
void pt_child_expect(struct pt_child *child, const char *word);

/* Reads the rest and waits for its end; fails the test after 10 s. */
void pt_child_end(struct pt_child *child);

#endif
