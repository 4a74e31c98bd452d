/*
 * Put with signal in every form, size and kind of signal, round a ring: each rank sends to the next
 * one, which waits for the signal, finds all of the payload and nothing else changed, and gives a
 * credit.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

enum {
	MOST = 300000,
	ROOM = MOST + 4096,
	GAP = 24,               /* between the two pieces of a destination */
	INBOX = 64,             /* offsets in the segment; the words come first */
	SEGMENT = INBOX + ROOM,
};

enum form {
	MEMPUT, MEMPUT_NB, MEMPUT_NBI,
	PUT, PUT_NB_NOW, PUT_NB_DEFER, PUT_NB_LEAF, PUT_NBI_NOW, PUT_NBI_DEFER, PUT_NBI_GROUP,
	PUT_LOCAL, PUT_NB_LOCAL, PUT_NBI_LOCAL,
	PUTVAL, PUTVAL_NB, PUTVAL_NBI,
	PUTV, PUTV_NB, PUTV_NBI, PUTV_NB_LOCAL,
	PUTI, PUTI_NB, PUTI_NBI,
	PUTS, PUTS_NB, PUTS_NBI, PUTS_NB_LEAF,
	FORMS
};

enum word { ADDED, SET_TO, WORDS };

static PT_OWN pst_sem_set_t set; /* 0: signals, 1: credits */
static PT_OWN uint64_t added;    /* what the word has that the one before adds to */
static PT_OWN uint64_t round_no;
static PT_OWN char source[2 * ROOM];

static gex_Rank_t next(void) { return (pt.rank + 1) % pt.size; }
static gex_Rank_t before(void) { return (pt.rank + pt.size - 1) % pt.size; }

static uint64_t *
words_of(gex_Rank_t rank)
{
	return (uint64_t *)(void *)pt.peers[rank].owner;
}

static uint64_t
key_of(gex_Rank_t sender)
{
	return round_no * 1000 + sender;
}

/* -- shapes: one stream of bytes, cut differently on both sides -------------------------------- */

/* The destination lies in two pieces with a gap. */
static size_t
first_piece(size_t nbytes)
{
	return nbytes / 3;
}

static gex_Event_t
put_vector(enum form form, char *dst, char *src, size_t nbytes, const pst_signal_t *sig)
{
	static PT_OWN gex_Memvec_t to[2], from[3];
	const size_t cut = first_piece(nbytes);
	gex_Flags_t flags = form == PUTV_NB_LOCAL ? PST_FLAG_LOCAL_ONLY : 0;

	to[0].gex_addr = dst, to[0].gex_len = cut;
	to[1].gex_addr = dst + cut + GAP, to[1].gex_len = nbytes - cut;
	from[0].gex_addr = src, from[0].gex_len = nbytes / 2;
	from[1].gex_addr = NULL, from[1].gex_len = 0;
	from[2].gex_addr = src + nbytes / 2, from[2].gex_len = nbytes - nbytes / 2;
	switch (form) {
	case PUTV:
		PT_OK(pst_putv_signal(pt.tm, next(), 2, to, 3, from, sig, 0));
		return GEX_EVENT_INVALID;
	case PUTV_NBI:
		PT_OK(pst_putv_signal_nbi(pt.tm, next(), 2, to, 3, from, sig, 0));
		return GEX_EVENT_INVALID;
	default:
		return pst_putv_signal_nb(pt.tm, next(), 2, to, 3, from, sig, flags);
	}
}

/* Two pieces of one length there, as many of half of it here; odd sizes leave a rest. */
static gex_Event_t
put_indexed(enum form form, char *dst, char *src, size_t nbytes, const pst_signal_t *sig)
{
	static PT_OWN void *to[2], *from[4];
	const size_t quarter = nbytes / 4;

	to[0] = dst, to[1] = dst + 2 * quarter + GAP;
	for (size_t i = 0; i < 4; i++)
		from[i] = src + i * quarter;
	switch (form) {
	case PUTI:
		PT_OK(pst_puti_signal(pt.tm, next(), 2, to, 2 * quarter, 4, from, quarter, sig, 0));
		return GEX_EVENT_INVALID;
	case PUTI_NBI:
		PT_OK(pst_puti_signal_nbi(pt.tm, next(), 2, to, 2 * quarter, 4, from, quarter, sig,
		                          0));
		return GEX_EVENT_INVALID;
	default:
		return pst_puti_signal_nb(pt.tm, next(), 2, to, 2 * quarter, 4, from, quarter, sig,
		                          0);
	}
}

/* Two halves: GAP apart there, 8 bytes apart here. */
static gex_Event_t
put_strided(enum form form, char *dst, char *src, size_t nbytes, const pst_signal_t *sig)
{
	const size_t half = nbytes / 2, count[1] = { 2 };
	const ptrdiff_t to[1] = { (ptrdiff_t)half + GAP }, from[1] = { (ptrdiff_t)half + 8 };
	gex_Flags_t flags = form == PUTS_NB_LEAF ? GEX_FLAG_ENABLE_LEAF_LC : 0;

	memmove(src + half + 8, src + half, nbytes - half);
	switch (form) {
	case PUTS:
		PT_OK(pst_puts_signal(pt.tm, next(), dst, to, src, from, half, count, 1, sig, 0));
		return GEX_EVENT_INVALID;
	case PUTS_NBI:
		PT_OK(pst_puts_signal_nbi(pt.tm, next(), dst, to, src, from, half, count, 1, sig,
		                          0));
		return GEX_EVENT_INVALID;
	default:
		return pst_puts_signal_nb(pt.tm, next(), dst, to, src, from, half, count, 1, sig,
		                          flags);
	}
}

/* -- one transfer ------------------------------------------------------------------------------ */

static gex_RMA_Value_t
value_of(const char *src, size_t nbytes)
{
	gex_RMA_Value_t value = 0;

	memcpy(&value, src, nbytes); /* little endian, as all that this is tested on */
	return value;
}

/* Starts it; the event, or GEX_EVENT_INVALID. */
static gex_Event_t
start(enum form form, char *dst, char *src, size_t nbytes, const pst_signal_t *sig,
      gex_Event_t *leaf)
{
	const pst_sem_ref_t ref = sig->pst_ref;
	const unsigned n = sig->pst_n;

	switch (form) {
	case MEMPUT:
		pst_memput_signal(pt.tm, next(), dst, src, nbytes, ref, n);
		return GEX_EVENT_INVALID;
	case MEMPUT_NB:
		return pst_memput_signal_nb(pt.tm, next(), dst, src, nbytes, ref, n, 0);
	case MEMPUT_NBI:
		PT_OK(pst_memput_signal_nbi(pt.tm, next(), dst, src, nbytes, ref, n, 0));
		return GEX_EVENT_INVALID;
	case PUT:
		PT_OK(pst_put_signal(pt.tm, next(), dst, src, nbytes, sig, 0));
		return GEX_EVENT_INVALID;
	case PUT_LOCAL:
		PT_OK(pst_put_signal(pt.tm, next(), dst, src, nbytes, sig, PST_FLAG_LOCAL_ONLY));
		return GEX_EVENT_INVALID;
	case PUT_NB_NOW:
		return pst_put_signal_nb(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_NOW, 0);
	case PUT_NB_DEFER:
		return pst_put_signal_nb(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_DEFER, 0);
	case PUT_NB_LEAF:
		return pst_put_signal_nb(pt.tm, next(), dst, src, nbytes, sig, leaf, 0);
	case PUT_NB_LOCAL:
		return pst_put_signal_nb(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_DEFER,
		                         PST_FLAG_LOCAL_ONLY);
	case PUT_NBI_NOW:
		PT_OK(pst_put_signal_nbi(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_NOW, 0));
		return GEX_EVENT_INVALID;
	case PUT_NBI_DEFER:
		PT_OK(pst_put_signal_nbi(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_DEFER, 0));
		return GEX_EVENT_INVALID;
	case PUT_NBI_GROUP:
		PT_OK(pst_put_signal_nbi(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_GROUP, 0));
		return GEX_EVENT_INVALID;
	case PUT_NBI_LOCAL:
		PT_OK(pst_put_signal_nbi(pt.tm, next(), dst, src, nbytes, sig, GEX_EVENT_NOW,
		                         PST_FLAG_LOCAL_ONLY));
		return GEX_EVENT_INVALID;
	case PUTVAL:
		PT_OK(pst_putval_signal(pt.tm, next(), dst, value_of(src, nbytes), nbytes, sig, 0));
		return GEX_EVENT_INVALID;
	case PUTVAL_NB:
		return pst_putval_signal_nb(pt.tm, next(), dst, value_of(src, nbytes), nbytes, sig,
		                            0);
	case PUTVAL_NBI:
		PT_OK(pst_putval_signal_nbi(pt.tm, next(), dst, value_of(src, nbytes), nbytes, sig,
		                            0));
		return GEX_EVENT_INVALID;
	case PUTV: case PUTV_NB: case PUTV_NBI: case PUTV_NB_LOCAL:
		return put_vector(form, dst, src, nbytes, sig);
	case PUTI: case PUTI_NB: case PUTI_NBI:
		return put_indexed(form, dst, src, nbytes, sig);
	default:
		return put_strided(form, dst, src, nbytes, sig);
	}
}

/* May the source be overwritten when the call has returned? */
static int
is_source_free(enum form form)
{
	return form == MEMPUT || form == PUT || form == PUT_LOCAL || form == PUT_NB_NOW ||
	       form == PUT_NBI_NOW || form == PUT_NBI_LOCAL ||
	       (form >= PUTVAL && form <= PUTVAL_NBI);
}

static void
complete(enum form form, gex_Event_t event, gex_Event_t leaf, size_t nbytes)
{
	if (is_source_free(form))
		memset(source, 0xee, nbytes);
	if (form == PUT_NB_LEAF) {
		gex_Event_Wait(leaf);
		memset(source, 0xee, nbytes);
	}
	if (form == PUT_NBI_GROUP || form == MEMPUT_NBI) {
		gex_NBI_Wait(GEX_EC_LC, 0);
		memset(source, 0xee, nbytes);
	}
	if (form == PUTS_NB_LEAF)
		gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
	gex_Event_Wait(event);
	gex_NBI_Wait(GEX_EC_ALL, 0);
	memset(source, 0xee, nbytes);
}

/* How many of the bytes lie before the gap; all, if there is none. */
static size_t
before_gap(enum form form, size_t nbytes)
{
	if (form >= PUTV && form <= PUTV_NB_LOCAL)
		return first_piece(nbytes);
	return form >= PUTI ? nbytes / 2 : nbytes;
}

/* Sizes that a shape can have. */
static size_t
rounded(enum form form, size_t nbytes)
{
	if (form >= PUTI && form <= PUTI_NBI)
		return nbytes / 4 * 4;
	return form >= PUTS ? nbytes / 2 * 2 : nbytes;
}

static void
check_inbox(enum form form, size_t nbytes)
{
	const unsigned char *in = (unsigned char *)pt.base + INBOX;
	const size_t cut = before_gap(form, nbytes), gap = cut < nbytes ? GAP : 0;

	for (size_t i = 0; i < nbytes + gap + 8; i++) {
		unsigned char want = 0xaa;

		if (i < cut)
			want = pt_byte(key_of(before()), i);
		else if (i >= cut + gap && i < nbytes + gap)
			want = pt_byte(key_of(before()), i - gap);
		if (in[i] != want)
			PT_FAIL("form %d, %zu bytes: byte %zu is %d, not %d", form, nbytes, i,
			        in[i], want);
	}
}

static pst_signal_t
signal_of(unsigned what)
{
	if (what == PST_SIGNAL_SEM)
		return pst_signal_sem(pst_sem_set_ref(set, next(), 0), 2);
	if (what == PST_SIGNAL_ADD)
		return pst_signal_word(what, words_of(next()) + ADDED, 3);
	return pst_signal_word(what, words_of(next()) + SET_TO, round_no);
}

static void
await(unsigned what)
{
	uint64_t seen = 0;

	if (what == PST_SIGNAL_SEM) {
		pst_sem_wait(pst_sem_set_mine(set, 0), 2);
	} else if (what == PST_SIGNAL_ADD) {
		added += 3;
		PT_EQ(pst_signal_wait(pt.ep, words_of(pt.rank) + ADDED, PST_CMP_GE, added), added);
	} else {
		while (!pst_signal_test(pt.ep, words_of(pt.rank) + SET_TO, PST_CMP_EQ, round_no,
		                        &seen))
			;
		PT_EQ(seen, round_no);
	}
}

static void
step(enum form form, unsigned what, size_t nbytes)
{
	pst_signal_t sig;
	gex_Event_t event, leaf = GEX_EVENT_INVALID;

	nbytes = rounded(form, nbytes);
	memset(pt.base + INBOX, 0xaa, nbytes + GAP + 8);
	/* it is clear: say so to the one before, and hear it of the next */
	PT_OK(pst_sem_post(pt.tm, before(), pst_sem_set_ref(set, before(), 1), 1, 0));
	pst_sem_wait(pst_sem_set_mine(set, 1), 1);
	round_no++;
	sig = signal_of(what);
	pt_fill(source, nbytes, key_of(pt.rank));
	event = start(form, pt.peers[next()].owner + INBOX, source, nbytes, &sig, &leaf);
	memset(&sig, 0, sizeof sig); /* it was copied */
	await(what);
	check_inbox(form, nbytes);
	complete(form, event, leaf, nbytes);
}

static void
puts_all(void)
{
	static const size_t sizes[] = {
		0, 1, 4, 7, 8, 13, 16, 64, 1000, 4096, 65000, 100000, MOST
	};

	for (int form = 0; form < FORMS; form++) {
		const int value = form >= PUTVAL && form <= PUTVAL_NBI;

		for (unsigned i = 0; i < PT_COUNT(sizes); i++) {
			if (value && (sizes[i] == 0 || sizes[i] > 8))
				continue;
			if (pt.level == PT_QUICK && sizes[i] > 5000 && (form % 3 || pt_is_thread()))
				continue;
			step((enum form)form, PST_SIGNAL_SEM, sizes[i]);
			if (form <= MEMPUT_NBI)
				continue;
			step((enum form)form, PST_SIGNAL_ADD, sizes[i]);
			step((enum form)form, PST_SIGNAL_SET, sizes[i]);
		}
	}
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, SEGMENT);
	PT_OK(pst_sem_set_create(pt.tm, 2, PST_SEM_SPRODUCER | PST_SEM_SCONSUMER, &set, 0));
	pt_phase("puts");
	puts_all();
	pt_barrier();
	pst_sem_set_destroy(set, 0);
	pt_finish();
}
