/* What a collective does, however it is carried out. */
#ifndef PCOLL_OPERATION_H
#define PCOLL_OPERATION_H

enum pcoll_operation {
	PCOLL_BARRIER, PCOLL_BROADCAST, PCOLL_REDUCE_TO_ONE, PCOLL_REDUCE_TO_ALL,
	PCOLL_SCATTER, PCOLL_GATHER, PCOLL_GATHER_ALL, PCOLL_EXCHANGE,
	PCOLL_PERMUTE, PCOLL_REDUCE_SCATTER, PCOLL_SCAN, PCOLL_EXSCAN,
	PCOLL_OPERATIONS
};

/* The name of the client's call; "another" for a number from a peer that names none
 * (pcoll_registry.c). */
const char *pcoll_operation_name(enum pcoll_operation operation);

#endif
