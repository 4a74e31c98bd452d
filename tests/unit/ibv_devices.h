/* The devices of the only host in the mock, for tests of how one is opened. */
#ifndef IBV_DEVICES_H
#define IBV_DEVICES_H

#include "tests/unit/ibv_rig.h"

static inline struct mock_device *
device(unsigned index)
{
	return &mock.devices[0][index];
}

/* Two devices of two ports each, all down. */
static inline void
devices_start(void)
{
	mock_reset(1);
	for (unsigned i = 0; i < MOCK_DEVICES; i++) {
		device(i)->present = true;
		device(i)->limits.phys_port_cnt = MOCK_PORTS;
		for (unsigned port = 0; port < MOCK_PORTS; port++)
			device(i)->ports[port].attr.state = IBV_PORT_DOWN;
	}
	rig_job(1, false);
}

static inline void
port_up(unsigned index, unsigned port)
{
	device(index)->ports[port - 1].attr.state = IBV_PORT_ACTIVE;
}

#endif
