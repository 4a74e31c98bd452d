/* The job as one process sees it: constants, errors, and the counters of threads. */
#ifndef PSI_PROCESS_H
#define PSI_PROCESS_H

#include "bootstrap/bootstrap.h"
#include "runtime/conduit/conduit.h"
#include "runtime/process/objects.h"
#include "runtime/process/module.h"
#include "runtime/process/shared.h"
#include "runtime/util/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { PSI_HOST_NAME_BYTES = 48 };

/* Constant after init, except where said otherwise. */
struct psi_job {
	struct pboot_job boot;
	uint32_t host_places;           /* ranks of this host */
	const uint32_t *host_ranks;     /* [host_places]: their job ranks, in order */
	const uint32_t *host_index;     /* [size]: of each rank among those of its own host */
	const char *host;
	char (*host_names)[PSI_HOST_NAME_BYTES]; /* [boot.host_count], perhaps cut; NULL: one
	                                          * host */
	pid_t pid;                      /* a child that the client forks is no rank */
	uint32_t thread_mode;           /* PSI_MODE_ */
	bool threaded;                  /* PAR */
	bool receive_thread;            /* a thread of the library runs handlers too */
	bool crowded;                   /* more ranks than CPUs here */
	_Atomic bool threads_crowd;     /* ... or more threads that call; kept by thread.c */
	_Atomic uint32_t ranks_per_cpu; /* times the threads of each; rounded up; at least 2 */
	uint32_t sharers, sharers_cpus; /* ranks whose CPUs meet this one's; the CPUs of these */
	uint32_t alike_before;          /* lower ranks of this host with the same CPUs */
	/* Where no rank of this host shares its CPUs: the lowest CPU of those with which each rank
	 * shares its last cache, or PSI_NO_CACHE, by index on the host, and the CPUs of all.  Else
	 * NULL and 0. */
	const uint32_t *cache_of;
	uint32_t host_cpus;
	bool open;                      /* init has finished */
	bool networked;                 /* some ranks are reached by a network */
	bool checks;                    /* all rules are looked at (rules.h) */
	bool attach_first;              /* after gasnet_init, until something is attached */
	uint32_t places;                /* first endpoints that messages may name; 0 before init */
	_Atomic bool several;           /* this process has more endpoints than the first */
	bool legacy;                    /* the gasnet_ API is on */
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	const struct psi_conduit_ops *ops;
	struct psi_conduit *conduit;
	struct psi_attributes attributes;
	struct psi_conduit_job conduit_job;
	struct psi_host_shared *shared;
	struct psi_block *blocks;       /* of this process; before init, one */
	struct psi_block *block;        /* the process's; NULL in PAR, where threads have their
	                                 * own */
	struct psi_segment_entry *known;  /* [places]: what was in the segment table at the last
	                                   * exchange */
	struct pst_peer *peers;         /* [places]; changed by attach and publish */
	struct pst_sem_peer *sems;      /* [places]; lines come with a first post (sem_table.c) */
	bool posts_fence;               /* between a signal and the look at a peer's sleep word */
	uintptr_t max_segment, max_segment_global;
	const char *max_segment_bound;  /* what keeps max_segment from being more, in words */
	uint64_t max_sleep_ns;          /* 0: no bound */
	/* The same, while devices are used that wake nobody; where the conduit sleeps on
	 * descriptors, device_fds says so, which is handed down: NULL, or constant from init on. */
	_Atomic uint64_t device_sleep_ns;
	unsigned (*device_fds)(int *fds_out, uint64_t *most_ns_out);
	uint64_t hang_report_ns;        /* 0: never */
	const struct psi_module *const *modules; /* the list of job/modules.c; NULL before init */
	const struct psi_team_lender *team_lender;
	void *(*signal_stack_open)(void);       /* as psi_signals_stack_open; NULL before that */
	void (*signal_stack_close)(void *stack);
	gex_Event_t (*barrier)(gex_TM_t tm, gex_Flags_t flags);
	void (*error_told)(void);       /* the line of psi_fatal is out; NULL before signals are
	                                 * caught */
	_Atomic int wait_mode;
	_Atomic int verbose_errors;
};

/* Its symbol has more than the prefix: programs that compute have a psi of their own. */
extern struct psi_job psi __asm__("psi_job");

/* A line about this rank, its backtrace if asked for, and abort: errors that no caller can
 * handle. */
void psi_fatal(const char *format, ...) PSI_PRINTF(1, 2) __attribute__((noreturn));

/* Returns code, after one line unless the client turned such lines off. */
int psi_refuse(int code, const char *call, const char *why);

/* A call was made that needs init, with its name. */
void psi_need_init(const char *call);
/* An object that a call was given is the constant which names none. */
void psi_invalid(const char *call, const char *constant) __attribute__((noreturn, cold));
/* Is this a child that the client forked? */
bool psi_is_forked_child(void);

/* Does this process share memory with that job rank?  After the conduits have opened. */
static inline bool psi_shares_memory(uint32_t rank) { return psi.conduit_job.local[rank]; }

/* Is that job rank on this host, even if it shares no memory with this process? */
static inline bool
psi_on_this_host(uint32_t rank)
{
	return psi.boot.host_of[rank] == psi.boot.host_index;
}

/* What a rank of this host keeps in the control arena. */
static inline struct psi_rank_shared *
psi_shared_of(uint32_t rank)
{
	return psi_shared_rank(psi.shared, psi.host_places, psi.host_index[rank]);
}

/* The number of the file with the segments of a rank of this host (bootstrap.h). */
static inline unsigned psi_file_of(uint32_t rank) { return 1 + psi.host_index[rank]; }

/* -- counts (block.c, counters.c) ------------------------------------------------------------- */

/* The counters of the calling thread in PAR, which inline transfers use too; NULL until
 * psi_block_take. */
PSI_API __thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));

/* The shared memory is mapped now.  Counts from before are carried over. */
void psi_blocks_open(struct psi_rank_shared *mine);
/* Gives the calling thread a block, in PAR; it goes back when the thread ends. */
void psi_block_take(void);
/* Adds what threads count that others do not see, since there are more of them than blocks. */
void psi_blocks_join_private(uint64_t *counts);
/* The process ends: others see that too. */
void psi_blocks_close(void);

/* The calling thread's block. */
static inline struct psi_block *
psi_block(void)
{
	if (PSI_LIKELY(psi.block != NULL))
		return psi.block;
	if (PSI_UNLIKELY(!psi_counts_self))
		psi_block_take();
	return (struct psi_block *)(void *)psi_counts_self;
}

#endif
