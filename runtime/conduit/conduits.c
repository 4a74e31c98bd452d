/*
 * The conduits of this build, and the table that is called: a conduit's operations over those of
 * the reference, and those over fillers.
 */
#include "runtime/conduit/conduits.h"

#include "runtime/conduit/conduit_list.h"

#include <strings.h>

#define DECLARE(name) extern const struct psi_conduit_ops p##name##_ops;
PSI_CONDUIT_LIST(DECLARE)
#undef DECLARE

static const struct psi_conduit_ops *const conduits[] = {
#define ENTRY(name) &p##name##_ops,
	PSI_CONDUIT_LIST(ENTRY)
#undef ENTRY
};

static struct psi_conduit_ops in_force;

/* -- operations that a conduit may leave out ------------------------------------------------- */

static int
short_by_send(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args)
{
	const struct psi_am am = psi_am_of(peer, PSI_SHORT, tag, args);

	return in_force.am_send(port, &am);
}
static int
medium_by_send(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args,
               const void *payload, size_t len_bytes)
{
	const struct psi_am am = psi_am_medium(peer, tag, args, payload, len_bytes);

	return in_force.am_send(port, &am);
}
static int no_claim(struct psi_port *port, struct psi_claim *claim)
{
	(void)port, (void)claim;
	return PSI_UNSUPPORTED;
}
static int no_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	(void)port, (void)claim, (void)am;
	return PSI_UNSUPPORTED;
}
static void no_cancel(struct psi_port *port, const struct psi_claim *claim)
{
	(void)port, (void)claim;
}
static int no_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                   struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	(void)conduit, (void)base, (void)len_bytes, (void)name_out, (void)registration_out;
	return PSI_UNSUPPORTED;
}
static void no_release(struct psi_conduit *conduit, struct psi_registration *registration)
{
	(void)conduit, (void)registration;
}
/* Of UNSUPPORTED the runtime makes one line, with the operation's name (runtime/op/begin.c). */
static int no_transfer(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port, (void)transfer;
	return PSI_UNSUPPORTED;
}
static int no_vis(struct psi_port *port, const struct psi_vis_operation *vis)
{
	(void)port, (void)vis;
	return PSI_UNSUPPORTED;
}
static int no_atomic(struct psi_port *port, const struct psi_word_operation *operation)
{
	(void)port, (void)operation;
	return PSI_UNSUPPORTED;
}
static int no_device_atomic(struct psi_port *port, const struct psi_device_atomic *operation)
{
	(void)port, (void)operation;
	return PSI_UNSUPPORTED;
}
static int no_signal(struct psi_port *port, const struct psi_signal_operation *signal)
{
	(void)port, (void)signal;
	return PSI_UNSUPPORTED;
}
static int no_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                         const struct psi_signal_operation *signal)
{
	(void)port, (void)transfer, (void)signal;
	return PSI_UNSUPPORTED;
}
static int no_long(struct psi_port *port, struct psi_long *message)
{
	(void)port, (void)message;
	return PSI_UNSUPPORTED;
}
static int no_drain(struct psi_conduit *conduit)
{
	(void)conduit;
	return PSI_OK;
}
static int no_wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out)
{
	(void)conduit, (void)fd_out, (void)most_ns_out;
	return PSI_UNSUPPORTED;
}
/* AGAIN: there is no sleeping, so the caller goes on polling. */
static int no_arm(struct psi_port *port, unsigned networks, uint32_t peer, uint32_t *ticket_out)
{
	(void)port, (void)networks, (void)peer, (void)ticket_out;
	return PSI_AGAIN;
}
static void no_sleep(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	(void)port, (void)ticket, (void)timeout_ns;
}
static int no_fd_sleep_begin(struct psi_port *port, uint32_t ticket)
{
	return (void)port, (void)ticket, PSI_UNSUPPORTED;
}
static void no_disarm(struct psi_port *port) { (void)port; }
static int no_arm_more(struct psi_port *port, unsigned networks)
{
	(void)port, (void)networks;
	return PSI_AGAIN;
}
static const uint32_t *no_sleep_word(struct psi_port *port, uint32_t peer, bool *fence_out)
{
	(void)port, (void)peer;
	*fence_out = true;
	return NULL;
}
static void no_wake(struct psi_port *port) { (void)port; }
static void no_wake_peer(struct psi_port *port, uint32_t peer) { (void)port, (void)peer; }
static void no_request_room(struct psi_port *port, uint32_t peer) { (void)port, (void)peer; }
static void no_describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	(void)conduit;
	if (text_bytes)
		text[0] = '\0';
}
static bool no_queue(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
                     uint32_t receiver, struct psi_queue_state *state_out)
{
	(void)memory, (void)network, (void)sender, (void)receiver, (void)state_out;
	return false;
}
static bool no_memory_area(struct psi_conduit *conduit, unsigned i,
                           struct psi_memory_area *area_out)
{
	(void)conduit, (void)i, (void)area_out;
	return false;
}
static size_t no_queue_bytes(uint32_t endpoints)
{
	(void)endpoints;
	return 0;
}

/* Members that every conduit must have, and those that it may leave to the reference or, where that
 * has none, to the filler. */
#define REQUIRED(X) X(probe) X(open) X(port_open) X(connect) X(am_max_medium) X(am_send) X(poll)
#define OPTIONAL(X)                                                                               \
	X(am_send_alone, in_force.am_send)                                                        \
	X(am_short, short_by_send) X(am_medium, medium_by_send)                                   \
	X(am_claim, no_claim) X(am_publish, no_publish) X(am_cancel, no_cancel)                   \
	X(segment_bind, no_bind) X(segment_release, no_release)                                   \
	X(put, no_transfer) X(get, no_transfer) X(fill, no_transfer)                              \
	X(vis, no_vis) X(atomic, no_atomic) X(am_long, no_long)                                   \
	X(device_atomic, no_device_atomic)                                                        \
	X(signal, no_signal) X(put_signal, no_put_signal)                                         \
	X(drain, no_drain) X(wait_on, no_wait_on) X(arm, no_arm) X(sleep, no_sleep)               \
	X(fd_sleep_begin, no_fd_sleep_begin) X(fd_sleep_end, no_disarm)                           \
	X(disarm, no_disarm) X(arm_more, no_arm_more) X(disarm_more, no_disarm)                   \
	X(wake, no_wake) X(wake_host, no_wake) X(request_room, no_request_room)                   \
	X(sleep_word, no_sleep_word) X(wake_peer, no_wake_peer)                                   \
	X(describe, no_describe)                                                                  \
	X(queue, no_queue) X(memory_area, no_memory_area) X(queue_bytes, no_queue_bytes)

/* A member in neither list makes the sizes differ. */
#define COUNT_REQUIRED(name) +1
#define COUNT_OPTIONAL(name, filler) +1
_Static_assert(sizeof(struct psi_conduit_ops) ==
	       offsetof(struct psi_conduit_ops, probe) +
	       (0 REQUIRED(COUNT_REQUIRED) OPTIONAL(COUNT_OPTIONAL)) * sizeof(void (*)(void)),
	       "every operation has a line in REQUIRED or OPTIONAL");

const char *
psi_conduit_lacks(const struct psi_conduit_ops *ops)
{
#define NEED(op) \
	if (!ops->op) \
		return #op;
	REQUIRED(NEED)
#undef NEED
	return NULL;
}

const char *
psi_conduit_lay(const struct psi_conduit_ops *ops, const struct psi_conduit_ops *reference,
                const struct psi_conduit_ops **in_force_out)
{
	static const struct psi_conduit_ops nothing;
	const char *lacks = psi_conduit_lacks(ops);

	if (lacks)
		return lacks;
	if (!reference)
		reference = &nothing;
	in_force = *ops;
#define FILL(op, filler) \
	if (!in_force.op) \
		in_force.op = reference->op; \
	if (!in_force.op) \
		in_force.op = filler;
	OPTIONAL(FILL)
#undef FILL
	*in_force_out = &in_force;
	return NULL;
}

/* -- by name --------------------------------------------------------------------------------- */

size_t
psi_conduit_queue_bytes(const char *name, uint32_t endpoints)
{
	for (size_t i = 0; i < sizeof conduits / sizeof *conduits; i++)
		if (strcasecmp(conduits[i]->name, name) == 0 && conduits[i]->queue_bytes)
			return conduits[i]->queue_bytes(endpoints);
	return 0;
}

const struct psi_conduit_ops *
psi_conduit_named(const char *name)
{
	for (size_t i = 0; i < sizeof conduits / sizeof *conduits; i++)
		if (strcasecmp(conduits[i]->name, name) == 0)
			return conduits[i];
	return NULL;
}
