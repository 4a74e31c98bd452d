/* The process state that launcher and keeper change for themselves, and restore for the ranks. */
#ifndef PBOOT_STATE_H
#define PBOOT_STATE_H

#include <signal.h>
#include <sys/resource.h>

/* The process state before the change. */
struct pboot_saved_state {
	sigset_t mask;
	struct sigaction child_action;
	struct rlimit files_limit;
	char task_name[16];
};

/* Blocks signals, except those of a failure that has no handler, and gives SIGCHLD its default
 * action. */
void pboot_state_change(struct pboot_saved_state *saved_out);
/* Undoes that. */
void pboot_state_restore(const struct pboot_saved_state *saved);

#endif
