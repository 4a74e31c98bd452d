#include "runtime/util/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHOLE_PATH = 2 * PSI_HOSTFILE_PATH };

static bool
path_make(const char *root, const char *path, char whole_out[WHOLE_PATH])
{
	int len = snprintf(whole_out, WHOLE_PATH, "%s%s", root, path);

	return len > 0 && len < WHOLE_PATH;
}

/* Allocates nothing: waits read their own virtual time. */
bool
psi_hostfile_read(const char *root, const char *path, char *text, size_t size)
{
	char whole[WHOLE_PATH];
	int file = path_make(root, path, whole) ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
	size_t len = 0;
	ssize_t got = 1;

	if (file < 0)
		return false;
	while (len < size - 1 && got) {
		got = read(file, text + len, size - 1 - len);
		if (got > 0)
			len += (size_t)got;
		else if (got < 0 && errno != EINTR)
			got = 0;
	}
	text[len] = '\0';
	close(file);
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
