/*
 * Carries out this member's schedule of one operation.  A message that is under way has a *slot*,
 * whose state is a function that is called at every step until it returns true.
 */
#ifndef PCOLL_EXECUTOR_H
#define PCOLL_EXECUTOR_H

#include "coll/named.h"
#include "coll/pcoll_names.h"
#include "coll/schedule.h"
#include "coll/scratch.h"

#include "runtime/conduit/conduit.h"

#include <stdatomic.h>

struct pcoll_op;
struct pcoll_note;
struct pcoll_slot;
struct pcoll_cached;

/* The bytes that a peer sends to this member as data. */
struct pcoll_in {
	struct pcoll_op *op;
	unsigned char *addr;
	size_t len_bytes;
	_Atomic size_t got_bytes;       /* added to by handlers */
	struct pcoll_named named;       /* of these bytes */
};

enum { PCOLL_DATA_ARGS = 4 };

/* Where the receiver wants the bytes: in memory of that name; without one, in its segment. */
struct pcoll_there {
	uint64_t at;                    /* the address there; 0: it did not say */
	uint64_t offset;                /* from the first byte of what the name stands for */
	struct psi_segment_name name;
};

/* The bytes that this member sends as data. */
struct pcoll_out {
	const unsigned char *addr;
	size_t len_bytes, sent_bytes;
	uint64_t cookie;                /* the peer's struct pcoll_in */
	struct pcoll_there there;
	bool is_stored;                 /* all has been */
	/* A Long that the conduit has not accepted, if its am is set. */
	struct psi_long message;
	struct psi_am am;
	int32_t args[PCOLL_DATA_ARGS];
};

struct pcoll_slot {
	bool (*state)(struct pcoll_op *op, struct pcoll_slot *slot);
	uint32_t peer, tag;
	union {
		struct pcoll_in in;
		struct pcoll_out out;
	};
};

/* As many messages may be under way; the check of schedules has the same number. */
enum { PCOLL_SLOTS = 32 };

struct pcoll_executor {
	struct pcoll_cached *cached;    /* has the schedule */
	struct pcoll_cursor cursor;
	struct pcoll_act act;           /* the next one, if has_act */
	bool has_act, ended;
	bool by_device;                 /* the last device step was done by one */
	/* The number that the next device step on each line gets. */
	uint64_t device_number[PCOLL_LINES];
	struct pcoll_names names;       /* of the members heard of, in a barrier */
	uint32_t found;                 /* who was met; or this one, its own target */
	unsigned char *buffer[3];       /* by enum pcoll_buffer */
	struct pcoll_scratch scratch;
	struct pcoll_note *notes;       /* that no slot has taken yet */
	uint32_t used;                  /* slots, as bits */
	struct pcoll_slot slot[PCOLL_SLOTS];
};

/* Finds the schedule, or makes it.  The operation is not in the engine's list yet. */
void pcoll_executor_open(struct pcoll_op *op);
/* Goes on as far as it can; true at the end.  By the thread that has the operation busy. */
bool pcoll_executor_step(struct pcoll_op *op);
/* Gives back what the operation holds.  By the thread that has it busy, behind the end. */
void pcoll_executor_close(struct pcoll_op *op);

#endif
