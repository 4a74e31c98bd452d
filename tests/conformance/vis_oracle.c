/*
 * Vector, indexed and strided transfers of every name against a copy byte by byte: random pieces,
 * peers, forms, flags and ways to synchronise.  PT_SEED makes other ones; under the name of
 * vis_million there are that many.
 */
#include "tests/conformance/vis_shapes.h"

enum {
	ROOM = 4096,
	LARGE_ROOM = 512 * 1024,        /* more than any message */
	LARGE_EVERY = 500,
	LARGE_EVERY_UNMAPPED = 16,
	THREADS_MOST = 2,
};

enum form { FORM_BLOCKING, FORM_NB, FORM_NBI, FORM_LEGACY, FORM_LEGACY_NB, FORM_LEGACY_NBI, FORMS };

/* What one thread moves.  Areas at peers are its own. */
struct mover {
	struct pt_rng rng;
	struct shape shape;
	unsigned char *local, *model, *back;    /* own memory; what the peer's area or it must
	                                         * hold */
	unsigned char **there;                  /* [size]: what our area at each peer holds */
	char *remote;                           /* at its owner */
	gex_Rank_t rank;
	int put;
	gex_Flags_t flags;
	/* the arguments, apart from where they came from since some are scribbled over */
	void *addr[SIDES][PIECES];
	gex_Memvec_t list[SIDES][PIECES];
	gasnet_memvec_t legacy_list[SIDES][PIECES];
	ptrdiff_t stride[SIDES][LEVELS];
	size_t legacy_stride[SIDES][LEVELS], count[LEVELS + 1];
};

/* -- arguments -------------------------------------------------------------------------------- */

static char *
base_of(const struct mover *m, unsigned which)
{
	return (which == DST) == !!m->put ? m->remote : (char *)m->local;
}

static void
fill_arguments(struct mover *m)
{
	for (unsigned which = 0; which < SIDES; which++) {
		const struct shape_side *side = &m->shape.side[which];

		for (size_t i = 0; i < side->pieces && m->shape.kind != SHAPE_STRIDED; i++) {
			m->addr[which][i] = base_of(m, which) + side->offset[i];
			m->list[which][i].gex_addr = side->len[i] ? m->addr[which][i] : NULL;
			m->list[which][i].gex_len = side->len[i];
			m->legacy_list[which][i].addr = m->list[which][i].gex_addr;
			m->legacy_list[which][i].len = side->len[i];
		}
		for (size_t k = 0; k < m->shape.levels && m->shape.kind == SHAPE_STRIDED; k++) {
			m->stride[which][k] = side->stride[k];
			m->legacy_stride[which][k] = (size_t)side->stride[k];
		}
	}
	memcpy(m->count, m->shape.count, sizeof m->count);
}

/* The three arrays of a strided call are the caller's again. */
static void
scribble_strides(struct mover *m)
{
	memset(m->stride, 0x77, sizeof m->stride);
	memset(m->count, 0x77, sizeof m->count);
}

/* -- the calls -------------------------------------------------------------------------------- */

/* By form, in one kind: which of the names is called. */
#define FORMS_OF(event, blocking, nb, nbi, legacy, legacy_nb, legacy_nbi) \
	switch (form) {                                                   \
	case FORM_BLOCKING: event = blocking ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID; break; \
	case FORM_NB: event = nb; break;                                  \
	case FORM_NBI: event = nbi ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID; break; \
	case FORM_LEGACY: legacy; break;                                  \
	case FORM_LEGACY_NB: event = legacy_nb; break;                    \
	default: legacy_nbi; break;                                       \
	}

static gex_Event_t
call_vector(const struct mover *m, enum form form)
{
	const size_t dn = m->shape.side[DST].pieces, sn = m->shape.side[SRC].pieces;
	const gex_Memvec_t *d = m->list[DST], *s = m->list[SRC];
	const gasnet_memvec_t *ld = m->legacy_list[DST], *ls = m->legacy_list[SRC];
	const gex_Rank_t to = m->rank;
	const gex_Flags_t flags = m->flags;
	gex_Event_t event = GEX_EVENT_INVALID;

	if (m->put) {
		FORMS_OF(event, gex_VIS_VectorPutBlocking(pt.tm, to, dn, d, sn, s, flags),
		         gex_VIS_VectorPutNB(pt.tm, to, dn, d, sn, s, flags),
		         gex_VIS_VectorPutNBI(pt.tm, to, dn, d, sn, s, flags),
		         gasnet_putv_bulk(to, dn, ld, sn, ls),
		         gasnet_putv_nb_bulk(to, dn, ld, sn, ls),
		         gasnet_putv_nbi_bulk(to, dn, ld, sn, ls))
	} else {
		FORMS_OF(event, gex_VIS_VectorGetBlocking(pt.tm, dn, d, to, sn, s, flags),
		         gex_VIS_VectorGetNB(pt.tm, dn, d, to, sn, s, flags),
		         gex_VIS_VectorGetNBI(pt.tm, dn, d, to, sn, s, flags),
		         gasnet_getv_bulk(dn, ld, to, sn, ls),
		         gasnet_getv_nb_bulk(dn, ld, to, sn, ls),
		         gasnet_getv_nbi_bulk(dn, ld, to, sn, ls))
	}
	return event;
}

static gex_Event_t
call_indexed(const struct mover *m, enum form form)
{
	const struct shape_side *dst = &m->shape.side[DST], *src = &m->shape.side[SRC];
	const size_t dn = dst->pieces, sn = src->pieces, dl = dn ? dst->len[0] : 0,
		     sl = sn ? src->len[0] : 0;
	void *const *d = m->addr[DST], *const *s = m->addr[SRC];
	const gex_Rank_t to = m->rank;
	const gex_Flags_t flags = m->flags;
	gex_Event_t event = GEX_EVENT_INVALID;

	if (m->put) {
		FORMS_OF(event, gex_VIS_IndexedPutBlocking(pt.tm, to, dn, d, dl, sn, s, sl, flags),
		         gex_VIS_IndexedPutNB(pt.tm, to, dn, d, dl, sn, s, sl, flags),
		         gex_VIS_IndexedPutNBI(pt.tm, to, dn, d, dl, sn, s, sl, flags),
		         gasnet_puti_bulk(to, dn, d, dl, sn, s, sl),
		         gasnet_puti_nb_bulk(to, dn, d, dl, sn, s, sl),
		         gasnet_puti_nbi_bulk(to, dn, d, dl, sn, s, sl))
	} else {
		FORMS_OF(event, gex_VIS_IndexedGetBlocking(pt.tm, dn, d, dl, to, sn, s, sl, flags),
		         gex_VIS_IndexedGetNB(pt.tm, dn, d, dl, to, sn, s, sl, flags),
		         gex_VIS_IndexedGetNBI(pt.tm, dn, d, dl, to, sn, s, sl, flags),
		         gasnet_geti_bulk(dn, d, dl, to, sn, s, sl),
		         gasnet_geti_nb_bulk(dn, d, dl, to, sn, s, sl),
		         gasnet_geti_nbi_bulk(dn, d, dl, to, sn, s, sl))
	}
	return event;
}

static gex_Event_t
call_strided(const struct mover *m, enum form form)
{
	const ptrdiff_t *ds = m->stride[DST], *ss = m->stride[SRC];
	const size_t *lds = m->legacy_stride[DST], *lss = m->legacy_stride[SRC];
	const size_t *n = m->count, elem = m->shape.elem, levels = m->shape.levels;
	void *d = base_of(m, DST) + m->shape.side[DST].origin;
	void *s = base_of(m, SRC) + m->shape.side[SRC].origin;
	const gex_Rank_t to = m->rank;
	const gex_Flags_t flags = m->flags;
	gex_Event_t event = GEX_EVENT_INVALID;

	if (m->put) {
		FORMS_OF(event,
		         gex_VIS_StridedPutBlocking(pt.tm, to, d, ds, s, ss, elem, n + 1, levels,
		                                    flags),
		         gex_VIS_StridedPutNB(pt.tm, to, d, ds, s, ss, elem, n + 1, levels, flags),
		         gex_VIS_StridedPutNBI(pt.tm, to, d, ds, s, ss, elem, n + 1, levels, flags),
		         gasnet_puts_bulk(to, d, lds, s, lss, n, levels),
		         gasnet_puts_nb_bulk(to, d, lds, s, lss, n, levels),
		         gasnet_puts_nbi_bulk(to, d, lds, s, lss, n, levels))
	} else {
		FORMS_OF(event,
		         gex_VIS_StridedGetBlocking(pt.tm, d, ds, to, s, ss, elem, n + 1, levels,
		                                    flags),
		         gex_VIS_StridedGetNB(pt.tm, d, ds, to, s, ss, elem, n + 1, levels, flags),
		         gex_VIS_StridedGetNBI(pt.tm, d, ds, to, s, ss, elem, n + 1, levels, flags),
		         gasnet_gets_bulk(d, lds, to, s, lss, n, levels),
		         gasnet_gets_nb_bulk(d, lds, to, s, lss, n, levels),
		         gasnet_gets_nbi_bulk(d, lds, to, s, lss, n, levels))
	}
	return event;
}

static gex_Event_t
call(const struct mover *m, enum form form)
{
	switch (m->shape.kind) {
	case SHAPE_VECTOR: return call_vector(m, form);
	case SHAPE_INDEXED: return call_indexed(m, form);
	default: return call_strided(m, form);
	}
}

/* -- one transfer ----------------------------------------------------------------------------- */

/* The source is ours again before the put is there. */
static void
after_local_completion(struct mover *m, enum form form, gex_Event_t root, size_t room)
{
	if (form == FORM_NB)
		gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
	else
		gex_NBI_Wait(GEX_EC_LC, 0);
	memset(m->local, 0x99, room);
}

static void
synchronise(struct mover *m, enum form form, gex_Event_t event)
{
	const gex_EC_t masks[] = { m->put ? GEX_EC_PUT : GEX_EC_GET, GEX_EC_ALL };

	if (form == FORM_NB || form == FORM_LEGACY_NB) {
		if (pt_rand_below(&m->rng, 2)) {
			while (gex_Event_Test(event))
				gasnet_AMPoll();
		} else {
			gasnet_wait_syncnb(event);
		}
	} else if (form == FORM_LEGACY_NBI && m->put) {
		gasnet_wait_syncnbi_puts();
	} else if (form == FORM_LEGACY_NBI) {
		gasnet_wait_syncnbi_gets();
	} else {
		gex_NBI_Wait(masks[pt_rand_below(&m->rng, 2)], 0);
	}
}

static void
choose(struct mover *m, enum form *form)
{
	/* legacy calls name processes */
	const int any_legacy = !pt_is_thread() && (m->shape.kind != SHAPE_STRIDED ||
	                                           m->shape.ordered || !m->shape.bytes);

	*form = (enum form)pt_rand_below(&m->rng, any_legacy ? FORMS : FORM_LEGACY);
	m->flags = 0;
	if (*form == FORM_BLOCKING || *form >= FORM_LEGACY)
		return;
	if (pt_rand_below(&m->rng, 3) == 0)
		m->flags |= GEX_FLAG_IMMEDIATE;
	if (m->put && pt_rand_below(&m->rng, 3) == 0)
		m->flags |= GEX_FLAG_ENABLE_LEAF_LC;
}

static void
move(struct mover *m, size_t room)
{
	enum form form;
	gex_Event_t event;

	choose(m, &form);
	fill_arguments(m);
	event = call(m, form);
	while (event == GEX_EVENT_NO_OP) {
		PT_CHECK(m->flags & GEX_FLAG_IMMEDIATE);
		gasnet_AMPoll();
		event = call(m, form);
	}
	if (m->shape.bytes)
		scribble_strides(m);
	if (m->flags & GEX_FLAG_ENABLE_LEAF_LC)
		after_local_completion(m, form, event, room);
	synchronise(m, form, event);
}

static void
fill(struct mover *m, unsigned char *area, size_t room)
{
	for (size_t i = 0; i < room; i += sizeof(uint64_t)) {
		const uint64_t word = pt_rand(&m->rng);

		memcpy(area + i, &word, sizeof(word));
	}
}

/* The area at the peer, or for a get our memory, holds what the model says. */
static void
check(const struct mover *m, const unsigned char *got, size_t room, unsigned long number)
{
	if (memcmp(got, m->model, room) == 0)
		return;
	for (size_t i = 0; i < room; i++)
		if (got[i] != m->model[i])
			PT_FAIL("transfer %lu of seed %llu, kind %d, %s of %zu bytes to rank %u: "
			        "byte %zu is 0x%02x and should be 0x%02x",
			        number, (unsigned long long)pt.seed, (int)m->shape.kind,
			        m->put ? "put" : "get", m->shape.bytes, m->rank, i, got[i],
			        m->model[i]);
}

static void
one(struct mover *m, size_t room, unsigned long number)
{
	unsigned char *there = m->there[m->rank];

	m->put = (int)pt_rand_below(&m->rng, 2);
	shape_make(&m->rng, &m->shape, room);
	if (m->put) {
		fill(m, m->local, room);
		memcpy(m->model, there, room);
		shape_model(&m->shape, m->model, m->local);
		move(m, room);
		memcpy(there, m->model, room);
		PT_OK(gex_RMA_GetBlocking(pt.tm, m->back, m->rank, m->remote, room, 0));
		check(m, m->back, room, number);
	} else {
		fill(m, there, room);
		PT_OK(gex_RMA_PutBlocking(pt.tm, m->rank, m->remote, there, room, 0));
		memcpy(m->model, m->local, room);
		shape_model(&m->shape, m->model, there);
		move(m, room);
		check(m, m->local, room, number);
	}
}

/* -- threads ---------------------------------------------------------------------------------- */

static void *
memory(size_t nbytes)
{
	void *block = calloc(1, nbytes);

	PT_CHECK(block != NULL);
	return block;
}

static unsigned threads = 1; /* of a rank, which is one itself if it is a thread */

static void
many(unsigned index, void *arg)
{
	const unsigned long count = *(unsigned long *)arg;
	/* Of memory that is not mapped the kernel copies large pieces. */
	const gex_Rank_t unmapped = getenv("PT_SEGMENT") && pt.size > 1 ? 1 : 0;
	const unsigned long every = unmapped ? LARGE_EVERY_UNMAPPED : LARGE_EVERY;
	struct mover *m = memory(sizeof(*m));

	m->rng = pt_rng_make(pt.rank * 1000 + index);
	m->local = memory(LARGE_ROOM);
	m->model = memory(LARGE_ROOM);
	m->back = memory(LARGE_ROOM);
	m->there = memory(pt.size * sizeof(*m->there));
	for (unsigned which = 0; which < SIDES; which++)
		m->shape.side[which].at = memory(LARGE_ROOM * sizeof(size_t));
	for (gex_Rank_t r = 0; r < pt.size; r++)
		m->there[r] = memory(LARGE_ROOM);
	for (unsigned long i = 0; i < count; i++) {
		m->rank = (gex_Rank_t)pt_rand_below(&m->rng, pt.size - unmapped);
		if (unmapped)
			m->rank = (m->rank + pt.rank + 1) % pt.size;
		m->remote =
			pt.peers[m->rank].owner + (size_t)(pt.rank * threads + index) * LARGE_ROOM;
		one(m, i % every == every / 2 ? LARGE_ROOM : ROOM, i);
	}
	for (gex_Rank_t r = 0; r < pt.size; r++)
		free(m->there[r]);
	for (unsigned which = 0; which < SIDES; which++)
		free(m->shape.side[which].at);
	free(m->there);
	free(m->back);
	free(m->model);
	free(m->local);
	free(m);
}

int
main(int argc, char **argv)
{
	unsigned long count;

	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
#ifdef GASNET_PAR
	if (!pt_is_thread())
		threads = THREADS_MOST;
#endif
	pt_attach(NULL, 0, (size_t)pt.size * threads * LARGE_ROOM);
	count = strncmp(pt.name, "vis_million", 11) ? pt_scale(1500, 4000) : 1000000;
	count /= pt.size * threads;
	if (pt.rank == 0)
		printf("%lu transfers in each of %u threads of %u ranks, PT_SEED=%llu\n", count,
		       threads, (unsigned)pt.size, (unsigned long long)pt.seed);
	pt_barrier();
	pt_phase("random transfers");
	if (threads == 1)
		many(0, &count);
	else
		pt_threads(threads, many, &count);
	pt_barrier();
	pt_finish();
}
