#include "tests/unit/operations_rig.h"

#include "runtime/job/modules.h"
#include "runtime/vis/vis.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

struct gex_EP_s rig_ep;
struct gex_TM_s rig_tm;
char *const rig_there = (char *)(uintptr_t)(BASE + OFFSET);
char rig_source[WHOLE];
struct fake fake;

/* -- the conduit ------------------------------------------------------------------------------- */

int
fake_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	fake.puts++;
	if (fake.refusals) {
		fake.refusals--;
		return PSI_AGAIN;
	}
	fake.put = *transfer;
	return PSI_OK;
}

/* Where a piece of a Long goes. */
static void *
there_of(const struct psi_am *piece)
{
	return fake.there + psi_part_of(piece->args[1], piece->args[2]);
}

/* Does what the peer would do with the messages of Longs and of puts of many pieces. */
static void
receive(const struct psi_am *am)
{
	const char *bytes = am->payload;

	if (am->handler == PSI_HANDLER_LONG_PIECE) {
		memcpy(there_of(am), am->payload, am->len_bytes);
	} else if (am->handler == PSI_HANDLER_VIS_PUT) {
		const struct psi_run *runs = am->payload;

		bytes = (const char *)(runs + am->args[2]);
		for (int32_t i = 0; i < am->args[2]; i++)
			for (size_t k = 0; k < runs[i].count; k++, bytes += runs[i].len)
				memcpy(fake.there + runs[i].addr +
				               k * (uintptr_t)runs[i].stride,
				       bytes, runs[i].len);
	}
}

int
fake_send(struct psi_port *port, const struct psi_am *am)
{
	(void)port;
	if (fake.has_no_room && !fake.room)
		return PSI_AGAIN;
	fake.room--;
	fake.sends++;
	receive(am);
	fake.sent = *am;
	memcpy(fake.args, am->args, am->nargs * sizeof *am->args);
	return PSI_OK;
}

unsigned
fake_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	(void)port, (void)networks, (void)budget;
	ck_assert_msg(!fake.in_operation, "an operation of the table polls");
	fake.polls++;
	fake.room += fake.room_each_poll;
	if (fake.on_poll)
		fake.on_poll();
	for (unsigned i = 0; i < 2; i++) {
		if (fake.completes[i])
			psi_completed(fake.completes[i]);
		fake.completes[i] = 0;
	}
	return 0;
}

size_t
fake_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)port, (void)peer, (void)network, (void)nargs;
	return 512;
}

bool
fake_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	(void)services, (void)reason, (void)reason_bytes;
	return true;
}

int
fake_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	(void)services, (void)job, (void)attributes_out, (void)conduit_out;
	return PSI_OK;
}

int
fake_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	(void)conduit, (void)place, (void)serial, (void)owner, (void)port_out;
	return PSI_OK;
}

int
fake_connect(struct psi_conduit *conduit)
{
	(void)conduit;
	return PSI_OK;
}

const struct psi_conduit_ops that_puts = { FAKE_REQUIRED, .put = fake_put };
const struct psi_conduit_ops that_sends = { FAKE_REQUIRED };

/* -- the job ----------------------------------------------------------------------------------- */

static const struct psi_module *
reference_module(void)
{
	for (const struct psi_module *const *at = psi_modules; *at; at++)
		if ((*at)->operations)
			return *at;
	ck_abort_msg("no part has operations");
	return NULL;
}

const struct psi_conduit_ops *
rig_reference(void)
{
	return reference_module()->operations;
}

void
rig_set_up(const struct psi_conduit_ops *conduit, const struct psi_conduit_ops *below)
{
	static const uint32_t host_of[2] = { 0, 1 };

	memset(&fake, 0, sizeof fake);
	psi.boot = (struct pboot_job){ .size = 2, .host_count = 2, .host_of = host_of };
	psi.places = rig_tm.size = 2;
	psi_hosts_open();
	psi.shared = calloc(1, psi_shared_bytes(2, 0));
	psi.peers = calloc((size_t)2 * GASNET_MAXEPS, sizeof *psi.peers);
	psi.known = calloc((size_t)2 * GASNET_MAXEPS, sizeof *psi.known);
	ck_assert(psi.shared && psi.peers && psi.known);
	psi.known[PEER] =
		(struct psi_segment_entry){ .base = BASE, .size_bytes = SIZE,
		                            .name = { .key = KEY } };
	psi.modules = psi_modules;
	ck_assert_ptr_null(psi_conduit_lay(conduit, below, &psi.ops));
	rig_ep.ops = psi.ops;
	rig_tm.ep = psi.ep = &rig_ep;
	psi.tm = &rig_tm;
	psi.sharers = psi.sharers_cpus = 2;     /* one for each */
	psi.thread_mode = PSI_MODE_PARSYNC;
	psi.open = true;
}

/* -- operations that find no room -------------------------------------------------------------- */

/* The table, with a note of when an operation runs. */
static const struct psi_conduit_ops *laid;
static struct psi_conduit_ops watched;

static int
watch_over(int result)
{
	fake.in_operation = false;
	return result;
}

#define WATCH(name, parameters, arguments) \
	static int watch_##name parameters \
	{ \
		fake.in_operation = true; \
		return watch_over(laid->name arguments); \
	}
#define WATCH_ONE(name, descriptor) \
	WATCH(name, (struct psi_port *port, descriptor *what), (port, what))
WATCH_ONE(put, const struct psi_transfer)
WATCH_ONE(get, const struct psi_transfer)
WATCH_ONE(fill, const struct psi_transfer)
WATCH_ONE(vis, const struct psi_vis_operation)
WATCH_ONE(atomic, const struct psi_word_operation)
WATCH_ONE(signal, const struct psi_signal_operation)
WATCH_ONE(am_long, struct psi_long)
WATCH(put_signal, (struct psi_port *port, const struct psi_transfer *transfer,
                   const struct psi_signal_operation *signal), (port, transfer, signal))

void
rig_fill_source(void)
{
	for (size_t i = 0; i < sizeof rig_source; i++)
		rig_source[i] = (char)(i % 251);
}

void
rig_set_up_without_room(void)
{
	rig_set_up(&that_sends, rig_reference());
	psi.attributes.max_medium_bytes = 512;
	reference_module()->open();
	laid = psi.ops;
	watched = *laid;
	watched.put = watch_put;
	watched.get = watch_get;
	watched.fill = watch_fill;
	watched.vis = watch_vis;
	watched.atomic = watch_atomic;
	watched.signal = watch_signal;
	watched.put_signal = watch_put_signal;
	watched.am_long = watch_am_long;
	psi.ops = rig_ep.ops = &watched;
	fake.has_no_room = true;
	rig_fill_source();
}
