/*
 * A queue of messages as people want to see it, and the memory in which it is looked for.  The
 * contract of conduits and the message queue of a host (sysvnet) share these types.
 */
#ifndef PSI_UTIL_QUEUE_VIEW_H
#define PSI_UTIL_QUEUE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that the host's processes got from host_memory, and what the receiver got from
 * endpoint_memory, NULL for its process's first endpoint. */
struct psi_queue_memory {
	const void *host, *further;
	size_t host_bytes, further_bytes;
};

/* One direction, from a process to an endpoint. */
struct psi_queue_state {
	uint32_t slots;                 /* of the queue */
	uint32_t in_flight;             /* that the sender takes to be full */
	uint32_t undelivered;           /* messages whose handler has not been called */
	bool wants_room;                /* the sender waits for some, or has done so */
	bool receiver_sleeps;
};

#endif
