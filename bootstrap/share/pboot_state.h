/* What launcher and keeper change of their process, and give back to the ranks. */
#ifndef PBOOT_STATE_H
#define PBOOT_STATE_H

#include <signal.h>
#include <sys/resource.h>

/* Process state as it was before it was changed. */
struct pboot_saved_state {
	sigset_t mask;
	struct sigaction child_action;
	struct rlimit files_limit;
	char task_name[16];
};

/* Blocks signals, except those of a failure that has no handler, and makes SIGCHLD plain. */
void pboot_state_change(struct pboot_saved_state *saved_out);
/* Undoes it. */
void pboot_state_restore(const struct pboot_saved_state *saved);

#endif
