/*
 * The receive thread (GASNET_RCV_THREAD): a thread of the library's own that waits for messages
 * like any other, so that handlers run, and collectives and connections advance, while the client's
 * threads compute and make no call.  It sleeps while nothing arrives.
 *
 * It ends with the process.  Its waits are short, one behind the other, so that none of them looks
 * like that of a rank that hangs.
 */
#include "runtime/wait/receive_thread.h"

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

/* Signals are for the client's threads. */
void
psi_receive_thread_start(void)
{
	sigset_t all, before;
	pthread_t thread;
	int code;

	if (!psi_setting_bool(&rows[0]))
		return;
	if (!psi.threaded) {
		psi_log("GASNET_RCV_THREAD is for programs for PAR, and this one is not; it is "
		        "left out");
		return;
	}
	psi.receive_thread = true;      /* before its handlers can ask */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, NULL, receive_forever, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code == 0) {
		pthread_detach(thread);
		return;
	}
	psi.receive_thread = false;
	psi_log("GASNET_RCV_THREAD: no thread: %s; messages are handled when the program makes "
	        "calls", strerror(code));
}
