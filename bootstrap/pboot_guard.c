/*
 * The guard: a process that does nothing until launcher and keeper have both gone without a word.  The
 * kernel then ends the ranks (restore_origin), at once, so they cannot end what they have started; the
 * guard does, by the job's name in the environment of all that descends from it.  Ranks of a direct
 * start have no such name, and no guard; nor is there one without pidfd.
 */
#include "bootstrap/pboot_keeper.h"

#include "bootstrap/pboot_clean.h"
#include "runtime/util/clock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static const uint64_t kill_ns = 1500 * 1000000u;

/* Files of the keeper's that others would wait for. */
static void
close_files(const struct pboot_keeper *keeper)
{
	uint32_t i;

	close(keeper->signals);
	close(keeper->launcher_sock);
	if (keeper->listener >= 0)
		close(keeper->listener);
	for (i = 0; i < PBOOT_FILES(keeper->plan->size); i++)
		if (keeper->files[i].fd >= 0)
			close(keeper->files[i].fd);
}

static void
wait_for_both(int first, int second)
{
	struct pollfd polls[2] = {
		{ .fd = first, .events = POLLIN },
		{ .fd = second, .events = POLLIN },
	};
	int i;

	while (polls[0].fd >= 0 || polls[1].fd >= 0) {
		pboot_poll(polls, 2, -1);
		for (i = 0; i < 2; i++)
			if (polls[i].fd >= 0 && polls[i].revents)
				polls[i].fd = -1;
	}
}

/* Whichever of the two is left alone ends the guard with the job. */
static void __attribute__((noreturn))
guard_run(const struct pboot_keeper *keeper, int keeper_end, int launcher_end)
{
	uint64_t start;

	prctl(PR_SET_NAME, "penstock-guard", 0, 0, 0);
	pboot_say_forget();
	close_files(keeper);
	wait_for_both(keeper_end, launcher_end);
	pboot_say("launcher and keeper are gone (pids %d, %d, %s); the job ends",
	    (int)keeper->launcher, (int)keeper->self, keeper->host);
	start = psi_now_ns();
	while (pboot_marked_signal(SIGKILL, keeper->name) > 0 && psi_now_ns() - start < kill_ns)
		pboot_poll(NULL, 0, 5);
	pboot_clean(NULL, NULL);
	pboot_say_settle();
	_exit(0);
}

void
pboot_guard_start(struct pboot_keeper *keeper)
{
	int keeper_end = -1, launcher_end = -1;

	if (keeper->plan->argv) {
		keeper_end = pboot_process_open(keeper->self);
		launcher_end = pboot_process_open(keeper->launcher);
	}
	if (keeper_end >= 0 && launcher_end >= 0) {
		keeper->guard = fork();
		if (keeper->guard == 0)
			guard_run(keeper, keeper_end, launcher_end);
	}
	if (keeper->guard > 0) {
		keeper->spared.pids[keeper->spared.count++] = keeper->guard;
		keeper->told->ranks[keeper->plan->size] = keeper->guard;
	} else {
		keeper->guard = 0;
	}
	if (keeper_end >= 0)
		close(keeper_end);
	if (launcher_end >= 0)
		close(launcher_end);
}
