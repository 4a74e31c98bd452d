/* Misspelt names: finds the nearest real name, and warns. */
#include "runtime/settings/settings.h"

#include <string.h>

#include "runtime/settings/settings_known.h"
#include "runtime/util/log.h"

enum { NAME_MAX_BYTES = 64 };

extern char **environ;

static unsigned
distance_least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/*
 * Changes that turn one text into the other: a letter more, less or other, or two neighbours
 * swapped.  Row i of the table needs rows i - 1 and i - 2 only.
 */
static unsigned
distance(const char *from, size_t from_len, const char *to, size_t to_len)
{
	unsigned rows[3][NAME_MAX_BYTES + 1];
	size_t i, j;

	for (j = 0; j <= to_len; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= from_len; i++) {
		unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (j = 1; j <= to_len; j++) {
			unsigned cost = from[i - 1] != to[j - 1];

			now[j] = distance_least(now[j - 1] + 1, last[j] + 1, last[j - 1] + cost);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				now[j] = distance_least(now[j], before[j - 2] + 1, now[j]);
		}
	}
	return rows[from_len % 3][to_len];
}

/* The name without PST_ or GASNET_; NULL if it has neither. */
static const char *
name_stem(const char *name)
{
	if (strncmp(name, "PST_", 4) == 0)
		return name + 4;
	return strncmp(name, "GASNET_", 7) == 0 ? name + 7 : NULL;
}

/* Names of different families are one change further apart.  A setting that belongs to another
 * library, such as FI_PROVIDER, is not near. */
static unsigned
name_distance(const char *name, const char *real)
{
	const char *a = name_stem(name), *b = name_stem(real);
	size_t a_len, b_len;

	if (!b)
		return NAME_MAX_BYTES;
	a_len = strlen(a);
	b_len = strlen(b);
	if (a_len > NAME_MAX_BYTES || b_len > NAME_MAX_BYTES)
		return NAME_MAX_BYTES;
	return distance(a, a_len, b, b_len) + (name[0] != real[0]);
}

/* PST_OFFLOAD_<PROVIDER>_<KEY> of a plug-in, which alone knows its keys. */
static bool
name_is_of_provider(const char *name)
{
	static const char before[] = "PST_OFFLOAD_", own[] = "PST_OFFLOAD_CAU_";

	return strncmp(name, before, strlen(before)) == 0 && strchr(name + strlen(before), '_') &&
	       strncmp(name, own, strlen(own)) != 0;
}

const char *
psi_settings_nearest(const char *name, bool *known_out)
{
	const char *best = NULL, *own = name_stem(name);
	unsigned best_distance;
	const struct psi_setting *row;

	*known_out = !own || psi_setting_find(name) || psi_settings_is_foreign(name) ||
	             name_is_of_provider(name);
	if (*known_out)
		return NULL;
	best_distance = (unsigned)strlen(own) / 4 + 2;	/* names at this distance or more are not
	                                                 * near */
	for (size_t i = 0; (row = psi_setting_row(i)); i++) {
		unsigned d = name_distance(name, row->name);

		if (d < best_distance) {
			best_distance = d;
			best = row->name;
		}
	}
	return best;
}

/* Unknown PST_ names can only be mistakes; unknown GASNET_ names may belong to the client. */
static void
warn_about(const char *name)
{
	bool known;
	const char *near = psi_settings_nearest(name, &known);

	if (near)
		psi_log("warning: %s is no setting; the nearest is %s", name, near);
	else if (!known && name[0] == 'P')
		psi_log("warning: %s is no setting; penstock-info lists them", name);
}

void
psi_settings_warn_unknown(void)
{
	static bool done;
	char **entry;

	if (done || !psi_settings_warns())
		return;
	done = true;
	for (entry = environ; entry && *entry; entry++) {
		char name[NAME_MAX_BYTES + 1];
		size_t len = strcspn(*entry, "=");

		if (len >= sizeof name)
			continue;
		memcpy(name, *entry, len);
		name[len] = '\0';
		if (name_stem(name))
			warn_about(name);
	}
}
