/*
 * The keeper's part in a job of several hosts.  Each host has a keeper, which ends its own ranks by
 * its own rules.  The keepers tell each other through the overlay what these rules must know:
 *
 *     CAUSE      to all: a rank here asked to end, or failed; the others end their ranks too
 *     IDLE       to host 0: no rank here is at work any more
 *     ALL_IDLE   from host 0: no rank anywhere is; ranks that wait for their release get it
 *     WANT, ASK, LOOK    for a report of what ranks do (pboot_peers_report.c)
 *     KNOCK      to one host: a rank here gets no answer from a rank there
 *     PACK       to host 0: a part of what its hook is to print at the end for that host
 *
 * The overlay itself tells which host is lost.  Barriers and exchanges of the ranks use the gathers
 * of the overlay (pboot_peers_gather.c).
 *
 * A knock that finds no room is lost, since who knocks does so again.  All else is kept as state,
 * which the loop looks at in each turn (pboot_peers_tell).  So it is told later if the overlay has
 * no room now.  In a job of one host these functions do nothing.
 */
#ifndef PBOOT_PEERS_H
#define PBOOT_PEERS_H

#include "bootstrap/bootstrap.h"
#include "bootstrap/keeper/pboot_adopt.h"
#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_area.h"

/* The report that is under way, see pboot_peers_report.c. */
struct pboot_peers_report {
	/* What is wanted.  Host 0 begins it when the one under way is printed; another host wants
	 * it until host 0 asks, and tells host 0 from want_from_ns on. */
	enum pboot_report_kind wanted;
	char wanted_why[PBOOT_WHY_BYTES];
	bool want_told;
	uint64_t want_from_ns;
	uint64_t deadline_ns;		/* when this host prints without the others */
	uint64_t signal_ns;		/* when host 0 last asked because of a signal; 0: never */
	uint32_t number;		/* of the report, as host 0 counts */
	struct pboot_pack kept;		/* the look at the end of the job's time */

	/* Host 0. */
	struct pboot_pack *looks;	/* [host_count]; NULL: no report is under way */
	enum pboot_report_kind kind;
	char why[PBOOT_WHY_BYTES];
	bool ask_due;			/* ASK is still to be sent */

	/* The other hosts: what is sent to host 0, and how far. */
	struct pboot_pack own;
	size_t own_sent;
	bool own_due;
	uint8_t part[PBOOT_FRAME_DATA_BYTES];
};

struct pboot_peers {
	struct pboot_overlay *net;
	uint32_t host_count, host_index;
	uint32_t job_size;
	const uint32_t *host_of;	/* [job_size] */
	const uint32_t *job_rank;	/* [ranks of this host] */
	struct pollfd *polls;		/* the overlay's part of keeper->polls in this wait */
	unsigned poll_count;

	/* What the other hosts know of the end.  They are told again when a request to end becomes
	 * a failure, or when status 0 becomes another. */
	bool told_cause, told_failure;
	int told_code;
	bool told_idle, all_idle;
	uint32_t idle_hosts;		/* host 0: hosts that are idle, without itself */
	bool closing, closed;
	bool is_witness;		/* of the loss that `why' tells of */
	char why[PBOOT_OVERLAY_WHY_BYTES];

	struct pboot_peers_report report;
	struct pboot_pack *packs;	/* [host_count], host 0: what has come of the others */
	struct pboot_pack own_pack;	/* other hosts: what is sent, and how far */
	size_t pack_sent;
	bool pack_made, pack_is_sent;

	struct pboot_area *area;	/* NULL: not mapped yet */
	bool gather_due, gathering;
	uint32_t gather_half, gather_len;
	uint8_t *block;	/* what this host's ranks give, malloced; NULL: nothing yet */
};

/* Begins to link the hosts.  Returns 0 or an errno value. */
int pboot_peers_begin(struct pboot_keeper *keeper, const struct pboot_adoption *adoption);

/* The loop's part: the descriptors to poll, the time until which it may wait, and the work after
 * that. */
unsigned pboot_peers_fill(struct pboot_keeper *keeper, struct pollfd *polls);
uint64_t pboot_peers_deadline(const struct pboot_keeper *keeper);
void pboot_peers_step(struct pboot_keeper *keeper);

/* Tells the other hosts what they must know and do not know yet.  Returns true if something has
 * changed here that the loop must look at before it waits. */
bool pboot_peers_tell(struct pboot_keeper *keeper);

/* Is no rank of the job at work any more, as far as this keeper can know? */
bool pboot_peers_all_idle(const struct pboot_keeper *keeper);
/* Must this keeper go on for the other hosts, after its own ranks have ended? */
bool pboot_peers_linger(struct pboot_keeper *keeper);

/* With PST_COUNTERS, prints how many connections were refused at this keeper's port, if any. */
void pboot_peers_report_refused(const struct pboot_keeper *keeper);

/* Frames of the keepers. */
enum {
	PBOOT_FRAME_CAUSE = 1, PBOOT_FRAME_IDLE, PBOOT_FRAME_ALL_IDLE, PBOOT_FRAME_PACK,
	PBOOT_FRAME_WANT, PBOOT_FRAME_ASK, PBOOT_FRAME_LOOK, PBOOT_FRAME_KNOCK,
};

/* pboot_peers_pack.c.  pack_tell: sends to host 0 what this host has for its hook; true when
 * nothing is left to be sent.  pack_add: a part of another host has come; an empty one is the last.
 * If there is no memory for a part, the pack is lost, and so are the parts behind it. */
bool pboot_peers_pack_tell(struct pboot_keeper *keeper);
void pboot_pack_add(struct pboot_pack *pack, const uint8_t *bytes, uint32_t len_bytes);

/* pboot_peers_report.c.  report: has what the ranks do printed; false: this host has to print what
 * its own ranks do.  tell: does what is due; true: nothing is under way.  deadline: when tell is
 * due though nothing happens.  wanted, asked, looked: such a frame has come. */
bool pboot_peers_report(struct pboot_keeper *keeper, enum pboot_report_kind kind, const char *why);
bool pboot_peers_report_tell(struct pboot_keeper *keeper);
uint64_t pboot_peers_report_deadline(const struct pboot_peers *peers);
void pboot_peers_wanted(struct pboot_keeper *keeper, const struct pboot_overlay_event *event);
void pboot_peers_asked(struct pboot_keeper *keeper, const struct pboot_overlay_event *event);
void pboot_peers_looked(struct pboot_peers *peers, const struct pboot_overlay_event *event);

/* pboot_peers_gather.c.  arrived: all ranks of this host have arrived.  gathered: the overlay has
 * gathered `blobs'; NULL after a barrier.  gather_tell: begins the gather that is due. */
void pboot_peers_arrived(struct pboot_keeper *keeper);
void pboot_peers_gathered(struct pboot_keeper *keeper, const struct pboot_overlay_blob *blobs);
void pboot_peers_gather_tell(struct pboot_keeper *keeper);
/* The exchange area, mapped at the first call; NULL: there is no memory. */
struct pboot_area *pboot_peers_area(struct pboot_keeper *keeper);

/* pboot_peers_knock.c.  knock: a rank of this host knocks at `to', a rank of the job.  knocked:
 * such a frame has come. */
void pboot_peers_knock(struct pboot_keeper *keeper, uint32_t local_rank, uint32_t to);
void pboot_peers_knocked(struct pboot_keeper *keeper, const struct pboot_overlay_event *event);

#endif
