/*
 * Rules by which an algorithm is chosen: the user's, of PST_COLL_<OPERATION> and of the file
 * PST_COLL_TUNING, then the library's own (tuning.txt), which are for calls by messages.  Where
 * members share memory, a call goes by cells, unless a rule of the user's that fits names an
 * algorithm by messages.  The file is a regular one, of up to 1 MiB.  All ranks of a job have the
 * same rules, since they have the same settings.
 *
 * A rule in text:
 *
 *     operation  bytes     ranks  hosts  mode  algorithm  parameters
 *     broadcast  16K-512K  3-*    *      tcp   binary     piece=32K
 *
 * The words are explained in tuning.txt; * stands for any.  radix=N and piece=BYTES are for
 * algorithms that have them.  What follows # is a comment.
 */
#ifndef PCOLL_TUNING_H
#define PCOLL_TUNING_H

#include "coll/schedule.h"

#include "runtime/conduit/conduit.h"

#include <stdbool.h>
#include <stddef.h>

struct pcoll_rule {
	enum pcoll_operation operation;
	size_t least_bytes, most_bytes;
	uint32_t least_size, most_size;
	uint32_t least_hosts, most_hosts;
	char mode[PSI_TRANSPORT_BYTES]; /* empty: any */
	const struct pcoll_builder *builder;
	bool by_cells;                  /* shared memory, where there is some; builder is NULL */
	uint32_t radix;                 /* at least 2 */
	size_t piece_bytes;             /* 0: all is one piece */
};

/* Reads a line.  Returns NULL, and the rule, without builder and not by cells if the line is empty;
 * or what is wrong. */
const char *pcoll_rule_read(const char *line, struct pcoll_rule *rule_out);
/* Reads "algorithm[:parameter...]": the radix, if the algorithm has one, then bytes of a piece. */
const char *pcoll_rule_read_forced(enum pcoll_operation operation, const char *text,
                                   struct pcoll_rule *rule_out);
/* What the function above accepts of the operation, as "one of flat, chain[:BYTES]"; returns
 * text_out. */
enum { PCOLL_FORCED_BYTES = 256 };
const char *pcoll_rule_forced_accepts(enum pcoll_operation operation,
                                      char text_out[PCOLL_FORCED_BYTES]);

/* The word for an operation in rules. */
const char *pcoll_operation_word(enum pcoll_operation operation);

/* The user's rules, then the library's, in their order; NULL behind the last one. */
const struct pcoll_rule *pcoll_tuning_rule(size_t number);
bool pcoll_tuning_is_users(size_t number);

/* Operations of which a rule of the user's is, as bits; constant after start-up. */
extern uint32_t pcoll_tuning_users;

static inline bool
pcoll_tuning_has_users(enum pcoll_operation operation)
{
	return pcoll_tuning_users >> operation & 1;
}

/* Start-up: reads the settings.  Lines with a mistake are told of and left out; a file that cannot
 * be read ends the process, as a bad value of a setting does. */
void pcoll_tuning_open(void);

#endif
