/*
 * The keeper's part in a job of several hosts.  Each host has a keeper, which ends its own ranks by
 * its own rules; through the overlay the keepers tell each other what these rules have to know:
 *
 *     CAUSE      a rank here has asked to end, or has failed; the others end their ranks too
 *     IDLE       to host 0: no rank here is at work any more
 *     ALL_IDLE   of host 0: no rank anywhere is; ranks that wait for their release get it
 *     REPORT     a rank has waited for long; every host prints what its ranks do
 *
 * A host that is lost is news of the overlay's.  Ranks meet through the overlay's gathers too
 * (pboot_peers_gather.c).
 *
 * Everything that is to be told is a state that the loop looks at (pboot_peers_tell), so what the
 * overlay has no room for is told later.  In a job of one host these functions do nothing.
 */
#ifndef PBOOT_PEERS_H
#define PBOOT_PEERS_H

#include "bootstrap/keeper/pboot_adopt.h"
#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_area.h"

struct pboot_peers {
	struct pboot_overlay *net;
	uint32_t host_count, host_index;
	uint32_t job_size;
	const uint32_t *host_of;	/* [job_size] */
	const uint32_t *job_rank;	/* [ranks of this host] */
	struct pollfd *polls;		/* the overlay's part of keeper->polls in this wait */
	unsigned poll_count;

	/* What the others know of the end: a request to end may become a failure, and 0 another
	 * status. */
	bool told_cause, told_failure;
	int told_code;
	bool told_idle, all_idle;
	uint32_t idle_hosts;		/* host 0: hosts that are idle, without itself */
	bool closing, closed;
	bool report_due;		/* the others are to be told */
	bool is_witness;		/* of the loss that `why' tells of */
	char why[PBOOT_OVERLAY_WHY_BYTES];

	struct pboot_area *area;	/* NULL: not mapped yet */
	bool gather_due, gathering;
	uint32_t gather_half, gather_len;
	uint8_t *block;	/* what this host's ranks give, malloced; NULL: nothing yet */
};

/* Begins to link the hosts.  Returns 0 or an errno value. */
int pboot_peers_begin(struct pboot_keeper *keeper, const struct pboot_adoption *adoption);

/* The loop: what it waits for and until when, and what happened. */
unsigned pboot_peers_fill(struct pboot_keeper *keeper, struct pollfd *polls);
uint64_t pboot_peers_deadline(const struct pboot_keeper *keeper);
void pboot_peers_step(struct pboot_keeper *keeper);

/* Tells the others what they have to know and do not know yet.  True: something has changed here,
 * which the loop has to look at before it waits. */
bool pboot_peers_tell(struct pboot_keeper *keeper);
/* They are to print what their ranks do. */
void pboot_peers_report(struct pboot_keeper *keeper);

/* No rank of the job is at work any more, as far as can be known. */
bool pboot_peers_all_idle(const struct pboot_keeper *keeper);
/* This host's ranks have ended, and other hosts still need its keeper. */
bool pboot_peers_linger(struct pboot_keeper *keeper);

/* pboot_peers_gather.c: all ranks of this host have arrived; what the overlay has gathered, NULL
 * for a barrier.  tell: begins what is due. */
void pboot_peers_arrived(struct pboot_keeper *keeper);
void pboot_peers_gathered(struct pboot_keeper *keeper, const struct pboot_overlay_blob *blobs);
void pboot_peers_gather_tell(struct pboot_keeper *keeper);

#endif
