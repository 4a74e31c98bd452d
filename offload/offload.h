/*
 * Offload: what its files share.  One lock is held in all of them, and in all calls into providers:
 * whoever comes to find it taken leaves the work to that thread, but for a step of a collective,
 * which waits for it.  It is above the engine's lock of collectives.
 */
#ifndef POFF_OFFLOAD_H
#define POFF_OFFLOAD_H

#include "offload/calls.h"
#include "offload/channel.h"
#include "offload/count.h"
#include "offload/provider.h"

#include "coll/device.h"

#include "runtime/process/module.h"

#include <stdbool.h>

void poff_lock(void);
bool poff_try_lock(void);
void poff_unlock(void);

/* -- devices (device.c) ------------------------------------------------------------------------ */

/* A provider's device in this process. */
struct poff_device {
	const struct poff_provider *provider;
	pst_off_dev_t *dev;             /* NULL: it did not open, or not yet */
	pst_off_attr_t attr;
	bool looked;                    /* it was opened, or has refused */
	bool used;                      /* by the job: its scope goes with the others' */
	uint32_t scope;                 /* of all ranks; 0: it opens on none */
	const char *why;
	unsigned breaches;              /* of its contract */
	const char *breach;             /* the last; NULL: none */
	bool banned;                    /* after too many it is not used any more */
	struct poff_clock clock;        /* of the calls into it */
};

/* Opens it if it is not open.  False: it refuses. */
bool poff_device_open(struct poff_device *device);
/* Compares the providers of all ranks, and says which steps schedules have; 0: there are none.
 * Called in init, by all. */
unsigned poff_devices_agree(void);
/* What all devices of some provider of the job take in one call, at most; ops are those that such a
 * provider has. */
uint64_t poff_devices_payload(uint64_t ops);
/* Those of a scope, in the order of the list; NULL: there are no more.  The same on all ranks of
 * the job. */
struct poff_device *poff_device_at(uint32_t scope, unsigned at);
/* The job ends: their counts go to the file. */
void poff_devices_stats(void);
/* The job ends, and no team uses one. */
void poff_devices_close(void);
/* Lets open devices go on.  Returns the events. */
unsigned poff_devices_progress(void);
/* The descriptor that wakes a sleeper for it; -1: there is none. */
int poff_device_fd(struct poff_device *device);

/* -- steps (step.c) ---------------------------------------------------------------------------- */

enum {
	POFF_KEPT = 16, POFF_KEPT_BYTES = 4096, POFF_SHAPES = 64, POFF_GUARD_BYTES = 32,
	/* Begun and not ended; calls under way.  Whoever begins a step has begun no more than
	 * POFF_STEPS from the first that has not ended on.  Of the device's steps, the last that
	 * brought all together was POFF_AHEAD steps ago at most; it may not have ended yet, and
	 * then the one before it counts.  So nobody lacks a result that is not kept: in the worst
	 * case it is 2 * POFF_STEPS + POFF_AHEAD + 1 steps old, fewer than POFF_KEPT. */
	POFF_STEPS = 4, POFF_AHEAD = 6, POFF_FLIGHTS = 8,
	/* Longer payloads are not worth their calls. */
	POFF_PIECES = 64,
	POFF_ALIGN = 64,                /* as devices may ask for */
};
enum { POFF_ALARM_BYTES = 160 };
/* Operations that have a type and an operator. */
enum { POFF_REDUCTIONS = PST_OFF_REDUCE | PST_OFF_ALLREDUCE | PST_OFF_REDUCE_SCATTER };

/* What members say of a shape: the ways in which their device does it, as bits. */
enum poff_way {
	POFF_WHOLE = 1,                 /* as one operation */
	POFF_BY_ALLREDUCE = 2,          /* a barrier, as a sum of a word each */
	POFF_COMPOSED = 4,              /* as a reduction and a multicast */
	POFF_WAYS = 7,
	POFF_DEAR = 0x80                /* software is faster */
};

/* A shape that the members' devices were asked about. */
struct poff_shape {
	uint32_t op;
	gex_DT_t dt;
	gex_OP_t rop;
	size_t class_bytes;             /* lengths up to a power of two */
	uint8_t ways;                   /* of all members */
};

/* An operation whose step waits. */
struct poff_waiting {
	struct poff_waiting *next;
	struct pcoll_op *op;
};

/* How the bytes of a step lie (blocks.c): what a member gives, and from result_at on what it gets,
 * which is the same memory where both are one vector. */
struct poff_blocks {
	size_t len_bytes;               /* of a block, or of the vector */
	size_t piece_bytes;             /* so many of it, of each block, in one call of the device;
	                                 * 0: not even an element */
	size_t result_at;
	uint32_t given, got;            /* how many blocks; of one side they are the members' */
};

static inline size_t
poff_blocks_got_bytes(const struct poff_blocks *blocks)
{
	return blocks->got * blocks->len_bytes;
}

static inline size_t
poff_blocks_all_bytes(const struct poff_blocks *blocks)
{
	return blocks->result_at + (blocks->result_at ? blocks->got : 1) * blocks->len_bytes;
}

/* What a step works on, kept until it is complete everywhere. */
struct poff_kept {
	bool by_software;               /* it was not for the device: there is no result here */
	bool is_long;                   /* nor here, but all had it before any member ended it */
	enum pcoll_device_does does;
	uint32_t root;
	struct poff_blocks blocks;
	_Alignas(POFF_ALIGN) unsigned char bytes[POFF_KEPT_BYTES];
	unsigned char guard[POFF_GUARD_BYTES];
};

/* Memory of this library that devices work on. */
struct poff_memory {
	unsigned char *bytes;
	size_t room_bytes;
	pst_off_mem_t *mem;             /* where the device needs it registered */
};

struct poff_team;

/* A step that has begun. */
struct poff_step {
	/* NULL: there is none. */
	enum pcoll_device_result (*go_on)(struct poff_team *team, struct poff_step *step);
	struct pcoll_op *op;
	uint64_t number;
	enum pcoll_device_does does;
	bool syncs;                     /* who has done it knows that all have begun one of the
	                                 * last two */
	bool is_long;                   /* longer than what is kept */
	bool has_met;                   /* all have come to its next call */
	bool confirming;                /* it is done here, all but told of */
	uint32_t op_bit, root;          /* of the whole; PST_OFF_* */
	gex_DT_t dt;
	gex_OP_t rop;
	struct poff_blocks blocks;
	uint32_t pieces;
	uint8_t way;
	uint32_t calls, begun, ended;   /* of the device: all, and how many of them */
	uint64_t reduced;               /* pieces of a window of max_inflight, as bits */
	size_t sent_bytes;              /* whose multicasts have begun, if this is the root */
	size_t missing_bytes;           /* that the root will send */
	unsigned char *bytes;           /* of `kept', or of `longer' */
	struct poff_memory longer;
	enum poff_count what;           /* that it ends as, where software does it */
};

/* A call of the device that is under way. */
struct poff_flight {
	pst_off_req_t *req;             /* NULL: it has ended */
	struct poff_step *step;
	uint64_t seq;
	uint32_t op, root;
	size_t at, len_bytes;
	uint64_t started_ns;
	bool cancelled;                 /* a multicast that may lose parts, which is late */
	bool guarded;                   /* nothing of the step is behind its buffer: */
	unsigned char guard[POFF_GUARD_BYTES];  /* this was there */
};

/* Whether others have begun what this member finds late: a call, or the join. */
struct poff_late {
	uint64_t number;                /* of the question */
	bool asked;
	uint32_t told;
	uint64_t all_since_ns;          /* all have begun it; 0: not known */
};

/* -- teams (team.c) ---------------------------------------------------------------------------- */

/* What members tell of themselves first. */
struct poff_offer {
	uint8_t opens;
	uint64_t key;                   /* that member 0 proposes for the tree */
	pst_off_attr_t attr;
};

/* Beyond cancel_max_ns, since processes may lose their CPUs. */
#define POFF_CANCEL_SLACK_NS UINT64_C(2000000000)

/* A line of a team (coll/device.h): its members, their tree, and the steps on it. */
struct poff_team {
	struct poff_team *next;
	struct poff_device *device;
	enum pcoll_device_line line;
	uint32_t scope;
	const uint32_t *member_of;      /* by rank; NULL: the rank itself */
	struct poff_channel channel;
	struct poff_gather gather, oob, ends, evict, confirm;
	gex_TM_t tm;                    /* NULL: it has ended here */
	uint32_t size;
	uint64_t begun_at_end;          /* device steps, when it has */
	bool closing;                   /* the same; others may not have */
	uint32_t byes;                  /* other members that have ended */
	uint32_t *places;               /* of the members */
	/* Room for all members' blocks: of `gather'; of `ends' and `evict'; of `confirm'. */
	unsigned char *gathered;
	uint64_t *numbers;
	unsigned char *confirmed;
	/* Joining, activation, repair; NULL: nothing is to be done. */
	void (*go_on)(struct poff_team *team);
	pst_off_attr_t agreed;
	pst_off_group_t group;          /* of the join */
	pst_off_tree_t *tree;
	bool joining;                   /* the provider's join has not ended */
	uint64_t joining_since_ns;
	uint64_t hold_from;             /* steps from there on wait */
	uint64_t active_from;           /* steps from there on are the device's */
	uint64_t turn;                  /* of these: the first that has not ended here; */
	uint64_t issue;                 /* the first that has not begun all its calls */
	bool settled;                   /* after a failure: who lacks what is known, in `numbers' */
	uint64_t given_until;           /* steps before it get their result from another member */
	uint64_t until;                 /* steps from there on are software's: the tree is being
	                                 * left */
	bool drained;                   /* this member has ended those before */
	uint64_t joins;                 /* that were tried */
	uint64_t evictions;             /* how often it was left */
	uint64_t rejoin_at;             /* with that step another tree is asked for */
	bool tries_again;               /* the join, since some unit was full */
	bool was_full;                  /* that of this host was */
	void (*then)(struct poff_team *team);   /* goes on when the tree is left; NULL: nothing
	                                         * does */
	unsigned slot;                  /* among the trees of the host; PSI_DEVICE_TREES: none */
	unsigned wants_slot;            /* the one that shall be left for this team ... */
	uint64_t wants_uses;            /* ... and has been given back so often before */
	uint64_t provider_seq;          /* of the next call; */
	uint64_t flown;                 /* of the first that has not ended */
	bool start_again;               /* the device does not take the next yet, */
	uint64_t again_since_ns;        /* although none is under way since then */
	uint32_t calls_ahead;           /* one-way calls since all were together; */
	uint32_t steps_ahead;           /* steps; */
	bool keeps_results;             /* some were the device's, so others may lack results */
	struct poff_late late;
	uint64_t cancelled_ns;
	bool abandoned;                 /* a cancelled call has not ended: it may write to what is
	                                 * kept here, at any time */
	bool failed;                    /* an alarm was given or heard */
	const char *why;                /* the device does not serve the team */
	char alarm[POFF_ALARM_BYTES];   /* whose has failed, and why, as the first one said */
	struct poff_step steps[POFF_STEPS];     /* by number */
	struct poff_flight flights[POFF_FLIGHTS];       /* by seq */
	struct poff_waiting *waiting, *spare;
	struct poff_shape shapes[POFF_SHAPES];
	unsigned shape_count;
	struct poff_kept kept[POFF_KEPT];
	unsigned char operand[POFF_KEPT_BYTES + POFF_GUARD_BYTES];      /* rubbish: what a device
	                                 * may write where a reduction has no result */
	pst_off_mem_t *mem;             /* of `kept' and `operand', where the device needs memory
	                                 * registered */
	unsigned device_at;             /* its place in the list */
	struct poff_given *given;       /* to be compared with software's */
	bool verifies;
	uint64_t given_operands_of;     /* a step, plus 1: to those who lack the sum for them */
	uint64_t broken_until;          /* steps from `turn' up to it had begun when the device
	                                 * failed */
	const char *query_why;          /* why the device declined a shape, the last */
	uint64_t count[POFF_COUNTS];
};

/* This member's use of a line, made when it comes to the first step. */
struct poff_team *poff_team_of(gex_TM_t tm, enum pcoll_device_line line);
/* The one whose tree has that key. */
struct poff_team *poff_team_find(uint64_t key);
/* The team ends, with no step under way.  What others may need stays until they have ended too. */
void poff_team_close(gex_TM_t tm);
/* All end: the job does. */
void poff_teams_close(void);
/* The longest timeout of a device whose results other members may still lack; 0: they lack none. */
uint64_t poff_teams_need_ns(void);
/* Device steps that the calls of this member have had. */
uint64_t poff_team_begun(const struct poff_team *team);
void poff_teams_progress(void);
/* Some team may have something to do from here on: a message has come, a step begins. */
void poff_teams_changed(void);
/* The descriptors of devices that teams use, PSI_DEVICE_FDS at most, and how long who sleeps on
 * them may sleep (0: no bound): short_ns where something is to be done that wakes nobody. */
unsigned poff_teams_fds(int *fds_out, uint64_t short_ns, uint64_t *most_ns_out);
/* Have all teams that used a device ended, on all members? */
bool poff_teams_are_gone(void);
/* The job ends: the counts of those that are there go to the file. */
void poff_teams_stats(void);
/* The job ends, and has waited: tells of providers that have not given trees back. */
void poff_teams_tell_leaving(void);
/* The step is tried again when the team is stirred. */
enum pcoll_device_result poff_step_wait(struct poff_team *team, struct pcoll_op *op);
/* All steps that wait are tried again. */
void poff_team_stir(struct poff_team *team);
/* Gives the tree back, in the background. */
void poff_tree_leave(struct poff_team *team);
/* The device is not used any more, for that reason. */
void poff_team_give_up(struct poff_team *team, const char *why);
/* After a gather of a byte from each: is none of them 0? */
bool poff_team_all_agree(const struct poff_team *team);

/* -- what comes late (late.c) ------------------------------------------------------------------ */

/* The question whether others have begun a call with that seq, or the join. */
uint64_t poff_late_call(const struct poff_team *team, uint64_t seq);
uint64_t poff_late_join(const struct poff_team *team);
/* Asks the others when `limit_ns' have passed since this member began it.  True: all have begun it,
 * and the time has passed again since. */
bool poff_is_late(struct poff_team *team, uint64_t number, uint64_t began_ns, uint64_t limit_ns);
/* Answers the others. */
void poff_late_answer(struct poff_team *team);

/* -- joining (join.c) -------------------------------------------------------------------------- */

/* The team begins with the device, or does so again. */
void poff_join_start(struct poff_team *team);
/* The join itself, when there is room. */
void poff_join_again(struct poff_team *team);
/* The join has not ended, and shall: the tree is left, and `go_on' goes on behind that. */
void poff_join_cancel(struct poff_team *team, void (*go_on)(struct poff_team *team));

/* -- eviction (evict.c) ------------------------------------------------------------------------ */

/* The team has a tree; uses it; has given it back, if it had one. */
void poff_tree_taken(struct poff_team *team);
void poff_tree_used(struct poff_team *team);
void poff_tree_given_back(struct poff_team *team);
/* Some unit was full, perhaps that of this host: makes room there, and joins once more. */
void poff_room_make(struct poff_team *team, bool was_full);
/* No tree was free: asks again after some more steps. */
void poff_rejoin_later(struct poff_team *team);
/* Leaves the tree if somebody asks for it. */
void poff_eviction_look(struct poff_team *team);

/* -- multicasts that lose parts (missing.c) ---------------------------------------------------- */

/* Asks the root for what a call lacks.  False: the ranges are not in it. */
bool poff_missing_ask(struct poff_team *team, const struct poff_flight *flight,
                      const pst_off_result_t *result);
/* True: all that the step lacks has come. */
bool poff_missing_take(struct poff_team *team, struct poff_step *step);
/* Answers other members. */
void poff_missing_answer(struct poff_team *team);

/* -- comparing with software (verify.c) -------------------------------------------------------- */

bool poff_verifies(void);
/* The step has that result. */
void poff_verify_keep(struct poff_team *team, const struct poff_step *step);
void poff_verify_compare(struct poff_team *team, struct pcoll_op *op, uint64_t number,
                         const struct pcoll_act *act);
void poff_verify_drop(struct poff_team *team);

/* -- what a device takes (query.c) ------------------------------------------------------------- */

/* Ways of the step, with a payload of its size class. */
uint8_t poff_device_answer(struct poff_team *team, const struct poff_step *step,
                           size_t class_bytes);

/* -- where its bytes are (blocks.c) ------------------------------------------------------------ */

struct poff_blocks poff_blocks_of(const struct poff_team *team, const struct pcoll_op *op,
                                  enum pcoll_device_does does, size_t len_bytes);
/* What a client gives, as the step has it. */
void poff_blocks_put(const struct poff_blocks *blocks, unsigned char *bytes,
                     const unsigned char *operand);
/* One block of that. */
void poff_blocks_operand(const struct poff_blocks *blocks, const unsigned char *bytes,
                         uint32_t number, unsigned char *block_out);
/* What a member gets, as the client has it. */
void poff_blocks_result(const struct poff_blocks *blocks, const unsigned char *result,
                        unsigned char *to_out);

/* -- from the call and back to it (read.c) ----------------------------------------------------- */

struct poff_kept *poff_kept_of(struct poff_team *team, uint64_t number);
/* Begins a step, with what it works on. */
void poff_step_read(struct poff_team *team, struct poff_step *step, struct pcoll_op *op,
                    uint64_t number, const struct pcoll_act *act);
/* Takes memory for a step that is longer than what is kept.  False: there is none. */
bool poff_step_make_long(struct poff_team *team, struct poff_step *step);
/* Has this member a result of such a step? */
bool poff_step_has_result(const struct poff_team *team, enum pcoll_device_does does, uint32_t root);
/* Gives it to the call. */
void poff_step_deliver(const struct poff_team *team, struct pcoll_op *op,
                       const struct pcoll_act *act, const void *result);
void poff_memory_release(struct poff_team *team, struct poff_memory *memory);

/* -- calls under way (flight.c) ---------------------------------------------------------------- */

/* As many as may be under way on the tree. */
uint32_t poff_flights_most(const struct poff_team *team);
/* Starts a call of the step, if one more may be under way.  False: it has to be tried again, or has
 * failed, which is told. */
bool poff_flight_start(struct poff_team *team, struct poff_step *step, uint32_t op, size_t at,
                       size_t len_bytes);
/* Asks all how they are; those that have ended are counted in their steps, of which `now' is
 * looked at by the caller. */
void poff_flights_test(struct poff_team *team, const struct poff_step *now);
/* After a failure: cancels all; have they ended? */
void poff_flights_cancel(struct poff_team *team);
bool poff_flights_have_ended(struct poff_team *team);

/* -- steps (step.c), repair (repair.c) --------------------------------------------------------- */

enum pcoll_device_result poff_step(struct poff_team *team, struct pcoll_op *op, uint64_t number,
                                   const struct pcoll_act *act);
/* The one of that number that has begun; or NULL. */
struct poff_step *poff_step_find(struct poff_team *team, uint64_t number);
/* A long one of that number of which this member has the result, and has told so. */
struct poff_step *poff_step_confirmed(struct poff_team *team, uint64_t number);
/* The first that this member has not begun. */
uint64_t poff_steps_begun(const struct poff_team *team);
/* The device of this member has failed, or that of another. */
void poff_team_alarm(struct poff_team *team, const char *why);
/* The step that is next, after that. */
enum pcoll_device_result poff_step_failed(struct poff_team *team, struct pcoll_op *op,
                                          uint64_t number, const struct pcoll_act *act);
/* The step of the team's turn was taken, or software does it, for what is counted there. */
enum pcoll_device_result poff_step_end(struct poff_team *team, enum poff_count what);

#endif
