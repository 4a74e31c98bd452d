#include "runtime/util/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHOLE_PATH = 2 * PSI_HOSTFILE_PATH };

/* Returns false, with errno set, if the path is too long. */
static bool
path_make(const char *root, const char *path, char whole_out[WHOLE_PATH])
{
	if (strlen(root) + strlen(path) >= WHOLE_PATH) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcat(strcpy(whole_out, root), path);
	return true;
}

/* As read; a signal does not end it. */
static ssize_t
read_on(int fd, char *text, size_t size)
{
	ssize_t got;

	do
		got = read(fd, text, size);
	while (got < 0 && errno == EINTR);
	return got;
}

bool
psi_hostfile_read(const char *root, const char *path, char *text, size_t size)
{
	char whole[WHOLE_PATH];
	int fd = path_make(root, path, whole) ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	while (len < size - 1 && (got = read_on(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(fd);
	return true;
}

bool
psi_hostfile_lines(const char *root, const char *path, bool (*line)(char *text, void *context),
		   void *context)
{
	char whole[WHOLE_PATH];
	FILE *file = path_make(root, path, whole) ? fopen(whole, "re") : NULL;
	char *text = NULL;
	size_t size = 0;
	bool found = false;

	if (!file)
		return false;
	while (!found && getline(&text, &size, file) >= 0) {
		text[strcspn(text, "\n")] = '\0';
		found = line(text, context);
	}
	free(text);
	fclose(file);
	return found;
}
