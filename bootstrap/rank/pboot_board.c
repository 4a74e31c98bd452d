/*
 * Barrier and exchange before the runtime has memory of its own: one shared file that all ranks
 * map.
 *
 * Pairs:  B1 (last to arrive) -> B2 (the others)   what ranks wrote before the barrier
 *         B3 (arrive) -> B3 (last to arrive)     the same, to the last
 */
#include "bootstrap/rank/pboot_rank.h"

#include "runtime/util/clock.h"
#include "runtime/util/futex.h"
#include "runtime/util/lack.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { LINE_BYTES = 64 };

struct board {
	_Atomic uint32_t arrived;	/* of the barrier under way */
	_Atomic uint32_t turn;		/* barriers done */
};

/* NULL in a job of one. */
static struct board *board;
static uint32_t board_size;
/* Exchanges done by this rank; odd and even ones use different halves, so that one barrier does:
 * who writes a half again has passed the next exchange's barrier, hence all have read the
 * former. */
static uint32_t exchanges;
static uint64_t hang_ns;

int
pboot_board_open(uint32_t size)
{
	board_size = size;
	if (size == 1)
		return 0;
	board = pboot_board_map(pboot_board_bytes(size));
	if (board)
		return 0;
	psi_log("cannot map the ranks' first shared pages: %s%s", strerror(errno), psi_lack(errno));
	return errno;
}

void
pboot_hang_after(uint64_t ns)
{
	hang_ns = ns;
}

static void
await_turn(uint32_t turn)
{
	const uint64_t start = psi_now_ns();
	bool told = hang_ns == 0;

	while (atomic_load_explicit(&board->turn, memory_order_acquire) == turn) { /* B2 */
		psi_futex_wait(&board->turn, turn, told ? 0 : hang_ns);
		if (told || psi_now_ns() - start < hang_ns)
			continue;
		told = true;
		pboot_note_hang(psi_now_ns() - start, true);
	}
}

void
pboot_barrier(void)
{
	uint32_t turn;

	if (!board)
		return;
	turn = atomic_load_explicit(&board->turn, memory_order_relaxed);
	if (atomic_fetch_add_explicit(&board->arrived, 1, memory_order_acq_rel) + 1 == board_size) { /* B3 */
		atomic_store_explicit(&board->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&board->turn, turn + 1, memory_order_release); /* B1 */
		psi_futex_wake(&board->turn, INT_MAX);
		return;
	}
	await_turn(turn);
}

void
pboot_exchange(const void *mine, size_t len_bytes, void *all_out)
{
	size_t stride = (len_bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	char *out = all_out, *half;
	uint32_t rank;

	if (!board) {
		memmove(all_out, mine, len_bytes);
		return;
	}
	half = (char *)board + PBOOT_BOARD_HEAD_BYTES +
	       (exchanges++ % 2) * pboot_board_half_bytes(board_size);
	memcpy(half + pboot_self.seat.rank * stride, mine, len_bytes);
	pboot_barrier();
	for (rank = 0; rank < board_size; rank++)
		memcpy(out + rank * len_bytes, half + rank * stride, len_bytes);
}
