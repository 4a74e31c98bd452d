/* What the keeper waits for: descriptors, times, and the ends of processes that are not its
 * children. */
#include "bootstrap/keeper/pboot_keeper.h"

#include "runtime/util/clock.h"

#include <unistd.h>

#define MS ((uint64_t)1000000)

/* How long a rank's child has to report the end of the process that was in init. */
static const uint64_t vanish_wait_ns = 200 * MS;
static const uint64_t look_again_ns = 200 * MS;
/* When a reader of standard error that took nothing is tried again. */
static const uint64_t say_again_ns = 100 * MS;

/* A process in init that is no child of ours, without pidfd: nothing tells of its end but
 * looking. */
static bool
wants_looking(const struct pboot_keeper_rank *self)
{
	return self->init_pid != 0 && self->init_pid != self->pid && self->init_pidfd < 0 &&
	    self->vanish_ns == 0;
}

void
pboot_watch_lost(struct pboot_keeper *keeper, uint32_t rank)
{
	uint64_t now = psi_now_ns();
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (keeper->rules.ranks[rank].gone)
		return;
	if (wants_looking(self) && !pboot_process_lives(self->init_pid))
		self->vanish_ns = now + vanish_wait_ns;
	if (self->vanish_ns == 0 || now < self->vanish_ns)
		return;
	self->vanish_ns = UINT64_MAX;
	pboot_keeper_event(keeper, PBOOT_EV_VANISHED, rank, 0);
}

/* The pidfd of a process in init became readable: it has ended. */
void
pboot_watch_ended(struct pboot_keeper_rank *self)
{
	if (self->init_pidfd < 0)
		return;
	close(self->init_pidfd);
	self->init_pidfd = -1;
	self->vanish_ns = psi_now_ns() + vanish_wait_ns;
}

static uint64_t
vanish_deadline(const struct pboot_keeper *keeper, uint32_t rank, uint64_t now)
{
	const struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (keeper->rules.ranks[rank].gone)
		return UINT64_MAX;
	if (self->vanish_ns != 0)
		return self->vanish_ns;
	return wants_looking(self) ? now + look_again_ns : UINT64_MAX;
}

static uint64_t
next_deadline(const struct pboot_keeper *keeper, uint64_t now)
{
	uint64_t next = keeper->stopped_ns && keeper->rules.phase == PBOOT_RUNNING ?
	    UINT64_MAX : keeper->rules.deadline_ns;
	uint64_t other;
	uint32_t i;

	if (keeper->again_ns < next)
		next = keeper->again_ns;
	for (i = 0; i < keeper->plan->size; i++) {
		other = vanish_deadline(keeper, i, now);
		next = other < next ? other : next;
	}
	for (i = 0; i < PBOOT_CALLERS_MAX; i++)
		if (keeper->callers[i].sock >= 0 && keeper->callers[i].deadline_ns < next)
			next = keeper->callers[i].deadline_ns;
	return next;
}

static int
timeout_ms(const struct pboot_keeper *keeper)
{
	uint64_t now = psi_now_ns(), next = next_deadline(keeper, now), ms;

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
watch(struct pboot_keeper *keeper, int fd, int kind, uint32_t rank)
{
	uint32_t at = keeper->watch_count;

	if (fd < 0)
		return;
	keeper->polls[at] = (struct pollfd) { .fd = fd, .events = POLLIN };
	keeper->watches[at] = (struct pboot_watch) { kind, rank };
	keeper->watch_count++;
}

void
pboot_watch_wait(struct pboot_keeper *keeper)
{
	uint32_t i;

	keeper->watch_count = 0;
	watch(keeper, keeper->signals, PBOOT_WATCH_SIGNALS, 0);
	watch(keeper, keeper->launcher_sock, PBOOT_WATCH_LAUNCHER, 0);
	watch(keeper, keeper->listener, PBOOT_WATCH_CALLERS, 0);
	for (i = 0; i < PBOOT_CALLERS_MAX; i++)
		watch(keeper, keeper->callers[i].sock, PBOOT_WATCH_CALLERS, 0);
	for (i = 0; i < keeper->plan->size; i++) {
		watch(keeper, keeper->ranks[i].control, PBOOT_WATCH_RANK, i);
		watch(keeper, keeper->ranks[i].init_pidfd, PBOOT_WATCH_PROCESS, i);
	}
	if (pboot_poll(keeper->polls, keeper->watch_count, timeout_ms(keeper)) <= 0)
		keeper->watch_count = 0;
}
