/*
 * A cell of the failure matrix, and the job that is run for it.  matrix-cell is one thread.
 */
#ifndef PT_MATRIX_CELL_H
#define PT_MATRIX_CELL_H

#include <stdint.h>
#include <sys/types.h>

#include "tests/job/matrix_page.h"

enum { MATRIX_BOUND_MS = 2000 };        /* from the fault to the end of all processes */

/* What the cell says; constant once it is read. */
struct matrix_cell {
	const char *id, *seed, *status, *pattern;
	unsigned size, most, least;
	char who[32], how[32], when[32];
	unsigned delay_us;
	int direct;                     /* the program is its own launcher */
};

struct matrix_job {
	struct pt_matrix_page *page;
	pid_t launcher, keeper;
	int status;                     /* -1: the launcher lives */
	uint64_t hit_ns, end_ns;        /* when the fault happened, and the launcher ended */
	int output, terminal;           /* descriptors; terminal is -1 without one */
	char directory[32];
	char wrong[2048];               /* what is not as it should be */
	unsigned slack;                 /* so many times slower may this machine be */
};

extern struct matrix_cell cell;
extern struct matrix_job job;

/* -- matrix_cell.c --------------------------------------------------------------------------- */

void matrix_give_up(const char *what) __attribute__((noreturn));
/* Adds to job.wrong. */
void matrix_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int matrix_is(const char *text, const char *word);
void matrix_sleep_us(unsigned us);
unsigned matrix_ms_since(uint64_t then);

/* -- matrix_start.c -------------------------------------------------------------------------- */

void matrix_make_page(void);
void matrix_start_job(const char *program, const char *member);
/* Takes up all that has ended. */
void matrix_reap(void);
/* The first child of a process; 0 if it has none. */
pid_t matrix_child_of(pid_t parent);
/* True when all ranks have come to the moment. */
int matrix_wait_moment(void);

/* -- matrix_fault.c -------------------------------------------------------------------------- */

void matrix_make_it_happen(void);

/* -- matrix_check.c -------------------------------------------------------------------------- */

/* The launcher's end, and that of all its descendants, no later than the bound. */
void matrix_wait_end(void);
void matrix_check_status(void);
void matrix_check_output(void);
void matrix_report(void);

#endif
