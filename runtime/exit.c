/*
 * Ending the job: gasnet_exit, and exit() or a return from main.  The keeper decides what happens to
 * the others; here only this rank's part.
 */
#include "runtime/psi.h"

#include "runtime/settings_tables.h"

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

static _Atomic int leaving;

/* A stream that another thread holds, perhaps for ever, is left alone. */
static void
flush_stream(FILE *stream)
{
	if (ftrylockfile(stream) != 0)
		return;
	fflush(stream);
	funlockfile(stream);
}

void
gasnet_exit(int exitcode)
{
	psi_need_init("gasnet_exit");
	if (getpid() != psi.pid)
		_exit(exitcode);        /* a child that the client forked */
	if (atomic_exchange_explicit(&leaving, 1, memory_order_relaxed))
		for (;;)
			pause();        /* another thread ends this process */
	flush_stream(stdout);
	flush_stream(stderr);
	if (psi_setting_bool(&rows[0]))
		sync();
	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
	pboot_leave(exitcode);
}

static void
on_plain_exit(int status, void *unused)
{
	(void)unused;
	if (getpid() != psi.pid)
		return;
	if (atomic_exchange_explicit(&leaving, 1, memory_order_relaxed))
		return;
	if (psi_setting_bool(psi_setting_named("GASNET_CATCH_EXIT")))
		pboot_note_exit(status);
	else
		pboot_note_parting(status);
}

void
psi_exit_open(void)
{
	on_exit(on_plain_exit, NULL);
}
