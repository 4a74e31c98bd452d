/* Named barriers: every matching rule, all spellings of the wait, and the result query. */
#include "tests/lib/pt.h"

#include <limits.h>
#include <sched.h>

enum {
	NAMED = 0,
	ANON = GASNET_BARRIERFLAG_ANONYMOUS,
	MISMATCH = GASNET_BARRIERFLAG_MISMATCH,
	UNNAMED = GASNET_BARRIERFLAG_UNNAMED
};
enum { WAIT, TRY, BLOCKING, STYLES };

static int style;

/* One split phase; its notify and wait may differ. */
static int
phase2(int id, int flags, int wait_id, int wait_flags)
{
	int result;

	gasnet_barrier_notify(id, flags);
	if (style != TRY)
		return gasnet_barrier_wait(wait_id, wait_flags);
	while ((result = gasnet_barrier_try(wait_id, wait_flags)) == GASNET_ERR_NOT_READY)
		sched_yield(); /* it makes progress by itself */
	return result;
}

static int
phase(int id, int flags)
{
	if (style == BLOCKING)
		return gasnet_barrier(id, flags);
	return phase2(id, flags, id, flags);
}

/* After a good phase: was it named, and how? */
static void
check_result(int named, int id)
{
	int got = ~id;
	int anonymous = gasnet_barrier_result(&got);

	if (named) {
		PT_EQ(anonymous, 0);
		PT_EQ(got, id);
	} else {
		PT_CHECK(anonymous != 0);
	}
}

static void
all_the_same(void)
{
	static const int ids[] = { 0, 1, -1, 42, INT_MAX, INT_MIN };

	for (size_t i = 0; i < PT_COUNT(ids); i++) {
		PT_OK(phase(ids[i], NAMED));
		check_result(1, ids[i]);
		PT_OK(phase((int)pt.rank + ids[i] / 2, ANON));
		check_result(0, 0);
		PT_OK(phase((int)pt.rank, UNNAMED));
		check_result(0, 0);
	}
}

/* Some are named alike, the others do not care. */
static void
some_anonymous(void)
{
	for (gex_Rank_t odd = 0; odd < pt.size; odd++) {
		PT_OK(phase(pt.rank == odd ? 77 : 5, pt.rank == odd ? NAMED : ANON));
		check_result(1, 77);
		PT_OK(phase(pt.rank == odd ? 99 : -3, pt.rank == odd ? ANON : NAMED));
		if (pt.size > 1)
			check_result(1, -3);
		else
			check_result(0, 0);
	}
}

/* One flag or one other name spoils it for everybody, and only this phase. */
static void
everybody_mismatches(void)
{
	for (gex_Rank_t odd = 0; odd < pt.size; odd++) {
		PT_EQ(phase(3, pt.rank == odd ? MISMATCH : NAMED), GASNET_ERR_BARRIER_MISMATCH);
		PT_OK(phase(3, NAMED));
		PT_EQ(phase(3, pt.rank == odd ? MISMATCH : ANON), GASNET_ERR_BARRIER_MISMATCH);
		PT_OK(phase(3, ANON));
		PT_EQ(phase(pt.rank == odd ? 1 : 2, NAMED),
		      pt.size > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
		PT_OK(phase(4, NAMED));
		check_result(1, 4);
	}
	/* two names, everyone else anonymous */
	if (pt.size > 2) {
		PT_EQ(phase((int)pt.rank, pt.rank < 2 ? NAMED : ANON), GASNET_ERR_BARRIER_MISMATCH);
		PT_OK(phase(1, UNNAMED));
	}
	/* names that differ in one bit only, or in the sign */
	if (pt.size > 1) {
		for (int bit = 0; bit < 32; bit++)
			PT_EQ(phase(pt.rank ? 0 : (int)(1u << bit), NAMED),
			      GASNET_ERR_BARRIER_MISMATCH);
		PT_OK(phase(0, NAMED));
	}
}

/* Rule 3: what the wait adds to a phase that matched. */
static void
waits_that_differ(void)
{
	/* named notify, wait that does not care */
	PT_OK(phase2(8, NAMED, 9, ANON));
	/* anonymous notify, named wait: nobody named it, any id will do */
	PT_OK(phase2(1, ANON, (int)pt.rank, NAMED));
	check_result(0, 0);
	/* named by all, the wait names another: mismatch for the caller */
	for (gex_Rank_t odd = 0; odd < pt.size; odd++) {
		int wrong = pt.rank == odd;

		PT_EQ(phase2(8, NAMED, wrong ? 9 : 8, NAMED),
		      wrong ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
		PT_OK(phase(8, NAMED));
		/* flags MISMATCH in the wait: at least the caller */
		gasnet_barrier_notify(8, NAMED);
		if (wrong)
			PT_EQ(gasnet_barrier_wait(8, MISMATCH), GASNET_ERR_BARRIER_MISMATCH);
		else
			gasnet_barrier_wait(8, NAMED);
		PT_OK(phase(8, NAMED));
	}
	/* anonymous here, named elsewhere: our wait must name it right */
	for (gex_Rank_t odd = 0; pt.size > 1 && odd < pt.size; odd++) {
		int anonymous = pt.rank == odd, result;

		PT_OK(phase2(6, anonymous ? ANON : NAMED, 6, NAMED));
		result = phase2(6, anonymous ? ANON : NAMED, anonymous ? 7 : 6, NAMED);
		if (anonymous) /* others may or may not see it */
			PT_EQ(result, GASNET_ERR_BARRIER_MISMATCH);
		else
			PT_CHECK(result == GASNET_OK || result == GASNET_ERR_BARRIER_MISMATCH);
		PT_OK(phase(6, NAMED));
	}
}

/* Until the last has notified, a try says so and changes nothing. */
static void
try_is_not_ready(void)
{
	for (gex_Rank_t late = 0; pt.size > 1 && late < pt.size; late++) {
		volatile uint32_t *word = (volatile uint32_t *)(void *)pt.base;

		*word = 0;
		PT_OK(phase(0, ANON));
		if (pt.rank == late) {
			pt_sleep_ms(5);
			for (gex_Rank_t rank = 0; rank < pt.size; rank++)
				PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, pt.peers[rank].owner, 1,
				                             4, 0));
			gasnet_barrier_notify(late % 2 ? 12 : 0, NAMED);
			PT_OK(gasnet_barrier_wait(late % 2 ? 12 : 0, NAMED));
			continue;
		}
		gasnet_barrier_notify(late % 2 ? 12 : 0, NAMED);
		for (;;) {
			int result = gasnet_barrier_try(late % 2 ? 12 : 0, NAMED);

			if (result != GASNET_ERR_NOT_READY) {
				PT_OK(result);
				PT_EQ(*word, 1); /* so it had notified */
				break;
			}
		}
	}
	PT_OK(phase(0, ANON));
}

int
main(int argc, char **argv)
{
	pt_init(&argc, &argv, 0); /* legal without legacy support */
	pt_attach(NULL, 0, 4096);
	PT_EQ(UNNAMED & ANON, ANON);
	for (unsigned long round = 0; round < pt_scale(1, 3); round++) {
		for (int turn = 0; turn <= STYLES; turn++) {
			/* at last each process in its own way */
			style = turn < STYLES ? turn : (int)(pt.rank + round) % STYLES;
			pt_phase("all the same");
			all_the_same();
			pt_phase("some anonymous");
			some_anonymous();
			pt_phase("everybody mismatches");
			everybody_mismatches();
			pt_phase("waits that differ");
			waits_that_differ();
		}
		pt_phase("try");
		try_is_not_ready();
	}
	pt_finish();
}
