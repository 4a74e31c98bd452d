#include "runtime/report/freeze.h"

#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "runtime/settings/settings.h"
#include "runtime/util/settings_parse.h"
#include "runtime/util/line.h"

/* Changed by a debugger to let a frozen process go on; weak, since programs may define it. */
extern volatile int gasnet_frozen;
__attribute__((weak, visibility("default"))) volatile int gasnet_frozen;

enum { LOOK_NS = 100000000 };

static char who[96] = "penstock";
/* The signal that the keeper sends to the rank; a debugger would stop at it. */
static uint64_t death_signal;

void
psi_freeze_open(uint32_t rank, const char *host)
{
	snprintf(who, sizeof who, "penstock: rank %u (%s)", rank, host);
	death_signal = (uint64_t)psi_setting_int(psi_setting_named("PST_DEATH_SIGNAL"));
	if (psi_setting_bool(psi_setting_named("GASNET_FREEZE")))
		psi_freeze_now(&gasnet_frozen, "gasnet_frozen");
}

void
psi_freeze_now(volatile int *flag, const char *name)
{
	const struct timespec pause = { 0, LOOK_NS };
	struct psi_line line = { .len = 0 };

	psi_line_text(&line, who);
	psi_line_text(&line, ": frozen for a debugger: gdb -p ");
	psi_line_number(&line, (uint64_t)getpid());
	psi_line_text(&line, ", then ");
	if (death_signal) {
		psi_line_text(&line, "`handle SIG");
		psi_line_number(&line, death_signal);
		psi_line_text(&line, " nostop noprint pass', ");
	}
	psi_line_text(&line, "`set var ");
	psi_line_text(&line, name);
	psi_line_text(&line, " = 1' and `continue'");
	psi_line_write(&line, STDERR_FILENO);
	while (*flag == 0)
		nanosleep(&pause, NULL);
}

/* Reads the settings without their getters.  A getter may end the process, and this runs in signal
 * handlers. */
void
psi_freeze_on_error(void)
{
	const char *text = getenv("GASNET_FREEZE_ON_ERROR");
	bool on = false;

	if (text && psi_parse_bool(text, &on) && on)
		psi_freeze_now(&gasnet_frozen, "gasnet_frozen");
}
