/*
 * The conduits of this build, and the table that is called: a conduit's operations over those that
 * say `unsupported'.
 */
#include "runtime/psi.h"

#include "runtime/conduit/conduit_list.h"
#include "runtime/settings/settings.h"
#include "runtime/util/copy.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DECLARE(name) extern const struct psi_conduit_ops p##name##_ops;
PSI_CONDUIT_LIST(DECLARE)
#undef DECLARE

static const struct psi_conduit_ops *const conduits[] = {
#define ENTRY(name) &p##name##_ops,
	PSI_CONDUIT_LIST(ENTRY)
#undef ENTRY
};

/* -- operations that a conduit may leave out ------------------------------------------------- */

static void no_op(struct psi_conduit *conduit) { (void)conduit; }
static void no_ring(struct psi_port *port) { (void)port; }
static void no_sleep(struct psi_port *port, uint32_t ticket, uint64_t ns)
{
	(void)port, (void)ticket, (void)ns;
}
static int no_watch(struct psi_port *port, unsigned networks)
{
	(void)port, (void)networks;
	return PSI_AGAIN;
}
static const uint32_t *no_word(struct psi_port *port, uint32_t peer, bool *fence_out)
{
	(void)port, (void)peer;
	*fence_out = true;
	return NULL;
}
static void no_want(struct psi_port *port, uint32_t peer) { (void)port, (void)peer; }
static int no_arm(struct psi_port *port, unsigned networks, uint32_t peer, uint32_t *ticket_out)
{
	(void)port, (void)networks, (void)peer, (void)ticket_out;
	return PSI_AGAIN;       /* so the caller goes on polling */
}
static struct psi_conduit_ops in_force;

static int
short_by_send(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args)
{
	const struct psi_am am = psi_am_of(peer, PSI_SHORT, what, args);

	return in_force.am_send(port, &am);
}
static int
medium_by_send(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args,
               const void *payload, size_t len_bytes)
{
	const struct psi_am am = psi_am_medium(peer, what, args, payload, len_bytes);

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
static int no_bind(struct psi_port *port, void *base, size_t len, unsigned char key_out[64])
{
	(void)port, (void)base, (void)len, (void)key_out;
	return PSI_UNSUPPORTED;
}
static int no_import(struct psi_port *port, uint32_t peer, const unsigned char key[64])
{
	(void)port, (void)peer, (void)key;
	return PSI_UNSUPPORTED;
}
static void no_release(struct psi_port *port, void *base) { (void)port, (void)base; }
static int no_put(struct psi_port *port, uint32_t peer, void *dest, const void *src, size_t len,
                  uint32_t *reusable, uint32_t *visible)
{
	(void)port, (void)peer, (void)dest, (void)src, (void)len, (void)reusable, (void)visible;
	return PSI_UNSUPPORTED;
}
static int no_get(struct psi_port *port, uint32_t peer, void *dest, const void *src, size_t len,
                  uint32_t *visible)
{
	(void)port, (void)peer, (void)dest, (void)src, (void)len, (void)visible;
	return PSI_UNSUPPORTED;
}
static int no_order(struct psi_port *port, uint32_t peer)
{
	(void)port, (void)peer;
	return PSI_UNSUPPORTED;
}
static int no_atomic(struct psi_port *port, uint32_t peer, void *target, uint32_t op, uint32_t type,
                     uint64_t a, uint64_t b, uint64_t *before_out, uint32_t *done)
{
	(void)port, (void)peer, (void)target, (void)op, (void)type;
	(void)a, (void)b, (void)before_out, (void)done;
	return PSI_UNSUPPORTED;
}
static void no_words(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	(void)conduit;
	if (text_bytes)
		text[0] = '\0';
}
static bool no_parts(struct psi_conduit *conduit, unsigned i, struct psi_memory_part *part_out)
{
	(void)conduit, (void)i, (void)part_out;
	return false;
}
static size_t no_queue_bytes(uint32_t endpoints)
{
	(void)endpoints;
	return 0;
}
static bool no_queue(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
                     uint32_t receiver, struct psi_queue_state *state_out)
{
	(void)memory, (void)network, (void)sender, (void)receiver, (void)state_out;
	return false;
}

/* Members that every conduit must have, and those that it may leave to the layer below. */
#define REQUIRED(X) X(probe) X(open) X(port_open) X(connect) X(close) X(am_max_medium) X(am_send) X(poll)
#define OPTIONAL(X)                                                                               \
	X(quiesce, no_op) X(abort, no_op) X(segment_bind, no_bind) X(segment_import, no_import)   \
	X(segment_release, no_release) X(am_send_alone, in_force.am_send)                         \
	X(am_short, short_by_send) X(am_medium, medium_by_send)                                   \
	X(am_claim, no_claim) X(am_publish, no_publish) X(am_cancel, no_cancel) X(put, no_put)    \
	X(get, no_get) X(fence, no_order)                                                        \
	X(flush, no_order) X(atomic, no_atomic) X(arm, no_arm) X(sleep, no_sleep)                 \
	X(disarm, no_ring) X(watch, no_watch) X(unwatch, no_ring) X(ring, no_ring)                \
	X(ring_host, no_ring) X(want, no_want) X(sleep_word, no_word) X(ring_peer, no_want)       \
	X(describe, no_words)                                                                     \
	X(queue, no_queue) X(parts, no_parts) X(queue_bytes, no_queue_bytes)

/* A member in neither list makes the sizes differ. */
#define COUNT_REQUIRED(name) +1
#define COUNT_OPTIONAL(name, filler) +1
_Static_assert(sizeof(struct psi_conduit_ops) ==
	       offsetof(struct psi_conduit_ops, probe) +
	       (0 REQUIRED(COUNT_REQUIRED) OPTIONAL(COUNT_OPTIONAL)) * sizeof(void (*)(void)),
	       "every operation has a line in REQUIRED or OPTIONAL");

static void
lay_table(const struct psi_conduit_ops *ops)
{
	in_force = *ops;
#define NEED(op) \
	if (!ops->op) \
		psi_fatal("conduit %s lacks its operation " #op, ops->name);
	REQUIRED(NEED)
#undef NEED
#define FILL(op, filler) \
	if (!in_force.op) \
		in_force.op = filler;
	OPTIONAL(FILL)
#undef FILL
}

/* Do the bits and the operations say the same? */
static void
check_capabilities(const struct psi_conduit_ops *ops, uint32_t caps)
{
	const struct {
		uint32_t bit;
		bool present;
		const char *name;
	} claims[] = {
		{ PSI_CAP_NATIVE_PUT, ops->put && ops->get, "put and get" },
		{ PSI_CAP_CLAIM_IN_PLACE, ops->am_claim && ops->am_publish && ops->am_cancel, "claims" },
		{ PSI_CAP_SLEEP, ops->arm && ops->sleep && ops->disarm && ops->ring, "sleep" },
		{ PSI_CAP_ATOMICS, ops->atomic != NULL, "atomics" },
	};

	for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
		if ((caps & claims[i].bit) && !claims[i].present)
			psi_fatal("conduit %s claims %s but lacks the operations", ops->name,
			          claims[i].name);
}

/* -- services -------------------------------------------------------------------------------- */

static const char *
setting_text(const char *name)
{
	const struct psi_setting *row = psi_setting_find(name);

	return row ? psi_setting_value(row, NULL) : NULL;
}

static uint64_t *
own_counts(void)
{
	return psi_block()->count;
}

static uint32_t
agree_least(uint32_t value)
{
	uint32_t *all = calloc(psi.boot.size, sizeof *all), least = value;

	if (!all)
		psi_fatal("no memory for the exchange of %u ranks", psi.boot.size);
	pboot_exchange(&value, sizeof value, all);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		least = all[rank] < least ? all[rank] : least;
	free(all);
	return least;
}

static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof services,
	.log = psi_log,
	.setting = setting_text,
	.host_memory = psi_host_memory,
	.endpoint_memory = psi_endpoint_memory,
	.deliver = psi_deliver,
	.copy = psi_copy,
	.copy_owning = psi_copy_owning,
	.copy_far = psi_copy_far,
	.agree_least = agree_least,
	.counts = own_counts,
};

/* -- open ------------------------------------------------------------------------------------ */

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

static const struct psi_conduit_ops *
choose(void)
{
	const char *wanted = psi_setting_value(psi_setting_named("PST_CONDUIT"), NULL);
	char reason[160];

	for (size_t i = 0; i < sizeof conduits / sizeof *conduits; i++) {
		const struct psi_conduit_ops *ops = conduits[i];

		if (strcasecmp(ops->name, wanted) != 0)
			continue;
		if (ops->abi != PSI_CONDUIT_ABI || ops->size_bytes != sizeof *ops)
			psi_fatal("conduit %s is of ABI %u, this runtime needs %d; rebuild it",
			          ops->name, ops->abi, PSI_CONDUIT_ABI);
		if (!ops->probe(&services, reason, sizeof reason))
			psi_fatal("conduit %s cannot run here: %s", ops->name, reason);
		return ops;
	}
	psi_fatal("this build has no conduit named %s", wanted);
}

static void
describe_job(void)
{
	uint32_t *host_index = calloc(psi.boot.size, sizeof *host_index);
	uint32_t *next = calloc(psi.boot.host_count, sizeof *next);
	uint8_t *local = calloc(psi.boot.size, sizeof *local);

	if (!host_index || !next || !local)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		uint32_t host = psi.boot.host_of[rank];

		host_index[rank] = next[host]++;
		local[rank] = host == psi.boot.host_index;
	}
	psi.conduit_job = (struct psi_conduit_job){
		.place = psi.boot.rank, .places = psi.boot.size,
		.host_places = next[psi.boot.host_index], .host_index = host_index,
		.local = local, .threaded = psi.threaded, .crowded = psi.crowded,
		.counts = psi.block ? psi.block->count : NULL,
	};
	free(next);
}

void
psi_conduit_open(gex_EP_t ep)
{
	const struct psi_conduit_ops *ops = choose();

	lay_table(ops);
	describe_job();
	psi.ops = ep->ops = &in_force;
	if (in_force.open(&services, &psi.conduit_job, &psi.attributes, &psi.conduit) != PSI_OK ||
	    in_force.port_open(psi.conduit, psi.boot.rank, false, ep, &ep->port) != PSI_OK)
		psi_fatal("conduit %s did not open", ops->name);
	check_capabilities(ops, psi.attributes.capabilities);
	if (in_force.connect(psi.conduit) != PSI_OK)
		psi_fatal("conduit %s did not connect", ops->name);
}
