/*
 * Large puts and gets that the rails share.  Each rail has a stripe, which is a transfer of its
 * own, and the last that ends completes the whole.  The memory here is in a segment, or is
 * registered for the transfer with each device.
 *
 * A rail that fails is used no more.  What it has not ended begins anew on the first rail: writing
 * or reading the same bytes once more changes nothing while the transfer has not completed.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/clock.h"

#include <stdlib.h>

struct pibv_stripe {
	struct pibv_striped *whole;
	struct pibv_move move;          /* as it began */
	unsigned rail;                  /* that has it */
	bool done;
};

struct pibv_striped {
	struct pibv_striped *next;
	uint32_t process;
	uint64_t since_ns;
	unsigned left;
	uint64_t cookie, read_cookie;
	uint32_t keys[PIBV_DEVICES];            /* local ones, of the memory here */
	struct ibv_mr *mrs[PIBV_DEVICES];       /* NULL where that is in a segment */
	struct pibv_stripe stripes[PIBV_RAILS];
};

/* -- memory ------------------------------------------------------------------------------------ */

static void
keys_drop(struct pibv_striped *striped)
{
	for (unsigned device = 0; device < PIBV_DEVICES; device++)
		if (striped->mrs[device])
			ibv_dereg_mr(striped->mrs[device]);
}

static bool
keys_get(struct psi_conduit *conduit, const struct pibv_move *move, struct pibv_striped *striped)
{
	const struct psi_transfer *t = &move->transfer;
	const unsigned access = move->is_put ? 0 : IBV_ACCESS_LOCAL_WRITE;

	for (unsigned device = 0; device < conduit->device_count; device++) {
		size_t len = t->len_bytes;

		if (pibv_segment_key(conduit, device, t->here, &len, &striped->keys[device]) &&
		    len == t->len_bytes)
			continue;
		striped->mrs[device] = pibv_register_quietly(conduit, device, t->here,
		                                             t->len_bytes, access);
		if (!striped->mrs[device])
			return false;
		striped->keys[device] = striped->mrs[device]->lkey;
	}
	return true;
}

uint32_t
pibv_stripe_key(const struct psi_conduit *conduit, const struct pibv_stripe *stripe,
                const struct pibv_connection *connection)
{
	return stripe->whole->keys[conduit->rails[connection->rail].device_index];
}

/* -- starting ---------------------------------------------------------------------------------- */

/* Rails of the connection that work. */
static unsigned
rails_alive(struct pibv_connection *connection, struct pibv_connection *alive_out[PIBV_RAILS])
{
	unsigned count = 0;

	for (unsigned rail = 0; rail < connection->rail_count; rail++)
		if (!connection->rails[rail]->broken)
			alive_out[count++] = connection->rails[rail];
	return count;
}

/* What finds no room waits in the backlog of its rail.  Where there is no memory for that, the
 * peer counts as lost. */
static void
stripe_start(struct psi_conduit *conduit, struct pibv_connection *connection,
             struct pibv_stripe *stripe)
{
	struct pibv_move move = stripe->move;
	uint64_t unused;
	int result = PSI_AGAIN;

	stripe->rail = connection->rail;
	if (!connection->first)
		result = pibv_move_advance(conduit, connection, &move, &unused);
	if (result == PSI_AGAIN && pibv_backlog_move(conduit, connection, &move) != PSI_OK)
		pibv_connection_break(conduit, connection,
		                      "no memory for a transfer that waits");
}

static struct pibv_striped *
striped_make(struct psi_conduit *conduit, const struct pibv_move *move, uint32_t process,
             unsigned count)
{
	struct pibv_striped *made = calloc(1, sizeof *made);

	if (!made)
		return NULL;
	if (!keys_get(conduit, move, made)) {
		keys_drop(made);
		free(made);
		return NULL;
	}
	made->process = process;
	made->since_ns = psi_now_ns();
	made->left = count;
	made->cookie = move->transfer.cookie;
	made->read_cookie = move->transfer.read_cookie;
	made->next = conduit->striped;
	conduit->striped = made;
	return made;
}

/* The part of the whole that begins there. */
static struct pibv_move
part_of(const struct pibv_move *move, struct pibv_stripe *stripe, size_t at, size_t len_bytes)
{
	struct pibv_move part = *move;

	part.transfer.here = (char *)part.transfer.here + at;
	part.transfer.remote.offset += at;
	part.transfer.len_bytes = len_bytes;
	part.transfer.cookie = part.transfer.read_cookie = 0;
	part.stripe = stripe;
	return part;
}

bool
pibv_stripes_start(struct psi_conduit *conduit, struct pibv_connection *connection,
                   const struct pibv_move *move)
{
	enum { PAGE = 4096 };
	const size_t len_bytes = move->transfer.len_bytes;
	struct pibv_connection *alive[PIBV_RAILS];
	struct pibv_striped *striped = NULL;
	unsigned count = 0;
	size_t share, at = 0;

	if (connection->rail_count > 1 && connection->state == PIBV_CONNECTED &&
	    !pibv_name_has_parts(move->transfer.remote.name) &&
	    len_bytes > conduit->stripe_bytes && !move->transfer.read_now && !move->read_word)
		count = rails_alive(connection, alive);
	if (count > len_bytes / PAGE)
		count = (unsigned)(len_bytes / PAGE);
	if (count > 1)
		striped = striped_make(conduit, move, connection->process, count);
	if (!striped)
		return false;
	share = len_bytes / count & ~(size_t)(PAGE - 1);        /* the last has the rest */
	for (unsigned i = 0; i < count; i++, at += share) {
		struct pibv_stripe *stripe = &striped->stripes[i];
		const size_t left = len_bytes - at;

		*stripe = (struct pibv_stripe){ .whole = striped, .rail = alive[i]->rail };
		stripe->move = part_of(move, stripe, at, i + 1 < count ? share : left);
	}
	for (unsigned i = 0; i < count; i++)
		stripe_start(conduit, alive[i], &striped->stripes[i]);
	return true;
}

/* -- ending ------------------------------------------------------------------------------------ */

static void
striped_end(struct psi_conduit *conduit, struct pibv_striped *striped, struct pibv_done *done)
{
	struct pibv_striped **link = &conduit->striped;

	pibv_done_add(done, striped->read_cookie);
	pibv_done_add(done, striped->cookie);
	while (*link != striped)
		link = &(*link)->next;
	*link = striped->next;
	keys_drop(striped);
	free(striped);
}

void
pibv_stripe_finish(struct psi_conduit *conduit, struct pibv_stripe *stripe, struct pibv_done *done)
{
	if (stripe->done)
		return;
	stripe->done = true;
	if (--stripe->whole->left == 0)
		striped_end(conduit, stripe->whole, done);
}

/* -- a rail that fails ------------------------------------------------------------------------- */

static bool
stripe_is_on(const struct pibv_stripe *stripe, unsigned rail)
{
	return stripe->whole && !stripe->done && stripe->rail == rail;
}

void
pibv_rail_break(struct psi_conduit *conduit, struct pibv_connection *connection, const char *why)
{
	struct pibv_connection *first = conduit->connections[connection->process];
	struct ibv_qp_attr stopped = { .qp_state = IBV_QPS_ERR };

	if (connection->broken)
		return;
	connection->broken = true;
	(void)ibv_modify_qp(connection->qp, &stopped, IBV_QP_STATE);    /* sends nothing more */
	conduit->services->log("ibv: a rail to rank %u (%s) is used no more: %s; transfers go by "
	                       "the others", connection->process,
	                       conduit->services->host_name(connection->process), why);
	for (struct pibv_striped *at = conduit->striped; at; at = at->next)
		for (unsigned i = 0; at->process == connection->process && i < PIBV_RAILS; i++)
			if (stripe_is_on(&at->stripes[i], connection->rail))
				stripe_start(conduit, first, &at->stripes[i]);
}

void
pibv_rail_moved(struct pibv_connection *connection)
{
	connection->moved_ns = psi_now_ns();
	connection->still = false;
}

/* A transfer that began that long ago is on the rail, and nothing has ended there since. */
static bool
rail_seems_still(const struct pibv_connection *connection, const struct pibv_striped *striped,
                 uint64_t now_ns, uint64_t limit_ns)
{
	bool waits = false;

	for (unsigned i = 0; i < PIBV_RAILS; i++)
		waits = waits || stripe_is_on(&striped->stripes[i], connection->rail);
	return waits && !connection->broken && now_ns - striped->since_ns >= limit_ns &&
	       now_ns - connection->moved_ns >= limit_ns;
}

/* A process that has made no calls for that long has not read what ended.  So it seems so for as
 * many polls as read all that was in the completion queue. */
static bool
rail_stands_still(const struct psi_conduit *conduit, struct pibv_connection *connection)
{
	enum { POLLS = 1024 };

	if (!connection->still)
		connection->still_polls = conduit->polls;
	connection->still = true;
	return conduit->polls - connection->still_polls >= POLLS;
}

/* Soft-RoCE of Linux 6.1 tries without end where a link goes down in the middle of a large
 * write. */
void
pibv_stripes_watch(struct psi_conduit *conduit)
{
	const uint64_t now_ns = psi_now_ns();
	const uint64_t limit_ns = (uint64_t)((2 * pibv_tried_s(conduit) + 1) * 1e9);

	for (struct pibv_striped *at = conduit->striped; at; at = at->next) {
		struct pibv_connection *first = conduit->connections[at->process];

		for (unsigned rail = 1; rail < first->rail_count; rail++)
			if (rail_seems_still(first->rails[rail], at, now_ns, limit_ns) &&
			    rail_stands_still(conduit, first->rails[rail]))
				pibv_rail_break(conduit, first->rails[rail],
				                "nothing ends there, and the device does not "
				                "say why");
	}
}
