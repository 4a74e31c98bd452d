/*
 * Processes of the ofi conduit that put to and get from each other's segments, with a watch on what
 * they ask of libfabric.
 */
#ifndef OFI_RMA_RIG_H
#define OFI_RMA_RIG_H

#include "tests/unit/ofi_rig.h"

enum { RMA_SEGMENT_BYTES = 2 << 20, RMA_COOKIES = 80000 };

/* This process's segment, zero at first. */
extern unsigned char *rma_own;

/* Runs body in that many processes, each with a segment that all others know. */
void rma_run(uint32_t places, bool threaded, ofi_body *body);

/* The next process; what a process's segment is called. */
uint32_t rma_other(void);
struct psi_segment_name rma_name(uint32_t place);
/* A new cookie; has the conduit completed it?  Once: a second time fails the test. */
uint64_t rma_cookie(void);
bool rma_is_done(uint64_t cookie);
/* How many have completed. */
unsigned rma_done_count(void);

/* A transfer with bytes of the next process's segment, with a new cookie. */
struct psi_transfer rma_transfer(uint64_t offset, void *here, size_t len_bytes);
/* Starts one, and polls while there is no room. */
typedef int rma_operation(struct psi_port *port, const struct psi_transfer *transfer);
void rma_begin(rma_operation *operation, const struct psi_transfer *transfer);
/* The whole of one. */
void rma_put(uint64_t offset, void *here, size_t len_bytes);
void rma_get(uint64_t offset, void *here, size_t len_bytes);

/* From here on, what is asked of the provider.  result: what it says instead of doing it, or 0. */
extern struct rma_seen {
	unsigned writes, reads, sends;
	unsigned unsafe_writes;         /* of which neither side learns when they are complete */
	size_t len_bytes;               /* of the last write or read */
	ssize_t result;
	void *context;                  /* of the last */
} rma_seen;
void rma_watch(void);

#endif
