/*
 * Opens and connects sysvnet for the job, with the runtime's services as its callbacks.  Describes
 * it for people.
 */
#include "smp-conduit/psmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The counters of sysvnet are a range of the contract's counters, in the same order. */
enum { FIRST_COUNT = PSI_COUNT_IN_SLOT };
#define SAME_COUNT(name) \
	_Static_assert((int)PSI_COUNT_##name == FIRST_COUNT + (int)SYSVNET_COUNT_##name, #name)
SAME_COUNT(IN_SLOT);
SAME_COUNT(IN_RING);
SAME_COUNT(IN_BUFFER);
SAME_COUNT(CLAIMED);
SAME_COUNT(REFUSED);
SAME_COUNT(ANNOUNCED);
SAME_COUNT(UNPOLLED);
SAME_COUNT(COPIED_OUT);
SAME_COUNT(ARMED);
SAME_COUNT(SLEEPS);
SAME_COUNT(WAKEUPS_SENT);
SAME_COUNT(WAKEUPS_RECEIVED);

bool
psmp_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	(void)services;
	if (reason_bytes)
		reason[0] = '\0';
	return true;
}

/* ---------------------------------------------------------------------------- opening --- */

/* Asks for the wide arena.  The runtime may give the narrow one, if memory that nobody touches is
 * not free there. */
static int
net_open(struct psi_conduit *conduit, const struct sysvnet_job *job, size_t *arena_bytes_out)
{
	const size_t most_bytes = sysvnet_arena_bytes(job->host_places, true);
	const size_t least_bytes = sysvnet_arena_bytes(job->host_places, false);
	const struct psi_services *services = conduit->services;
	const struct sysvnet_callbacks calls = {
		.deliver = services->deliver,
		.counts = services->counts, .first_count = FIRST_COUNT,
		.copy_owning = services->copy_owning, .copy_far = services->copy_far,
		.endpoint_memory = services->endpoint_memory,
		.wake_asleep = services->wake_asleep,
		.log = services->log,
	};
	size_t got_bytes = 0;
	bool wide;
	void *arena = services->host_memory(most_bytes, least_bytes, &got_bytes);

	if (!arena) {
		services->log("smp: no shared memory of %zu bytes for the message queues",
		              least_bytes);
		return PSI_FAILED;
	}
	wide = got_bytes == most_bytes;
	conduit->net = sysvnet_open(job, &calls, arena, wide);
	if (!conduit->net) {
		services->log("smp: no memory");
		return PSI_FAILED;
	}
	*arena_bytes_out = wide ? most_bytes : least_bytes;
	return PSI_OK;
}

int
psmp_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	const struct sysvnet_job net_job = {
		.place = job->place, .places = job->places, .host_places = job->host_places,
		.host_index = job->host_index, .local = job->local, .threaded = job->threaded,
		.counts = job->counts ? job->counts + FIRST_COUNT : NULL,
	};
	struct psi_conduit *conduit;
	size_t arena_bytes;

	if (services->abi != PSI_CONDUIT_ABI || services->size_bytes < sizeof *services) {
		services->log("smp: this conduit speaks contract %d, the library %u",
		              PSI_CONDUIT_ABI, services->abi);
		return PSI_FATAL;
	}
	if (job->host_places > SYSVNET_MAX_PROCESSES) {
		services->log("smp: %u ranks on one host are more than %d", job->host_places,
		              SYSVNET_MAX_PROCESSES);
		return PSI_FAILED;
	}
	conduit = calloc(1, sizeof *conduit);
	if (!conduit) {
		services->log("smp: no memory");
		return PSI_FAILED;
	}
	conduit->services = services;
	conduit->host_index = job->host_index[job->place];
	conduit->crowded = job->crowded;
	if (net_open(conduit, &net_job, &arena_bytes) != PSI_OK) {
		free(conduit);
		return PSI_FAILED;
	}
	*attributes_out = (struct psi_attributes){
		.max_medium_bytes = SYSVNET_MEDIUM_BYTES,
		.max_long_bytes = INT32_MAX,
		.shared_bytes = arena_bytes, .transport = "smp",
	};
	*conduit_out = conduit;
	return PSI_OK;
}

/* If there are more ranks than CPUs, ranks sleep and are woken often.  Then a fence in each send is
 * cheaper than a membarrier, a system call with interrupts, before each sleep. */
int
psmp_connect(struct psi_conduit *conduit)
{
	const struct psi_services *services = conduit->services;
	const char *denied = services->setting("PST_TEST_DENY");
	uint32_t registered = services->agree_least(sysvnet_fence_register(denied));
	uint32_t roomy = services->agree_least(!conduit->crowded);
	const bool senders_fence = !registered || !roomy;

	if (!sysvnet_agrees(conduit->net)) {
		services->log("smp: the ranks' libraries disagree on the layout of shared memory; "
		              "use one build of the library for all");
		return PSI_FATAL;
	}
	sysvnet_connect(conduit->net, roomy, senders_fence);
	conduit->fence_reason = !registered ? "no membarrier"
	                        : !roomy ? "more ranks than CPUs" : "membarrier";
	if (!senders_fence) {
		if (conduit->host_index < 2)
			sysvnet_fence_settle();
		services->agree_least(true);    /* before anybody sends */
	}
	return PSI_OK;
}

/* ------------------------------------------------------------------------- for people --- */

void
psmp_describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	size_t len;

	sysvnet_describe(conduit->net, text, text_bytes);
	len = strlen(text);
	snprintf(text + len, text_bytes - len, " (%s)", conduit->fence_reason);
}

bool
psmp_memory_area(struct psi_conduit *conduit, unsigned i,
                 struct psi_memory_area *area_out)
{
	static const enum psi_memory_kind kinds[] = {
		[SYSVNET_AREA_CONTROL] = PSI_MEMORY_CONTROL,
		[SYSVNET_AREA_LANES] = PSI_MEMORY_QUEUES,
		[SYSVNET_AREA_BUFFERS] = PSI_MEMORY_BUFFERS,
	};
	struct sysvnet_area area;

	if (!sysvnet_area(conduit->net, i, &area))
		return false;
	*area_out = (struct psi_memory_area){ kinds[area.kind], area.base, area.len_bytes };
	return true;
}

size_t
psmp_queue_bytes(uint32_t endpoints)
{
	return sysvnet_arena_bytes(endpoints, true);
}
