/*
 * The barrier and the exchange that ranks use before the runtime has memory of its own.  Ranks of a
 * host meet in a shared file that they all map.  In a job of several hosts the last rank of a host
 * to arrive asks the keeper, which gathers from the other hosts and then wakes the ranks.
 *
 * Pairs:  B1 (last to arrive) -> B2 (the others)    what ranks wrote before the barrier
 *         B1 (the keeper) -> B2 (all)               the same, of all hosts
 *         B3 (arrive) -> B3 (last to arrive)        the same, to the last
 */
#include "bootstrap/rank/pboot_rank.h"

#include "bootstrap/share/pboot_area.h"
#include "runtime/util/clock.h"
#include "runtime/util/futex.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* NULL in a job of one rank. */
static struct pboot_area *area;
static bool several_hosts;
/* The most bytes that one round takes of a rank: the host with the most ranks bounds it. */
static uint32_t round_bytes = PBOOT_EXCHANGE_MAX;
/* Rounds that this rank has made.  Odd and even rounds use different halves, so one barrier for
 * each round is enough: a rank that writes to a half again has passed the barrier of the round in
 * between, and before that barrier all ranks have read the half. */
static uint32_t rounds;
static uint64_t hang_ns;

/* The number of ranks on the host that has the most; 0 if memory is missing. */
static uint32_t
ranks_on_fullest_host(const struct pboot_hosts *hosts, uint32_t size)
{
	uint32_t *ranks_of = calloc(hosts->count, sizeof *ranks_of), most = 0, rank, host;

	for (rank = 0; ranks_of && rank < size; rank++) {
		host = hosts->host_of[rank];
		if (++ranks_of[host] > most)
			most = ranks_of[host];
	}
	free(ranks_of);
	return most;
}

static int
exchange_bound_rounds(const struct pboot_hosts *hosts, uint32_t size)
{
	const uint32_t most = ranks_on_fullest_host(hosts, size);

	if (most == 0)
		return ENOMEM;
	several_hosts = true;
	if (round_bytes > PBOOT_AREA_HOST_BYTES / most)
		round_bytes = PBOOT_AREA_HOST_BYTES / most;
	return 0;
}

int
pboot_exchange_open(const struct pboot_hosts *hosts)
{
	const uint32_t size = pboot_self.startup.size;
	int err = 0;

	if (size == 1)
		return 0;
	if (hosts->count > 1)
		err = exchange_bound_rounds(hosts, size);
	if (!err && !(area = pboot_exchange_map(pboot_area_bytes(size))))
		err = errno;
	if (err)
		psi_log("cannot map the ranks' first shared pages: %s%s", strerror(err),
		    psi_limit_hint(err));
	return err;
}

struct pboot_area *
pboot_exchange_area(void)
{
	return area;
}

void
pboot_hang_after(uint64_t ns)
{
	hang_ns = ns;
}

static void
area_await_turn(uint32_t turn)
{
	const uint64_t start = psi_now_ns();
	bool reported = hang_ns == 0;

	/* With several hosts, the keeper does B1, in pboot_peers_gathered. */
	while (atomic_load_explicit(
		       &area->turn,
		       memory_order_acquire) == turn) { /* B2: acquire, from B1 in area_meet */
		psi_futex_wait(&area->turn, turn, reported ? 0 : hang_ns);
		if (reported || psi_now_ns() - start < hang_ns)
			continue;
		reported = true;
		pboot_note_hang(psi_now_ns() - start, true);
	}
}

/* All ranks of this host have arrived.  The keeper ends the turn when all other hosts have.  The
 * message to it orders what was written before. */
static void
area_pass_on(uint32_t half, uint32_t len_bytes)
{
	atomic_store_explicit(&area->half, half, memory_order_relaxed);
	atomic_store_explicit(&area->len_bytes, len_bytes, memory_order_relaxed);
	pboot_ask_gather();
}

/* Returns when all ranks of the job have arrived, with their blocks of len_bytes in that half. */
static void
area_meet(uint32_t half, uint32_t len_bytes)
{
	uint32_t turn, before;

	turn = atomic_load_explicit(&area->turn, memory_order_relaxed);
	before = atomic_fetch_add_explicit(
		&area->arrived, 1,
		memory_order_acq_rel); /* B3: acquire and release, among the ranks that arrive */
	if (before + 1 == pboot_self.startup.local_size) {
		atomic_store_explicit(&area->arrived, 0, memory_order_relaxed);
		if (several_hosts) {
			area_pass_on(half, len_bytes);
		} else {
			atomic_store_explicit(&area->turn, turn + 1,
			    memory_order_release); /* B1: release, to B2 in area_await_turn */
			psi_futex_wake(&area->turn, INT_MAX);
			return;
		}
	}
	area_await_turn(turn);
}

void
pboot_barrier(void)
{
	if (area)
		area_meet(0, 0);
}

/* Makes one round: takes len_bytes from each rank, and writes them to `out', out_stride bytes
 * apart. */
static void
exchange_round(const char *mine, uint32_t len_bytes, char *out, size_t out_stride)
{
	const uint32_t size = pboot_self.startup.size, half = rounds++ % 2;
	uint32_t rank;

	memcpy(pboot_area_block(area, size, half, len_bytes, pboot_self.startup.rank), mine,
	    len_bytes);
	area_meet(half, len_bytes);
	for (rank = 0; rank < size; rank++)
		memcpy(out + rank * out_stride,
		    pboot_area_block(area, size, half, len_bytes, rank), len_bytes);
}

void
pboot_exchange(const void *mine, size_t len_bytes, void *all_out)
{
	size_t from = 0, part;

	if (!area) {
		memmove(all_out, mine, len_bytes);
		return;
	}
	while (from < len_bytes) {
		part = len_bytes - from < round_bytes ? len_bytes - from : round_bytes;
		exchange_round((const char *)mine + from, (uint32_t)part, (char *)all_out + from,
		    len_bytes);
		from += part;
	}
}
