/* What is said of members that do not agree about a call; it ends the job. */
#ifndef PCOLL_DIFFER_H
#define PCOLL_DIFFER_H

#include "coll/operation.h"

#include <stdint.h>

/* What a reduction's elements are, and how the call synchronises: bits of pcoll_side's form. */
#define PCOLL_FORM_ELEM_BYTES 0x0fffffffu       /* the lower bits of an element's size */
#define PCOLL_FORM_ORDERED    0x10000000u
#define PCOLL_FORM_IN_ALL     0x20000000u
#define PCOLL_FORM_OUT_ALL    0x40000000u

/* One member's side of the call with that number on its team. */
struct pcoll_side {
	uint32_t rank;
	struct pcoll_what what;
	uint32_t root;
	uint64_t len_bytes;
	uint32_t form;
};

/* Something but the rank differs. */
void pcoll_sides_differ(uint32_t number, const struct pcoll_side *own,
                        const struct pcoll_side *peers) __attribute__((noreturn, cold));

#endif
