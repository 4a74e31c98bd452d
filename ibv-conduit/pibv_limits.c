/*
 * Sizes and counts: what settings ask for, within what the device has.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/bounds.h"
#include "runtime/util/settings_parse.h"

#include <limits.h>

enum { PIECE_BYTES = 1 << 30, STRIPE_PIECE_BYTES = 1 << 24, SIGNALS = 4096, DEPTH_LEAST = 16,
       RETRIES_MOST = 6, READS_MOST = 16, TIMEOUT = 18, RECEIVES_LEAST = 32, BUFFERS_LEAST = 16 };

uint64_t
pibv_setting(const struct psi_services *services, const char *name, uint64_t fallback)
{
	const char *text = services->setting(name);
	uint64_t number;

	return text && *text && psi_parse_count(text, &number) ? number : fallback;
}

static bool
setting_is_on(const struct psi_services *services, const char *name)
{
	const char *text = services->setting(name);
	bool on;

	return text && psi_parse_bool(text, &on) && on;
}

/* The largest that is not above it; it is 1 at least. */
static uint32_t
power_of_2_below(uint64_t number)
{
	uint32_t power = 1;

	while (power <= number / 2)
		power *= 2;
	return power;
}

/* A place that does not poll can keep the requests of all processes, if each has this many, within
 * the two bounds. */
static uint32_t
credits_per_place(const struct psi_conduit *conduit)
{
	const size_t each = PIBV_KEPT_BYTES / (conduit->message_bytes * conduit->places);

	return each > PIBV_CREDITS_MOST ? PIBV_CREDITS_MOST
	       : each < PIBV_CREDITS_LEAST ? PIBV_CREDITS_LEAST : (uint32_t)each;
}

static void
message_sizes(struct psi_conduit *conduit)
{
	enum { LINE = 64 };
	const size_t medium = pibv_setting(conduit->services, "PST_IBV_MAX_MEDIUM",
	                                   PIBV_MEDIUM_BYTES) & ~(uint64_t)(PIBV_ALIGN - 1);
	const size_t most = pibv_payload_at(PSI_LONG, PSI_MAX_ARGS) + medium;

	conduit->medium_bytes = medium;
	conduit->packed_bytes = psi_least(medium, PIBV_PACKED_BYTES);
	conduit->message_bytes = (most + LINE - 1) & ~(size_t)(LINE - 1);
}

/* What a device registers at once; one that does not say, or says less than a page, is asked. */
static uint64_t
registers_at_once(const struct ibv_device_attr *limits)
{
	enum { PAGE = 4096 };

	return limits->max_mr_size ? psi_most(limits->max_mr_size, PAGE) : UINT64_MAX;
}

/* The largest message of a port; one that does not say has no limit. */
static size_t
message_limit(const struct pibv_rail *rail)
{
	const uint32_t most = rail->port.max_msg_sz;

	return most && most < PIECE_BYTES ? most : PIECE_BYTES;
}

/* A power of 2, so that a part is found by a shift. */
static size_t
part_limit(const struct psi_conduit *conduit)
{
	const uint64_t most = registers_at_once(&conduit->devices[0].limits);
	const uint64_t wanted = pibv_setting(conduit->services, "PST_IBV_PART", UINT64_MAX);
	size_t part = SIZE_MAX / 2 + 1;

	while (part > most || part > wanted)
		part /= 2;
	return part;
}

/* With 7 tries Soft-RoCE tries for ever, and a peer that is gone is never told of. */
static void
retry_limits(struct psi_conduit *conduit)
{
	const struct psi_services *services = conduit->services;
	const struct ibv_device_attr *limits = &conduit->devices[0].limits;
	const uint64_t reads = pibv_setting(services, "GASNET_QP_RD_ATOM", 0);

	conduit->timeout = (uint8_t)pibv_setting(services, "GASNET_QP_TIMEOUT", TIMEOUT);
	if (!conduit->timeout)          /* without end */
		conduit->timeout = TIMEOUT;
	conduit->retries = (uint8_t)psi_least(
		pibv_setting(services, "GASNET_QP_RETRY_COUNT", RETRIES_MOST), RETRIES_MOST);
	conduit->reads = (uint8_t)psi_least((uint64_t)limits->max_qp_rd_atom,
	                                reads ? reads : READS_MOST);
}

uint8_t
pibv_mtu_of(const struct psi_conduit *conduit, unsigned rail)
{
	const uint64_t most = pibv_setting(conduit->services, "GASNET_MAX_MTU", 0);
	uint8_t mtu = (uint8_t)conduit->rails[rail].port.active_mtu;

	while (most && mtu > IBV_MTU_256 && pibv_mtu_bytes(mtu) > most)
		mtu--;
	return mtu;
}

static void
hello_limits(struct psi_conduit *conduit)
{
	enum { NS_PER_US = 1000, FIRST_US = 20000, MOST_US = 1000000 };
	const struct psi_services *services = conduit->services;

	conduit->connect_all = setting_is_on(services, "GASNET_CONNECT_STATIC");
	conduit->hello_first_ns = NS_PER_US * pibv_setting(services, "GASNET_CONNECT_RETRANS_MIN",
	                                                   FIRST_US);
	conduit->hello_most_ns = NS_PER_US * pibv_setting(services, "GASNET_CONNECT_RETRANS_MAX",
	                                                  MOST_US);
}

/* A completion queue has room for a completion of each receive buffer, and of what this counts: of
 * each datagram; and where send queues have so many requests, of all of a connection that breaks,
 * each of whose requests tells. */
static uint64_t
fixed_completions(uint32_t depth)
{
	return 2 * PIBV_HELLOS + 4 * (uint64_t)depth;
}

/* ... and of requests that ask for one, a send queue's at least. */
static uint64_t
other_completions(uint32_t depth)
{
	return fixed_completions(depth) + depth;
}

int
pibv_limits_cq_entries(struct psi_conduit *conduit)
{
	const uint64_t most = (uint64_t)conduit->devices[0].limits.max_cqe;
	const uint64_t fixed = conduit->receive_count + fixed_completions(conduit->depth);

	if (fixed + conduit->signals_most > most)
		conduit->signals_most = most > fixed + conduit->depth ? (uint32_t)(most - fixed)
		                                                      : conduit->depth;
	return (int)psi_least(fixed + conduit->signals_most, most);
}

/* A completion queue has room for what the queues hold. */
static uint32_t
depth_of(const struct psi_conduit *conduit, const struct ibv_device_attr *limits)
{
	const uint64_t wanted =
		psi_least(pibv_setting(conduit->services, "PST_IBV_SEND_QUEUE", PIBV_DEPTH),
	                  (uint64_t)limits->max_qp_wr);
	uint32_t depth = power_of_2_below(wanted > PIBV_DEPTH_MOST ? PIBV_DEPTH_MOST
	                                  : wanted < DEPTH_LEAST ? DEPTH_LEAST : wanted);

	while (depth > DEPTH_LEAST &&
	       other_completions(depth) + RECEIVES_LEAST > (uint64_t)limits->max_cqe)
		depth /= 2;
	return depth;
}

/* What a completion queue has room for besides. */
static uint32_t
receives_of(const struct psi_conduit *conduit, const struct ibv_device_attr *limits)
{
	const uint64_t wanted =
		psi_most(pibv_setting(conduit->services, "GASNET_RBUF_COUNT", PIBV_RECEIVES),
	                 RECEIVES_LEAST);
	const uint64_t others = other_completions(conduit->depth);
	const uint64_t most = (uint64_t)limits->max_cqe > others + RECEIVES_LEAST
	                              ? (uint64_t)limits->max_cqe - others : RECEIVES_LEAST;

	return (uint32_t)psi_least(psi_least(wanted, most), (uint64_t)limits->max_srq_wr);
}

/* Most buffers are with the device, also where there are few. */
static uint32_t
receive_batch_of(const struct psi_conduit *conduit)
{
	const uint32_t quarter = conduit->receive_count / 4;

	return quarter > PIBV_BATCH ? PIBV_BATCH : quarter ? quarter : 1;
}

void
pibv_limits_choose(struct psi_conduit *conduit)
{
	const struct psi_services *services = conduit->services;
	struct ibv_device_attr *limits = &conduit->devices[0].limits;

	limits->max_cqe = (int)psi_least((uint64_t)limits->max_cqe,
	                                 pibv_setting(services, "PST_IBV_COMPLETION_QUEUE",
	                                              INT_MAX));
	message_sizes(conduit);
	retry_limits(conduit);
	hello_limits(conduit);
	conduit->credits = credits_per_place(conduit);
	conduit->payment = conduit->credits / 2;
	conduit->inline_bytes = psi_least(
		pibv_setting(services, "GASNET_INLINESEND_LIMIT", PIBV_INLINE_BYTES),
		PIBV_INLINE_BYTES);
	conduit->piece_bytes = message_limit(&conduit->rails[0]);
	conduit->depth = depth_of(conduit, limits);
	conduit->depth_mask = conduit->depth - 1;
	conduit->interval = conduit->depth / 4;
	conduit->receive_count = receives_of(conduit, limits);
	conduit->buffer_count = (uint32_t)psi_most(
		pibv_setting(services, "GASNET_BBUF_COUNT", PIBV_BUFFERS), BUFFERS_LEAST);
	conduit->signals_most = SIGNALS;
	conduit->part_bytes = part_limit(conduit);
	conduit->stripe_bytes = pibv_setting(services, "PST_IBV_STRIPE", PIBV_STRIPE_BYTES);
	conduit->stripe_piece_bytes = psi_least(conduit->piece_bytes, STRIPE_PIECE_BYTES);
	conduit->sources = (uint64_t)conduit->places * PSI_PORTS_MOST;
	conduit->receive_batch = receive_batch_of(conduit);
}

void
pibv_limits_share(struct psi_conduit *conduit, const struct pibv_rail *rail)
{
	const struct ibv_device_attr *limits = &conduit->devices[rail->device_index].limits;

	conduit->reads = (uint8_t)psi_least(conduit->reads, (uint64_t)limits->max_qp_rd_atom);
	conduit->stripe_piece_bytes = psi_least(conduit->stripe_piece_bytes, message_limit(rail));
	while (conduit->part_bytes > registers_at_once(limits))
		conduit->part_bytes /= 2;
}
