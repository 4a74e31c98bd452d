#include "bootstrap/ssh/pboot_ssh_order.h"

#include "bootstrap/bootstrap.h"
#include "runtime/util/settings_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- writing ----------------------------------------------------------------------------------- */

static void
text_write(FILE *out, const char *text)
{
	fwrite(text, 1, strlen(text) + 1, out);
}

static void
number_write(FILE *out, int64_t number)
{
	fprintf(out, "%lld", (long long)number);
	fputc('\0', out);
}

static void
list_write(FILE *out, char *const *list)
{
	int64_t count = 0;

	while (list[count])
		count++;
	number_write(out, count);
	while (*list)
		text_write(out, *list++);
}

uint8_t *
pboot_ssh_order_write(const struct pboot_ssh_order *order, size_t *len_out)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, len_out);
	unsigned i;

	if (!out)
		return NULL;
	number_write(out, order->ranks.first);
	number_write(out, order->ranks.count);
	number_write(out, order->size);
	number_write(out, order->stdin_rank);
	number_write(out, order->bind_cores);
	number_write(out, order->inherit.umask);
	for (i = 0; i < PBOOT_SSH_LIMITS; i++)
		number_write(out, order->inherit.limits[i]);
	text_write(out, order->directory);
	text_write(out, order->program);
	list_write(out, order->argv);
	list_write(out, order->variables);
	if (fclose(out) == 0)
		return (uint8_t *)bytes;
	free(bytes);
	return NULL;
}

/* -- reading ----------------------------------------------------------------------------------- */

struct reader {
	char *at, *end;		/* the last byte before end is NUL */
};

static bool
text_read(struct reader *reader, const char **out)
{
	if (reader->at == reader->end)
		return false;
	*out = reader->at;
	reader->at += strlen(reader->at) + 1;
	return true;
}

static bool
number_read(struct reader *reader, int64_t least, int64_t most, int64_t *out)
{
	const char *text;

	return text_read(reader, &text) && psi_parse_int(text, out) && *out >= least &&
	    *out <= most;
}

/* Each text has a byte at least, so a count that is too large is refused before memory is taken. */
static bool
list_read(struct reader *reader, char ***list_out)
{
	int64_t count, i;
	const char *text;

	if (!number_read(reader, 0, reader->end - reader->at, &count))
		return false;
	*list_out = calloc((size_t)count + 1, sizeof **list_out);
	if (!*list_out)
		return false;
	for (i = 0; i < count; i++) {
		if (!text_read(reader, &text))
			return false;
		(*list_out)[i] = (char *)(uintptr_t)text;
	}
	return true;
}

static bool
numbers_read(struct reader *reader, struct pboot_ssh_order *order)
{
	int64_t first, count, size, stdin_rank, bind;

	if (!number_read(reader, 0, PBOOT_RANKS_MAX - 1, &first) ||
	    !number_read(reader, 1, PBOOT_RANKS_MAX, &count) ||
	    !number_read(reader, first + count, PBOOT_RANKS_MAX, &size) ||
	    !number_read(reader, -1, size - 1, &stdin_rank) ||
	    !number_read(reader, 0, 1, &bind))
		return false;
	order->ranks = (struct pboot_ssh_ranks) { (uint32_t)first, (uint32_t)count };
	order->size = (uint32_t)size;
	order->stdin_rank = stdin_rank;
	order->bind_cores = bind;
	return true;
}

static bool
inherit_read(struct reader *reader, struct pboot_ssh_inherit *inherit)
{
	int64_t mask;
	unsigned i;

	if (!number_read(reader, 0, PBOOT_SSH_UMASK_MAX, &mask))
		return false;
	inherit->umask = (uint32_t)mask;
	for (i = 0; i < PBOOT_SSH_LIMITS; i++)
		if (!number_read(reader, -1, INT64_MAX, &inherit->limits[i]))
			return false;
	return true;
}

bool
pboot_ssh_order_read(uint8_t *bytes, size_t len_bytes, struct pboot_ssh_order *order_out)
{
	struct reader reader = { (char *)bytes, (char *)bytes + len_bytes };

	*order_out = (struct pboot_ssh_order) { 0 };
	if (len_bytes == 0 || bytes[len_bytes - 1] != '\0')
		return false;
	if (numbers_read(&reader, order_out) && inherit_read(&reader, &order_out->inherit) &&
	    text_read(&reader, &order_out->directory) &&
	    text_read(&reader, &order_out->program) && list_read(&reader, &order_out->argv) &&
	    list_read(&reader, &order_out->variables) && reader.at == reader.end &&
	    order_out->argv[0])
		return true;
	pboot_ssh_order_free(order_out);
	return false;
}

void
pboot_ssh_order_free(struct pboot_ssh_order *order)
{
	free(order->argv);
	free(order->variables);
	order->argv = order->variables = NULL;
}
