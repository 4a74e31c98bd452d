/* Causes the failure of a cell's job: signals, stops, a key typed. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/job/matrix_cell.h"

enum { STOP_MS = 300 };

static void
hit(void)
{
	job.hit_ns = pt_matrix_now_ns();
}

static void
signal_chosen(int sig)
{
	unsigned rank;

	if (matrix_is(cell.who, "launcher"))
		kill(job.launcher, sig);
	else if (matrix_is(cell.who, "keeper") && job.keeper > 0)
		kill(job.keeper, sig);
	for (rank = 0; rank < cell.size; rank++)
		if ((matrix_is(cell.who, "rank0") && rank == 0) ||
		    (matrix_is(cell.who, "other") && rank == cell.size - 1) ||
		    (matrix_is(cell.who, "half") && rank % 2 == 1))
			kill(atomic_load(&job.page->pids[rank]), sig);
}

static void
let_go(void)
{
	hit();
	atomic_store(&job.page->go, 1);
}

static void
stop(void)
{
	int going = matrix_is(cell.when, "exit");

	hit();
	signal_chosen(SIGSTOP);
	matrix_sleep_us(STOP_MS * 1000);
	matrix_reap();
	if (job.status >= 0 && !going)
		matrix_note("a stopped process ended the job");
	if (matrix_is(cell.how, "stop-while"))
		signal_chosen(SIGCONT);
	if (matrix_is(cell.how, "stop-good") &&
	    (matrix_is(cell.who, "keeper") || !(going || matrix_is(cell.who, "launcher")))) {
		hit();
		kill(job.launcher, SIGTERM);
	} else if (!going) {
		let_go();
	}
}

void
matrix_make_it_happen(void)
{
	matrix_sleep_us(cell.delay_us + (matrix_is(cell.when, "exit") ? 5000 : 0));
	if (matrix_is(cell.how, "term")) {
		hit();
		kill(-job.launcher, SIGTERM);
	} else if (matrix_is(cell.how, "int")) {
		hit();
		if (write(job.terminal, "\003", 1) != 1)
			matrix_note("cannot type");
	} else if (strncmp(cell.how, "stop", 4) == 0) {
		stop();
	} else if (matrix_is(cell.how, "kill")) {
		hit();
		signal_chosen(SIGKILL);
	} else if (matrix_is(cell.how, "segv") &&
	           (matrix_is(cell.who, "launcher") || matrix_is(cell.who, "keeper"))) {
		hit();
		signal_chosen(SIGSEGV);
	}
}
