/*
 * A small all-gather over a team by messages between its members, used to make teams and for other
 * rare agreements.  In round r a member sends its own block and those of the 2^r - 1 ranks above it
 * to the rank 2^r below, modulo the size, and receives from the rank 2^r above.  After ceil(log2 n)
 * rounds it has all blocks.
 *
 * A peer can be at most one exchange ahead, since an exchange ends only after all members have
 * started it.  So the blocks that it sends are kept by parity of the exchange's number.  A message
 * may come before this member has started the exchange, but never before it knows the team, since
 * making a team ends with an exchange over the parent.
 *
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", 1997.
 */
#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include <stdlib.h>
#include <string.h>

/* Arguments of a message: two halves of the id, exchange, round, bytes of a block, offset in the
 * round's blocks. */
enum { WIRE_ARGS = 6 };

/* The blocks of one round. */
struct round {
	unsigned number;
	gex_Rank_t count;       /* blocks sent, and got behind as many */
	gex_Rank_t to, from;
};

static struct round
exchange_round_of(gex_TM_t tm, unsigned number)
{
	const gex_Rank_t have = (gex_Rank_t)1 << number, missing = tm->size - have;

	return (struct round){
		.number = number,
		.count = have < missing ? have : missing,
		.to = (tm->rank + tm->size - have) % tm->size,
		.from = (gex_Rank_t)(((uint64_t)tm->rank + have) % tm->size),
	};
}

/* Returns the exchange of that number, and begins it if neither this member nor a peer has.  The
 * caller holds the lock. */
static struct psi_gather_phase *
phase_open(gex_TM_t tm, uint32_t number, size_t block_bytes)
{
	struct psi_gather_phase *phase = &tm->gathers[number & 1];
	const size_t need = tm->size * block_bytes;

	if (phase->number == number) {
		if (phase->block_bytes != block_bytes)
			psi_fatal("members of a team of %u are in different collective calls over "
			          "it; all make the same calls in the same order", tm->size);
		return phase;
	}
	if (phase->room_bytes < need) {
		free(phase->blocks);
		phase->blocks = malloc(need);
		phase->room_bytes = need;
		if (!phase->blocks)
			psi_fatal("no memory for an exchange of %zu bytes", need);
	}
	memset(phase->got_bytes, 0, sizeof phase->got_bytes);
	phase->block_bytes = block_bytes;
	phase->number = number;
	return phase;
}

/* Counted as the client's when it came. */
static void
phase_count_own(size_t nbytes)
{
	uint64_t *counts = psi_block()->count;

	psi_count_add(counts, psi_count_of_kind(PSI_COUNT_RECEIVED, PSI_REQUESTS, PSI_MEDIUM),
	              (uint64_t)-1);
	psi_count_add(counts, PSI_COUNT_RECEIVED_BYTES, (uint64_t)0 - nbytes);
	psi_count(counts, PSI_COUNT_RECEIVED_INTERNAL);
}

static void
blocks_on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t low, gex_AM_Arg_t high,
                  gex_AM_Arg_t number, gex_AM_Arg_t round, gex_AM_Arg_t block_bytes,
                  gex_AM_Arg_t offset)
{
	const uint64_t id = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
	gex_TM_t tm = psi_team_find(id, token->ep);
	struct psi_gather_phase *phase;

	phase_count_own(nbytes);
	if (!tm)
		psi_team_is_gone(token->arrival->source);
	psi_spinlock_lock(&tm->gather_lock);
	phase = phase_open(tm, (uint32_t)number, (uint32_t)block_bytes);
	psi_spinlock_unlock(&tm->gather_lock);
	/* Only this thread writes these bytes, and no thread reads them before they are counted. */
	memcpy(phase->blocks + ((size_t)(uint32_t)block_bytes << round) + (uint32_t)offset, buf,
	       nbytes);
	psi_spinlock_lock(&tm->gather_lock);
	phase->got_bytes[round] += nbytes;
	psi_spinlock_unlock(&tm->gather_lock);
}

static void
blocks_send(gex_TM_t tm, const struct psi_gather_phase *phase, const struct round *round)
{
	const uint32_t place = psi_target_of(tm, round->to, "").place;
	const size_t bytes = round->count * phase->block_bytes;
	const size_t most =
		tm->ep->ops->am_max_medium(tm->ep->port, place, PSI_REQUESTS, WIRE_ARGS);

	for (size_t offset = 0; offset < bytes; offset += most) {
		const gex_AM_Arg_t args[WIRE_ARGS] = {
			(gex_AM_Arg_t)(uint32_t)tm->id, (gex_AM_Arg_t)(tm->id >> 32),
			(gex_AM_Arg_t)phase->number, (gex_AM_Arg_t)round->number,
			(gex_AM_Arg_t)phase->block_bytes, (gex_AM_Arg_t)offset,
		};
		const struct psi_am am = {
			.peer = place, .handler = PSI_HANDLER_GATHER, .category = PSI_MEDIUM,
			.network = PSI_REQUESTS, .nargs = WIRE_ARGS, .args = args,
			.payload = phase->blocks + offset,
			.len_bytes = bytes - offset < most ? bytes - offset : most,
		};

		(void)psi_am_inject(tm->ep, &am, 0);
	}
}

static bool
blocks_have_come(gex_TM_t tm, const struct psi_gather_phase *phase, const struct round *round)
{
	bool come;

	psi_spinlock_lock(&tm->gather_lock);
	come = phase->got_bytes[round->number] == round->count * phase->block_bytes;
	psi_spinlock_unlock(&tm->gather_lock);
	return come;
}

static void
blocks_wait(gex_TM_t tm, const struct psi_gather_phase *phase, const struct round *round,
            const char *call)
{
	const gex_EP_Location_t from = psi_team_location(tm, round->from);
	const struct psi_reason reason = {
		.kind = PSI_FOR_TEAM, .peer = from.gex_ep_index * psi.boot.size + from.gex_rank,
		.number = tm->id, .ep = tm->ep,
	};
	struct psi_wait wait = PSI_WAIT_FOR_ALL(call, &reason);

	while (!blocks_have_come(tm, phase, round))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

/* Blocks stand in the order of ranks from this member's on. */
static void
blocks_turn_round(gex_TM_t tm, const struct psi_gather_phase *phase, unsigned char *out)
{
	const size_t bytes = phase->block_bytes, above = tm->size - tm->rank;

	memcpy(out + tm->rank * bytes, phase->blocks, above * bytes);
	memcpy(out, phase->blocks + above * bytes, tm->rank * bytes);
}

void
psi_team_gather(gex_TM_t tm, const void *in, size_t bytes, void *out, const char *call)
{
	static const unsigned char nothing;
	struct psi_gather_phase *phase;

	/* Something must arrive. */
	psi_spinlock_lock(&tm->gather_lock);
	phase = phase_open(tm, ++tm->gathered, bytes ? bytes : 1);
	psi_spinlock_unlock(&tm->gather_lock);
	memcpy(phase->blocks, bytes ? in : &nothing, phase->block_bytes);
	for (unsigned number = 0; (gex_Rank_t)1 << number < tm->size; number++) {
		const struct round round = exchange_round_of(tm, number);

		blocks_send(tm, phase, &round);
		blocks_wait(tm, phase, &round, call);
	}
	if (bytes)
		blocks_turn_round(tm, phase, out);
	psi_spinlock_lock(&tm->gather_lock);
	phase->number = 0;
	psi_spinlock_unlock(&tm->gather_lock);
}

static void
gather_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_GATHER, (gex_AM_Fn_t)blocks_on_message);
}

static void
gather_team_ends(gex_TM_t tm, const char *call)
{
	for (unsigned parity = 0; parity < 2; parity++) {
		if (tm->gathers[parity].number)
			psi_team_in_use(call);
		free(tm->gathers[parity].blocks);
	}
}

const struct psi_module psi_exchange_module = {
	.name = "exchange", .register_handlers = gather_register, .team_ends = gather_team_ends,
};
