/*
 * The launcher's part in a job that ssh starts: one agent for each host (pboot_ssh_agent.h), at the
 * other end of a pair of pipes to an ssh.  It divides the ranks among the hosts, hands the values
 * that they put from host to host, carries input and output, and passes signals on.
 *
 * The keepers' exit rules decide how the job ends, and the launcher has a copy of them: until a
 * rank has joined, its end counts here; after that, the keeper of its host tells the status of the
 * job.
 *
 * The launcher has one thread and one loop.  It checks what an agent sends, and closes the
 * connection at the first fault.
 */
#ifndef PBOOT_SSH_JOB_H
#define PBOOT_SSH_JOB_H

#include "bootstrap/keeper/pboot_exit_rules.h"
#include "bootstrap/share/pboot_job.h"
#include "bootstrap/share/pboot_tag.h"
#include "bootstrap/ssh/pboot_ssh_hosts.h"
#include "bootstrap/ssh/pboot_ssh_link.h"

struct pboot_ssh_host {
	const char *name;
	struct pboot_ssh_ranks ranks;
	uint32_t alive;		/* ranks whose ends are not known */
	struct pboot_ssh_link link;
	pid_t pid;		/* of ssh; 0: it has ended */
	int ssh_status;		/* as of waitpid */
	bool greeted, fenced, done;
	bool unreachable;	/* a keeper says so */
	bool closed;		/* nothing more comes from there */
	uint64_t lost_ns;	/* when the connection closed too early; 0: it has not */
	char *pairs;		/* malloced; what its ranks have put for this fence */
	size_t pairs_len;
};

/* Output that waits for its reader; `from_host' is told when it has been written. */
struct pboot_ssh_chunk {
	struct pboot_ssh_chunk *next;
	uint32_t host, taken;	/* bytes that the host may send again */
	size_t from, len;
	char bytes[];
};

struct pboot_ssh_stream {
	int fd;
	struct pboot_ssh_chunk *first, **last;
	bool is_dry;		/* poll says that there is room, but there is none */
	bool lost;		/* nothing can be written */
	bool no_reader;		/* the reader is gone; agents are told so, later ones too */
	struct pboot_tag_stream *tags;	/* [ranks]; NULL: lines have no tags */
};

struct pboot_ssh_job {
	const struct pboot_plan *plan;
	struct pboot_saved_state saved;
	const char *ssh;	/* the command, for messages */
	struct pboot_ssh_host *hosts;	/* [host_count] */
	uint32_t host_count, fenced;
	struct pboot_rules rules;
	struct pboot_rank_rule *rank_rules;	/* [ranks] */
	bool *left;		/* [ranks]: it has a keeper */
	enum pboot_cause_kind reported;
	int first_status;	/* the first status other than 0 with which a rank ended */
	int signals;		/* signalfd */
	struct pboot_ssh_stream streams[2];
	struct pboot_tag_lines lines;
	uint64_t output_ns;	/* when output was last written, or its end began */
	uint32_t input_host;
	uint32_t input_window;	/* bytes that may be sent */
	bool input_open;
	bool asked, gave_up_output;
	int asked_last;		/* a request to end, after all ranks have ended; 0: none */
	uint64_t begin_ns;	/* when the job began */
	uint64_t kill_ns;	/* when all agents were told to kill; 0: not yet */
};

/* pboot_ssh_start.c.  start: starts ssh for a host; returns false after a line that says why it
 * cannot.  order: sends the host its order; returns false if that is too long. */
bool pboot_ssh_host_start(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
bool pboot_ssh_host_order(struct pboot_ssh_job *job, struct pboot_ssh_host *host);

/* pboot_ssh_take.c: what comes from an agent, and the end of its connection. */
void pboot_ssh_host_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
void pboot_ssh_host_check_lost(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
/* Closes the connection; the ranks of the host are counted as ended. */
void pboot_ssh_host_close(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
/* The host of a rank. */
struct pboot_ssh_host *pboot_ssh_host_of(const struct pboot_ssh_job *job, uint32_t rank);
void pboot_ssh_event(struct pboot_ssh_job *job, enum pboot_event_kind kind, uint32_t rank,
    int value);
void pboot_ssh_send_all(struct pboot_ssh_job *job, enum pboot_ssh_kind kind, uint32_t rank);
void pboot_ssh_send_all_number(struct pboot_ssh_job *job, enum pboot_ssh_kind kind,
    uint32_t number);

/* pboot_ssh_end.c.  act: does what is due, by the rules and by time.  status: the status of a job
 * that is over. */
void pboot_ssh_act(struct pboot_ssh_job *job);
int pboot_ssh_status(const struct pboot_ssh_job *job);

/* pboot_ssh_output.c.  take: takes what a rank has printed.  write: writes what there is room for.
 * drop: drops what still waits.  is_empty: does nothing wait? */
bool pboot_ssh_output_open(struct pboot_ssh_job *job);
void pboot_ssh_output_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host,
    const struct pboot_ssh_frame *frame);
void pboot_ssh_output_write(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream);
void pboot_ssh_output_drop(struct pboot_ssh_job *job);
bool pboot_ssh_output_is_empty(const struct pboot_ssh_job *job);

/* pboot_ssh_input.c: standard input, which goes to one rank. */
void pboot_ssh_input_open(struct pboot_ssh_job *job);
void pboot_ssh_input_read(struct pboot_ssh_job *job);
/* May standard input be read now?  A terminal may not while another program has it; then *later_out
 * is true, and the loop asks again later. */
bool pboot_ssh_input_is_wanted(const struct pboot_ssh_job *job, bool *later_out);

/* pboot_ssh_report.c: prints why the job ends, unless a keeper prints it. */
void pboot_ssh_report(struct pboot_ssh_job *job);
/* Prints why the connection to a host was lost. */
void pboot_ssh_report_lost(const struct pboot_ssh_job *job, const struct pboot_ssh_host *host);

#endif
