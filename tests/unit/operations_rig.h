/*
 * A job of two ranks over a made-up conduit, for tests of the operations of the contract.  The
 * other rank has a segment that this process cannot map.
 */
#ifndef OPERATIONS_RIG_H
#define OPERATIONS_RIG_H

#include "runtime/conduit/conduits.h"
#include "runtime/op/begin.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

/* The peer, and where it says that its segment lies; nothing is there. */
enum { PEER = 1, BASE = 0x100000, SIZE = 4096, KEY = 77, OFFSET = 40 };
enum { PIECES = 40, PIECE = 64, STEP = 100, WHOLE = PIECES * PIECE };

extern struct gex_EP_s rig_ep;
extern struct gex_TM_s rig_tm;
/* An address in the peer's segment. */
extern char *const rig_there;
/* What tests send; rig_fill_source fills it. */
extern char rig_source[WHOLE];

/* What the conduit was asked, and what its next poll hands back. */
struct fake {
	unsigned puts, sends, polls, refusals;
	bool has_no_room;               /* sends are counted against room */
	unsigned room, room_each_poll;  /* that are accepted; that a poll adds */
	bool in_operation;
	char there[SIZE];               /* the peer's segment, as the messages make it */
	struct psi_transfer put;
	struct psi_am sent;
	int32_t args[PSI_MAX_ARGS];
	uint64_t completes[2];
	void (*on_poll)(void);          /* what a test's own operation does in a poll; or NULL */
};
extern struct fake fake;

bool fake_probe(const struct psi_services *services, char *reason, size_t reason_bytes);
int fake_open(const struct psi_services *services, const struct psi_conduit_job *job,
              struct psi_attributes *attributes_out, struct psi_conduit **conduit_out);
int fake_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
                   struct psi_port **port_out);
int fake_connect(struct psi_conduit *conduit);
size_t fake_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs);
int fake_send(struct psi_port *port, const struct psi_am *am);
unsigned fake_poll(struct psi_port *port, unsigned networks, unsigned budget);
int fake_put(struct psi_port *port, const struct psi_transfer *transfer);

#define FAKE_REQUIRED \
	.name = "fake", .probe = fake_probe, .open = fake_open, .port_open = fake_port_open, \
	.connect = fake_connect, .am_max_medium = fake_max_medium, .am_send = fake_send, \
	.poll = fake_poll

extern const struct psi_conduit_ops that_puts, that_sends;

/* The operations of the reference. */
const struct psi_conduit_ops *rig_reference(void);
/* The job, with the conduit's operations over those below. */
void rig_set_up(const struct psi_conduit_ops *conduit, const struct psi_conduit_ops *below);
/* The job with all operations by the reference, over a conduit that has room only for the messages
 * that a test gives it room for.  A poll during an operation fails the test. */
void rig_set_up_without_room(void);
void rig_fill_source(void);

#endif
