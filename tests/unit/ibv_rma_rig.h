/*
 * Two ranks of the ibv conduit, one of which puts to and gets from a segment of the other.
 */
#ifndef IBV_RMA_RIG_H
#define IBV_RMA_RIG_H

#include "tests/unit/ibv_rig.h"

enum { RMA_BYTES = 1 << 20 };

/* The segment, of rank 1; memory of rank 0. */
extern unsigned char rma_there[RMA_BYTES], rma_here[RMA_BYTES];
extern struct psi_segment_name rma_name;

static inline struct mock_device *
rma_device(uint32_t host, unsigned index)
{
	return &mock.devices[host][index];
}

static inline uint64_t
rma_writes(uint32_t host, unsigned index)
{
	return rma_device(host, index)->counts.writes;
}

/* How many registrations the devices of rank 0 have together. */
uint64_t rma_registrations(void);

/* The two are connected. */
void rma_start(void);
/* A put of all bytes between, and a get back; each completes once. */
void rma_there_and_back(uint64_t offset, size_t len_bytes, uint32_t seed);

#endif
