#include "runtime/util/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *
hostfile_open_below(const char *root, const char *path)
{
	char whole[2 * PSI_HOSTFILE_PATH];
	int len = snprintf(whole, sizeof whole, "%s%s", root, path);

	return len > 0 && (size_t)len < sizeof whole ? fopen(whole, "re") : NULL;
}

bool
psi_hostfile_read(const char *root, const char *path, char *text, size_t size)
{
	FILE *file = hostfile_open_below(root, path);
	size_t len;

	if (!file)
		return false;
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return true;
}

bool
psi_hostfile_lines(const char *root, const char *path, bool (*line)(char *text, void *context),
		   void *context)
{
	FILE *file = hostfile_open_below(root, path);
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
