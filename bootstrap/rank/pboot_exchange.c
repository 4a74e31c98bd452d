/*
 * Barrier and exchange before the runtime has memory of its own, in one shared file that all ranks
 * map.
 *
 * Pairs:  B1 (last to arrive) -> B2 (the others)    what ranks wrote before the barrier
 *         B3 (arrive) -> B3 (last to arrive)        the same, to the last
 */
#include "bootstrap/rank/pboot_rank.h"

#include "runtime/util/clock.h"
#include "runtime/util/futex.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE_BYTES = 64 };

struct exchange_area {
	_Atomic uint32_t arrived;	/* ranks that have entered the current barrier */
	_Atomic uint32_t turn;		/* barriers that are complete */
};

/* NULL in a job of one rank. */
static struct exchange_area *area;
static uint32_t area_size;
/* Exchanges that this rank has made.  Odd and even ones use different halves, so one barrier for
 * each is enough: a rank that writes to a half again has passed the barrier of the exchange in
 * between, and before that barrier all ranks have read the half. */
static uint32_t exchanges;
static uint64_t hang_ns;

int
pboot_exchange_open(uint32_t size)
{
	area_size = size;
	if (size == 1)
		return 0;
	area = pboot_exchange_map(pboot_exchange_bytes(size));
	if (area)
		return 0;
	psi_log("cannot map the ranks' first shared pages: %s%s", strerror(errno),
	        psi_limit_hint(errno));
	return errno;
}

void
pboot_hang_after(uint64_t ns)
{
	hang_ns = ns;
}

static void
barrier_await_turn(uint32_t turn)
{
	const uint64_t start = psi_now_ns();
	bool reported = hang_ns == 0;

	while (atomic_load_explicit(&area->turn, memory_order_acquire) == turn) { /* B2, from B1 */
		psi_futex_wait(&area->turn, turn, reported ? 0 : hang_ns);
		if (reported || psi_now_ns() - start < hang_ns)
			continue;
		reported = true;
		pboot_note_hang(psi_now_ns() - start, true);
	}
}

void
pboot_barrier(void)
{
	uint32_t turn, before;

	if (!area)
		return;
	turn = atomic_load_explicit(&area->turn, memory_order_relaxed);
	before = atomic_fetch_add_explicit(&area->arrived, 1, memory_order_acq_rel); /* B3, to B3 */
	if (before + 1 == area_size) {
		atomic_store_explicit(&area->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&area->turn, turn + 1, memory_order_release); /* B1, to B2 */
		psi_futex_wake(&area->turn, INT_MAX);
		return;
	}
	barrier_await_turn(turn);
}

void
pboot_exchange(const void *mine, size_t len_bytes, void *all_out)
{
	size_t stride = (len_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	char *out = all_out, *half;
	uint32_t rank;

	if (!area) {
		memmove(all_out, mine, len_bytes);
		return;
	}
	half = (char *)area + PBOOT_EXCHANGE_HEAD_BYTES +
	       (exchanges++ % 2) * pboot_exchange_half_bytes(area_size);
	memcpy(half + pboot_self.startup.rank * stride, mine, len_bytes);
	pboot_barrier();
	for (rank = 0; rank < area_size; rank++)
		memcpy(out + rank * len_bytes, half + rank * stride, len_bytes);
}
