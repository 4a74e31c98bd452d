/*
 * The readers of runtime/util/settings_parse.h once more, as naively as their contract reads, and
 * the comparison of the two.
 */
#ifndef TESTS_UNIT_PARSE_ORACLE_H
#define TESTS_UNIT_PARSE_ORACLE_H

#include <stdint.h>

/* Aborts, after a line that says what differs, unless all readers agree on the text. */
void parse_oracle_check(const char *text, uint64_t unit);

#endif
