#include "offload/calls.h"

#include "offload/offload.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { BREACHES_MOST = 3, CLOSELY_FIRST = 256, CLOSELY_MOST = 1 << 16 };

/* -- breaches ---------------------------------------------------------------------------------- */

void
poff_breach(struct poff_device *device, const char *what)
{
	device->breaches++;
	device->breach = what;
	psi_count(psi_block()->count, PSI_COUNT_OFFLOAD_MISBEHAVED);
	if (device->breaches <= BREACHES_MOST)
		psi_log("offload: provider %s breaks its contract: %s%s", device->provider->name,
		        what, device->breaches == BREACHES_MOST
		                      ? "; it is not used any more" : "");
	device->banned = device->breaches >= BREACHES_MOST;
}

/* -- time -------------------------------------------------------------------------------------- */

/*
 * A call that the clock finds late may have lost the CPU, or the whole process has, which is not
 * the provider's doing.  So the first is a suspicion, and those of the same function that follow
 * are looked at closely: one counts if the thread has computed for too long in it, or has gone to
 * sleep in it.  That costs two calls of the system each, so it ends; but each suspicion that
 * follows lasts four times as long, so that calls which are late rarely are found, too.
 */
static uint64_t
usage_ns(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static const char *_Atomic called;      /* the provider */
static const char *function_told;

const char *
poff_call_device(void)
{
	return atomic_load_explicit(&called, memory_order_relaxed);
}

static void
function_tell(struct psi_device_call *told, const char *function)
{
	uint64_t name[PSI_CALL_WORDS] = { 0 };

	snprintf((char *)name, sizeof name, "%s", function);
	for (unsigned i = 0; i < PSI_CALL_WORDS; i++)
		atomic_store_explicit(&told->function[i], name[i], memory_order_relaxed);
	function_told = function;
}

static bool
call_is_looked_at(const struct poff_clock *clock)
{
	return clock->closely && clock->suspect == clock->function;
}

static void
call_enter(struct poff_device *device, const char *function)
{
	struct psi_device_call *told = &psi_shared_of(psi.boot.rank)->device_call;
	struct poff_clock *clock = &device->clock;

	clock->function = function;
	if (call_is_looked_at(clock))
		getrusage(RUSAGE_THREAD, &clock->usage);
	atomic_store_explicit(&called, device->provider->name, memory_order_relaxed);
	if (function_told != function)
		function_tell(told, function);
	clock->began_ns = psi_now_ns();
	atomic_store_explicit(&told->since_ns, clock->began_ns, memory_order_relaxed);
}

static void
call_look_closely(struct poff_device *device, uint64_t lasted_ns)
{
	struct poff_clock *clock = &device->clock;
	struct rusage now;
	uint64_t used_ns;

	getrusage(RUSAGE_THREAD, &now);
	used_ns = usage_ns(&now) - usage_ns(&clock->usage);
	if (lasted_ns > device->attr.call_max_ns &&
	    (used_ns > device->attr.call_max_ns || now.ru_nvcsw > clock->usage.ru_nvcsw))
		poff_breach(device, "a call takes longer than call_max_ns");
	clock->closely--;
}

static void
call_suspect(struct poff_clock *clock)
{
	clock->suspect = clock->function;
	clock->closely = clock->closely_next ? clock->closely_next : CLOSELY_FIRST;
	clock->closely_next = clock->closely < CLOSELY_MOST ? clock->closely * 4 : CLOSELY_MOST;
}

static void
call_leave(struct poff_device *device)
{
	struct psi_device_call *told = &psi_shared_of(psi.boot.rank)->device_call;
	const uint64_t lasted_ns = psi_now_ns() - device->clock.began_ns;

	atomic_store_explicit(&told->since_ns, 0, memory_order_relaxed);
	if (call_is_looked_at(&device->clock))
		call_look_closely(device, lasted_ns);
	if (lasted_ns > device->attr.call_max_ns)
		call_suspect(&device->clock);
}

/* -- reasons ----------------------------------------------------------------------------------- */

/* `start' has no reason of its own, so what the provider logs in it is one. */
static _Thread_local bool listens;
static char said[128];  /* under the lock */

void
poff_call_said(const char *text)
{
	if (listens)
		snprintf(said, sizeof said, "%s", text);
}

/* -- calls ------------------------------------------------------------------------------------- */

int
poff_call_query(struct poff_device *device, const pst_off_attr_t *agreed, const pst_off_op_t *op,
                uint64_t *cost_ns_out, const char **why_out)
{
	int result;

	call_enter(device, "query");
	result = device->provider->calls.query(device->dev, agreed, op, cost_ns_out, why_out);
	call_leave(device);
	return result;
}

int
poff_call_join_start(struct poff_team *team, const pst_off_group_t *group)
{
	struct poff_device *device = team->device;
	int result;

	call_enter(device, "join_start");
	result = device->provider->calls.join_start(device->dev, group, &team->tree, &team->why);
	call_leave(device);
	return result;
}

int
poff_call_join_test(struct poff_team *team)
{
	int result;

	call_enter(team->device, "join_test");
	result = team->device->provider->calls.join_test(team->tree, &team->why);
	call_leave(team->device);
	return result;
}

void
poff_call_leave_start(struct poff_team *team, bool peers_lost)
{
	call_enter(team->device, "leave_start");
	(void)team->device->provider->calls.leave_start(team->tree, peers_lost);
	call_leave(team->device);
}

int
poff_call_leave_test(struct poff_team *team)
{
	int result;

	call_enter(team->device, "leave_test");
	result = team->device->provider->calls.leave_test(team->tree);
	call_leave(team->device);
	return result;
}

int
poff_call_start(struct poff_team *team, const pst_off_call_t *call, pst_off_req_t **req_out,
                const char **why_out)
{
	int result;

	said[0] = '\0';
	listens = true;
	call_enter(team->device, "start");
	result = team->device->provider->calls.start(team->tree, call, req_out);
	call_leave(team->device);
	listens = false;
	if (result == PST_OFF_FAIL && said[0])
		*why_out = said;
	return result;
}

int
poff_call_test(struct poff_team *team, pst_off_req_t *req, pst_off_result_t *result_out)
{
	int result;

	call_enter(team->device, "test");
	result = team->device->provider->calls.test(req, result_out);
	call_leave(team->device);
	return result;
}

void
poff_call_cancel(struct poff_team *team, pst_off_req_t *req)
{
	call_enter(team->device, "cancel");
	team->device->provider->calls.cancel(req);
	call_leave(team->device);
}

int
poff_call_wait_fd(struct poff_device *device)
{
	int fd;

	call_enter(device, "wait_fd");
	fd = device->provider->calls.wait_fd(device->dev);
	call_leave(device);
	return fd;
}

unsigned
poff_call_progress(struct poff_device *device, unsigned budget)
{
	int events;

	call_enter(device, "progress");
	events = device->provider->calls.progress(device->dev, budget);
	call_leave(device);
	return events > 0 ? (unsigned)events : 0;
}
