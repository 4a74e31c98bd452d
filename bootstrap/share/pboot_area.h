/*
 * The exchange area of a host, file PBOOT_FILE_EXCHANGE: a page with the words of the barrier, then
 * two halves, each with room for a block of every rank of the job, then a word of every rank for
 * knocks (rank/pboot_knock.c).  Ranks meet there (rank/pboot_exchange.c).  In a job of several
 * hosts the keeper brings the blocks of the ranks of other hosts (keeper/pboot_peers_gather.c).
 */
#ifndef PBOOT_AREA_H
#define PBOOT_AREA_H

#include "bootstrap/bootstrap.h"

#include <stdatomic.h>

enum {
	PBOOT_AREA_HEAD_BYTES = 4096,
	PBOOT_AREA_LINE_BYTES = 64,
	/* The most bytes that the blocks of one host may have in an exchange between hosts. */
	PBOOT_AREA_HOST_BYTES = 1024 * 1024,
};

struct pboot_area {
	_Atomic uint32_t arrived;	/* ranks of this host that are in the current barrier */
	_Atomic uint32_t turn;		/* barriers that are complete */
	/* What the keeper is to gather; the last rank to arrive writes it before it asks. */
	_Atomic uint32_t len_bytes;	/* of a block; 0: nothing, this is a barrier */
	_Atomic uint32_t half;
};

static inline size_t
pboot_area_half_bytes(uint32_t size)
{
	return (size_t)size * PBOOT_EXCHANGE_MAX;
}

static inline size_t
pboot_area_bytes(uint32_t size)
{
	return PBOOT_AREA_HEAD_BYTES + 2 * pboot_area_half_bytes(size) + size * sizeof(uint32_t);
}

/* 1 + the rank that has knocked last at that one, which is of this host; 0: none since it has
 * looked. */
static inline _Atomic uint32_t *
pboot_area_knock(struct pboot_area *area, uint32_t size, uint32_t rank)
{
	return (_Atomic uint32_t *)((char *)area + PBOOT_AREA_HEAD_BYTES +
				    2 * pboot_area_half_bytes(size)) +
	    rank;
}

/* Where the block of a rank is; each begins in a line of its own. */
static inline char *
pboot_area_block(struct pboot_area *area, uint32_t size, uint32_t half, size_t len_bytes,
    uint32_t rank)
{
	const size_t lines = (len_bytes + PBOOT_AREA_LINE_BYTES - 1) / PBOOT_AREA_LINE_BYTES;

	return (char *)area + PBOOT_AREA_HEAD_BYTES + half * pboot_area_half_bytes(size) +
	    rank * lines * PBOOT_AREA_LINE_BYTES;
}

#endif
