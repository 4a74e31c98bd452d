/*
 * The launcher's part in a job that ssh starts: one agent for each host (pboot_ssh_agent.h), at the
 * other end of a pair of pipes to an ssh.  It places the ranks, hands the values that they put from
 * host to host, carries input and output, and passes signals on.
 *
 * How the job ends is decided by the keepers' rules, of which it has a copy: until a rank has
 * joined, its end counts here; after that, the keeper of its host tells what the job ends with.
 *
 * One thread, one loop; what an agent says is checked, and the first thing that is wrong ends its
 * connection.
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
	pid_t pid;		/* of ssh; 0: it has ended, with this status of waitpid */
	int ssh_status;
	bool greeted, fenced, done;
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
	bool is_dry;		/* poll says that there is room, and there is none */
	bool lost;		/* nothing can be written */
	bool no_reader;		/* and agents are told so, later ones too */
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
	int first_status;	/* of the ranks that have ended with one other than 0 */
	int signals;		/* signalfd */
	struct pboot_ssh_stream streams[2];
	struct pboot_tag_lines lines;
	uint64_t output_ns;	/* when output was last written, or its end began */
	uint32_t input_host;
	uint32_t input_window;	/* bytes that may be sent */
	bool input_open;
	bool asked, gave_up_output;
	int asked_last;		/* a request to end, after all ranks have ended; 0: none */
	uint64_t begin_ns, kill_ns;	/* when it began; when all were told to kill, 0: not yet */
};

/* pboot_ssh_start.c: starts ssh for a host; false: it printed why.  Writes its order; false: that
 * is too long. */
bool pboot_ssh_host_start(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
bool pboot_ssh_host_order(struct pboot_ssh_job *job, struct pboot_ssh_host *host);

/* pboot_ssh_take.c: what comes from an agent, and the end of its connection. */
void pboot_ssh_host_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
void pboot_ssh_host_check_lost(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
/* Ends the connection; its ranks are counted as ended. */
void pboot_ssh_host_close(struct pboot_ssh_job *job, struct pboot_ssh_host *host);
void pboot_ssh_event(struct pboot_ssh_job *job, enum pboot_event_kind kind, uint32_t rank,
    int value);
void pboot_ssh_send_all(struct pboot_ssh_job *job, enum pboot_ssh_kind kind, uint32_t rank);
void pboot_ssh_send_all_number(struct pboot_ssh_job *job, enum pboot_ssh_kind kind,
    uint32_t number);

/* pboot_ssh_end.c: does what is due, by the rules and by time; the status of the job that is
 * over. */
void pboot_ssh_act(struct pboot_ssh_job *job);
int pboot_ssh_status(const struct pboot_ssh_job *job);

/* pboot_ssh_output.c: takes what a rank has printed; writes what there is room for; drops what is
 * left.  is_empty: nothing waits. */
bool pboot_ssh_output_open(struct pboot_ssh_job *job);
void pboot_ssh_output_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host,
    const struct pboot_ssh_frame *frame);
void pboot_ssh_output_write(struct pboot_ssh_job *job, struct pboot_ssh_stream *stream);
void pboot_ssh_output_drop(struct pboot_ssh_job *job);
bool pboot_ssh_output_is_empty(const struct pboot_ssh_job *job);

/* pboot_ssh_input.c: standard input, which goes to one rank. */
void pboot_ssh_input_open(struct pboot_ssh_job *job);
void pboot_ssh_input_read(struct pboot_ssh_job *job);
/* May it be read now?  A terminal may not be while another program has it; look again later. */
bool pboot_ssh_input_is_wanted(const struct pboot_ssh_job *job, bool *later_out);

/* pboot_ssh_report.c: prints the cause of the end, if it is not a keeper's to do that. */
void pboot_ssh_report(struct pboot_ssh_job *job);
/* Why the connection to a host was lost. */
void pboot_ssh_report_lost(const struct pboot_ssh_job *job, const struct pboot_ssh_host *host);

#endif
