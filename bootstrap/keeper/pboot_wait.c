/* The keeper waits here: for descriptors, for times, and for the ends of processes that are not its
 * children. */
#include "bootstrap/keeper/pboot_peers.h"

#include "runtime/util/clock.h"

#include <unistd.h>

#define MS ((uint64_t)1000000)

/* When the process that entered init has ended, the keeper's child has this long to end too.  The
 * child is that process itself or its parent. */
static const uint64_t vanish_wait_ns = 200 * MS;
static const uint64_t look_again_ns = 200 * MS;
/* The keeper tries again after this time to write the lines that it keeps. */
static const uint64_t say_again_ns = 100 * MS;

/* Must the keeper poll whether the process lives?  It must for a process that is not its child and
 * has no pidfd. */
static bool
process_needs_looks(const struct pboot_keeper *keeper, const struct pboot_keeper_rank *self)
{
	return self->init_pid != 0 && (self->init_pid != self->pid || keeper->adopts) &&
	    self->init_pidfd < 0 && self->vanish_ns == 0;
}

/* The process that entered init has ended.  Its parent, which is the keeper's child or an agent's,
 * may end a little later, and its status tells how the rank ended. */
static void
process_ended(struct pboot_keeper *keeper, uint32_t rank)
{
	if (keeper->adopts &&
	    (keeper->ranks[rank].agent_knows || !pboot_adopt_agent_knows(keeper, rank)))
		pboot_end_adopted(keeper, rank);
	else
		keeper->ranks[rank].vanish_ns = psi_now_ns() + vanish_wait_ns;
}

/* The parent has not told how the rank has ended.  An agent that is stopped cannot tell, so it is
 * continued, and has as long again. */
static void
parent_is_late(struct pboot_keeper *keeper, uint32_t rank)
{
	if (pboot_adopt_agent_call(keeper, rank)) {
		keeper->ranks[rank].vanish_ns = psi_now_ns() + vanish_wait_ns;
		return;
	}
	keeper->ranks[rank].vanish_ns = UINT64_MAX;
	pboot_keeper_event(keeper, PBOOT_EV_VANISHED, rank, 0);
}

void
pboot_wait_check_process(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (keeper->rules.ranks[rank].gone)
		return;
	if (process_needs_looks(keeper, self) && !pboot_process_lives(self->init_pid))
		process_ended(keeper, rank);
	if (self->vanish_ns == 0)
		return;
	if (keeper->adopts && !pboot_adopt_agent_knows(keeper, rank)) {
		pboot_end_adopted(keeper, rank);
	} else if (psi_now_ns() >= self->vanish_ns) {
		parent_is_late(keeper, rank);
	}
}

/* The pidfd of a process that entered init became readable: the process has ended. */
void
pboot_wait_process_ended(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (self->init_pidfd < 0)
		return;
	close(self->init_pidfd);
	self->init_pidfd = -1;
	process_ended(keeper, rank);
}

static uint64_t
process_next_look(const struct pboot_keeper *keeper, uint32_t rank, uint64_t now)
{
	const struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (keeper->rules.ranks[rank].gone)
		return UINT64_MAX;
	if (self->vanish_ns != 0)
		return self->vanish_ns;
	return process_needs_looks(keeper, self) ? now + look_again_ns : UINT64_MAX;
}

/* Must the keeper poll whether the engine's process lives? */
static bool
engine_needs_looks(const struct pboot_keeper *keeper)
{
	return keeper->engine_watched && keeper->engine_pidfd < 0;
}

static uint64_t
wait_next_deadline(const struct pboot_keeper *keeper, uint64_t now)
{
	const bool none_is_due = (keeper->stopped_ns && keeper->rules.phase == PBOOT_RUNNING) ||
	    (keeper->rules.alive == 0 && keeper->rules.phase == PBOOT_KILLING);
	uint64_t next = none_is_due ? UINT64_MAX : keeper->rules.deadline_ns;
	uint64_t other = pboot_peers_deadline(keeper);
	uint32_t i;

	next = other < next ? other : next;
	if (keeper->again_ns < next)
		next = keeper->again_ns;
	if (engine_needs_looks(keeper) && now + look_again_ns < next)
		next = now + look_again_ns;
	for (i = 0; i < keeper->plan->size; i++) {
		other = process_next_look(keeper, i, now);
		next = other < next ? other : next;
	}
	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		if (keeper->incoming[i].sock >= 0 && keeper->incoming[i].deadline_ns < next)
			next = keeper->incoming[i].deadline_ns;
	return next;
}

static int
wait_timeout_ms(const struct pboot_keeper *keeper)
{
	uint64_t now = psi_now_ns(), next = wait_next_deadline(keeper, now), ms;

	if (pboot_say_pending() && next > now + say_again_ns)
		next = now + say_again_ns;
	if (next == UINT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	ms = (next - now + 999999) / 1000000;
	return ms > 3600000 ? 3600000 : (int)ms;
}

static void
source_add(struct pboot_keeper *keeper, int fd, int kind, uint32_t rank)
{
	uint32_t at = keeper->source_count;

	if (fd < 0)
		return;
	keeper->polls[at] = (struct pollfd) { .fd = fd, .events = POLLIN };
	keeper->sources[at] = (struct pboot_source) { kind, rank };
	keeper->source_count++;
}

static void
source_add_peers(struct pboot_keeper *keeper)
{
	unsigned count = pboot_peers_fill(keeper, &keeper->polls[keeper->source_count]);

	while (count-- > 0)
		keeper->sources[keeper->source_count++] =
			(struct pboot_source) { PBOOT_SOURCE_PEERS, 0 };
}

void
pboot_wait_sources(struct pboot_keeper *keeper)
{
	uint32_t i;

	keeper->source_count = 0;
	source_add(keeper, keeper->signals, PBOOT_SOURCE_SIGNALS, 0);
	source_add(keeper, keeper->launcher_sock, PBOOT_SOURCE_LAUNCHER, 0);
	source_add(keeper, keeper->engine_pidfd, PBOOT_SOURCE_ENGINE, 0);
	source_add(keeper, keeper->listener, PBOOT_SOURCE_INCOMING, 0);
	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		source_add(keeper, keeper->incoming[i].sock, PBOOT_SOURCE_INCOMING, 0);
	for (i = 0; i < keeper->plan->size; i++) {
		source_add(keeper, keeper->ranks[i].control, PBOOT_SOURCE_RANK, i);
		source_add(keeper, keeper->ranks[i].init_pidfd, PBOOT_SOURCE_PROCESS, i);
	}
	for (i = 1; i < keeper->agent_count; i++)
		source_add(keeper, keeper->agents[i].sock, PBOOT_SOURCE_AGENT, i);
	source_add_peers(keeper);
	for (i = 0; i < keeper->source_count; i++)
		keeper->polls[i].revents = 0;
	if (pboot_poll(keeper->polls, keeper->source_count, wait_timeout_ms(keeper)) <= 0)
		keeper->source_count = 0;
}
