/* Reads looks (look.h), which may come from other hosts: nothing in them is taken for granted. */
#include "runtime/report/look.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a look that are still to be read. */
struct reader {
	unsigned char *at;
	size_t left;
};

static bool
reader_take(struct reader *reader, void *out, size_t len_bytes)
{
	if (len_bytes > reader->left)
		return false;
	memcpy(out, reader->at, len_bytes);
	reader->at += len_bytes;
	reader->left -= len_bytes;
	return true;
}

/* A text of another host will be printed.  Control characters are replaced, so that nothing in it
 * moves a terminal's cursor. */
static bool
reader_take_text(struct reader *reader, uint32_t len_bytes, const char **text_out)
{
	char *text = (char *)reader->at;

	if (len_bytes == 0 || len_bytes > reader->left || text[len_bytes - 1] != '\0')
		return false;
	for (uint32_t i = 0; i + 1 < len_bytes; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	*text_out = text;
	reader->at += len_bytes;
	reader->left -= len_bytes;
	return true;
}

/* Takes one rank, entry or line.  It is added if the list has been made; else it is counted. */
static bool
look_take_rank(struct reader *reader, uint32_t host, struct psi_looks *looks)
{
	struct psi_look_rank from;

	if (!reader_take(reader, &from, sizeof from))
		return false;
	if (looks->ranks)
		looks->ranks[looks->rank_count] = (struct psi_looked_rank){
			.rank = from.rank,
			.host = host,
			.pid = from.pid,
			.barriers = { from.barriers[0], from.barriers[1] },
		};
	looks->rank_count++;
	return true;
}

static bool
look_take_entry(struct reader *reader, struct psi_looks *looks)
{
	struct psi_look_entry from;
	const char *text;

	if (!reader_take(reader, &from, sizeof from) || from.barrier > PSI_BARRIER_NAMED ||
	    !reader_take_text(reader, from.text_bytes, &text))
		return false;
	if (looks->entries)
		looks->entries[looks->entry_count] = (struct psi_looked_entry){
			.rank = from.rank,
			.or_more = from.or_more != 0,
			.timed = from.timed != 0,
			.barrier = (enum psi_report_barrier)from.barrier,
			.phase = from.phase,
			.age_ns = from.age_ns,
			.text = text,
			.alike = UINT32_MAX,
		};
	looks->entry_count++;
	return true;
}

static bool
look_take_line(struct reader *reader, struct psi_looks *looks)
{
	struct psi_look_line from;
	const char *text;

	if (!reader_take(reader, &from, sizeof from) ||
	    !reader_take_text(reader, from.text_bytes, &text))
		return false;
	if (looks->lines)
		looks->lines[looks->line_count] = (struct psi_looked_line){ from.rank, text };
	looks->line_count++;
	return true;
}

static void
look_add_head(struct psi_looks *looks, const struct psi_look_head *head, const char *network)
{
	looks->hosts++;
	if (looks->job_size < head->job_size)
		looks->job_size = head->job_size;
	if (head->network[0])
		looks->network = network;
	looks->any_queues |= head->queues_seen != 0;
}

static bool
look_take(const struct pboot_pack *pack, uint32_t host, struct psi_looks *looks)
{
	struct reader reader = { pack->bytes, pack->len_bytes };
	struct psi_look_head head;
	uint32_t i;

	if (!reader_take(&reader, &head, sizeof head) || head.magic != PSI_LOOK_MAGIC ||
	    head.network[sizeof head.network - 1])
		return false;
	for (i = 0; i < head.rank_count; i++)
		if (!look_take_rank(&reader, host, looks))
			return false;
	for (i = 0; i < head.entry_count; i++)
		if (!look_take_entry(&reader, looks))
			return false;
	while (reader.left > 0)
		if (!look_take_line(&reader, looks))
			return false;
	look_add_head(looks, &head,
	              (const char *)pack->bytes + offsetof(struct psi_look_head, network));
	return true;
}

static void
looks_take(struct pboot_pack *packs, uint32_t count, struct psi_looks *looks)
{
	looks->hosts = looks->rank_count = looks->entry_count = looks->line_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct psi_looks before = *looks;

		if (!packs[i].complete || look_take(&packs[i], i, looks))
			continue;
		*looks = before;
		packs[i].complete = false;
		packs[i].missing = "its keeper has sent something faulty";
	}
}

/* -- in the order of ranks --------------------------------------------------------------------- */

static int
looked_compare(uint32_t a, uint32_t b, const void *at, const void *bt)
{
	if (a != b)
		return a < b ? -1 : 1;
	return (at > bt) - (at < bt);
}

static int
ranks_compare(const void *a, const void *b)
{
	return looked_compare(((const struct psi_looked_rank *)a)->rank,
	                      ((const struct psi_looked_rank *)b)->rank, NULL, NULL);
}

/* Entries and lines of a rank keep the order in which they lie in its look. */
static int
entries_compare(const void *a, const void *b)
{
	const struct psi_looked_entry *x = a, *y = b;

	return looked_compare(x->rank, y->rank, x->text, y->text);
}

static int
lines_compare(const void *a, const void *b)
{
	const struct psi_looked_line *x = a, *y = b;

	return looked_compare(x->rank, y->rank, x->text, y->text);
}

bool
psi_looks_open(struct pboot_pack *packs, uint32_t count, struct psi_looks *looks_out)
{
	struct psi_looks looks = { .hosts = 0 };

	looks_take(packs, count, &looks);
	looks.ranks = calloc(looks.rank_count + 1, sizeof *looks.ranks);
	looks.entries = calloc(looks.entry_count + 1, sizeof *looks.entries);
	looks.lines = calloc(looks.line_count + 1, sizeof *looks.lines);
	if (!looks.ranks || !looks.entries || !looks.lines) {
		psi_looks_close(&looks);
		return false;
	}
	looks_take(packs, count, &looks);
	qsort(looks.ranks, looks.rank_count, sizeof *looks.ranks, ranks_compare);
	qsort(looks.entries, looks.entry_count, sizeof *looks.entries, entries_compare);
	qsort(looks.lines, looks.line_count, sizeof *looks.lines, lines_compare);
	*looks_out = looks;
	return true;
}

void
psi_looks_close(struct psi_looks *looks)
{
	free(looks->ranks);
	free(looks->entries);
	free(looks->lines);
}
