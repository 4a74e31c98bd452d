/*
 * The keeper's part in a job of several hosts.  Each host has a keeper, which ends its own ranks by
 * its own rules.  The keepers tell each other through the overlay what these rules must know:
 *
 *     CAUSE      to all: a rank here asked to end, or failed; the others end their ranks too
 *     IDLE       to host 0: no rank here is at work any more
 *     ALL_IDLE   from host 0: no rank anywhere is; ranks that wait for their release get it
 *     REPORT     to all: a rank has waited for a long time; every host prints what its ranks do
 *     PACK       to host 0: a part of what its hook is to print at the end for that host
 *
 * The overlay itself tells which host is lost.  Barriers and exchanges of the ranks use the gathers
 * of the overlay (pboot_peers_gather.c).
 *
 * All that must be told is kept as state, which the loop looks at in each turn (pboot_peers_tell).
 * So it is told later if the overlay has no room now.  In a job of one host these functions do
 * nothing.
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

	/* What the other hosts know of the end.  They are told again when a request to end becomes
	 * a failure, or when status 0 becomes another. */
	bool told_cause, told_failure;
	int told_code;
	bool told_idle, all_idle;
	uint32_t idle_hosts;		/* host 0: hosts that are idle, without itself */
	bool closing, closed;
	bool report_due;		/* a REPORT is still to be sent */
	bool is_witness;		/* of the loss that `why' tells of */
	char why[PBOOT_OVERLAY_WHY_BYTES];

	struct pboot_pack *packs;	/* [host_count], host 0: what has come of the others; NULL:
					 * nothing yet */
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
/* Makes the keepers of the other hosts print what their ranks do. */
void pboot_peers_report(struct pboot_keeper *keeper);

/* Is no rank of the job at work any more, as far as this keeper can know? */
bool pboot_peers_all_idle(const struct pboot_keeper *keeper);
/* Must this keeper go on for the other hosts, after its own ranks have ended? */
bool pboot_peers_linger(struct pboot_keeper *keeper);

/* Frames of the keepers. */
enum {
	PBOOT_FRAME_CAUSE = 1, PBOOT_FRAME_IDLE, PBOOT_FRAME_ALL_IDLE, PBOOT_FRAME_REPORT,
	PBOOT_FRAME_PACK,
};

/* pboot_peers_pack.c.  pack_tell: sends to host 0 what this host has for its hook; true when
 * nothing is left to be sent.  packed: such a frame has come. */
bool pboot_peers_pack_tell(struct pboot_keeper *keeper);
void pboot_peers_packed(struct pboot_peers *peers, uint32_t host, const uint8_t *bytes,
    uint32_t len_bytes);

/* pboot_peers_gather.c.  arrived: all ranks of this host have arrived.  gathered: the overlay has
 * gathered `blobs'; NULL after a barrier.  gather_tell: begins the gather that is due. */
void pboot_peers_arrived(struct pboot_keeper *keeper);
void pboot_peers_gathered(struct pboot_keeper *keeper, const struct pboot_overlay_blob *blobs);
void pboot_peers_gather_tell(struct pboot_keeper *keeper);

#endif
