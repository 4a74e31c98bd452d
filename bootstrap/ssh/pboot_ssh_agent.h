/*
 * The agent: `penstock-run --agent', which ssh starts on each host of a job.  It forks the ranks of
 * its host, is their PMI-1 server, and carries their input and output.  It decides nothing: the
 * host's keeper ends the job by its rules once there is one, and the launcher before that.  When
 * the launcher cannot be reached any more, the agent ends its ranks.
 *
 * It has one thread and one loop, and never waits for one reader or writer.
 */
#ifndef PBOOT_SSH_AGENT_H
#define PBOOT_SSH_AGENT_H

#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/share/pboot_job.h"
#include "bootstrap/ssh/pboot_pmi1_server.h"
#include "bootstrap/ssh/pboot_ssh_link.h"
#include "bootstrap/ssh/pboot_ssh_order.h"

enum { PBOOT_SSH_KEEPERS_MAX = 8, PBOOT_SSH_DUE_MAX = 512 * 1024 };

struct pboot_ssh_rank {
	pid_t pid;		/* 0: not forked */
	bool ended;
	int end_status;		/* of waitpid, when it has ended */
	int pmi;		/* -1: closed */
	int outputs[2];		/* stdout, stderr; -1: closed */
	size_t fill;
	char line[PBOOT_PMI1_REQUEST_MAX + 1];	/* the beginning of a line of PMI-1 */
};

struct pboot_ssh_keeper {
	int sock;		/* -1: closed */
	pid_t pid;
};

struct pboot_ssh_agent {
	struct pboot_ssh_link link;
	struct pboot_saved_state saved;
	int signals;		/* signalfd */
	uint8_t *order_bytes;	/* malloced; the part of the order that has come */
	size_t order_len;
	struct pboot_ssh_order order;
	bool started;
	struct pboot_pmi1_server server;
	struct pboot_ssh_rank *ranks;	/* [order.ranks.count] */
	uint32_t alive;
	char *pairs;		/* malloced; what all hosts have put, as far as it has come */
	size_t pairs_len;
	int failed_exec[2];	/* a pipe in which a rank that cannot run writes why */
	size_t window[2];	/* bytes of stdout and stderr that may be sent */
	bool no_reader[2];
	int input;		/* pipe to the rank that reads; -1: none, or closed */
	uint8_t *kept;		/* [PBOOT_SSH_WINDOW], malloced; input with no room in the pipe */
	size_t kept_len;
	bool input_ends;
	int listener;		/* where keepers connect; -1: none */
	char name[PBOOT_NAME_BYTES];
	struct pboot_ssh_keeper keepers[PBOOT_SSH_KEEPERS_MAX];
	unsigned keeper_count;
	int fail_status;	/* the job fails, as the launcher says; 0: it does not */
	bool lost;		/* the launcher is lost */
	uint64_t kill_ns;	/* when all here are killed; 0: not yet */
	uint64_t settle_ns;	/* when all ranks had ended; 0: not yet */
	bool settled;		/* no process that they started is left */
};

/* pboot_ssh_agent_take.c: takes what the launcher sends. */
void pboot_ssh_agent_take(struct pboot_ssh_agent *agent);

/* pboot_ssh_agent_end.c.  lose: the launcher cannot be reached.  fail: the launcher says that the
 * job fails with this status.  kill: all processes of the job here are to be killed.  fault: this
 * agent cannot work; it tells the launcher why and ends its ranks. */
void pboot_ssh_agent_lose(struct pboot_ssh_agent *agent);
void pboot_ssh_agent_fail(struct pboot_ssh_agent *agent, int status);
void pboot_ssh_agent_kill(struct pboot_ssh_agent *agent);
/* Each turn of the loop calls these.  kill_due: kills when the time for it has come.  settle: ends
 * the processes that ranks have started, after the ranks have ended. */
void pboot_ssh_agent_kill_due(struct pboot_ssh_agent *agent, uint64_t now);
void pboot_ssh_agent_settle(struct pboot_ssh_agent *agent, uint64_t now);
/* is_over: have all processes here ended, and has all output been read?  say_last: tells the
 * launcher so. */
bool pboot_ssh_agent_is_over(const struct pboot_ssh_agent *agent);
void pboot_ssh_agent_say_last(struct pboot_ssh_agent *agent);
void pboot_ssh_agent_fault(struct pboot_ssh_agent *agent, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* pboot_ssh_agent_ranks.c.  start: forks the ranks; returns false after a fault.  signal: signals
 * all ranks that live. */
bool pboot_ssh_ranks_start(struct pboot_ssh_agent *agent);
void pboot_ssh_ranks_signal(struct pboot_ssh_agent *agent, int sig);
void pboot_ssh_ranks_reap(struct pboot_ssh_agent *agent);
void pboot_ssh_ranks_take_exec(struct pboot_ssh_agent *agent);

/* pboot_ssh_agent_flow.c: what ranks print and read.  output reads once from a stream (0, 1) of a
 * rank; input writes what the pipe takes. */
void pboot_ssh_flow_output(struct pboot_ssh_agent *agent, uint32_t index, unsigned stream);
void pboot_ssh_flow_no_reader(struct pboot_ssh_agent *agent, unsigned stream);
void pboot_ssh_flow_take_input(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame);
void pboot_ssh_flow_input(struct pboot_ssh_agent *agent);
void pboot_ssh_flow_close_input(struct pboot_ssh_agent *agent);
/* Has all output been read? */
bool pboot_ssh_flow_is_over(const struct pboot_ssh_agent *agent);

/* pboot_ssh_agent_pmi.c: lines of a rank, and the values that come for a fence. */
void pboot_ssh_pmi_take(struct pboot_ssh_agent *agent, uint32_t index);
bool pboot_ssh_pmi_add_pairs(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame);
bool pboot_ssh_pmi_release(struct pboot_ssh_agent *agent);

/* pboot_ssh_agent_keeper.c: the keeper of this host connects.  There are several if the ranks here
 * are taken for those of several hosts.  tell: sends a message to each.  continue: they go on if
 * they were stopped. */
bool pboot_ssh_keeper_listen(struct pboot_ssh_agent *agent);
void pboot_ssh_keeper_accept(struct pboot_ssh_agent *agent);
void pboot_ssh_keeper_take(struct pboot_ssh_agent *agent, struct pboot_ssh_keeper *keeper);
void pboot_ssh_keeper_tell(struct pboot_ssh_agent *agent, enum pboot_msg_kind kind, uint32_t rank,
    int value);
void pboot_ssh_keeper_continue(const struct pboot_ssh_agent *agent);
bool pboot_ssh_keeper_is_there(const struct pboot_ssh_agent *agent);
void pboot_ssh_keeper_ended(struct pboot_ssh_agent *agent, pid_t pid);
void pboot_ssh_keeper_spare(const struct pboot_ssh_agent *agent, struct pboot_spared *spared_out);

#endif
