/*
 * Non-blocking transfers of all spellings against a plain copy.  The caller's area at a peer is cut
 * into slots, each with at most one operation under way; whatever was synchronised is compared, and
 * sources are overwritten as soon as they may be.
 */
#include "tests/conformance/rma_nb_slots.h"

/* -- ending ---------------------------------------------------------------------------------- */

/* Leaves may be asked about as often as one likes, until their root is synchronised. */
static void
use_leaf(struct slot *slot)
{
	gex_Event_t again;

	if (slot->state != EXPLICIT || !slot->source_held || slot->leaf == GEX_EVENT_INVALID)
		return;
	again = gex_Event_QueryLeaf(slot->root, GEX_EC_LC);
	PT_CHECK(again == slot->leaf || again == GEX_EVENT_INVALID);
	gex_Event_Wait(slot->leaf);
	PT_OK(gex_Event_Test(slot->leaf));
	PT_OK(gex_Event_Test(gex_Event_QueryLeaf(slot->root, GEX_EC_LC)));
	release_source(slot);
}

static void
end_one(struct slot *slot)
{
	if (slot->state != EXPLICIT)
		return;
	if (pt_rand_below(&rng, 2))
		use_leaf(slot);
	if (pt_rand_below(&rng, 2))
		gex_Event_Wait(slot->root);
	else
		while (gex_Event_Test(slot->root) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
	settle(slot);
}

/* Roots first, so that leaves follow them. */
static void
end_all_explicit(void)
{
	gex_Event_t events[2 * SLOTS];

	for (int i = 0; i < SLOTS; i++) {
		events[i] = slots[i].state == EXPLICIT ? slots[i].root : GEX_EVENT_INVALID;
		events[SLOTS + i] = slots[i].state == EXPLICIT ? slots[i].leaf : GEX_EVENT_INVALID;
	}
	if (pt_rand_below(&rng, 2)) {
		gex_Event_WaitAll(events, 2 * SLOTS, 0);
	} else {
		for (int left = 1; left;) {
			gex_Event_WaitSome(events, 2 * SLOTS, 0);
			left = 0;
			for (int i = 0; i < 2 * SLOTS; i++)
				left += events[i] != GEX_EVENT_INVALID;
		}
	}
	for (int i = 0; i < 2 * SLOTS; i++)
		PT_CHECK(events[i] == GEX_EVENT_INVALID);
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].state == EXPLICIT)
			settle(&slots[i]);
}

static void
settle_all(enum state state)
{
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].state == state)
			settle(&slots[i]);
}

static void
end_implicit(void)
{
	switch (pt_rand_below(&rng, 5)) {
	case 0:
		gex_NBI_Wait(GEX_EC_PUT, 0);
		settle_all(IMPLICIT_PUT);
		break;
	case 1:
		while (gasnet_try_syncnbi_gets() != GASNET_OK)
			;
		settle_all(IMPLICIT_GET);
		break;
	case 2:
		gasnet_wait_syncnbi_puts();
		settle_all(IMPLICIT_PUT);
		break;
	case 3:
		gex_NBI_Wait(GEX_EC_LC, 0);
		for (int i = 0; i < SLOTS; i++)
			if (slots[i].state == IMPLICIT_PUT && slots[i].in_group)
				release_source(&slots[i]);
		break;
	case 4:
		while (gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
		settle_all(IMPLICIT_PUT);
		settle_all(IMPLICIT_GET);
		break;
	}
}

static struct slot *
idle_slot(void)
{
	struct slot *slot = &slots[pt_rand_below(&rng, SLOTS)];

	return slot->state == IDLE ? slot : NULL;
}

/* What a region gathers does not belong to the set. */
static void
access_region(void)
{
	gex_Event_t event, leaf;

	gex_NBI_BeginAccessRegion(0);
	region = 1;
	for (int i = 0; i < 6; i++) {
		struct slot *slot = idle_slot();

		if (slot)
			start(slot);
	}
	region = 0;
	event = pt_rand_below(&rng, 2) ? gex_NBI_EndAccessRegion(0) : gasnet_end_nbi_accessregion();
	if (pt_rand_below(&rng, 2))
		end_implicit();
	leaf = gex_Event_QueryLeaf(event, GEX_EC_LC);
	gex_Event_Wait(leaf);
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].state == IN_REGION && slots[i].in_group)
			release_source(&slots[i]);
	gex_Event_Wait(event);
	settle_all(IN_REGION);
}

static void
end_everything(void)
{
	unsigned char *area = malloc(AREA_BYTES);

	PT_CHECK(area != NULL);
	end_all_explicit();
	gasnet_wait_syncnbi_all();
	settle_all(IMPLICIT_PUT);
	settle_all(IMPLICIT_GET);
	slots[0].at = 0;
	PT_OK(gex_RMA_GetBlocking(pt.tm, area, peer, there(&slots[0]), AREA_BYTES, 0));
	PT_EQ(memcmp(area, model, AREA_BYTES), 0);
	free(area);
}

static void
with_peer(void)
{
	const unsigned long steps = pt_scale(300, 800);

	rng = pt_rng_make(pt.rank * 1000 + peer);
	memset(model, 0x3c, AREA_BYTES);
	slots[0].at = 0;
	PT_OK(gex_RMA_PutBlocking(pt.tm, peer, there(&slots[0]), model, AREA_BYTES, 0));
	for (unsigned long i = 0; i < steps; i++) {
		struct slot *slot = idle_slot();

		if (slot)
			start(slot);
		switch (pt_rand_below(&rng, 12)) {
		case 0:
			access_region();
			break;
		case 1:
			end_all_explicit();
			break;
		case 2:
			end_implicit();
			break;
		case 3:
			use_leaf(&slots[pt_rand_below(&rng, SLOTS)]);
			break;
		case 4:
		case 5:
			end_one(&slots[pt_rand_below(&rng, SLOTS)]);
			break;
		}
	}
	end_everything();
}

/* A value got without blocking, and whose handles are neither events nor implicit. */
static void
value_gets(void)
{
	gasnet_valget_handle_t handles[8];
	uint64_t word = 0x1122334455667788u;

	slots[0].at = 0;
	PT_OK(gex_RMA_PutBlocking(pt.tm, peer, there(&slots[0]), &word, sizeof(word), 0));
	for (size_t n = 1; n <= 8; n++)
		handles[n - 1] = gasnet_get_nb_val(peer, there(&slots[0]), n);
	gasnet_wait_syncnbi_all();
	for (size_t n = 8; n >= 1; n--)
		PT_EQ(gasnet_wait_syncnb_valget(handles[n - 1]),
		      n == 8 ? word : word & (((uint64_t)1 << (8 * n)) - 1));
}

/* Nothing moves, addresses do not matter, and all is done. */
static void
empty(void)
{
	void *odd = (void *)(uintptr_t)0x1;
	gex_Event_t leaf = GEX_EVENT_NO_OP;

	PT_CHECK(gex_RMA_PutNB(pt.tm, peer, odd, odd, 0, &leaf, 0) == GEX_EVENT_INVALID);
	PT_CHECK(leaf == GEX_EVENT_INVALID);
	PT_CHECK(gex_RMA_GetNB(pt.tm, odd, peer, NULL, 0, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
	PT_OK(gex_RMA_PutNBI(pt.tm, peer, NULL, NULL, 0, GEX_EVENT_GROUP, 0));
	PT_OK(gex_RMA_GetNBI(pt.tm, odd, peer, odd, 0, 0));
	gasnet_begin_nbi_accessregion();
	if (!pt_is_thread()) {
		PT_CHECK(gasnet_memset_nb(peer, odd, 3, 0) == GASNET_INVALID_HANDLE);
		gasnet_memset(peer, NULL, 3, 0);
		gasnet_memset_nbi(peer, odd, 3, 0);
	}
	gex_Event_Wait(gex_NBI_EndAccessRegion(0));
	PT_OK(gex_NBI_Test(GEX_EC_ALL, 0));
}

int
main(int argc, char **argv)
{
	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	pt_attach(NULL, 0, (size_t)pt.size * AREA_BYTES);
	model = malloc(AREA_BYTES);
	PT_CHECK(model != NULL);
	for (int i = 0; i < SLOTS; i++) {
		slots[i].buf = malloc(SLOT_BYTES);
		PT_CHECK(slots[i].buf != NULL);
	}
	for (gex_Rank_t step = 0; step < pt.size; step++) {
		peer = (pt.rank + step) % pt.size;
		pt_phase("random transfers");
		with_peer();
		pt_phase("values and nothing");
		if (!pt_is_thread())
			value_gets();
		empty();
	}
	for (int i = 0; i < SLOTS; i++)
		free(slots[i].buf);
	free(model);
	pt_finish();
}
