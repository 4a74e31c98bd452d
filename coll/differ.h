/* What is said of members that do not agree about a call; it ends the job. */
#ifndef PCOLL_DIFFER_H
#define PCOLL_DIFFER_H

#include "coll/operation.h"

#include <stdint.h>

/* What a reduction's elements are, and the flags of the call: bits of a signature's form. */
#define PCOLL_FORM_ELEM_BYTES   0x01ffffffu     /* the lower bits of an element's size */
#define PCOLL_FORM_IN_PLACE     0x02000000u     /* with PST_CHECK: dst and src are in place, in
	                                         * operations where each rank has both */
#define PCOLL_FORM_SINGLE       0x04000000u     /* the key is of offsets too */
#define PCOLL_FORM_REPRODUCIBLE 0x08000000u
#define PCOLL_FORM_IN_ALL       0x10000000u
#define PCOLL_FORM_OUT_ALL      0x20000000u
#define PCOLL_FORM_IN_NONE      0x40000000u     /* with PST_CHECK, as the next */
#define PCOLL_FORM_OUT_NONE     0x80000000u

/* What members must agree on in the call with one number on their team, as one of them has it. */
struct pcoll_signature {
	uint32_t rank;
	struct pcoll_what what;
	uint32_t root;
	uint64_t len_bytes;
	uint32_t form;
	uint32_t key;                   /* of type, operator and offsets */
};

/* Ends the job with the first difference between the two.  There is one besides the rank. */
void pcoll_signatures_differ(uint32_t number, const struct pcoll_signature *own,
                             const struct pcoll_signature *peers) __attribute__((noreturn, cold));

/* Ends the job: two members have different lengths for what one sends the other. */
void pcoll_lengths_differ(struct pcoll_what what, uint32_t number, uint32_t from,
                          uint64_t sent_bytes, uint32_t to, uint64_t expected_bytes)
	__attribute__((noreturn, cold));

#endif
