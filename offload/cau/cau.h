/*
 * cau: the collective acceleration unit of IBM's Power 775 hub, simulated.  Each host has one unit.
 * It carries up to 64 trees at a time, reduces and multicasts payloads of up to 64 bytes along
 * them, and any member may be the root.  A tree's packets name it.  The unit of a host handles one
 * packet after the other, and each packet takes a while on its way: PST_OFFLOAD_CAU_HOP_NS, and
 * PST_OFFLOAD_CAU_UNIT_NS in the unit.
 *
 * A tree is *undirected*: members are nodes, numbered as a heap of its fan-out, and each has up to
 * fan-out + 1 neighbours.  A call flows towards its root, or away from it.
 *
 *     cau.c         the table of the provider: device, attributes, query
 *     cau_tree.c    joining and leaving; who is whose neighbour
 *     cau_call.c    calls under way, and packets
 *     cau_unit.c    what the processes of a host share
 *     cau_fault.c   faults that tests ask for
 *
 * Source: the study P1 of UPC collectives on Power7IH.
 */
#ifndef POFF_CAU_H
#define POFF_CAU_H

#include "penstock_offload.h"

#include <stdbool.h>

enum {
	CAU_PAYLOAD = 64,
	CAU_TREES = 64,                 /* of a unit */
	CAU_FANOUT = 8,
	CAU_NEIGHBOURS = CAU_FANOUT + 1,
	CAU_INFLIGHT = 4,               /* calls of a tree that its member has started */
	CAU_AHEAD = 8,                  /* that others may be ahead of it */
	CAU_CALLS = 32,                 /* kept: more than both */
	CAU_QUEUE = 256,                /* packets that have come and are not due */
};

/* The provider (cau.c). */
extern const pst_off_provider_t poff_cau;

/* -- faults (cau_fault.c) ---------------------------------------------------------------------- */

enum cau_fault_kind {
	CAU_REFUSE_QUERY, CAU_REFUSE_JOIN, CAU_DROP, CAU_STALL, CAU_CORRUPT, CAU_DIE, CAU_FAULTS
};

struct cau_fault {
	bool on;
	uint32_t member;                /* UINT32_MAX: any */
	uint32_t per_mille;             /* how often it happens */
	uint64_t after;                 /* so many chances are let pass */
	uint64_t ns;                    /* stall: how long */
};

struct cau_faults {
	struct cau_fault fault[CAU_FAULTS];
	uint64_t random;
};

/* Reads `what[:key=value]...', by commas; adds to those that are there.  False: why is set. */
bool poff_cau_faults_read(struct cau_faults *faults, const char *text, const char **why_out);
/* Does it happen now, to that member? */
bool poff_cau_fault_happens(struct cau_faults *faults, enum cau_fault_kind kind, uint32_t member);

/* -- trees (cau_tree.c) ------------------------------------------------------------------------ */

struct cau_packet {
	uint64_t seq;
	uint32_t op, root;
	gex_DT_t dt;
	gex_OP_t rop;
	uint32_t nbytes;
	uint32_t sum;                   /* of what is above and of the payload */
	unsigned char payload[CAU_PAYLOAD];
};

/* A packet that has come. */
struct cau_arrival {
	uint32_t from;
	uint64_t due_ns;
	struct cau_packet packet;
};

/* One that could not be sent yet. */
struct cau_departure {
	uint32_t to;
	struct cau_packet packet;
};

/* A call, from its first packet or its start on until its end here. */
struct pst_off_req_s {
	pst_off_tree_t *tree;
	uint64_t seq;
	bool used;                      /* it is some call's */
	bool started, ended, cancelled;
	bool sent_on;                   /* a multicast: to the other neighbours */
	int result;                     /* of the ended */
	const char *why;
	uint32_t op, root;
	gex_DT_t dt;
	gex_OP_t rop;
	size_t nbytes;
	void *dst;
	uint32_t come;                  /* bits: neighbours whose packets have come */
	bool has_value;
	_Alignas(16) unsigned char value[CAU_PAYLOAD];
};

struct pst_off_tree_s {
	pst_off_dev_t *dev;
	pst_off_tree_t *next;
	uint64_t key;
	uint32_t members, me, fanout;
	bool takes_number;
	unsigned number;                /* of the unit's trees, if it takes one */
	uint32_t neighbour[CAU_NEIGHBOURS], neighbours;
	bool joined, dead;
	uint64_t stalled_until_ns;
	/* The allgather of the join: does each member have a tree? */
	void *oob;
	int (*oob_test)(void *oob);
	uint8_t has_tree, *have_trees;  /* [members] */
	uint64_t next_seq;              /* that this member starts next */
	pst_off_req_t call[CAU_CALLS];
	struct cau_arrival arrival[CAU_QUEUE];
	unsigned first_arrival, arrivals;
	struct cau_departure departure[CAU_QUEUE];
	unsigned first_departure, departures;
};

struct pst_off_dev_s {
	const pst_off_host_t *host;
	uint64_t hop_ns, unit_ns, timeout_ns;
	uint32_t fanout, trees;
	bool one_host;                  /* all ranks are attached to its unit */
	struct cau_faults faults;
	pst_off_tree_t *first_tree;
	struct {
		uint64_t packets, bytes, dropped, corrupt, calls, trees, refused;
	} count;
};

int poff_cau_join_start(pst_off_dev_t *dev, const pst_off_group_t *group, pst_off_tree_t **tree_out,
                   const char **why_out);
int poff_cau_join_test(pst_off_tree_t *tree, const char **why_out);
int poff_cau_leave_start(pst_off_tree_t *tree, int peers_lost);
int poff_cau_leave_test(pst_off_tree_t *tree);

/* The neighbour, by its place among them, through which member `to' is reached from here. */
uint32_t poff_cau_towards(const pst_off_tree_t *tree, uint32_t to);

/* -- calls (cau_call.c) ------------------------------------------------------------------------ */

int poff_cau_start(pst_off_tree_t *tree, const pst_off_call_t *call, pst_off_req_t **req_out);
int poff_cau_test(pst_off_req_t *req, pst_off_result_t *result_out);
void poff_cau_cancel(pst_off_req_t *req);
/* Takes what has come and is due, and sends what can be sent.  Returns the number of packets. */
unsigned poff_cau_tree_progress(pst_off_tree_t *tree, unsigned budget);
/* Sends what waits to be sent; false: some of it found no room. */
bool poff_cau_tree_flush(pst_off_tree_t *tree);

/* -- the unit of this host (cau_unit.c), which its processes share ----------------------------- */

/* Do all ranks of the job share memory, and so the unit?  Then all are attached to it. */
bool poff_cau_unit_is_only_one(void);
/* Takes a tree of at most `trees', or returns -1 if none is free; gives it back. */
int poff_cau_unit_take(uint32_t trees);
void poff_cau_unit_give(unsigned number);
/* When the unit is done with a packet that comes at that time and takes so long. */
uint64_t poff_cau_unit_handle(uint64_t at_ns, uint64_t takes_ns);

#endif
