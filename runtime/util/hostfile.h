/*
 * Small text files of the kernel, below a root directory; "" is the real one, tests make others.
 */
#ifndef PSI_HOSTFILE_H
#define PSI_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSI_HOSTFILE_PATH = 2048 };

/* The start of root + path into text, at most size - 1 bytes and a zero; false without a file,
 * errno says why.  Allocates nothing, since waits read their own virtual time. */
bool psi_hostfile_read(const char *root, const char *path, char *text, size_t size);

/*
 * Calls line(text, context) for each line, without newline, until it returns true, and then returns
 * true; false at the end of the file or if there is none.  The line may be changed.
 */
bool psi_hostfile_lines(const char *root, const char *path,
			bool (*line)(char *text, void *context), void *context);

#endif
