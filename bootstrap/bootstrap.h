/*
 * Starts and ends a job.  The functions here tell a process which rank it is, give it the memory
 * that the ranks of one host share, exchange a few bytes before the network is up, and end the job.
 *
 * A job on one host has four kinds of processes, each the child of the one before: launcher, guard,
 * keeper, ranks.  A job that an engine has started has a keeper on each host, and ranks, whose
 * parent is a process of the engine.  The keeper holds the other end of the control socket of each
 * rank of its host, and makes and keeps the shared files.  The keeper learns of a rank's death by
 * waitpid or a pidfd, and end of file.  A rank learns of the keeper's death by a real-time signal
 * that the control socket raises (PST_DEATH_SIGNAL).  Keepers of several hosts tell each other.
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
	PBOOT_DEATH_SIGNAL_LEAST = 34,	/* bounds of PST_DEATH_SIGNAL */
	PBOOT_DEATH_SIGNAL_MOST = 64,
	PBOOT_GRACE_MAX_S = 86400,	/* upper bound of GASNET_EXITTIMEOUT* */
	PBOOT_CAUSE_MAX = 900,		/* longer texts of a cause are cut to this many bytes */
	PBOOT_ERROR_TEXT_BYTES = 256,
};

/* The defaults of PST_HOST_LIMIT and PST_START_LIMIT, in s. */
#define PBOOT_HOST_LIMIT "5"
#define PBOOT_START_LIMIT "600"

/* The default of PST_DEATH_SIGNAL.  qemu uses 63 and 64 itself. */
#define PBOOT_DEATH_SIGNAL "62"

struct pboot_job {
	uint32_t rank, size;
	uint32_t host_count;	/* hosts of the job */
	uint32_t host_index;	/* this rank's host */
	const uint32_t *host_of;	/* [size], host index of each rank; not to be freed */
	uint32_t local_rank;	/* this rank's number among the ranks of its host */
	uint32_t local_size;	/* how many ranks its host has */
	bool direct;		/* the program started the job itself, without penstock-run */
};

/*
 * Joins the job, or makes one.  The thread that calls init calls this once, before all else in this
 * file.  There are four ways to start; the first that the environment names is taken:
 *
 *     penstock-run         this process is a rank
 *     GASNET_PSHM_NODES=n  this process becomes the launcher and does not return; the call returns
 *                          in n descendants, the ranks.  Streams are flushed before the fork.
 *     an engine            this process is a rank of a job that Hydra, Open MPI or Slurm started
 *     none of them         this process is the only rank, and there is no keeper
 *
 * Returns 0 and fills *job_out, or an errno value after one line on stderr.  A bad setting ends the
 * process with one line and status 2; a keeper that is gone or of another version, with status 1.
 * In a launched rank this call removes PST_JOB_CONTROL, PST_JOB_FILES and PST_JOB_PLACE from the
 * environment, so that a program which the client starts does not act as a rank.  PST_JOB_RANK and
 * PST_JOB_SIZE stay.  In a rank of an engine it removes PMI_FD and PMI_PORT, for the same reason.
 */
int pboot_open(struct pboot_job *job_out);

/*
 * Memory that the ranks of one host share is made of ranges of files, which each host has for
 * itself.  File 0 is the control arena; only the lowest rank of the host makes ranges of it.  File
 * 1 + i holds the segments of the rank whose local_rank is i, and only that rank makes ranges of
 * it.  A range can be mapped on its own host alone.  PST_SHM chooses what a file is.
 *
 * make returns a new, zero-filled range, and a key by which others can map it while its maker has
 * it.  No page is touched, so a page lies near the CPU that writes to it first.  unmap frees the
 * pages; no rank may map the range again after its maker has unmapped it.
 *
 * Any thread may call these.  make and map may wait for one answer of the keeper.  They return NULL
 * with errno set where memory, address space or a descriptor is missing, or a limit is reached;
 * pboot_range_error_text gives the text for that.
 */
void *pboot_range_make(unsigned file, size_t len_bytes, uint64_t *key_out);
/* The same for memory that is mostly not used; it never takes pages of the huge page pool. */
void *pboot_range_make_sparse(unsigned file, size_t len_bytes, uint64_t *key_out);
void *pboot_range_map(unsigned file, uint64_t key, size_t len_bytes);
void pboot_range_unmap(void *base, uint64_t key, size_t len_bytes);

/* Writes strerror(err), the kind of memory, and the limit to raise.  Returns text. */
const char *pboot_range_error_text(int err, char text[PBOOT_ERROR_TEXT_BYTES]);

/* Are ranges parts of files?  RLIMIT_FSIZE then bounds them. */
bool pboot_range_in_file(void);

/* May a range be mapped first when its maker has ended?  Not with SysV. */
bool pboot_range_outlives_maker(void);

/* Bytes that the segments of all ranks of this host can take in their file system or kind of
 * memory; UINT64_MAX: only the host's memory bounds them. */
uint64_t pboot_range_limit(void);

/*
 * An eventfd that belongs to the rank whose local_rank is given, and that all ranks of its host can
 * have: the rank sleeps on it, others write to it.  The caller closes the descriptor.  Any thread
 * may call it; it may wait for one answer of the keeper.  Returns -errno where there is no
 * descriptor.
 */
int pboot_wake_fd(uint32_t local_rank);

/*
 * Closes the inherited descriptors that were not used.  Ranges can still be mapped: the keeper then
 * sends the descriptor.  Each rank calls this once, after it has mapped the usual files.
 */
void pboot_close_inherited(void);

/*
 * Waits until all ranks of the job have called it.  One thread per rank calls it.  It needs no
 * memory of the runtime; it sleeps and never spins.  If a rank dies meanwhile, or a host is lost,
 * the keeper ends the job, this rank included.
 */
void pboot_barrier(void);

/*
 * Gathers len_bytes (at most PBOOT_EXCHANGE_MAX, the same everywhere) from each rank into
 * all_out[size * len_bytes], in rank order, on all ranks.  It is collective and waits as
 * pboot_barrier does.  mine has been read and all_out written when it returns.
 */
void pboot_exchange(const void *mine, size_t len_bytes, void *all_out);

/*
 * This rank asks to end the job with `code', and ends at once; it flushes nothing and runs no
 * atexit handler.  Any thread may call it at any time after pboot_open, signal handlers included.
 * The keeper waits a short time for the other ranks to ask too, then sends SIGQUIT, then SIGKILL.
 */
void pboot_leave(int code) __attribute__((noreturn));

/* Tells the keeper the same, and returns; the caller ends by pboot_leave with that code.  From now
 * on the keeper bounds the time that this rank still has.  The same threads and signal handlers may
 * call it. */
void pboot_note_leave(int code);

/*
 * This rank is about to end by exit(code) or by return from main, which ends the job with that
 * code.  An atexit handler calls it, in any thread.  It returns; the process then ends by itself.
 */
void pboot_note_exit(int code);

/* Tells the same where exit() does not end the job (GASNET_CATCH_EXIT=0).  The other ranks go on,
 * and the job ends with its last rank. */
void pboot_note_exit_alone(int code);

/*
 * Tells the keeper why this rank will end.  The keeper uses the text in the line that names the
 * job's cause, if this rank turns out to be the first that ended.  The text has no newline, may be
 * empty, and is cut after PBOOT_CAUSE_MAX bytes.  `printed' says that the caller has printed it on
 * stderr, with the rank; the keeper then prints no line, unless its own stderr is another file.
 * Any thread may call it, signal handlers included.  Returns false if there is no keeper.
 */
bool pboot_note_cause(const char *text, bool printed);

/*
 * Tells the keeper that this rank has waited for waited_ns.  The keeper prints a report of the
 * whole job for the first rank that says so.  `quiet' says that no message came meanwhile; a quiet
 * wait is reported even if a wait with messages has been.  Any thread may call it.  Returns false
 * in a job without a keeper.
 */
bool pboot_note_hang(uint64_t waited_ns, bool quiet);

/*
 * Tells another rank, by way of memory and keepers, that this one gets no answer from it through
 * the network.  It may be lost, and of several that knock at a rank at once one is heard; so who
 * still has no answer knocks again.  Any thread may call it.
 */
void pboot_knock(uint32_t rank);

/* Who has knocked at this rank since the last call: the last of them, or PBOOT_NOBODY.  Any thread
 * may call it; it asks nobody. */
#define PBOOT_NOBODY UINT32_MAX
uint32_t pboot_knocker(void);

/* pboot_barrier and pboot_exchange call pboot_note_hang when they take longer than this; 0:
 * never. */
void pboot_hang_after(uint64_t ns);

/* A rank as the keeper sees it. */
struct pboot_rank_view {
	uint32_t rank;		/* in the job */
	pid_t pid;		/* the process in init, else the keeper's child */
	bool joined;		/* has entered init */
	bool asked;		/* has asked to end */
	bool gone;
};

enum { PBOOT_WHY_BYTES = 120 };
/* Ends `why' of a report about a wait that is not quiet. */
#define PBOOT_WHY_BUSY " while messages kept arriving"

/* What the hook of a host has packed for the host that prints. */
struct pboot_pack {
	unsigned char *bytes;
	size_t len_bytes;
	bool complete;		/* all of it has come */
	const char *host;	/* the name of the host, for messages */
	const char *missing;	/* why it will not be complete, for messages; NULL: not known */
};

/* What the keeper of a host passes to the functions that print for people (struct pboot_hooks). */
struct pboot_view {
	uint32_t size;		/* ranks of this host */
	const char *host;
	const char *why;	/* of a report: what made it due */
	const struct pboot_rank_view *ranks;	/* [size] */
	/* For `report': the looks of all hosts.  For `ended' at the first host of several: what
	 * `pack' of the others has made. */
	struct pboot_pack *packs;	/* [pack_count] */
	uint32_t pack_count;
	bool is_packed;		/* elsewhere: the first host has the pack of this one */
	/* Maps a range of the control arena for reading: by key, or the first that was made.  NULL
	 * if there is no such range or it is shorter.  The range stays mapped until unmap. */
	const void *(*map)(uint64_t key, size_t len_bytes);
	const void *(*map_first)(size_t len_bytes);
	/* The same for a sparse range that a rank of this host made in its own file. */
	const void *(*map_of)(uint32_t local_rank, uint64_t key, size_t len_bytes);
	void (*unmap)(const void *base, size_t len_bytes);
	/* Prints one line on stderr, and does not wait for a reader. */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/* pboot_print, or a function that calls it. */
	bool (*print)(const char *what, const char *name, const char *text, size_t len_bytes);
};

/* Called in the keeper's process, which has one thread.  Each may be NULL. */
struct pboot_hooks {
	/* Looks at what the ranks of this host are doing: what `report' is to have of it, malloced;
	 * bytes NULL: no memory. */
	struct pboot_pack (*look)(const struct pboot_view *view);
	/* Prints what the ranks of these looks are doing. */
	void (*report)(const struct pboot_view *view);
	/* Called at hosts other than the first when all their ranks have ended: what `ended' of the
	 * first host is to have, malloced; bytes NULL: nothing. */
	struct pboot_pack (*pack)(const struct pboot_view *view);
	void (*ended)(const struct pboot_view *view);	/* called when all ranks have ended */
};

/* Called before pboot_open, or before the launcher starts a job.  *hooks must stay valid. */
void pboot_hooks_set(const struct pboot_hooks *hooks);

/*
 * Writes text to `name', which is stdout, stderr or a path, in bounded time; docs/failure.md says
 * how long it waits for a reader that takes nothing.  If some text could not be written, one line
 * on stderr says so, with `what' ("the counters") and the reason, and the result is false.  One
 * thread may call it at a time.
 */
bool pboot_print(const char *what, const char *name, const char *text, size_t len_bytes);

/* The signal by which a rank learns of the keeper's death; 0 when there is no keeper. */
int pboot_death_signal(void);

/* Prints what started the job, how memory is handed over, and which fallbacks are in use and
 * why. */
void pboot_dump(FILE *out);

#endif
