/*
 * The keeper has one thread and one loop.  It makes the shared files, forks the ranks, takes their
 * messages, and ends the job as the exit rules decide.  Each thing that it waits for is a
 * descriptor that becomes readable, or a time.
 *
 * A host has one keeper.  In this folder `rank' is the number of a rank among those of this host,
 * which is its number in the job unless the job has several hosts (pboot_keeper_job_rank).
 */
#ifndef PBOOT_KEEPER_H
#define PBOOT_KEEPER_H

#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/keeper/pboot_exit_rules.h"
#include "bootstrap/overlay/pboot_overlay.h"
#include "bootstrap/share/pboot_job.h"

#include <sched.h>

enum { PBOOT_INCOMING_MAX = 64 };

struct pboot_adopted;

struct pboot_keeper_rank {
	pid_t pid;		/* the keeper's child */
	pid_t init_pid;		/* process in init: the child or a descendant; 0: none */
	uint64_t joined_ns;	/* when it entered init; 0: not yet, or in a direct start */
	int init_pidfd;		/* pidfd of init_pid if that is not a child; -1: none */
	int control;		/* the keeper's end of the socket; -1: closed */
	/* When the child must have ended too, since init_pid has ended.  0: init_pid has not ended;
	 * UINT64_MAX: the rules have been told. */
	uint64_t vanish_ns;
	char *note;		/* the rank's text on why it will end, malloced */
	int messages;		/* pboot_wire_file of the stderr that the rank was given */
	bool said;		/* the rank has printed its note there */
	bool released;		/* adopted, and told to end */
	bool agent_knows;	/* adopted, and its agent has told the status with which it ended */
	bool agent_called;	/* adopted, and its agent was continued, since it has not told */
	int end_status;		/* this status, as of waitpid */
	sigset_t missed;	/* signals that the process group got before this rank was forked */
};

/* An agent of bootstrap/ssh that has started ranks of this host.  A host that is named twice has
 * two agents. */
struct pboot_keeper_agent {
	int sock;		/* -1: closed; that of the first is launcher_sock */
	pid_t pid;		/* 0: not known */
	uint32_t first, count;	/* its ranks of the job */
};

/* A connection by name whose process has not yet said which rank it is. */
struct pboot_incoming {
	int sock;
	uint64_t deadline_ns;
};

/* What a polled descriptor is. */
enum {
	PBOOT_SOURCE_SIGNALS, PBOOT_SOURCE_LAUNCHER, PBOOT_SOURCE_INCOMING, PBOOT_SOURCE_RANK,
	PBOOT_SOURCE_PROCESS, PBOOT_SOURCE_ENGINE, PBOOT_SOURCE_PEERS, PBOOT_SOURCE_AGENT,
};

struct pboot_source {
	int kind;
	uint32_t rank;	/* or number of an agent */
};

/* The most descriptors to poll: signals, launcher or engine, listener, connections without a rank;
 * a socket and a pidfd for each rank, and its agent; those of the overlay. */
#define PBOOT_SOURCES_MAX(size) \
	(3 + PBOOT_INCOMING_MAX + 3 * (size_t)(size) + PBOOT_OVERLAY_POLLS)

struct pboot_keeper {
	const struct pboot_plan *plan;
	const struct pboot_saved_state *saved;
	pid_t self, launcher;
	struct pboot_status_page *page;
	int launcher_sock;	/* -1 once the launcher is gone; adopted: to the first agent */
	int signals;		/* signalfd */
	int listener;		/* socket at which ranks connect by name; -1: none */
	char name[PBOOT_NAME_BYTES];
	const char *host;
	bool subreaper;
	bool inherit;		/* hand memory over by inheritance */
	bool cause_reported;
	bool hang_reported, long_wait_reported, timeout_reported;
	const char *file_kind;
	struct pboot_memory memory;
	struct pboot_file *files;	/* [PBOOT_FILES_ALL(size)] */
	struct pboot_rules rules;
	struct pboot_keeper_rank *ranks;	/* [size] */
	struct pboot_incoming incoming[PBOOT_INCOMING_MAX];
	struct pollfd *polls;	/* [PBOOT_SOURCES_MAX(size)], filled again for each wait */
	struct pboot_source *sources;	/* what each of them is */
	uint32_t source_count;
	uint64_t group_signal_ns[PBOOT_SIGNALS];	/* when the keeper last got it */
	uint64_t stopped_ns;	/* when the job was stopped; 0: it runs */
	bool asked;		/* the user has asked the job to end */
	bool asked_last;	/* the same, after all ranks had ended */
	int again_signal;	/* a request to end that a rank may have lost */
	uint64_t asked_ns;	/* when the ranks got it */
	uint64_t again_ns;	/* when ranks that lost it get it again; UINT64_MAX: not again */
	uint64_t oom_kills;	/* the kernel's count of out-of-memory kills before the job */
	struct pboot_spared spared;	/* the relay, which must live on */
	pid_t relay;		/* 0: none */
	pid_t guard;		/* the parent; 0: none, or it has ended */
	bool adopts;		/* an engine has started the ranks (pboot_adopt.h) */
	int engine_pidfd;	/* of the engine's process, which is `launcher'; -1: none */
	bool engine_watched, engine_gone;
	uint64_t released_ns;	/* when no adopted rank was at work any more; 0: not yet */
	uint64_t kill_ns;	/* when adopted ranks were first to be killed; 0: not yet */
	struct pboot_keeper_agent *agents;	/* [agent_count] */
	uint32_t agent_count;
	int told_status;	/* what the agent knows of the job's end; -1: nothing */
	bool told_failure;
	struct pboot_peers *peers;	/* the other hosts (pboot_peers.h); NULL: there are none */
	cpu_set_t *cores;	/* [core_count], the CPUs of each core; for bind_cores */
	uint32_t core_count;
};

/* pboot_keeper.c.  Runs the job and exits; in a rank of a direct start it returns. */
void pboot_keeper_run(const struct pboot_plan *plan, const struct pboot_saved_state *saved,
    struct pboot_status_page *page, int launcher_sock, struct pboot_startup *startup_out);
/* The first part of that: makes the keeper ready.  area_bytes is the size of the exchange area. */
void pboot_keeper_prepare(struct pboot_keeper *keeper, const struct pboot_plan *plan,
    const struct pboot_saved_state *saved, struct pboot_status_page *page, int launcher_sock,
    size_t area_bytes);
/* The second part: serves the ranks until all have ended. */
void __attribute__((noreturn)) pboot_keeper_serve(struct pboot_keeper *keeper);
/* Ends a keeper that is not ready yet, with one line: "cannot make WHAT". */
void __attribute__((noreturn)) pboot_keeper_give_up(struct pboot_keeper *keeper, const char *what,
    int err);
/* The number of a rank in the job. */
uint32_t pboot_keeper_job_rank(const struct pboot_keeper *keeper, uint32_t rank);
void pboot_keeper_event(struct pboot_keeper *keeper, enum pboot_event_kind kind, uint32_t rank,
    int value);

/* pboot_spawn.c.  Forks all ranks.  Returns 0 in the keeper and 1 in a rank of a direct start.  A
 * failure is passed to the rules as an event. */
int pboot_spawn_all(struct pboot_keeper *keeper, struct pboot_startup *startup_out);

/* pboot_receive.c: messages of ranks, and of connections that become a rank's. */
void pboot_receive_rank(struct pboot_keeper *keeper, uint32_t rank);
void pboot_receive_incoming(struct pboot_keeper *keeper);

/* pboot_wait.c.  pboot_wait_sources waits for the next event; then `polls' and `sources' hold what
 * happened.  pboot_wait_process_ended: a pidfd became readable.  pboot_wait_check_process: has the
 * rank's process in init ended? */
void pboot_wait_sources(struct pboot_keeper *keeper);
void pboot_wait_process_ended(struct pboot_keeper *keeper, uint32_t rank);
void pboot_wait_check_process(struct pboot_keeper *keeper, uint32_t rank);

/* pboot_end.c: passes signals on, takes the ends of children, ends the job. */
bool pboot_is_request_to_end(int sig);
void pboot_end_forward(struct pboot_keeper *keeper, int sig);
void pboot_end_forward_missed(struct pboot_keeper *keeper, int sig);
void pboot_end_asked(struct pboot_keeper *keeper, int sig);
void pboot_end_forward_lost(struct pboot_keeper *keeper, int sig);
void pboot_end_reap(struct pboot_keeper *keeper);
void pboot_end_adopted(struct pboot_keeper *keeper, uint32_t rank);
void pboot_end_quit(struct pboot_keeper *keeper);
void pboot_end_kill(struct pboot_keeper *keeper);
void pboot_end_settle(struct pboot_keeper *keeper);

/* pboot_adopt.c.  These do nothing in a keeper that does not adopt.  release: lets the ranks end,
 * once all of the job have asked to end or have ended.  spares: must this rank not be killed yet,
 * since it waits for its release?  check_engine: has the engine ended? */
void pboot_adopt_release(struct pboot_keeper *keeper);
bool pboot_adopt_spares(struct pboot_keeper *keeper, uint32_t rank);
void pboot_adopt_check_engine(struct pboot_keeper *keeper);
/* pboot_adopt_agent.c, for ranks that an agent has started.  connect: connects to the agents by
 * their names.  agent_knows: will an agent tell how this rank ends?  agent_call: continues this
 * agent, once for each rank; false: it was called before.  take: takes a message of the first
 * agent.  receive: takes the messages of another one, by its number.  tell: tells the first agent
 * how the job ends; tell_lost: that the host of this rank of the job cannot be reached. */
void pboot_adopt_connect(struct pboot_keeper *keeper, const struct pboot_adopted *ranks);
bool pboot_adopt_agent_knows(const struct pboot_keeper *keeper, uint32_t rank);
bool pboot_adopt_agent_call(struct pboot_keeper *keeper, uint32_t rank);
void pboot_adopt_take(struct pboot_keeper *keeper, const struct pboot_msg *msg);
void pboot_adopt_receive(struct pboot_keeper *keeper, uint32_t agent);
void pboot_adopt_tell(struct pboot_keeper *keeper);
void pboot_adopt_tell_lost(const struct pboot_keeper *keeper, uint32_t job_rank);

/* pboot_report.c: prints lines about the job. */
void pboot_report_cause(struct pboot_keeper *keeper);
void pboot_report_start(const struct pboot_keeper *keeper);
void pboot_report_state(struct pboot_keeper *keeper);

/* pboot_arena.c: maps shared ranges in the keeper, for reading.  A process has one job. */
void pboot_arena_note(const struct pboot_keeper *keeper, int first_key);
const void *pboot_arena_map(uint64_t key, size_t len_bytes);
const void *pboot_arena_map_first(size_t len_bytes);
const void *pboot_arena_map_of(uint32_t rank, uint64_t key, size_t len_bytes);
void pboot_arena_unmap(const void *base, size_t len_bytes);

/* What makes a report due.  A later kind goes before an earlier one. */
enum pboot_report_kind {
	PBOOT_REPORT_NONE,
	PBOOT_REPORT_LONG_WAIT,	/* a rank has waited, while messages kept arriving */
	PBOOT_REPORT_HANG,	/* a rank has waited, without messages */
	PBOOT_REPORT_ASKED,	/* SIGUSR1 */
	PBOOT_REPORT_TIMEOUT,	/* the job's time is over */
};

/* Why, of the last of them. */
#define PBOOT_TIME_IS_OVER "the time is over"

/*
 * pboot_view.c: calls the hooks, which print.
 *
 * hang: a rank says that it waits.  Only the first rank that hangs makes a report, and none is made
 * while the job is stopped.  ranks: prints what all ranks of the job do, by way of host 0 if there
 * are several (pboot_peers_report.c).  is_first: is a report of this kind to be made?  Notes that
 * it is.  look: a look at the ranks of this host.  print: prints such looks.  alone: prints the
 * ranks of this host only.
 */
void pboot_report_hang(struct pboot_keeper *keeper, uint32_t rank, int waited_ms, bool quiet);
void pboot_report_ranks(struct pboot_keeper *keeper, enum pboot_report_kind kind,
    const char *why);
bool pboot_report_is_first(struct pboot_keeper *keeper, enum pboot_report_kind kind);
struct pboot_pack pboot_report_look(const struct pboot_keeper *keeper);
void pboot_report_print(const struct pboot_keeper *keeper, const char *why,
    struct pboot_pack *looks, uint32_t count);
void pboot_report_alone(const struct pboot_keeper *keeper, const char *why);
struct pboot_pack pboot_report_pack(const struct pboot_keeper *keeper);
void pboot_report_ended(const struct pboot_keeper *keeper);

/* pboot_relay.c: a process that copies the ranks' output line by line.  pipes is [2 * size] pairs:
 * stdout and stderr of rank 0, of rank 1, and so on.  open returns 0 or an errno value. */
int pboot_relay_open(uint32_t size, int (**pipes_out)[2]);
pid_t pboot_relay_start(uint32_t size, int (*pipes)[2]);
void pboot_relay_close_writers(uint32_t size, int (*pipes)[2]);

/*
 * pboot_guard.c.  The launcher's child calls this and becomes the guard, which does not return.
 * The call returns in the guard's child, the keeper.  If the kernel has no subreapers or a step
 * fails, there is no guard: the call returns in the process that made it, which becomes the keeper.
 */
void pboot_guard_start(struct pboot_status_page *page, int keeper_sock);

/* The signals that keeper and guard listen to. */
void pboot_group_signals(sigset_t *set_out);

/* pboot_bind.c: writes a malloced array with the CPUs of each core that this process may use.
 * Returns how many cores there are. */
uint32_t pboot_bind_cores(cpu_set_t **cores_out);

#endif
