/*
 * What this folder knows of devices that carry collectives (docs/offload.md): a part above it hands
 * down these functions, before the first call.  In a schedule of the algorithm `device', those that
 * lead take a *device step*, behind which the same stage in software stands, which is left out
 * where the device has done it.
 */
#ifndef PCOLL_DEVICE_H
#define PCOLL_DEVICE_H

#include "coll/schedule.h"

#include "gasnetex.h"

struct pcoll_op;

enum pcoll_device_result { PCOLL_DEVICE_AGAIN, PCOLL_DEVICE_DONE, PCOLL_DEVICE_SOFTWARE };

struct pcoll_device {
	bool verifies;                  /* software does a step too, and `compare' is called */
	/* May a device carry such calls, of a shape with a layout?  All ranks answer alike. */
	bool (*serves)(const struct pcoll_shape *shape);
	/* A call with a device step begins on that team; returns its number there.  All members
	 * call this in the order of the calls. */
	uint64_t (*begin)(gex_TM_t tm);
	/* Goes on with the device step `act' of a call with that number, on a member that leads.
	 * AGAIN: whoever brings a change calls pcoll_op_changed, and this is called again. */
	enum pcoll_device_result (*step)(struct pcoll_op *op, uint64_t number,
	                                 const struct pcoll_act *act);
	/* Software has done the step too; `act' says where. */
	void (*compare)(struct pcoll_op *op, uint64_t number, const struct pcoll_act *act);
};

/* NULL: there is none.  Constant after init. */
extern const struct pcoll_device *pcoll_device;

#endif
