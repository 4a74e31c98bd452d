/* Threads that are ranks, started, placed and joined by the library; and the settings of such
 * jobs. */
#include "runtime/job/threads.h"

#include "runtime/process/rules.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/cpuset.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { BIND_NONE, BIND_CORE };
static const char *const bindings[] = { "none", "core", NULL };

static const struct psi_setting rows[] = {
	{ .name = "PST_RANKS_PER_PROCESS",
	  .kind = PSI_SETTING_INT,
	  .default_text = "1",
	  .unit = "ranks",
	  .min = 1,
	  .max = GASNET_MAXEPS - 1,
	  .help = "threads of a process that are ranks, in programs that leave it to "
		  "this setting" },
	{ .name = "PST_THREADS_BIND",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "none",
	  .choices = bindings,
	  .help = "pst_threads_run starts each thread on a core of its own as far as the process "
	          "has any; core: and keeps it there" },
};

const struct psi_setting_table psi_settings_threads = PSI_SETTING_TABLE("Ranks as threads", rows);

int
pst_ranks_per_process(void)
{
	return (int)psi_setting_int(&rows[0]);
}

unsigned
psi_threads_count(int ranks_here)
{
	const int count = ranks_here ? ranks_here : pst_ranks_per_process();

	return count > 0 && count < GASNET_MAXEPS ? (unsigned)count : 0;
}

/* -- placement ------------------------------------------------------------------------------- */

/* Processes of a host are taken to have the same CPUs and as many threads. */
int
psi_threads_cpu(unsigned index, unsigned count)
{
	const uint32_t process = psi.host_index[psi.boot.rank];
	cpu_set_t own;

	if (sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) == 0)
		return -1;
	return (int)psi_cpuset_numbered(&own, process * count + index);
}

/* One that may move begins there too: where the first threads spin, the kernel may take a long time
 * to notice that two share a CPU. */
static void
member_bind_self(int cpu)
{
	cpu_set_t before, one;

	if (cpu < 0 || sched_getaffinity(0, sizeof before, &before) != 0)
		return;
	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	if (psi_setting_choice(&rows[1]) != BIND_CORE)
		sched_setaffinity(0, sizeof before, &before);
}

/* -- running --------------------------------------------------------------------------------- */

struct run {
	int (*fn)(gex_TM_t, void *);
	void *arg;
	_Atomic unsigned running;
};

struct member {
	struct run *run;
	gex_EP_t ep;
	gex_TM_t tm;
	int cpu, result;
	pthread_t thread;
};

/* A page lies near the CPU that writes to it first. */
static void
page_touch(gex_Segment_t segment)
{
	for (uintptr_t at = 0; segment && at < segment->size; at += GASNET_PAGESIZE)
		atomic_fetch_or_explicit((_Atomic unsigned char *)((char *)segment->base + at), 0,
		                         memory_order_relaxed);
}

/* Everything that the thread did happens before the join. */
static void *
member_run(void *argument)
{
	struct member *member = argument;

	member_bind_self(member->cpu);
	pst_thread_bind(member->ep);
	psi_pollset_release(member->ep);
	page_touch(member->ep->segment);
	member->result = member->run->fn(member->tm, member->run->arg);
	atomic_fetch_sub_explicit(&member->run->running, 1, memory_order_relaxed);
	psi.ops->wake(psi.ep->port);
	return NULL;
}

static void
members_start(struct member *members, unsigned count, struct run *run, gex_EP_t *eps, gex_TM_t *tms)
{
	atomic_store_explicit(&run->running, count, memory_order_relaxed);
	for (unsigned i = 0; i < count; i++) {
		members[i] = (struct member){
			.run = run, .ep = eps[i], .tm = tms[i], .cpu = psi_threads_cpu(i, count),
		};
		if (pthread_create(&members[i].thread, NULL, member_run, &members[i]) != 0)
			psi_fatal("pst_threads_run: thread %u of %u cannot be started; raise the "
			          "limit of processes (ulimit -u), or start fewer", i, count);
	}
}

/* The caller serves its own endpoint meanwhile. */
static int
members_wait(struct member *members, unsigned count, struct run *run)
{
	static const struct psi_reason reason = { .kind = PSI_FOR_THREADS };
	struct psi_wait wait = PSI_WAIT_FOR("pst_threads_run", &reason);
	int result = 0;

	psi_thread_park(1);
	while (atomic_load_explicit(&run->running, memory_order_relaxed))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
	psi_thread_park(-1);
	for (unsigned i = 0; i < count; i++) {
		pthread_join(members[i].thread, NULL);
		if (!result)
			result = members[i].result;
	}
	return result;
}

int
pst_threads_run(gex_TM_t parent, int ranks_here, size_t segment_bytes, gex_AM_Entry_t *table,
                size_t numentries, int (*fn)(gex_TM_t, void *), void *arg, gex_Flags_t flags)
{
	struct member members[GASNET_MAXEPS];
	gex_EP_t eps[GASNET_MAXEPS];
	gex_TM_t tms[GASNET_MAXEPS];
	struct run run = { .fn = fn, .arg = arg };
	const unsigned count = psi_threads_count(ranks_here);
	int result;

	if (!fn)
		return psi_refuse(GASNET_ERR_BAD_ARG, "pst_threads_run", "fn is NULL; pass what "
		                  "each rank is to run");
	result = psi_threads_create(parent, ranks_here, segment_bytes, table, numentries, eps, tms,
	                            flags, true);
	if (result != GASNET_OK)
		return result;
	members_start(members, count, &run, eps, tms);
	result = members_wait(members, count, &run);
	(void)pst_team_destroy_threads(tms, (int)count, 0);
	return result;
}
