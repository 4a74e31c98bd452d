/*
 * Offload: what its files share.  One lock is held in all of them, and in all calls into providers:
 * whoever comes to find it taken leaves the work to that thread, but for a step of a collective,
 * which waits for it.  It is above the engine's lock of collectives.
 */
#ifndef POFF_OFFLOAD_H
#define POFF_OFFLOAD_H

#include "offload/channel.h"
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
	const char *why;
};

/* Opens it if it is not open.  False: it refuses. */
bool poff_device_open(struct poff_device *device);
/* Compares the providers of all ranks.  Called in init, by all. */
void poff_devices_agree(void);
/* The first provider's; NULL: there is none.  The same on all ranks of the job. */
struct poff_device *poff_device_of_job(void);
/* Lets open devices go on.  Returns the events. */
unsigned poff_devices_progress(void);

/* -- teams (team.c) ---------------------------------------------------------------------------- */

enum { POFF_KEPT = 16, POFF_KEPT_BYTES = 4096, POFF_SHAPES = 16 };

/* A shape that the leaders' devices were asked about. */
struct poff_shape {
	uint32_t op;
	gex_DT_t dt;
	gex_OP_t rop;
	size_t nbytes;
	bool taken;
};

/* An operation whose step waits. */
struct poff_waiting {
	struct poff_waiting *next;
	struct pcoll_op *op;
};

/* The result of a step, kept until it is complete everywhere. */
struct poff_kept {
	size_t len_bytes;
	_Alignas(64) unsigned char bytes[POFF_KEPT_BYTES];
};

struct poff_team;

/* The step that is under way. */
struct poff_step {
	enum pcoll_device_result (*go_on)(struct poff_team *team);
	struct pcoll_op *op;
	bool two_way;
	uint32_t op_bit, root;          /* of the whole; PST_OFF_* */
	gex_DT_t dt;
	gex_OP_t rop;
	size_t len_bytes, at, piece_bytes;
	unsigned char *to;              /* of the client, or scratch */
	pst_off_req_t *req;
	uint64_t started_ns;            /* of the call under way */
	bool asked;                     /* whether all have begun it */
	uint32_t told;
	uint64_t all_since_ns;          /* all have begun it; 0: not known */
};

struct poff_team {
	struct poff_team *next;
	struct poff_device *device;
	struct poff_channel channel;
	struct poff_gather gather, oob, ends;
	uint32_t *ranks;                /* of the members */
	unsigned char *gathered;        /* room for all members' blocks */
	/* Joining, activation, repair; NULL: nothing is to be done. */
	void (*go_on)(struct poff_team *team);
	pst_off_attr_t agreed;
	pst_off_tree_t *tree;
	uint64_t hold_from;             /* steps from there on wait */
	uint64_t active_from;           /* steps from there on are the device's */
	uint64_t turn;                  /* of these: the first that has not ended here */
	uint64_t given_until;           /* steps before it get their result from another member */
	uint64_t provider_seq;
	uint32_t ahead;                 /* one-way steps since all were together */
	bool failed;                    /* an alarm was given or heard */
	const char *why;                /* the device does not serve the team */
	struct poff_step step;
	struct poff_waiting *waiting, *spare;
	struct poff_shape shapes[POFF_SHAPES];
	unsigned shape_count;
	struct poff_kept kept[POFF_KEPT];
	struct { uint64_t taken, software, given, failures; } count;
};

/* This member's use of a team, made when it comes to the first step; a member that leads. */
struct poff_team *poff_team_of(gex_TM_t tm);
struct poff_team *poff_team_find(uint64_t id);
/* The team ends, with no step under way. */
void poff_team_close(gex_TM_t tm);
void poff_teams_progress(void);
/* The step is tried again when the team is stirred. */
enum pcoll_device_result poff_step_wait(struct poff_team *team, struct pcoll_op *op);
/* All steps that wait are tried again. */
void poff_team_stir(struct poff_team *team);
/* Gives the tree back, in the background. */
void poff_tree_leave(struct poff_team *team);
/* The device is not used any more, for that reason. */
void poff_team_give_up(struct poff_team *team, const char *why);

/* -- steps (step.c), repair (repair.c) --------------------------------------------------------- */

enum pcoll_device_result poff_step(struct pcoll_op *op, uint64_t number,
                                   const struct pcoll_act *act);
/* The device of this member has failed, or that of another. */
void poff_team_alarm(struct poff_team *team, const char *why);
/* The step that is next, after that. */
enum pcoll_device_result poff_step_failed(struct poff_team *team, struct pcoll_op *op,
                                          const struct pcoll_act *act);
enum pcoll_device_result poff_step_end(struct poff_team *team, enum pcoll_device_result result);
struct poff_kept *poff_kept_of(struct poff_team *team, uint64_t number);

#endif
