/* Each keeper of a job of several hosts must know where the others listen.  The ranks learn that
 * through the engine, before there are keepers: the lowest rank of each host opens the overlay,
 * which its keeper takes over. */
#ifndef PBOOT_JOIN_NET_H
#define PBOOT_JOIN_NET_H

#include "bootstrap/engine/pboot_card.h"
#include "bootstrap/engine/pboot_engine.h"
#include "bootstrap/overlay/pboot_overlay.h"
#include "bootstrap/share/pboot_job.h"

struct pboot_join_net {
	struct pboot_overlay *net;		/* NULL: this rank is not the lowest of its host */
	struct pboot_overlay_host *hosts;	/* [count of hosts], malloced, as are its strings */
};

enum { PBOOT_JOIN_WHY_BYTES = 512 };

/* Rank 0 calls this: it puts the job's secret.  All ranks call a fence between this and meet. */
bool pboot_join_net_offer(const struct pboot_engine *engine);

/* All ranks call this, and wait in a fence for each other.  It opens the overlay in the lowest rank
 * of each host, whose keeper sends a heartbeat in each period, and learns where the others listen.
 * If it returns false, why_out says why in one line, or is empty if the engine has printed a
 * line. */
bool pboot_join_net_meet(const struct pboot_engine *engine, const struct pboot_hosts *hosts,
    const struct pboot_card *cards, uint32_t rank, uint64_t period_ns,
    struct pboot_join_net *net_out, char why_out[PBOOT_JOIN_WHY_BYTES]);

/* Frees what this process has of the network; the keeper has its own copy. */
void pboot_join_net_free(struct pboot_join_net *net, uint32_t host_count);

#endif
