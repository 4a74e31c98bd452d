/*
 * What this folder knows of devices that carry collectives (docs/offload.md): a part above it hands
 * down these functions, before the first call.  In a schedule of the algorithm `device', members
 * take *device steps*; behind each stands the same stage in software, which is left out where the
 * device has done it.
 *
 * The steps of a team are on *lines*, each with members, a tree and numbers of its own.
 */
#ifndef PCOLL_DEVICE_H
#define PCOLL_DEVICE_H

#include "coll/schedule.h"

#include "gasnetex.h"

#include <stdatomic.h>

struct pcoll_op;

enum pcoll_device_result { PCOLL_DEVICE_AGAIN, PCOLL_DEVICE_DONE, PCOLL_DEVICE_SOFTWARE };

/* The steps that schedules have, as bits; RANKS excludes the other two. */
enum pcoll_device_scope {
	PCOLL_SCOPE_LEADERS = 1,        /* those that lead hosts, for all of these */
	PCOLL_SCOPE_RANKS = 2,          /* all members of a team, for themselves */
	PCOLL_SCOPE_HOST = 4            /* the members of a host; all, where they share memory */
};

struct pcoll_device {
	bool verifies;                  /* software does a step too, and `compare' is called */
	unsigned scopes;
	/* May a device carry such calls?  All ranks answer alike. */
	bool (*serves)(const struct pcoll_shape *shape);
	/* A call with so many device steps on that line begins; returns the number of the first.
	 * All members call this in the order of the calls. */
	uint64_t (*begin)(gex_TM_t tm, enum pcoll_device_line line, uint32_t count);
	/* Goes on with the device step `act' of a call with that number, on a member of the line.
	 * AGAIN: whoever brings a change calls pcoll_op_changed, and this is called again. */
	enum pcoll_device_result (*step)(struct pcoll_op *op, enum pcoll_device_line line,
	                                 uint64_t number, const struct pcoll_act *act);
	/* Software has done the step too; `act' says where. */
	void (*compare)(struct pcoll_op *op, enum pcoll_device_line line, uint64_t number,
	                const struct pcoll_act *act);
};

/*
 * A call by cells that a device may carry.  The call has its place among those by cells, and waits
 * there while an operation of the engine takes the device step.  Where the device has done that,
 * the phases of the call pass without cells; else the call goes by cells.
 */
enum pcoll_attempt_end {
	PCOLL_ATTEMPT_OPEN,             /* the device step is not over */
	PCOLL_ATTEMPT_DONE,             /* the device has done it */
	PCOLL_ATTEMPT_DECLINED
};

struct pcoll_attempt {
	_Atomic int end;                /* enum pcoll_attempt_end; written by the engine, once */
	unsigned parts;                 /* of the call by cells that are not over */
};

/* NULL: there is none.  Constant after init. */
extern const struct pcoll_device *pcoll_device;

/* May a device carry a call of a team whose members share memory? */
static inline bool
pcoll_device_serves_near(const struct pcoll_shape *shape)
{
	return pcoll_device &&
	       pcoll_device->scopes & (PCOLL_SCOPE_RANKS | PCOLL_SCOPE_HOST) &&
	       pcoll_device->serves(shape);
}

#endif
