/*
 * A call into a provider that does not return holds the lock of offload, and the thread that polls.
 * A thread that does nothing else notices it: it asks for a report of the job, in which the call
 * is named, and ends the job.
 */
#include "offload/calls.h"
#include "offload/offload.h"

#include "runtime/process/process.h"

#include "runtime/util/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPORT_NS = 500 * 1000 * 1000, LOOKS = 8 };

static void
pause_ns(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&time, NULL);
}

static void __attribute__((noreturn))
job_end(const struct psi_device_call *told, uint64_t since_ns)
{
	const double seconds = (double)(psi_now_ns() - since_ns) / 1e9;
	uint64_t words[PSI_CALL_WORDS + 1] = { 0 };

	for (unsigned i = 0; i < PSI_CALL_WORDS; i++)
		words[i] = atomic_load_explicit(&told->function[i], memory_order_relaxed);
	(void)pboot_note_hang(psi_now_ns() - since_ns, true);
	pause_ns(REPORT_NS);    /* the keeper reports */
	psi_fatal("offload: provider %s has not returned from `%s' for %.3g s; PST_OFFLOAD=none "
	          "does without it", poff_call_device(), (const char *)words,
	          seconds);
}

/* Only time in which this thread could look counts, since the process may have been stopped. */
static void *
watch_run(void *unused)
{
	const struct psi_device_call *told = &psi_shared_of(psi.boot.rank)->device_call;
	uint64_t last_ns = 0;
	unsigned looks = 0;

	(void)unused;
	for (;;) {
		uint64_t since_ns;

		pause_ns(psi.hang_report_ns / LOOKS);
		since_ns = atomic_load_explicit(&told->since_ns, memory_order_relaxed);
		looks = since_ns && since_ns == last_ns ? looks + 1 : 0;
		last_ns = since_ns;
		if (looks >= LOOKS)
			job_end(told, since_ns);
	}
	return NULL;
}

void
poff_watch_start(void)
{
	static bool started;
	sigset_t all, before;
	pthread_t thread;

	if (started || !psi.hang_report_ns)
		return;
	started = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, watch_run, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
