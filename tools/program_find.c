#include "program_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program_name = "penstock-run";

bool
program_number(const char *text, long least, long most, long *value_out)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno || value < least || value > most)
		return false;
	*value_out = value;
	return true;
}

void
program_refuse(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	fprintf(stderr, "%s: %s\n", program_name, line);
	exit(2);
}

/* Returns 0 if the file can be run, else an errno value.  EACCES: it exists, but is no executable
 * file; EPERM: a directory on the path may not be searched. */
static int
file_check(const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return errno == EACCES ? EPERM : errno;
	if (S_ISDIR(info.st_mode))
		return EISDIR;
	if (!S_ISREG(info.st_mode) || access(path, X_OK) < 0)
		return EACCES;
	return 0;
}

static char *
path_join(const char *directory, size_t len, const char *word)
{
	char *path = malloc(len + strlen(word) + 3);

	if (!path)
		program_refuse("no memory");
	sprintf(path, "%.*s/%s", (int)(len ? len : 1), len ? directory : ".", word);
	return path;
}

/* Searches PATH as the shell does.  The first executable file counts; a file that is not executable
 * is remembered for the message, and directories that may not be searched are skipped. */
static int
path_search(const char *word, char **path_out)
{
	const char *at = getenv("PATH");
	int err = ENOENT, found;

	if (!at)
		at = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(at, ":");
		char *path = path_join(at, len, word);

		found = file_check(path);
		if (found == 0) {
			*path_out = path;
			return 0;
		}
		free(path);
		if (found == EACCES)
			err = EACCES;
		if (at[len] == '\0')
			return err;
		at += len + 1;
	}
}

int
program_path(const char *word, char **path_out)
{
	int err;

	if (*word == '\0')
		return ENOENT;
	if (!strchr(word, '/'))
		return path_search(word, path_out);
	err = file_check(word);
	if (err)
		return err;
	*path_out = strdup(word);
	return *path_out ? 0 : ENOMEM;
}

char *
program_path_or_refuse(const char *word)
{
	char *path = NULL;
	int err = program_path(word, &path);

	if (err == EACCES)
		program_refuse("%s: not an executable file", word);
	if (err == EISDIR)
		program_refuse("%s: a directory, not a program", word);
	if (err == ENOENT && !strchr(word, '/'))
		program_refuse("%s: no such program in PATH; name it with its directory, as ./%s",
		    word, word);
	if (err)
		program_refuse("%s: %s", word, strerror(err));
	return path;
}

/* Reads "<name>: <value> $" at the beginning of the text behind a "$GASNet". */
static bool
string_match(const char *text, size_t len, const char *name, char *value_out, size_t room)
{
	size_t name_len = strlen(name), value_len;
	const char *end;

	if (len < name_len + 3 || memcmp(text, name, name_len) != 0 ||
	    memcmp(text + name_len, ": ", 2) != 0)
		return false;
	text += name_len + 2;
	len -= name_len + 2;
	end = memchr(text, '$', len < room ? len : room);
	if (!end || end == text || end[-1] != ' ')
		return false;
	value_len = (size_t)(end - text) - 1;
	memcpy(value_out, text, value_len);
	value_out[value_len] = '\0';
	return true;
}

static bool
string_find(const char *text, size_t len, const char *name, char *value_out, size_t room)
{
	const char *end = text + len;

	while (text < end && (text = memmem(text, (size_t)(end - text), "$GASNet", 7)) != NULL) {
		text += 7;
		if (string_match(text, (size_t)(end - text), name, value_out, room))
			return true;
	}
	return false;
}

bool
program_string(const char *path, const char *name, char *value_out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	struct stat info;
	void *text;

	if (fd < 0)
		return false;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
		text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text != MAP_FAILED) {
			found = string_find(text, (size_t)info.st_size, name, value_out, room);
			munmap(text, (size_t)info.st_size);
		}
	}
	close(fd);
	return found;
}

char *
program_client(char *const *command)
{
	char conduit[64], *path;

	for (; *command; command++) {
		if (program_path(*command, &path) != 0)
			continue;
		if (program_string(path, "ConduitName", conduit, sizeof conduit))
			return path;
		free(path);
	}
	return NULL;
}

/* Is the word in the list?  Also writes the list as text for people: "smp or ofi". */
static bool
list_has_word(const char *list, const char *word, char *text_out, size_t room)
{
	bool found = false;
	size_t used = 0;

	while (*list && used < room) {
		const size_t len = strcspn(list, " ");

		found |= len == strlen(word) && memcmp(list, word, len) == 0;
		used += (size_t)snprintf(text_out + used, room - used, "%s%.*s", used ? " or " : "",
		                         (int)len, list);
		list += len + (list[len] == ' ');
	}
	return found;
}

void
program_check_conduit(const char *path)
{
	char conduit[64], own[64], *at;

	if (!program_string(path, "ConduitName", conduit, sizeof conduit))
		return;
	for (at = conduit; *at; at++)
		*at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
	if (list_has_word(PROGRAM_CONDUITS, conduit, own, sizeof own))
		return;
	program_refuse("%s was linked for conduit %s, and %s starts programs of conduit %s; use "
	               "gasnetrun_%s, or link it with a library named %s",
	               path, conduit, program_name, own, conduit, own);
}
