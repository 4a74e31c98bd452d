/* Offload as a module of the library, and as the device of collectives. */
#include "offload/offload.h"

#include "offload/wire.h"

#include "coll/coll.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"
#include "runtime/util/spinlock.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* So long a sleep is at most, where devices do not wake who waits for them, or not for what. */
enum { DEVICE_SLEEP_NS = 1000 * 1000 };
/* So long a process that ends waits for members that may need it, at most. */
static const uint64_t EXIT_NS = 10000000000;

static struct psi_spinlock lock;
static _Atomic bool in_use;     /* some team uses a device, or is about to */

void poff_lock(void) { psi_spinlock_lock(&lock); }
bool poff_try_lock(void) { return psi_spinlock_try(&lock); }
void poff_unlock(void) { psi_spinlock_unlock(&lock); }

/* -- the device of collectives ----------------------------------------------------------------- */

/* What the devices of the job take in calls that are worth it; constant after init. */
static size_t longest_broadcast, longest_reduction, longest_gather, longest_scatter;

/* An operation in which a side has a block of each member. */
static bool
blocks_are_served(const struct pcoll_shape *shape, size_t longest)
{
	return shape->len_bytes && shape->len_bytes <= longest / shape->size;
}

static bool
offload_serves(const struct pcoll_shape *shape)
{
	switch (shape->operation) {
	case PCOLL_BARRIER:
		return shape->layout;   /* where all share memory, flags are faster */
	case PCOLL_BROADCAST:
		return shape->len_bytes <= longest_broadcast;
	case PCOLL_REDUCE_TO_ALL:
		return !shape->ordered && !shape->reproducible &&
		       shape->len_bytes <= longest_reduction;
	case PCOLL_GATHER_ALL:
		return blocks_are_served(shape, longest_gather);
	case PCOLL_REDUCE_SCATTER:
		return !shape->ordered && !shape->reproducible &&
		       blocks_are_served(shape, longest_scatter);
	default:
		return false;
	}
}

static size_t
longest_of(uint64_t ops)
{
	const uint64_t payload = poff_devices_payload(ops);
	const size_t longest = payload < SIZE_MAX / POFF_PIECES ? payload * POFF_PIECES : SIZE_MAX;

	return longest < POFF_KEPT_BYTES ? POFF_KEPT_BYTES : longest;
}

static uint64_t
offload_begin(gex_TM_t tm, enum pcoll_device_line line, uint32_t count)
{
	uint64_t number;

	poff_lock();
	number = tm->device_steps[line];
	tm->device_steps[line] += count;
	poff_unlock();
	return number;
}

static enum pcoll_device_result
offload_step(struct pcoll_op *op, enum pcoll_device_line line, uint64_t number,
             const struct pcoll_act *act)
{
	enum pcoll_device_result result;
	struct poff_team *team;

	if (!atomic_load_explicit(&in_use, memory_order_relaxed)) {
		poff_watch_start();
		atomic_store_explicit(&in_use, true, memory_order_relaxed);
		atomic_store_explicit(&psi.device_sleep_ns, DEVICE_SLEEP_NS, memory_order_relaxed);
	}
	poff_lock();
	poff_teams_changed();
	team = poff_team_of(op->call.tm, line);
	result = poff_step(team, op, number, act);
	if (result != PCOLL_DEVICE_AGAIN)
		poff_count(team, POFF_COUNT_OFFERED);
	poff_unlock();
	return result;
}

static void
offload_compare(struct pcoll_op *op, enum pcoll_device_line line, uint64_t number,
                const struct pcoll_act *act)
{
	poff_lock();
	poff_verify_compare(op->call.tm->offload[line], op, number, act);
	poff_unlock();
}

/* Constant after init. */
static struct pcoll_device device = {
	.serves = offload_serves, .begin = offload_begin, .step = offload_step,
	.compare = offload_compare,
};

/* -- sleeping ---------------------------------------------------------------------------------- */

/* A thread that is in a provider's call sees to it. */
static unsigned
offload_fds(int *fds_out, uint64_t *most_ns_out)
{
	unsigned count;

	*most_ns_out = 0;
	if (!atomic_load_explicit(&in_use, memory_order_relaxed))
		return 0;
	*most_ns_out = DEVICE_SLEEP_NS;
	if (!poff_try_lock())
		return 0;
	count = poff_teams_fds(fds_out, DEVICE_SLEEP_NS, most_ns_out);
	poff_unlock();
	return count;
}

/* -- packets of built-in providers, under the lock --------------------------------------------- */

int
poff_wire_send(uint64_t key, uint32_t to, const void *packet, size_t nbytes)
{
	struct poff_team *team = poff_team_find(key);

	if (!team)
		return PST_OFF_FAIL;
	poff_send(&team->channel, to, POFF_PACKET, 0, packet, nbytes);
	return PST_OFF_OK;
}

size_t
poff_wire_take(uint64_t key, uint32_t *from_out, void *packet_out)
{
	struct poff_team *team = poff_team_find(key);
	struct poff_message *message = team ? poff_take(&team->channel, POFF_PACKET, 0) : NULL;
	size_t len_bytes;

	if (!message)
		return 0;
	len_bytes = message->len_bytes < POFF_PACKET_BYTES ? message->len_bytes
	                                                   : POFF_PACKET_BYTES;
	memcpy(packet_out, message->payload, len_bytes);
	*from_out = message->from;
	free(message);
	return len_bytes;
}

/* -- the module -------------------------------------------------------------------------------- */

/* Other members may still find out that they lack a result that is here.  By a thread that may
 * poll. */
static void
teams_wait(void)
{
	const uint64_t began = psi_now_ns();
	uint64_t need_ns = EXIT_NS;

	do {
		(void)psi_poll();
		sched_yield();
		if (!poff_try_lock())
			continue;
		need_ns = poff_teams_need_ns();
		poff_unlock();
		if (!need_ns)
			return;
	} while (psi_now_ns() - began < EXIT_NS &&
	         psi_now_ns() - began < 4 * (need_ns < EXIT_NS ? need_ns : EXIT_NS));
}

/* Once: by gasnet_exit, or by exit.  A thread that is in a provider's call for ever has the
 * lock. */
static void
offload_end(int status)
{
	static _Atomic bool over;

	if (!pcoll_device || psi_is_forked_child() || atomic_exchange(&over, true) ||
	    !poff_try_lock())
		return;
	poff_teams_changed();
	if (status == 0)
		poff_teams_close();
	poff_unlock();
	if (status == 0 && !atomic_load_explicit(&psi_block()->handler, memory_order_relaxed))
		teams_wait();
	if (!poff_try_lock())
		return;
	if (status == 0)
		poff_teams_tell_leaving();
	poff_teams_stats();
	poff_devices_stats();
	if (poff_teams_are_gone())
		poff_devices_close();
	poff_unlock();
}

static void
end_on_exit(int status, void *unused)
{
	(void)unused;
	offload_end(status);
}

static void
offload_open(void)
{
	if (psi.boot.size == 1)
		return;
	device.scopes = poff_devices_agree();
	if (!device.scopes)
		return;
	device.verifies = poff_verifies();
	longest_broadcast = longest_of(PST_OFF_BCAST);
	longest_reduction = longest_of(PST_OFF_REDUCE | PST_OFF_ALLREDUCE);
	if (poff_devices_payload(PST_OFF_GATHER_ALL))
		longest_gather = longest_of(PST_OFF_GATHER_ALL);
	if (poff_devices_payload(PST_OFF_REDUCE_SCATTER))
		longest_scatter = longest_of(PST_OFF_REDUCE_SCATTER);
	pcoll_device = &device;
	psi.device_fds = offload_fds;
	on_exit(end_on_exit, NULL);
}

static void
offload_close(const char *call)
{
	(void)call;
	offload_end(0);
}

static void
offload_advance(void)
{
	if (PSI_LIKELY(!atomic_load_explicit(&in_use, memory_order_relaxed)) || !poff_try_lock())
		return;
	(void)poff_devices_progress();
	poff_teams_progress();
	poff_unlock();
}

static void
offload_team_ends(gex_TM_t tm, const char *call)
{
	(void)call;
	poff_lock();
	poff_teams_changed();
	poff_team_close(tm);
	poff_unlock();
}

const struct psi_module poff_module = {
	.name = "offload", .open = offload_open, .register_handlers = poff_channels_register,
	.progress = offload_advance, .team_ends = offload_team_ends, .close = offload_close,
};
