/* The reader of a rule. */
#include "coll/tuning.h"
#include "coll/cells_list.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The settings of tuning.c have the same names, in the same order. */
static const char *const operations[PCOLL_OPERATIONS] = {
	[PCOLL_BARRIER] = "barrier",
	[PCOLL_BROADCAST] = "broadcast",
	[PCOLL_REDUCE_TO_ONE] = "reduce",
	[PCOLL_REDUCE_TO_ALL] = "reduce_to_all",
	[PCOLL_SCATTER] = "scatter",
	[PCOLL_GATHER] = "gather",
	[PCOLL_GATHER_ALL] = "gather_all",
	[PCOLL_EXCHANGE] = "exchange",
	[PCOLL_PERMUTE] = "permute",
	[PCOLL_REDUCE_SCATTER] = "reduce_scatter",
	[PCOLL_SCAN] = "scan",
	[PCOLL_EXSCAN] = "exscan",
};

const char *
pcoll_operation_word(enum pcoll_operation operation)
{
	return operations[operation];
}

/* False: no operation has that name. */
static bool
operation_find(const char *name, enum pcoll_operation *operation_out)
{
	/* as the calls of the interfaces say it */
	static const struct {
		const char *name;
		enum pcoll_operation operation;
	} others[] = {
		{ "bcast", PCOLL_BROADCAST }, { "allreduce", PCOLL_REDUCE_TO_ALL },
		{ "reduce_to_one", PCOLL_REDUCE_TO_ONE },
	};

	for (unsigned i = 0; i < PCOLL_OPERATIONS; i++)
		if (strcmp(operations[i], name) == 0) {
			*operation_out = (enum pcoll_operation)i;
			return true;
		}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strcmp(others[i].name, name) == 0) {
			*operation_out = others[i].operation;
			return true;
		}
	return false;
}

/* -- words of a line --------------------------------------------------------------------------- */

/* The next word, cut off the line; NULL at its end. */
static char *
word_next(char **line)
{
	char *word = *line + strspn(*line, " \t\r\n");
	const size_t len = strcspn(word, " \t\r\n");

	if (!len)
		return NULL;
	*line = word + len;
	if (**line)
		*(*line)++ = '\0';
	return word;
}

/* A whole number, which K, M or G may follow; returns what is behind it, or NULL. */
static const char *
number_read(const char *text, uint64_t *number_out)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*number_out = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (errno || (unit && *number_out >> (64 - 10 * (unit - units + 1))))
		return NULL;
	if (unit)
		*number_out <<= 10 * (unit - units + 1);
	return unit ? end + 1 : end;
}

/* "N", "N-M", "N-*" or "*", where N is `first' at least, and M `most' at most. */
static bool
range_read(const char *text, uint64_t first, uint64_t most, uint64_t *least_out, uint64_t *most_out)
{
	*least_out = 0;
	*most_out = most;
	if (strcmp(text, "*") == 0)
		return true;
	text = number_read(text, least_out);
	if (!text)
		return false;
	if (!*text)
		*most_out = *least_out;
	if (*text == '-') {
		text++;
		text = strcmp(text, "*") == 0 ? text + 1 : number_read(text, most_out);
	}
	return text && !*text && first <= *least_out && *least_out <= *most_out &&
	       *most_out <= most;
}

static const char *
radix_set(struct pcoll_rule *rule, const char *text)
{
	uint64_t radix;
	const char *rest = number_read(text, &radix);

	if (!rule->builder->has_radix)
		return "the algorithm has no radix";
	if (!rest || *rest || radix < 2 || radix > PCOLL_RADIX_MOST)
		return "the radix is no number from 2 to 16";
	rule->radix = (uint32_t)radix;
	return NULL;
}

static const char *
piece_set(struct pcoll_rule *rule, const char *text)
{
	uint64_t bytes;
	const char *rest = number_read(text, &bytes);

	if (!rule->builder->has_pieces)
		return "the algorithm has no pieces";
	if (!rest || *rest || !bytes)
		return "the length of a piece is no number of bytes from 1 on";
	rule->piece_bytes = bytes;
	return NULL;
}

/* The parameters that a rule has so far. */
struct given {
	bool radix, piece;
};

static const char *
parameter_read(struct pcoll_rule *rule, const char *word, struct given *given)
{
	const bool is_radix = strncmp(word, "radix=", 6) == 0;
	bool *is_given = is_radix ? &given->radix : &given->piece;

	if (rule->by_cells)
		return "cells have no parameters";
	if (!is_radix && strncmp(word, "piece=", 6) != 0)
		return "a parameter is neither radix= nor piece=";
	if (*is_given)
		return "a parameter stands there twice";
	*is_given = true;
	return is_radix ? radix_set(rule, word + 6) : piece_set(rule, word + 6);
}

/* -- rules ------------------------------------------------------------------------------------- */

static bool
range_read_next(char **line, uint64_t first, uint64_t most, uint64_t *least_out, uint64_t *most_out)
{
	const char *word = word_next(line);

	return word && range_read(word, first, most, least_out, most_out);
}

static const char *
ranges_read(struct pcoll_rule *rule, char **line)
{
	uint64_t least, most;

	if (!range_read_next(line, 0, SIZE_MAX, &least, &most))
		return "the second word is no range of bytes, such as 16K-*";
	rule->least_bytes = least;
	rule->most_bytes = most;
	if (!range_read_next(line, 1, UINT32_MAX, &least, &most))
		return "the third word is no range of ranks from 1 on, such as 2-8";
	rule->least_size = (uint32_t)least;
	rule->most_size = (uint32_t)most;
	if (!range_read_next(line, 1, UINT32_MAX, &least, &most))
		return "the fourth word is no range of hosts from 1 on, such as 2-*";
	rule->least_hosts = (uint32_t)least;
	rule->most_hosts = (uint32_t)most;
	return NULL;
}

static const char *
mode_read(struct pcoll_rule *rule, const char *word)
{
	if (!word || strlen(word) >= sizeof rule->mode)
		return "the fifth word is no mode, such as smp or tcp";
	strcpy(rule->mode, strcmp(word, "*") == 0 ? "" : word);
	return NULL;
}

/* False: the operation has none of that name. */
static bool
algorithm_find(struct pcoll_rule *rule, const char *name)
{
	rule->by_cells = pcoll_cells_kinds[rule->operation] && strcmp(name, "cells") == 0;
	rule->builder = pcoll_builder_find(rule->operation, name);
	return rule->by_cells || rule->builder;
}

static const char *
words_read(char *line, struct pcoll_rule *rule)
{
	const char *operation = word_next(&line), *word, *wrong;
	struct given given = { false, false };

	if (!operation)
		return NULL;
	if (!operation_find(operation, &rule->operation))
		return "the first word is no operation";
	wrong = ranges_read(rule, &line);
	if (!wrong)
		wrong = mode_read(rule, word_next(&line));
	if (wrong)
		return wrong;
	word = word_next(&line);
	if (!word || !algorithm_find(rule, word))
		return "the sixth word is no algorithm of the operation";
	while (!wrong && (word = word_next(&line)) != NULL)
		wrong = parameter_read(rule, word, &given);
	return wrong;
}

const char *
pcoll_rule_read(const char *line, struct pcoll_rule *rule_out)
{
	struct pcoll_rule rule = { .radix = 2 };
	char words[256];
	const size_t len = strcspn(line, "#\n");
	const char *wrong;

	if (len >= sizeof words)
		return "the line is too long";
	memcpy(words, line, len);
	words[len] = '\0';
	wrong = words_read(words, &rule);
	if (!wrong)
		*rule_out = rule;
	return wrong;
}

const char *
pcoll_rule_read_forced(enum pcoll_operation operation, const char *text,
                       struct pcoll_rule *rule_out)
{
	struct pcoll_rule rule = { .operation = operation, .radix = 2, .most_bytes = SIZE_MAX,
		                   .most_size = UINT32_MAX, .most_hosts = UINT32_MAX };
	char words[64], *next = words, *word;
	const char *wrong = NULL;

	if (strlen(text) >= sizeof words)
		return "it is too long";
	memcpy(words, text, strlen(text) + 1);
	word = strsep(&next, ":");
	if (!algorithm_find(&rule, word))
		return "the operation has no such algorithm";
	word = strsep(&next, ":");
	if (word && rule.by_cells)
		return "cells have no parameters";
	if (word && rule.builder->has_radix) {
		wrong = radix_set(&rule, word);
		word = strsep(&next, ":");
	}
	if (word && !wrong) {
		wrong = piece_set(&rule, word);
		word = strsep(&next, ":");
	}
	if (word && !wrong)
		wrong = "it has more parameters than the algorithm";
	if (!wrong)
		*rule_out = rule;
	return wrong;
}

static const char *
forced_parameters(const struct pcoll_builder *builder)
{
	if (!builder->has_radix)
		return builder->has_pieces ? "[:BYTES]" : "";
	return builder->has_pieces ? "[:RADIX[:BYTES]]" : "[:RADIX]";
}

const char *
pcoll_rule_forced_accepts(enum pcoll_operation operation, char text_out[PCOLL_FORCED_BYTES])
{
	const char *between = "one of ";
	int len = 0;

	for (size_t i = 0; pcoll_builders[i] && len < PCOLL_FORCED_BYTES; i++) {
		const struct pcoll_builder *builder = pcoll_builders[i];

		if (builder->operation != operation)
			continue;
		len += snprintf(text_out + len, (size_t)(PCOLL_FORCED_BYTES - len), "%s%s%s",
		                between, builder->name, forced_parameters(builder));
		between = ", ";
	}
	if (pcoll_cells_kinds[operation] && len < PCOLL_FORCED_BYTES)
		snprintf(text_out + len, (size_t)(PCOLL_FORCED_BYTES - len), ", cells");
	return text_out;
}
