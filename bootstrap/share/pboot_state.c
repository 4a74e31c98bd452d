#include "bootstrap/share/pboot_state.h"

#include <stddef.h>
#include <sys/prctl.h>

/*
 * SIGCHLD must not be ignored: the kernel would then discard the status of children.  Signals of a
 * failure stay unblocked, so that they end the launcher and the keeper; but not where the client of
 * a direct start has set a handler, which must not run here.
 */
void
pboot_state_change(struct pboot_saved_state *saved_out)
{
	static const int failures[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	struct sigaction plain = { .sa_handler = SIG_DFL }, set;
	sigset_t most;
	size_t i;

	sigfillset(&most);
	for (i = 0; i < sizeof failures / sizeof *failures; i++) {
		if (sigaction(failures[i], NULL, &set) == 0 && set.sa_handler == SIG_DFL)
			sigdelset(&most, failures[i]);
	}
	sigprocmask(SIG_BLOCK, &most, &saved_out->mask);
	sigaction(SIGCHLD, &plain, &saved_out->child_action);
	getrlimit(RLIMIT_NOFILE, &saved_out->files_limit);
	prctl(PR_GET_NAME, saved_out->task_name, 0, 0, 0);
}

void
pboot_state_restore(const struct pboot_saved_state *saved)
{
	sigaction(SIGCHLD, &saved->child_action, NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}
