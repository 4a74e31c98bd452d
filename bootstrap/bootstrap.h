/*
 * Starting a job: who this process is among the ranks, the memory that ranks of one host share,
 * exchanging a few bytes before the network is up, and ending the job.
 *
 * A job on one host is a launcher, its child the keeper, and the keeper's children the ranks.  The
 * keeper holds the other end of every rank's control socket, and makes and keeps the shared files.
 * Ranks and keeper learn of each other's death without asking: the keeper by waitpid and end of
 * file, a rank by a real-time signal that the control socket raises (PST_DEATH_SIGNAL).
 *
 * Nothing here polls or spins; every wait is ended by a peer or by that peer's death.
 */
#ifndef PBOOT_BOOTSTRAP_H
#define PBOOT_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	PBOOT_EXCHANGE_MAX = 4096,	/* bytes per rank of one exchange */
	PBOOT_RANKS_MAX = 65535,
	PBOOT_CAUSE_MAX = 900,		/* bytes of a cause that are kept */
};

struct pboot_job {
	uint32_t rank, size;
	uint32_t host_count, host_index;	/* hosts of the job; this rank's */
	const uint32_t *host_of;	/* [size], host index of each rank; not to be freed */
	bool direct;		/* the client's process started the job itself, no launcher */
};

/*
 * Joins the job, or makes one.  Called once, in init, by the thread that calls init; nothing else
 * of this file may be called before.  Recognises a start by penstock-run; else GASNET_PSHM_NODES=n
 * makes this process the launcher and its n grandchildren the ranks, and only those return; else
 * the process is the only rank, and there is no keeper.  Streams are flushed before the fork.
 * Returns 0 and fills *job_out, or an errno value after one line on stderr.  A bad setting ends the
 * process with one line and status 2; a keeper that is gone or of another version, with status 1.
 * In a launched rank PST_JOB_CONTROL and PST_JOB_FILES are taken out of the environment, so that
 * programs which the client starts are not taken for ranks; PST_JOB_RANK and PST_JOB_SIZE stay.
 */
int pboot_open(struct pboot_job *job_out);

/*
 * A descriptor of the job's shared file `index': 0 is the control arena, 1 + r the segment of rank
 * r. Any thread; blocks for a message to the keeper at most.  The caller closes it; it is
 * close-on-exec, and each call gives one of its own.  Files begin empty: whoever needs them calls
 * ftruncate. Returns the descriptor, or the negative of an errno value after one line on stderr (no
 * descriptors left, the keeper gone, index out of range).
 */
int pboot_memory(unsigned index);

/*
 * Closes inherited descriptors that nobody asked for; pboot_memory still works, and asks the
 * keeper. Called once per rank when the usual files are mapped.
 */
void pboot_release(void);

/*
 * Waits until all ranks of the job have called it.  For one thread per rank; needs no other memory.
 * Sleeps, and never spins.  If a rank dies meanwhile the keeper ends the job, this rank included.
 */
void pboot_barrier(void);

/*
 * Gathers len_bytes (at most PBOOT_EXCHANGE_MAX, the same everywhere) from each rank into
 * all_out[size * len_bytes], in rank order, on all ranks.  Collective and waiting as pboot_barrier;
 * mine is read and all_out written before it returns.
 */
void pboot_exchange(const void *mine, size_t len_bytes, void *all_out);

/*
 * This rank asks to end the job with `code', and ends at once; flushes nothing and runs no atexit
 * handler.  Any thread, any time after pboot_open, signal handlers included.  The keeper gives
 * ranks that have not asked a short time, then SIGQUIT, then SIGKILL.
 */
void pboot_leave(int code) __attribute__((noreturn));

/*
 * This rank is about to end by exit(code) or by return from main, which ends the job with that
 * code. Called by an atexit handler; returns, the process then ends by itself.  Any thread.
 */
void pboot_note_exit(int code);

/*
 * The same where exit() shall not end the job (GASNET_CATCH_EXIT=0): the others go on, the job ends
 * with its last rank.
 */
void pboot_note_parting(int code);

/*
 * Why this rank will end, without newline, kept by the keeper for the line that names the cause if
 * this end turns out to be the first; may be empty.  Any thread, signal handlers included; text
 * longer than PBOOT_CAUSE_MAX is cut.  With printed, the caller has said so on stderr by a line that
 * names the rank: the keeper then prints none, unless its own stderr is another file.  False if
 * there is no keeper to tell.
 */
bool pboot_note_cause(const char *text, bool printed);

/* The signal by which a rank learns of the keeper's death; 0 when there is no keeper. */
int pboot_death_signal(void);

/* State for people: who started the job, how memory is handed over, which fallbacks and why. */
void pboot_dump(FILE *out);

#endif
