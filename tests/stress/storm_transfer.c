/*
 * Transfers of the storm: something is put into a place of the thread's own at some rank and got
 * back, by blocking calls, with events, in the thread's implicit set or in an access region.  A
 * source is overwritten as soon as it may be.
 */
#include "tests/stress/storm.h"
#include "tests/stress/storm_plant.h"

enum way { BLOCKING, EXPLICIT, IMPLICIT, REGION, TRANSFER_WAYS };
enum lc { LC_NOW, LC_DEFER, LC_EVENT, LC_GROUP };       /* an event where explicit, else the
                                                         * group */

struct piece {
	gex_Rank_t rank;
	char *here, *there;
	size_t len_bytes;
	enum way way;
	enum lc lc;
	gex_Flags_t flags;              /* IMMEDIATE: what is refused is tried again without */
};

static void
overwrite(const struct piece *p)
{
	memset(p->here, 0, p->len_bytes);
}

static void
sync_event(struct storm_thread *self, gex_Event_t event)
{
	if (pt_rand_below(&self->rng, 2)) {
		gex_Event_Wait(event);
		return;
	}
	while (gex_Event_Test(event) != GASNET_OK) {
		gasnet_AMPoll();        /* a test does not */
		storm_pause(&self->rng);
	}
}

static void
put_explicit(struct storm_thread *self, const struct piece *p, gex_Flags_t flags)
{
	gex_Event_t lc = GEX_EVENT_INVALID;
	gex_Event_t *lc_opt = p->lc == LC_NOW     ? GEX_EVENT_NOW
	                      : p->lc == LC_DEFER ? GEX_EVENT_DEFER
	                                          : &lc;
	gex_Event_t event =
		gex_RMA_PutNB(pt.tm, p->rank, p->there, p->here, p->len_bytes, lc_opt, flags);

	if (event == GEX_EVENT_NO_OP) {
		PT_CHECK(flags);
		put_explicit(self, p, 0);
		return;
	}
	if (lc_opt == &lc)
		sync_event(self, lc);
	if (p->lc != LC_DEFER)
		overwrite(p);
	storm_pause(&self->rng);
	sync_event(self, event);
}

static void
start_put_implicit(const struct piece *p)
{
	gex_Event_t *lc_opt = p->lc == LC_NOW ? GEX_EVENT_NOW
	                    : p->lc == LC_DEFER ? GEX_EVENT_DEFER : GEX_EVENT_GROUP;
	int result =
		gex_RMA_PutNBI(pt.tm, p->rank, p->there, p->here, p->len_bytes, lc_opt, p->flags);

	if (result != GASNET_OK) {
		PT_CHECK(p->flags);
		PT_OK(gex_RMA_PutNBI(pt.tm, p->rank, p->there, p->here, p->len_bytes, lc_opt, 0));
	}
	if (p->lc == LC_NOW)
		overwrite(p);
}

static void
put_implicit(struct storm_thread *self, const struct piece *p)
{
	start_put_implicit(p);
	if (p->lc != LC_NOW && p->lc != LC_DEFER) {
		gex_NBI_Wait(GEX_EC_LC, 0);
		overwrite(p);
	}
	storm_pause(&self->rng);
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

static void
put_in_region(struct storm_thread *self, const struct piece *p)
{
	gex_NBI_BeginAccessRegion(0);
	start_put_implicit(p);
	sync_event(self, gex_NBI_EndAccessRegion(0));
}

static void
put(struct storm_thread *self, const struct piece *p)
{
	if (p->len_bytes && storm_planted(PLANT_PUT))
		return;
	switch (p->way) {
	case EXPLICIT:
		put_explicit(self, p, p->flags);
		break;
	case IMPLICIT:
		put_implicit(self, p);
		break;
	case REGION:
		put_in_region(self, p);
		break;
	default:
		PT_OK(gex_RMA_PutBlocking(pt.tm, p->rank, p->there, p->here, p->len_bytes, 0));
	}
}

static void
get(struct storm_thread *self, const struct piece *p)
{
	switch (p->way) {
	case EXPLICIT:
		sync_event(self, gex_RMA_GetNB(pt.tm, p->here, p->rank, p->there, p->len_bytes, 0));
		break;
	case IMPLICIT:
		PT_OK(gex_RMA_GetNBI(pt.tm, p->here, p->rank, p->there, p->len_bytes, 0));
		storm_pause(&self->rng);
		gex_NBI_Wait(GEX_EC_GET, 0);
		break;
	case REGION:
		gex_NBI_BeginAccessRegion(0);
		PT_OK(gex_RMA_GetNBI(pt.tm, p->here, p->rank, p->there, p->len_bytes, 0));
		sync_event(self, gex_NBI_EndAccessRegion(0));
		break;
	default:
		PT_OK(gex_RMA_GetBlocking(pt.tm, p->here, p->rank, p->there, p->len_bytes, 0));
	}
}

static enum way
some_way(struct storm_thread *self)
{
	return (enum way)pt_rand_below(&self->rng, TRANSFER_WAYS);
}

void
storm_transfer(struct storm_thread *self)
{
	const uint64_t key = pt_rand(&self->rng);
	struct piece p = {
		.rank = (gex_Rank_t)pt_rand_below(&self->rng, pt.size),
		.len_bytes = storm_length(&self->rng, AREA_BYTES),
	};
	const size_t offset = pt_rand_below(&self->rng, AREA_BYTES - p.len_bytes + 1);

	p.way = some_way(self);
	p.lc = (enum lc)pt_rand_below(&self->rng, p.way == EXPLICIT ? LC_GROUP : LC_EVENT);
	if (p.way != EXPLICIT && pt_rand_below(&self->rng, 3) == 0)
		p.lc = LC_GROUP;
	p.flags = pt_rand_below(&self->rng, 4) ? 0 : GEX_FLAG_IMMEDIATE;
	p.here = self->area + offset;
	p.there = storm_area_at(p.rank, pt.rank, self->index) + offset;
	pt_fill(p.here, p.len_bytes, key);
	put(self, &p);
	storm_pause(&self->rng);
	overwrite(&p);
	p.way = some_way(self);
	get(self, &p);
	PT_MEM(p.here, p.len_bytes, key);
	self->transfers++;
}
