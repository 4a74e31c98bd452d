/*
 * The receive thread (GASNET_RCV_THREAD): a thread of the library's own that waits for messages
 * like any other, so that handlers run, and collectives and connections advance, while the client's
 * threads compute and make no call.  It sleeps while nothing arrives.
 *
 * With GEX_FLAG_DEFER_THREADS the client starts it, by gex_System_QueryProgressThreads.  It ends
 * with the process.  Its waits are short, one behind the other, so that none of them looks like
 * that of a rank that hangs.
 */
#include "runtime/wait/receive_thread.h"

#include "runtime/process/objects.h"
#include "runtime/process/rules.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"
#include "runtime/util/log.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static const uint64_t wait_ns = 1000000000;

static const struct psi_setting rows[] = {
	{ .name = "GASNET_RCV_THREAD", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "a thread of the library handles messages while the program's threads compute; "
	          "in programs for PAR" },
};

const struct psi_setting_table psi_settings_receive = PSI_SETTING_TABLE("Receive thread", rows);

static void
receive_once(void)
{
	const uint64_t until_ns = psi_now_ns() + wait_ns;
	const struct psi_reason reason = { .kind = PSI_FOR_CONDITION, .until_ns = until_ns };
	struct psi_wait wait = PSI_WAIT_FOR("the receive thread", &reason);

	while (psi_now_ns() < until_ns)
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

static void *
receive_forever(void *unused)
{
	psi_thread_park(1);     /* it makes no CPU crowded */
	for (;;)
		receive_once();
	return unused;
}

/* Signals are for the client's threads.  False: a line has said why there is none. */
static bool
receive_thread_create(void)
{
	sigset_t all, before;
	pthread_t thread;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, NULL, receive_forever, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code == 0)
		pthread_detach(thread);
	else
		psi_log("GASNET_RCV_THREAD: no thread: %s; messages are handled when the program "
		        "makes calls", strerror(code));
	return code == 0;
}

/* One that the client starts counts as started. */
void
psi_receive_thread_start(void)
{
	if (!psi_setting_bool(&rows[0]))
		return;
	if (!psi.threaded) {
		if (psi_settings_warns())
			psi_log("warning: GASNET_RCV_THREAD is for programs for PAR, and this one "
			        "is not; it is left out");
		return;
	}
	psi.receive_thread = true;      /* before its handlers can ask */
	if (!(psi.client->flags & GEX_FLAG_DEFER_THREADS))
		psi.receive_thread = receive_thread_create();
}

int
gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
                                const gex_ProgressThreadInfo_t **info_p, gex_Flags_t flags)
{
	static const gex_ProgressThreadInfo_t info = {
		.gex_device_list = "", .gex_thread_roles = GEX_THREAD_ROLE_RCV,
		.gex_progress_fn = receive_forever,
	};

	psi_rule_context("gex_System_QueryProgressThreads");
	if (!client || !count_p || !info_p || flags)
		return GASNET_ERR_BAD_ARG;
	if (!(client->flags & GEX_FLAG_DEFER_THREADS))
		return GASNET_ERR_RESOURCE;
	*count_p = psi.receive_thread;
	*info_p = &info;
	return GASNET_OK;
}
