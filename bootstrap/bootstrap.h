/*
 * Starting a job: who this process is among the ranks, the memory that ranks of one host share,
 * exchanging a few bytes before the network is up, and ending the job.
 *
 * A job on one host is a launcher, its child the guard, the guard's child the keeper, and the keeper's
 * children the ranks.  The
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
#include <sys/types.h>

enum {
	PBOOT_EXCHANGE_MAX = 4096,	/* bytes per rank of one exchange */
	PBOOT_RANKS_MAX = 65535,
	PBOOT_DEATH_SIGNAL_LEAST = 34,	/* of PST_DEATH_SIGNAL */
	PBOOT_DEATH_SIGNAL_MOST = 64,
	PBOOT_GRACE_MAX_S = 86400,	/* of GASNET_EXITTIMEOUT* */
	PBOOT_CAUSE_MAX = 900,		/* bytes of a cause that are kept */
	PBOOT_LACK_BYTES = 256,
};

/* PST_DEATH_SIGNAL unless it is set; qemu keeps the two above for itself. */
#define PBOOT_DEATH_SIGNAL "62"

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
 * In a launched rank PST_JOB_CONTROL, PST_JOB_FILES and PST_JOB_PLACE are taken out of the
 * environment, so that programs which the client starts are not taken for ranks; PST_JOB_RANK and
 * PST_JOB_SIZE stay.
 */
int pboot_open(struct pboot_job *job_out);

/*
 * Memory that ranks of one host share, in ranges of files: file 0 is the control arena, which rank
 * 0 makes ranges of, and file 1 + r holds the segments of rank r.  What a file is depends on
 * PST_SHM.
 *
 * make gives a new range, zero-filled, of a file that is this rank's to make ranges of, and a key
 * by which others map it as long as its maker has it.  Nothing is touched, so a page lies near the
 * CPU that writes to it first.  unmap gives the pages back; a maker's range must not be mapped
 * anew after that.
 *
 * Any thread; make and map block for a message to the keeper at most.  NULL with errno set where
 * there is no memory, address space, descriptor, or room under a limit; pboot_range_lack has words
 * for that.
 */
void *pboot_range_make(unsigned file, size_t len_bytes, uint64_t *key_out);
/* The same for memory of which most is never used: never of the pool of huge pages. */
void *pboot_range_make_sparse(unsigned file, size_t len_bytes, uint64_t *key_out);
void *pboot_range_map(unsigned file, uint64_t key, size_t len_bytes);
void pboot_range_unmap(void *base, uint64_t key, size_t len_bytes);

/* strerror, where, and what to do about it.  Returns text. */
const char *pboot_range_lack(int err, char text[PBOOT_LACK_BYTES]);

/* Are ranges parts of files, whose length RLIMIT_FSIZE bounds? */
bool pboot_range_in_file(void);

/* Bytes that the segments of all ranks of this host can take in the place where they are;
 * UINT64_MAX: no bound but the host's memory. */
uint64_t pboot_range_limit(void);

/*
 * Closes inherited descriptors that nobody asked for; ranges can still be mapped, by asking the
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

/*
 * This rank has waited for that long: the keeper prints a report of the whole job, for the first one who
 * says so.  quiet: nothing has come meanwhile, which is reported even if a wait in which messages kept
 * coming was.  Any thread.  False in a job without a keeper.
 */
bool pboot_note_hang(uint64_t waited_ns, bool quiet);

/* pboot_barrier and pboot_exchange say so by themselves when they last longer; 0: never. */
void pboot_hang_after(uint64_t ns);

/* A rank as the keeper sees it. */
struct pboot_rank_view {
	pid_t pid;		/* the process in init, else the keeper's child */
	bool joined;		/* has entered init */
	bool asked;		/* has asked to end */
	bool gone;
};

enum { PBOOT_WHY_BYTES = 120 };
/* In `why', of a wait that is not quiet. */
#define PBOOT_WHY_BUSY " while messages kept arriving"

/* What the keeper hands to those who print for people. */
struct pboot_view {
	uint32_t size;
	const char *host;
	const char *why;	/* of a report: what made it due */
	const struct pboot_rank_view *ranks;	/* [size] */
	/* Range of the control arena, to be read: by key, or the first that was made.  NULL if it is
	 * not there or shorter.  Any range stays mapped until unmap. */
	const void *(*map)(uint64_t key, size_t len_bytes);
	const void *(*map_first)(size_t len_bytes);
	/* A sparse range that a rank made in its own file. */
	const void *(*map_of)(uint32_t rank, uint64_t key, size_t len_bytes);
	void (*unmap)(const void *base, size_t len_bytes);
	/* One line on stderr; waits for no reader. */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/* pboot_print, or what calls it. */
	bool (*print)(const char *what, const char *name, const char *text, size_t len_bytes);
};

/* Called in the keeper's process, which has one thread.  Either may be NULL. */
struct pboot_hooks {
	void (*report)(const struct pboot_view *view);	/* what all ranks are doing */
	void (*ended)(const struct pboot_view *view);	/* no rank lives any more */
};

/* Before pboot_open, or before the launcher starts a job; lives as long as the process. */
void pboot_hooks_set(const struct pboot_hooks *hooks);

/*
 * Writes text to where `name' says, stdout, stderr or a file, in bounded time: a reader that takes
 * nothing is waited for as docs/failure.md says.  If not all has gone one line on stderr says so, with
 * `what' ("the counters") and the reason, and the result is false.  For one thread.
 */
bool pboot_print(const char *what, const char *name, const char *text, size_t len_bytes);

/* The signal by which a rank learns of the keeper's death; 0 when there is no keeper. */
int pboot_death_signal(void);

/* State for people: who started the job, how memory is handed over, which fallbacks and why. */
void pboot_dump(FILE *out);

#endif
