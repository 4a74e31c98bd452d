/* What a collective does, however it is carried out, and how it was called. */
#ifndef PCOLL_OPERATION_H
#define PCOLL_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pcoll_operation {
	PCOLL_BARRIER, PCOLL_BROADCAST, PCOLL_REDUCE_TO_ONE, PCOLL_REDUCE_TO_ALL,
	PCOLL_SCATTER, PCOLL_GATHER, PCOLL_GATHER_ALL, PCOLL_EXCHANGE,
	PCOLL_PERMUTE, PCOLL_REDUCE_SCATTER, PCOLL_SCAN, PCOLL_EXSCAN,
	PCOLL_OPERATIONS
};

static inline bool
pcoll_operation_has_root(enum pcoll_operation operation)
{
	return operation == PCOLL_BROADCAST || operation == PCOLL_REDUCE_TO_ONE ||
	       operation == PCOLL_SCATTER || operation == PCOLL_GATHER;
}

/* The interface that the client called: gex_Coll_, gasnet_coll_, or one of the forms of pst_. */
enum pcoll_api {
	PCOLL_GEX, PCOLL_LEGACY, PCOLL_PST, PCOLL_PST_LISTS, PCOLL_UPC,
	/* Those from here on take values.  The last makes a plan. */
	PCOLL_PST_VALUE, PCOLL_PST_BARRIER, PCOLL_PST_PLAN,
	PCOLL_APIS
};

/* Which call it was: the same on all members. */
struct pcoll_what {
	enum pcoll_operation operation;
	enum pcoll_api api;
};

enum { PCOLL_WHAT_API_BITS = 4, PCOLL_WHAT_BITS = 8 };

/* As one number, below 1 << PCOLL_WHAT_BITS. */
static inline uint32_t
pcoll_what_number(struct pcoll_what what)
{
	return (uint32_t)what.operation << PCOLL_WHAT_API_BITS | (uint32_t)what.api;
}

static inline struct pcoll_what
pcoll_what_of(uint32_t number)
{
	return (struct pcoll_what){
		.operation = (enum pcoll_operation)(number >> PCOLL_WHAT_API_BITS),
		.api = (enum pcoll_api)(number & ((1u << PCOLL_WHAT_API_BITS) - 1)),
	};
}

/* NULL: there is no such call (pcoll_registry.c). */
extern const char *const pcoll_call_names[PCOLL_OPERATIONS][PCOLL_APIS];

/* The name of the client's call; "another" for what a peer says and nobody can have called. */
static inline const char *
pcoll_call_name(struct pcoll_what what)
{
	const char *name = NULL;

	if (what.operation < PCOLL_OPERATIONS && what.api < PCOLL_APIS)
		name = pcoll_call_names[what.operation][what.api];
	return name ? name : "another";
}

#endif
