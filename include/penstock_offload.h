/*
 * penstock_offload.h: providers that let hardware, or its simulator, carry collectives.
 *
 * A provider is a shared object that exports pst_offload_entry. It serves a team between its
 * *members*: as a rule one rank of each host, which speaks for the host's ranks when those have
 * combined in shared memory. The provider offers primitives. The library composes them (an
 * allreduce is a reduce and a bcast), chooses by cost, splits what exceeds max_payload_bytes,
 * agrees between members, repairs what was lost, and falls back to its own algorithms. So a
 * provider may decline at any time, and may fail: the answer stays the same. docs/offload.md shows
 * how to write one, and examples/offload-provider/ has one.
 *
 * Rules for all functions of a provider:
 *   - None blocks, and none takes longer than call_max_ns, but open and close; what takes longer
 *     goes on in progress.
 *   - None calls the library back, but for the services of pst_off_host_t and the allgather of
 *     pst_off_group_t.
 *   - The library calls into a device from one thread at a time; with PST_OFF_THREADS from one
 *     thread at a time for each tree.
 *   - Results are PST_OFF_*. A text `why' is static: the library keeps the pointer.
 *   - Output arguments are written only with the results that say so.
 *   - What an argument points to is valid until the return, unless its comment says more.
 *
 * Structures begin with struct_bytes, which whoever fills one sets to its size. A shorter one is
 * from an older header: what is missing counts as absent, zero or NULL. A new major ABI is another
 * interface.
 */
#ifndef PENSTOCK_OFFLOAD_H
#define PENSTOCK_OFFLOAD_H

#include "gasnet_fwd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PST_OFF_ABI_MAJOR 1
#define PST_OFF_ABI_MINOR 0

/* Results. */
enum {
	PST_OFF_OK,
	PST_OFF_AGAIN,                  /* not yet; nothing was taken */
	PST_OFF_NO,                     /* declined, for the reason in `why' */
	PST_OFF_FULL,                   /* join: no tree is free at this member */
	PST_OFF_MISSING,                /* test: done but for ranges that were lost */
	PST_OFF_CANCELLED,
	PST_OFF_FAIL
};

/* Operations, as bits. */
enum {
	PST_OFF_BARRIER = 1,
	PST_OFF_BCAST = 2,
	PST_OFF_REDUCE = 4,
	PST_OFF_ALLREDUCE = 8,
	PST_OFF_REDUCE_SCATTER = 16,
	PST_OFF_GATHER_ALL = 32
};

/* Capabilities, as bits. */
enum {
	PST_OFF_ANY_ROOT = 1,           /* any member may be the root; else member 0 alone */
	PST_OFF_UNRELIABLE = 2,         /* bcast may lose, repeat and reorder parts of a payload */
	PST_OFF_NEEDS_MEM = 4,          /* buffers are registered by mem_register */
	PST_OFF_THREADS = 8             /* one thread at a time for each tree, not for the device */
};

/* Scope: who the members of a tree are. A job uses providers of PER_RANK, or those of the other
 * two together; the first one that is taken says which. */
enum {
	PST_OFF_PER_LEADER = 1,         /* one rank of each host */
	PST_OFF_PER_RANK = 2,           /* all ranks of the team */
	PST_OFF_ONE_HOST = 3            /* all ranks of the team on one host: a tree for each host.
	                                 * Hosts reduce to their lowest rank, and get its
	                                 * multicast; a team on one host is served as a whole */
};

/* The provider's own. */
typedef struct pst_off_dev_s pst_off_dev_t;
typedef struct pst_off_tree_s pst_off_tree_t;
typedef struct pst_off_req_s pst_off_req_t;
typedef struct pst_off_mem_s pst_off_mem_t;

typedef struct {
	size_t offset, nbytes;
} pst_off_range_t;

typedef struct {
	const char *name;               /* static */
	uint64_t value;
} pst_off_counter_t;

/* Services of the library, valid from open to close. Any thread of the provider may call them. */
typedef struct {
	uint32_t struct_bytes;
	/* A clock that never goes back. */
	uint64_t (*now_ns)(void);
	/* The value of PST_OFFLOAD_<PROVIDER>_<KEY> in the environment, both in capitals; NULL if
	 * it is not set. */
	const char *(*setting)(const char *provider, const char *key);
	/* One line of text: level 0 for errors, 1 for warnings, 2 for what users ask for by
	 * GASNET_VERBOSEENV. */
	void (*log)(int level, const char *provider, const char *text);
} pst_off_host_t;

/*
 * What a device offers; open fills it. Members exchange theirs, and minima and intersections over
 * all of them become `agreed', of which the longest times are taken.
 */
typedef struct {
	uint32_t struct_bytes;
	uint32_t scope;                 /* PST_OFF_PER_LEADER and so on; equal on all ranks */
	uint64_t ops, caps;             /* bits of the above */
	uint64_t dtypes, rops;          /* GEX_DT_* and GEX_OP_* that reductions may have; query
	                                 * decides on pairs */
	uint64_t max_payload_bytes;     /* of one call; where a side has a block of each member, of
	                                 * all these together */
	uint32_t align_bytes;           /* of buffers: a power of two, 64 at most; 0 or 1: any */
	uint32_t max_inflight;          /* calls under way on a tree; at least 1. They begin in the
	                                 * order of seq, and may end in any. The library has 8
	                                 * under way at most, and half of max_ahead */
	uint32_t max_ahead;             /* one-way calls that a member may have begun while the
	                                 * slowest one has begun none of them, without loss; 0:
	                                 * members meet before each bcast */
	uint32_t max_trees, max_fanout; /* for people and the tuning table */
	uint32_t max_members;           /* of a tree; UINT32_MAX: no limit */
	uint64_t call_max_ns;           /* longest time in any call: some ms on a busy host */
	uint64_t cancel_max_ns;         /* from cancel to the end of a request */
	uint64_t timeout_ns;            /* from the last member's start until a request is thought
	                                 * to have failed; not 0, and far above the time of a
	                                 * call on a busy host: some seconds */
} pst_off_attr_t;

/* An operation that may come, for query. */
typedef struct {
	uint32_t struct_bytes;
	uint32_t op;                    /* one of PST_OFF_BARRIER and so on */
	uint32_t members, root;
	gex_DT_t dt;                    /* of reductions; else 0, as rop */
	gex_OP_t rop;
	size_t nbytes;                  /* of one member's block */
} pst_off_op_t;

/* The members that join a tree, two at least. Valid until the join has ended; `agreed' as long as
 * the tree. */
typedef struct {
	uint32_t struct_bytes;
	uint32_t members, me;
	uint32_t fanout;                /* that the tuning table asks for; 0: free */
	uint64_t key;                   /* names the team: equal on all members, and of no
	                                 * other team of the job */
	const pst_off_attr_t *agreed;
	/* An allgather in the order of members, outside of the hardware: one at a time. oob_start
	 * takes nbytes, equal on all members, and room for those of all; it returns OK or FAIL.
	 * oob_test returns OK, AGAIN or FAIL: some member has said NO or FULL, so this one says
	 * NO. `mine' is read by oob_start, and all_out is written by these two functions alone:
	 * who calls neither any more may free both, as with a join that fails or is cancelled. */
	void *oob;
	int (*oob_start)(void *oob, const void *mine, size_t nbytes, void *all_out);
	int (*oob_test)(void *oob);
} pst_off_group_t;

/* One collective, as one member starts it. */
typedef struct {
	uint32_t struct_bytes;
	uint32_t op, root;
	gex_DT_t dt;
	gex_OP_t rop;
	uint64_t seq;                   /* number of the call on its tree, from 0 on without gaps,
	                                 * equal on all members */
	size_t nbytes;                  /* of one member's block; of BARRIER 0, else more */
	const void *src;                /* what a root of bcast sends, or an operand */
	void *dst;                      /* where the result goes; never NULL, may equal src, and
	                                 * does at a root of bcast, which need not write it; of
	                                 * reduce, it may be written or not at others than the
	                                 * root, where src stays as it is if that is elsewhere.
	                                 * Of REDUCE_SCATTER src has a block of each member, in
	                                 * their order, of GATHER_ALL dst; the two lie apart, and
	                                 * src stays as it is */
	pst_off_mem_t *src_mem, *dst_mem;       /* with NEEDS_MEM; else NULL */
} pst_off_call_t;

typedef struct {
	const char *why;                /* with FAIL */
	size_t missing_count;           /* with MISSING */
	const pst_off_range_t *missing; /* valid until the next call into the device */
} pst_off_result_t;

/* A provider. Members that may be NULL say so. */
typedef struct {
	uint32_t struct_bytes;
	uint16_t abi_major, abi_minor;  /* of the header that it was compiled with */
	const char *name;               /* [a-z][a-z0-9_]*, at most 31 characters */

	/* Opens the device of this process, as a job starts in which some team may use it. OK,
	 * or NO with a reason. *attr_out is all zeros. */
	int (*open)(const pst_off_host_t *host, pst_off_dev_t **dev_out, pst_off_attr_t *attr_out,
	            const char **why_out);
	/* After the last leave, at the end of the job; or when the attributes are refused, or the
	 * job has no use for the scope. A process that is killed, or whose trees are not all left,
	 * closes nothing. */
	void (*close)(pst_off_dev_t *dev);

	/* Would the device carry the operation, and in what time? Pure in its arguments, `agreed'
	 * among them, so that all members get the same: OK with a cost, or NO with a reason.
	 * The cost is the time until the last member has the result, when all begin at once and
	 * have nothing else to do. nbytes is that of one call, max_payload_bytes at most. */
	int (*query)(pst_off_dev_t *dev, const pst_off_attr_t *agreed, const pst_off_op_t *op,
	             uint64_t *cost_ns_out, const char **why_out);

	/* Make a tree with the other members, in the background. join_start: OK with a tree, NO
	 * with a reason, or FULL. join_test: AGAIN, and then once OK, NO or FULL; with the last two
	 * the tree is gone. Where one member does not get OK, the others' trees are left. One that
	 * takes longer than PST_OFFLOAD_JOIN_TIMEOUT, although all members have begun it, or whose
	 * team ends, is cancelled: by leave_start with peers_lost in place of the next
	 * join_test. */
	int (*join_start)(pst_off_dev_t *dev, const pst_off_group_t *group,
	                  pst_off_tree_t **tree_out, const char **why_out);
	int (*join_test)(pst_off_tree_t *tree, const char **why_out);

	/* Give the tree back, with no request under way. leave_test: AGAIN, then once OK, and the
	 * tree is gone. With peers_lost, which leave_test follows too, the members may be gone, or
	 * the join has not ended: free what is local without talking to them. */
	int (*leave_start)(pst_off_tree_t *tree, int peers_lost);
	int (*leave_test)(pst_off_tree_t *tree);

	/* With NEEDS_MEM alone, else NULL. May be slow; the library keeps registrations. */
	int (*mem_register)(pst_off_dev_t *dev, void *addr, size_t nbytes,
	                    pst_off_mem_t **mem_out);
	void (*mem_release)(pst_off_dev_t *dev, pst_off_mem_t *mem);

	/* Starts a call, in the order of seq. OK with a request; AGAIN, and the same call comes
	 * again; FAIL: what it logs in this call, by the same thread, is taken for the reason.
	 * The buffers are the provider's until the request has ended. */
	int (*start)(pst_off_tree_t *tree, const pst_off_call_t *call, pst_off_req_t **req_out);
	/* AGAIN, then once OK, MISSING, CANCELLED or FAIL. Then the request is gone, and the
	 * provider never touches the buffers again. Polls call it for each request, so that
	 * progress may be empty. A root of bcast may say OK before others have begun. */
	int (*test)(pst_off_req_t *req, pst_off_result_t *result_out);
	/* Any time before that: brings the end within cancel_max_ns, by whatever result. But for
	 * a bcast of UNRELIABLE, behind which calls go on, only leave follows on that tree. */
	void (*cancel)(pst_off_req_t *req);

	/* Moves on what is under way; polls call it. Returns how many events it has handled, at
	 * most budget. */
	int (*progress)(pst_off_dev_t *dev, unsigned budget);
	/* Before the process sleeps, while a tree is joined: a descriptor that is readable while
	 * progress or the test of a request has work, or -1; then the sleep is at most 1 ms long,
	 * as it is in jobs of one host. progress makes it unreadable. May be NULL, as -1. */
	int (*wait_fd)(pst_off_dev_t *dev);

	/* Writes at most max counters, and returns how many there are. May be NULL. */
	size_t (*counters)(pst_off_dev_t *dev, pst_off_counter_t *counters_out, size_t max);
	/* For tests: makes a fault happen, `what[:key=value]...'. Returns OK or NO. May be NULL. */
	int (*inject)(pst_off_dev_t *dev, const char *fault);
} pst_off_provider_t;

/* What a plug-in exports: its provider for that major ABI, or NULL if it has none. Called once,
 * when the plug-in is loaded. */
const pst_off_provider_t *pst_offload_entry(uint32_t abi_major);

#ifdef __cplusplus
}
#endif

#endif
