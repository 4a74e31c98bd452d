/*
 * Ending the job: gasnet_exit, and exit() or a return from main.  The keeper decides what happens
 * to the others; here only this rank's part.
 */
#include "runtime/atomic/atomic.h"
#include "runtime/job/modules.h"

#include "runtime/job/start.h"
#include "runtime/process/process.h"
#include "runtime/report/reports.h"
#include "runtime/rma/inline.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/team/team.h"

#include "runtime/util/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma weak __lsan_do_leak_check
void __lsan_do_leak_check(void);

static const struct psi_setting rows[] = {
	{ .name = "GASNET_FS_SYNC", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "write file systems to disk when a rank ends" },
};

const struct psi_setting_table psi_settings_exit = PSI_SETTING_TABLE("Exit", rows);

enum { DRAIN_MOST_NS = 200000000 };

static _Atomic pid_t leaving;           /* the thread that ends this process */

/* Flushes the stream, unless another thread holds it, perhaps for ever. */
static void
flush_stream(FILE *stream)
{
	if (ftrylockfile(stream) != 0)
		return;
	fflush(stream);
	funlockfile(stream);
}

/* False if this thread is at it already, in a function that it interrupted or that called this one;
 * does not return while another thread is. */
static bool
exit_is_first(void)
{
	pid_t self = gettid(), nobody = 0;

	if (atomic_compare_exchange_strong(&leaving, &nobody, self))
		return true;
	while (nobody != self)
		pause();
	return false;
}

/* Messages that were accepted leave this process before it ends, such as the one that lets a peer
 * out of a barrier.  A peer that takes none is not waited for. */
static void
let_messages_leave(void)
{
	const uint64_t until_ns = psi_now_ns() + DRAIN_MOST_NS;

	if (!psi.open)
		return;
	while (psi.ops->drain(psi.conduit) == PSI_AGAIN && psi_now_ns() < until_ns)
		sched_yield();
}

void
gasnet_exit(int exitcode)
{
	if (psi_is_forked_child())
		_exit(exitcode);
	psi_need_init("gasnet_exit");
	if (!exit_is_first())
		pboot_leave(exitcode);
	psi_blocks_close();
	if (exitcode == 0)
		psi_modules_close("gasnet_exit");
	/* A network's library may allocate, and this may be a signal handler that has interrupted
	 * malloc.  A rank that is stuck there is ended by the keeper, which knows already. */
	if (psi.networked)
		pboot_note_leave(exitcode);
	let_messages_leave();
	psi_report_alone_ended();
	flush_stream(stdout);
	flush_stream(stderr);
	if (psi_setting_bool(&rows[0]))
		sync();
	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
	pboot_leave(exitcode);
}

void
psi_exit_told(int status)
{
	if (exit_is_first()) {
		flush_stream(stdout);
		flush_stream(stderr);
	}
	pboot_leave(status);
}

static void
exit_on_plain(int status, void *unused)
{
	(void)unused;
	if (psi_is_forked_child())
		return;
	if (!psi.open)
		pboot_note_cause("", true);     /* init refused, and has said why */
	if (exit_is_first()) {
		let_messages_leave();
		psi_blocks_close();
		psi_report_alone_ended();
	}
	if (!psi.open || psi_setting_bool(psi_setting_named("GASNET_CATCH_EXIT")))
		pboot_note_exit(status);
	else
		pboot_note_exit_alone(status);
}

/* A child that the client forks shares the queues, and would send in this rank's name.  What it
 * calls says so instead: to it, no rank and no job is there. */
static void
exit_in_forked_child(void)
{
	psi.open = false;
	psi.places = 0;
	psi_teams_forget();
	psi_inline_close();
	psi_domains_close();
}

void
psi_exit_open(void)
{
	on_exit(exit_on_plain, NULL);
	if (pthread_atfork(NULL, NULL, exit_in_forked_child) != 0)
		psi_fatal("no memory for a fork handler");
}
