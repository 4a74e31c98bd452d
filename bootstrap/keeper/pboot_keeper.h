/*
 * The keeper: one thread, one loop.  It makes the shared files, forks the ranks, hears what they
 * say, and ends the job as the exit rules decide.  Everything it waits for arrives as a descriptor
 * that becomes readable, or as a time that passes.
 */
#ifndef PBOOT_KEEPER_H
#define PBOOT_KEEPER_H

#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/keeper/pboot_exit_rules.h"
#include "bootstrap/share/pboot_job.h"

#include <sched.h>

enum { PBOOT_CALLERS_MAX = 64 };

struct pboot_keeper_rank {
	pid_t pid;		/* the keeper's child */
	pid_t init_pid;		/* the process in init: the child or a descendant; 0 none */
	uint64_t joined_ns;	/* when it entered init; 0: not yet, or the direct start */
	int init_pidfd;		/* of init_pid where it is no child; -1 none */
	int control;		/* the keeper's end; -1 closed */
	/* init_pid is gone, the child has until then to end; 0: not so; UINT64_MAX: told */
	uint64_t vanish_ns;
	char *note;		/* why it will end, malloced */
	int messages;		/* pboot_wire_file of the stderr it was given */
	bool said;		/* it has printed its note there */
	sigset_t missed;	/* signals that came to the group before this rank was in it */
};

/* A connection by name that has not said who it is. */
struct pboot_caller {
	int sock;
	uint64_t deadline_ns;
};

/* What a watched descriptor is. */
enum {
	PBOOT_WATCH_SIGNALS, PBOOT_WATCH_LAUNCHER, PBOOT_WATCH_CALLERS, PBOOT_WATCH_RANK,
	PBOOT_WATCH_PROCESS,
};

struct pboot_watch {
	int kind;
	uint32_t rank;
};

/* Signals, launcher, listener, callers; a socket and a process for each rank. */
#define PBOOT_WATCHES(size) (3 + PBOOT_CALLERS_MAX + 2 * (size_t)(size))

struct pboot_keeper {
	const struct pboot_plan *plan;
	const struct pboot_origin *origin;
	pid_t self, launcher;
	struct pboot_told *told;
	int launcher_sock;	/* -1 once the launcher is gone */
	int signals;		/* signalfd */
	int listener;		/* -1: none */
	char name[PBOOT_NAME_BYTES];
	const char *host;
	bool subreaper;
	bool inherit;		/* hand memory over by inheritance */
	bool cause_reported;
	bool hang_reported, long_wait_reported;
	const char *file_kind;
	struct pboot_store store;
	struct pboot_file *files;	/* [PBOOT_FILES_ALL(size)] */
	struct pboot_rules rules;
	struct pboot_keeper_rank *ranks;	/* [size] */
	struct pboot_caller callers[PBOOT_CALLERS_MAX];
	struct pollfd *polls;	/* [PBOOT_WATCHES(size)], filled anew for each wait */
	struct pboot_watch *watches;	/* what each of them is */
	uint32_t watch_count;
	uint64_t group_signal_ns[PBOOT_SIGNALS];	/* when the keeper itself got a signal last */
	uint64_t stopped_ns;	/* when the job was stopped; 0: it runs */
	bool asked, asked_last;	/* to end; and when no rank lived any more */
	int again_signal;	/* a request to end that may have been lost on its way to a rank */
	uint64_t asked_ns;	/* when the ranks got it */
	uint64_t again_ns;	/* when those that lost it get it again; UINT64_MAX: no more */
	uint64_t oom_kills;	/* of this host or group before the job */
	struct pboot_spared spared;	/* the relay */
	pid_t relay;		/* 0: none */
	pid_t guard;		/* the parent; 0: none, or gone */
	cpu_set_t *cores;	/* [core_count], for bind_cores */
	uint32_t core_count;
};

/* pboot_keeper.c.  Runs the job and exits; in a rank of a direct start it returns. */
void pboot_keeper_run(const struct pboot_plan *plan, const struct pboot_origin *origin,
    struct pboot_told *told, int launcher_sock, struct pboot_seat *seat_out);
void pboot_keeper_event(struct pboot_keeper *keeper, enum pboot_event_kind kind, uint32_t rank,
    int value);

/* pboot_spawn.c.  Forks all ranks: 0 in the keeper, 1 in a rank of a direct start.  A failure has
 * become an event. */
int pboot_spawn_all(struct pboot_keeper *keeper, struct pboot_seat *seat_out);

/* pboot_serve.c: what ranks and callers say. */
void pboot_serve_rank(struct pboot_keeper *keeper, uint32_t rank);
void pboot_serve_callers(struct pboot_keeper *keeper);

/* pboot_watch.c: waiting.  wait fills polls and watches with what happened, or nothing; ended is
 * for a pidfd that became readable; lost looks whether a rank's process in init is gone. */
void pboot_watch_wait(struct pboot_keeper *keeper);
void pboot_watch_ended(struct pboot_keeper_rank *self);
void pboot_watch_lost(struct pboot_keeper *keeper, uint32_t rank);

/* pboot_end.c: signals, deaths and the end. */
bool pboot_is_request_to_end(int sig);
void pboot_end_forward(struct pboot_keeper *keeper, int sig);
void pboot_end_forward_missed(struct pboot_keeper *keeper, int sig);
void pboot_end_asked(struct pboot_keeper *keeper, int sig);
void pboot_end_forward_lost(struct pboot_keeper *keeper, int sig);
void pboot_end_reap(struct pboot_keeper *keeper);
void pboot_end_quit(struct pboot_keeper *keeper);
void pboot_end_kill(struct pboot_keeper *keeper);
void pboot_end_settle(struct pboot_keeper *keeper);

/* pboot_report.c: one line for people. */
void pboot_report_cause(struct pboot_keeper *keeper);
void pboot_report_start(const struct pboot_keeper *keeper);
void pboot_report_state(const struct pboot_keeper *keeper);

/* pboot_arena.c: shared ranges as the keeper sees them; one job to a process. */
void pboot_arena_keep(const struct pboot_keeper *keeper, int first_key);
const void *pboot_arena_map(uint64_t key, size_t len_bytes);
const void *pboot_arena_map_first(size_t len_bytes);
const void *pboot_arena_map_of(uint32_t rank, uint64_t key, size_t len_bytes);
void pboot_arena_unmap(const void *base, size_t len_bytes);

/* pboot_view.c: what the hooks print.  The first rank that hangs says so for the job; a job that is
 * stopped waits for nothing. */
void pboot_report_hang(struct pboot_keeper *keeper, uint32_t rank, int waited_ms, bool quiet);
void pboot_report_ranks(const struct pboot_keeper *keeper, const char *why);
void pboot_report_ended(const struct pboot_keeper *keeper);

/* pboot_relay.c: a process that copies the ranks' output line by line.  Pipes are [2 * size] pairs:
 * stdout and stderr of rank 0, of rank 1 and so on.  0 or an errno value. */
int pboot_relay_open(uint32_t size, int (**pipes_out)[2]);
pid_t pboot_relay_start(uint32_t size, int (*pipes)[2]);
void pboot_relay_close_writers(uint32_t size, int (*pipes)[2]);

/*
 * pboot_guard.c.  Called in the launcher's child, which becomes the guard and does not return; this
 * returns in the guard's child, the keeper.  Without subreapers, and where it cannot be, there is none,
 * and this returns in the process that called.
 */
void pboot_guard_start(struct pboot_told *told, int keeper_sock);

/* The signals that keeper and guard listen to. */
void pboot_group_signals(sigset_t *set_out);

/* pboot_bind.c: the CPUs of each core that this process may use.  Count, and a malloced array. */
uint32_t pboot_bind_cores(cpu_set_t **cores_out);

#endif
