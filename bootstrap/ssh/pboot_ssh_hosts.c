#include "bootstrap/ssh/pboot_ssh_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_MAX = 65535, DIGITS_MAX = 9 };

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define BLANKS " \t\r\n"

void
pboot_ssh_hosts_free(struct pboot_ssh_hosts *hosts)
{
	while (hosts->count > 0)
		free(hosts->names[--hosts->count]);
	free(hosts->names);
	hosts->names = NULL;
	hosts->room = 0;
}

static bool
hosts_refuse(const char *name, size_t len, const char *what, char why_out[PBOOT_SSH_WHY_BYTES])
{
	snprintf(why_out, PBOOT_SSH_WHY_BYTES, "\"%.*s\" %s", (int)(len < 80 ? len : 80), name,
	    what);
	return false;
}

/* Is this a name that can be given to ssh, perhaps with user@?  It must have nothing that ssh or a
 * shell would read as an option or a command. */
static bool
name_is_right(const char *name, size_t len)
{
	return len > 0 && len <= PBOOT_SSH_NAME_MAX && name[0] != '-' &&
	    strspn(name, LETTERS DIGITS "._-@:%") >= len;
}

/* Is this a name with a number of ranks, as Hydra and Open MPI take it?  Addresses of IPv6 have
 * more than one colon. */
static bool
name_has_number(const char *name, size_t len)
{
	const char *colon = memchr(name, ':', len);
	const size_t at = colon ? (size_t)(colon - name) : len;

	return colon && at + 1 < len && strspn(colon + 1, DIGITS) >= len - at - 1;
}

static bool
hosts_have(const struct pboot_ssh_hosts *hosts, const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < hosts->count; i++)
		if (strncmp(hosts->names[i], name, len) == 0 && hosts->names[i][len] == '\0')
			return true;
	return false;
}

static bool
hosts_make_room(struct pboot_ssh_hosts *hosts)
{
	const uint32_t room = hosts->room ? 2 * hosts->room : 16;
	char **larger;

	if (hosts->count < hosts->room)
		return true;
	larger = realloc(hosts->names, room * sizeof *larger);
	if (!larger)
		return false;
	hosts->names = larger;
	hosts->room = room;
	return true;
}

static bool
hosts_add(struct pboot_ssh_hosts *hosts, const char *name, size_t len,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	if (!name_is_right(name, len))
		return hosts_refuse(name, len, "is no name of a host", why_out);
	if (name_has_number(name, len))
		return hosts_refuse(name, len, "has a number of ranks, which is not taken here: "
		    "name the host once for each rank, and set GASNET_SSH_KEEPDUP=1", why_out);
	if (!hosts->keep_twins && hosts_have(hosts, name, len))
		return true;
	if (hosts->count == HOSTS_MAX)
		return hosts_refuse(name, len, "is one host too many: at most 65535 are allowed",
		    why_out);
	if (!hosts_make_room(hosts) || !(hosts->names[hosts->count] = strndup(name, len)))
		return hosts_refuse(name, len, "cannot be added: out of memory", why_out);
	hosts->count++;
	return true;
}

bool
pboot_ssh_hosts_add_words(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, "," BLANKS);
		if (*text == '#') {
			len = strcspn(text, "\n");
			continue;
		}
		len = strcspn(text, ",#" BLANKS);
		if (len > 0 && !hosts_add(hosts, text, len, why_out))
			return false;
	}
	return true;
}

bool
pboot_ssh_hosts_add_lines(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	size_t len;

	while (*text) {
		text += strspn(text, BLANKS);
		len = strcspn(text, "#" BLANKS);
		if (len > 0 && !hosts_add(hosts, text, len, why_out))
			return false;
		text += strcspn(text, "\n");
	}
	return true;
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* One name with ranges; the parts of it that are fixed already are in `name'. */
struct expansion {
	struct pboot_ssh_hosts *hosts;
	char *why_out;
	char name[PBOOT_SSH_NAME_MAX + 1];
};

static bool
number_read(const char **text, uint32_t *value_out, int *width_out)
{
	const size_t len = strspn(*text, DIGITS);

	if (len == 0 || len > DIGITS_MAX)
		return false;
	*value_out = (uint32_t)strtoul(*text, NULL, 10);
	*width_out = (int)len;
	*text += len;
	return true;
}

static bool expansion_go_on(struct expansion *self, size_t fill, const char *text,
    const char *end);

/* Adds the names for all numbers of one range, "1-3" or "7"; the rest of the name follows each
 * number. */
static bool
expansion_count(struct expansion *self, size_t fill, const char **range, const char *rest,
    const char *end)
{
	uint32_t from, to, i;
	int width, other, len;

	if (!number_read(range, &from, &width))
		return false;
	to = from;
	if (**range == '-') {
		++*range;
		if (!number_read(range, &to, &other))
			return false;
	}
	if (to < from || to - from >= HOSTS_MAX)
		return false;
	for (i = from; i <= to; i++) {
		len = snprintf(self->name + fill, sizeof self->name - fill, "%0*u", width, i);
		if ((size_t)len >= sizeof self->name - fill ||
		    !expansion_go_on(self, fill + (size_t)len, rest, end))
			return false;
	}
	return true;
}

/* Adds the names for the ranges of one pair of brackets; text is behind `['. */
static bool
expansion_brackets(struct expansion *self, size_t fill, const char *text, const char *end)
{
	const char *close = memchr(text, ']', (size_t)(end - text));

	if (!close)
		return false;
	do {
		if (!expansion_count(self, fill, &text, close + 1, end))
			return false;
	} while (*text++ == ',');
	return text == close + 1;
}

/* Adds the names that begin with the first `fill' characters of self->name; what follows them is
 * between text and end. */
static bool
expansion_go_on(struct expansion *self, size_t fill, const char *text, const char *end)
{
	const char *open = memchr(text, '[', (size_t)(end - text));
	const size_t len = (size_t)((open ? open : end) - text);

	if (len >= sizeof self->name - fill)
		return false;
	memcpy(self->name + fill, text, len);
	fill += len;
	if (open)
		return expansion_brackets(self, fill, open + 1, end);
	return hosts_add(self->hosts, self->name, fill, self->why_out);
}

/* Finds the end of the name that begins here: a comma outside of brackets. */
static const char *
ranges_end(const char *text)
{
	bool inside = false;

	for (; *text && (inside || *text != ','); text++)
		inside = *text == '[' || (inside && *text != ']');
	return text;
}

bool
pboot_ssh_hosts_add_ranges(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	struct expansion self = { .hosts = hosts, .why_out = why_out };

	while (*text) {
		const char *end = ranges_end(text);

		*why_out = '\0';
		if (end > text && !expansion_go_on(&self, 0, text, end))
			return *why_out ? false : hosts_refuse(text, (size_t)(end - text),
			    "is no list of hosts in the form of Slurm", why_out);
		text = end + (*end == ',');
	}
	return true;
}

uint32_t
pboot_ssh_place(uint32_t size, uint32_t host_count, uint32_t host, uint32_t *first_out)
{
	const uint32_t least = size / host_count, more = size % host_count;

	*first_out = host * least + (host < more ? host : more);
	return least + (host < more);
}
