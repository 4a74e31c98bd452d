/*
 * Operations of rma_nb.c: the slots that the caller's area at a peer is cut into, and how one is
 * begun, by all spellings.
 */
#ifndef RMA_NB_SLOTS_H
#define RMA_NB_SLOTS_H

#include <gasnet.h>

#include "tests/lib/pt.h"

enum { SLOTS = 24, SLOT_BYTES = 24000 };
enum { AREA_BYTES = SLOTS * SLOT_BYTES };

enum state { IDLE, EXPLICIT, IMPLICIT_PUT, IMPLICIT_GET, IN_REGION };

struct slot {
	enum state state;
	int is_get;
	int source_held; /* until local completion, or to the end */
	int in_group;    /* local completion is the implicit set's */
	gex_Event_t root, leaf;
	size_t at, nbytes; /* in the area */
	unsigned char *buf;
};

static PT_OWN struct slot slots[SLOTS];
static PT_OWN unsigned char *model;
static PT_OWN gex_Rank_t peer;
static PT_OWN struct pt_rng rng;
static PT_OWN int region; /* one is open */

/* Legacy calls mean processes: ranks that are threads draw among the spellings that stand first. */
static uint64_t
spelling(uint64_t all, uint64_t with_teams)
{
	return pt_rand_below(&rng, pt_is_thread() ? with_teams : all);
}

static char *
there(const struct slot *slot)
{
	return pt.peers[peer].owner + (size_t)pt.rank * AREA_BYTES + slot->at;
}

static size_t
some_length(void)
{
	switch (pt_rand_below(&rng, 3)) {
	case 0:
		return pt_rand_below(&rng, 20);
	case 1:
		return pt_rand_below(&rng, 600);
	}
	return pt_rand_below(&rng, SLOT_BYTES - 8);
}

static void
release_source(struct slot *slot)
{
	if (slot->is_get)
		return;
	slot->source_held = slot->in_group = 0;
	memset(slot->buf, 0xee, SLOT_BYTES);
}

/* The operation is over. */
static void
settle(struct slot *slot)
{
	if (slot->is_get)
		PT_EQ(memcmp(slot->buf, model + slot->at, slot->nbytes), 0);
	slot->root = slot->leaf = GEX_EVENT_INVALID;
	slot->state = IDLE;
}

/* -- starting -------------------------------------------------------------------------------- */

static void
put_explicit(struct slot *slot)
{
	slot->state = EXPLICIT;
	slot->source_held = 1;
	switch (spelling(6, 4)) {
	case 0:
		slot->root = gex_RMA_PutNB(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                           &slot->leaf, 0);
		break;
	case 1:
		slot->root = gex_RMA_PutNB(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                           GEX_EVENT_DEFER, GEX_FLAG_PEER_SEG_BOUND);
		break;
	case 2:
		slot->root = gex_RMA_PutNB(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                           GEX_EVENT_NOW, 0);
		release_source(slot);
		break;
	case 3:
		slot->root = gex_RMA_PutNB(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                           &slot->leaf, GEX_FLAG_IMMEDIATE);
		if (slot->root == GEX_EVENT_NO_OP) /* nothing was started */
			slot->root = gex_RMA_PutNB(pt.tm, peer, there(slot), slot->buf,
			                           slot->nbytes, &slot->leaf, 0);
		break;
	case 4:
		slot->root = gasnet_put_nb(peer, there(slot), slot->buf, slot->nbytes);
		release_source(slot);
		break;
	case 5:
		slot->root = gasnet_put_nb_bulk(peer, there(slot), slot->buf, slot->nbytes);
		break;
	}
}

static void
put_implicit(struct slot *slot)
{
	slot->state = region ? IN_REGION : IMPLICIT_PUT;
	slot->source_held = 1;
	switch (spelling(6, 4)) {
	case 0:
		PT_OK(gex_RMA_PutNBI(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                     GEX_EVENT_NOW, 0));
		release_source(slot);
		break;
	case 1:
		PT_OK(gex_RMA_PutNBI(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                     GEX_EVENT_DEFER, 0));
		break;
	case 2:
		PT_OK(gex_RMA_PutNBI(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                     GEX_EVENT_GROUP, 0));
		slot->in_group = 1;
		break;
	case 3:
		while (gex_RMA_PutNBI(pt.tm, peer, there(slot), slot->buf, slot->nbytes,
		                      GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE))
			PT_OK(gasnet_AMPoll());
		release_source(slot);
		break;
	case 4:
		gasnet_put_nbi(peer, there(slot), slot->buf, slot->nbytes);
		release_source(slot);
		break;
	case 5:
		gasnet_put_nbi_bulk(peer, there(slot), slot->buf, slot->nbytes);
		break;
	}
}

static void
fill(struct slot *slot)
{
	const int byte = (int)pt_rand_below(&rng, 1000);

	memset(model + slot->at, byte, slot->nbytes);
	slot->state = EXPLICIT;
	switch (pt_rand_below(&rng, 3)) {
	case 0:
		slot->root = gasnet_memset_nb(peer, there(slot), byte, slot->nbytes);
		break;
	case 1:
		gasnet_memset_nbi(peer, there(slot), byte, slot->nbytes);
		slot->state = region ? IN_REGION : IMPLICIT_PUT;
		break;
	case 2:
		gasnet_memset(peer, there(slot), byte, slot->nbytes);
		break;
	}
}

static void
put_value(struct slot *slot)
{
	gex_RMA_Value_t value = pt_rand(&rng);

	slot->nbytes = 1 + pt_rand_below(&rng, sizeof(value));
	memcpy(model + slot->at, &value, slot->nbytes); /* little-endian machines only are built
	                                                 * for */
	slot->state = EXPLICIT;
	switch (spelling(4, 2)) {
	case 0:
		slot->root = gex_RMA_PutNBVal(pt.tm, peer, there(slot), value, slot->nbytes, 0);
		return;
	case 1:
		PT_OK(gex_RMA_PutNBIVal(pt.tm, peer, there(slot), value, slot->nbytes, 0));
		break;
	case 2:
		slot->root = gasnet_put_nb_val(peer, there(slot), value, slot->nbytes);
		return;
	case 3:
		gasnet_put_nbi_val(peer, there(slot), value, slot->nbytes);
		break;
	}
	slot->state = region ? IN_REGION : IMPLICIT_PUT;
}

static void
get(struct slot *slot)
{
	memset(slot->buf, 0x11, SLOT_BYTES);
	slot->is_get = 1;
	slot->state = EXPLICIT;
	switch (spelling(7, 3)) {
	case 0:
		slot->root = gex_RMA_GetNB(pt.tm, slot->buf, peer, there(slot), slot->nbytes, 0);
		return;
	case 1:
		while ((slot->root = gex_RMA_GetNB(pt.tm, slot->buf, peer, there(slot),
		                                   slot->nbytes, GEX_FLAG_IMMEDIATE)) ==
		       GEX_EVENT_NO_OP)
			PT_OK(gasnet_AMPoll());
		return;
	case 2:
		PT_OK(gex_RMA_GetNBI(pt.tm, slot->buf, peer, there(slot), slot->nbytes, 0));
		break;
	case 3:
		slot->root = gasnet_get_nb(slot->buf, peer, there(slot), slot->nbytes);
		return;
	case 4:
		slot->root = gasnet_get_nb_bulk(slot->buf, peer, there(slot), slot->nbytes);
		return;
	case 5:
		gasnet_get_nbi(slot->buf, peer, there(slot), slot->nbytes);
		break;
	case 6:
		gasnet_get_nbi_bulk(slot->buf, peer, there(slot), slot->nbytes);
		break;
	}
	slot->state = region ? IN_REGION : IMPLICIT_GET;
}

static void
start(struct slot *slot)
{
	const size_t home = (size_t)(slot - slots) * SLOT_BYTES;

	slot->nbytes = some_length();
	slot->at = home + pt_rand_below(&rng, SLOT_BYTES - slot->nbytes - 7);
	slot->is_get = slot->source_held = slot->in_group = 0;
	slot->leaf = GEX_EVENT_INVALID;
	switch (pt_rand_below(&rng, 8)) {
	case 0:
		if (pt_is_thread())
			break;
		fill(slot);
		return;
	case 1:
		put_value(slot);
		return;
	case 2:
	case 3:
	case 4:
		get(slot);
		return;
	}
	pt_fill(slot->buf, slot->nbytes, pt_rand(&rng));
	memcpy(model + slot->at, slot->buf, slot->nbytes);
	if (pt_rand_below(&rng, 2))
		put_explicit(slot);
	else
		put_implicit(slot);
}

#endif
