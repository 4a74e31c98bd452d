#include "offload/calls.h"

#include "offload/offload.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { BREACHES_MOST = 3, CALLS_CLOSE = 64 };

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
 * the provider's doing.  So the first is a suspicion, and those that follow are looked at closely:
 * one counts if the thread has computed for too long in it, or has gone to sleep in it.
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

static void
call_enter(struct poff_device *device, const char *function)
{
	struct psi_device_call *told = &psi_shared_of(psi.boot.rank)->device_call;

	if (device->look_closely)
		getrusage(RUSAGE_THREAD, &device->usage);
	atomic_store_explicit(&called, device->provider->name, memory_order_relaxed);
	if (function_told != function)
		function_tell(told, function);
	device->called_ns = psi_now_ns();
	atomic_store_explicit(&told->since_ns, device->called_ns, memory_order_relaxed);
}

static void
call_look_closely(struct poff_device *device, uint64_t lasted_ns)
{
	struct rusage now;
	uint64_t used_ns;

	getrusage(RUSAGE_THREAD, &now);
	used_ns = usage_ns(&now) - usage_ns(&device->usage);
	if (lasted_ns > device->attr.call_max_ns &&
	    (used_ns > device->attr.call_max_ns || now.ru_nvcsw > device->usage.ru_nvcsw))
		poff_breach(device, "a call takes longer than call_max_ns");
	device->look_closely--;
}

static void
call_leave(struct poff_device *device)
{
	struct psi_device_call *told = &psi_shared_of(psi.boot.rank)->device_call;
	const uint64_t lasted_ns = psi_now_ns() - device->called_ns;

	atomic_store_explicit(&told->since_ns, 0, memory_order_relaxed);
	if (device->look_closely)
		call_look_closely(device, lasted_ns);
	if (lasted_ns > device->attr.call_max_ns)
		device->look_closely = CALLS_CLOSE;
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
poff_call_leave_start(struct poff_team *team)
{
	call_enter(team->device, "leave_start");
	(void)team->device->provider->calls.leave_start(team->tree, false);
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
poff_call_start(struct poff_team *team, const pst_off_call_t *call, pst_off_req_t **req_out)
{
	int result;

	call_enter(team->device, "start");
	result = team->device->provider->calls.start(team->tree, call, req_out);
	call_leave(team->device);
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

unsigned
poff_call_progress(struct poff_device *device, unsigned budget)
{
	int events;

	call_enter(device, "progress");
	events = device->provider->calls.progress(device->dev, budget);
	call_leave(device);
	return events > 0 ? (unsigned)events : 0;
}
