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
#include <sys/resource.h>

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
	const char *why;
	unsigned breaches;              /* of its contract */
	const char *breach;             /* the last; NULL: none */
	bool banned;                    /* after too many it is not used any more */
	uint64_t called_ns;             /* when the call under way began */
	unsigned look_closely;          /* at so many calls, for one was late */
	struct rusage usage;            /* of the thread before it */
};

/* Opens it if it is not open.  False: it refuses. */
bool poff_device_open(struct poff_device *device);
/* Compares the providers of all ranks.  Called in init, by all. */
void poff_devices_agree(void);
/* In the order of the list; NULL: there are no more.  The same on all ranks of the job. */
struct poff_device *poff_device_at(unsigned at);
/* The job ends: their counts go to the file. */
void poff_devices_stats(void);
/* The job ends, and no team uses one. */
void poff_devices_close(void);
/* Lets open devices go on.  Returns the events. */
unsigned poff_devices_progress(void);

/* -- teams (team.c) ---------------------------------------------------------------------------- */

enum { POFF_KEPT = 16, POFF_KEPT_BYTES = 4096, POFF_SHAPES = 64, POFF_GUARD_BYTES = 32 };
enum { POFF_ALARM_BYTES = 160 };

/* What leaders tell of themselves first. */
struct poff_offer {
	uint8_t opens;
	pst_off_attr_t attr;
};

/* Beyond cancel_max_ns, since processes may lose their CPUs. */
#define POFF_CANCEL_SLACK_NS UINT64_C(2000000000)

/* What members say of a shape; the largest counts. */
enum poff_answer { POFF_TAKES, POFF_DEAR, POFF_DECLINES };

/* A shape that the leaders' devices were asked about. */
struct poff_shape {
	uint32_t op;
	gex_DT_t dt;
	gex_OP_t rop;
	size_t class_bytes;             /* lengths up to a power of two */
	enum poff_answer answer;
};

/* An operation whose step waits. */
struct poff_waiting {
	struct poff_waiting *next;
	struct pcoll_op *op;
};

/* The result of a step, kept until it is complete everywhere. */
struct poff_kept {
	bool by_software;               /* it was not for the device: there is no result here */
	size_t len_bytes;
	_Alignas(64) unsigned char bytes[POFF_KEPT_BYTES];
	unsigned char guard[POFF_GUARD_BYTES];
};

struct poff_team;

/* The step that is under way. */
struct poff_step {
	enum pcoll_device_result (*go_on)(struct poff_team *team);
	struct pcoll_op *op;
	bool two_way;
	bool is_long;                   /* longer than what is kept */
	uint32_t op_bit, root;          /* of the whole; PST_OFF_* */
	gex_DT_t dt;
	gex_OP_t rop;
	size_t len_bytes, at, piece_most;
	unsigned char *to;              /* of the client, or scratch */
	pst_off_req_t *req;
	unsigned char guard[POFF_GUARD_BYTES];  /* what is behind the call's buffer */
	uint64_t started_ns;            /* of the call under way */
	bool asked;                     /* whether all have begun it */
	uint32_t told;
	uint64_t all_since_ns;          /* all have begun it; 0: not known */
	bool cancelled;                 /* a multicast that may lose parts, which is late */
	size_t missing_bytes;           /* that the root will send */
};

struct poff_team {
	struct poff_team *next;
	struct poff_device *device;
	struct poff_channel channel;
	struct poff_gather gather, oob, ends, evict;
	gex_TM_t tm;                    /* NULL: it has ended here */
	uint32_t size;
	uint64_t begun_at_end;          /* device steps, when it has */
	bool closing;                   /* the same; others may not have */
	uint32_t byes;                  /* other members that have ended */
	uint32_t *places;               /* of the members */
	unsigned char *gathered;        /* room for all members' blocks */
	/* Joining, activation, repair; NULL: nothing is to be done. */
	void (*go_on)(struct poff_team *team);
	pst_off_attr_t agreed;
	pst_off_group_t group;          /* of the join */
	pst_off_tree_t *tree;
	bool joining;                   /* the provider's join has not ended */
	uint64_t hold_from;             /* steps from there on wait */
	uint64_t active_from;           /* steps from there on are the device's */
	uint64_t turn;                  /* of these: the first that has not ended here */
	bool settled;                   /* after a failure: who lacks what is known */
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
	uint64_t provider_seq;
	uint32_t ahead;                 /* one-way steps since all were together */
	uint64_t cancelled_ns;
	bool abandoned;                 /* a cancelled call has not ended: it may write to what is
	                                 * kept here, at any time */
	bool failed;                    /* an alarm was given or heard */
	const char *why;                /* the device does not serve the team */
	char alarm[POFF_ALARM_BYTES];   /* whose has failed, and why, as the first one said */
	struct poff_step step;
	struct poff_waiting *waiting, *spare;
	struct poff_shape shapes[POFF_SHAPES];
	unsigned shape_count;
	struct poff_kept kept[POFF_KEPT];
	pst_off_mem_t *mem;             /* of `kept', where the device needs memory registered */
	unsigned device_at;             /* its place in the list */
	struct poff_given *given;       /* to be compared with software's */
	bool verifies;
	uint64_t broken;                /* the step that the device had begun when it failed */
	const char *query_why;          /* why the device declined a shape, the last */
	uint64_t count[POFF_COUNTS];
};

/* This member's use of a team, made when it comes to the first step; a member that leads. */
struct poff_team *poff_team_of(gex_TM_t tm);
struct poff_team *poff_team_find(uint64_t id);
/* The team ends, with no step under way.  What others may need stays until they have ended too. */
void poff_team_close(gex_TM_t tm);
/* All end: the job does. */
void poff_teams_close(void);
/* The longest timeout of a device whose results other members may still lack; 0: they lack none. */
uint64_t poff_teams_need_ns(void);
/* Device steps that the calls of this member have had. */
uint64_t poff_team_begun(const struct poff_team *team);
void poff_teams_progress(void);
/* Have all teams that used a device ended, on all members? */
bool poff_teams_are_gone(void);
/* The job ends: the counts of those that are there go to the file. */
void poff_teams_stats(void);
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

/* -- joining (join.c) -------------------------------------------------------------------------- */

/* The team begins with the device, or does so again. */
void poff_join_start(struct poff_team *team);
/* The join itself, when there is room. */
void poff_join_again(struct poff_team *team);

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

/* Asks the root for what a call of so many bytes lacks.  False: the ranges are not in it. */
bool poff_missing_ask(struct poff_team *team, size_t len_bytes, const pst_off_result_t *result);
/* True: all has come. */
bool poff_missing_take(struct poff_team *team);
/* Answers other members. */
void poff_missing_answer(struct poff_team *team);

/* -- comparing with software (verify.c) -------------------------------------------------------- */

bool poff_verifies(void);
/* The step of the team's turn has that result. */
void poff_verify_keep(struct poff_team *team, const void *bytes, size_t len_bytes);
void poff_verify_compare(struct poff_team *team, struct pcoll_op *op, uint64_t number,
                         const struct pcoll_act *act);
void poff_verify_drop(struct poff_team *team);

/* -- what a device takes (query.c) ------------------------------------------------------------- */

/* Of the step of the team, with a payload of its size class. */
enum poff_answer poff_device_answer(struct poff_team *team, size_t class_bytes);

/* -- steps (step.c), repair (repair.c) --------------------------------------------------------- */

enum pcoll_device_result poff_step(struct pcoll_op *op, uint64_t number,
                                   const struct pcoll_act *act);
/* The device of this member has failed, or that of another. */
void poff_team_alarm(struct poff_team *team, const char *why);
/* The step that is next, after that. */
enum pcoll_device_result poff_step_failed(struct poff_team *team, struct pcoll_op *op,
                                          uint64_t number, const struct pcoll_act *act);
/* It was taken, or software does it, for what is counted there. */
enum pcoll_device_result poff_step_end(struct poff_team *team, enum poff_count what);
struct poff_kept *poff_kept_of(struct poff_team *team, uint64_t number);
/* Has this member, the root, all that it multicasts from that offset on in that step? */
bool poff_step_has_sent(const struct poff_team *team, uint64_t number, size_t at);

#endif
