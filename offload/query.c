/*
 * Whether the device takes a shape: what it answers itself, and whether software would be faster.
 * Each member asks its own device; they compare the answers.
 */
#include "offload/offload.h"

#include "coll/cells.h"
#include "coll/introspect.h"

#include "runtime/settings/settings.h"

#include <string.h>

/* The answer depends on nothing but the question, so it is the same twice. */
static bool
device_answers(struct poff_team *team, const pst_off_op_t *asked, uint64_t *cost_ns_out,
               const char **why_out)
{
	struct poff_device *device = team->device;
	uint64_t cost_ns[2] = { 0 };
	int answer[2];

	for (unsigned i = 0; i < 2; i++)
		answer[i] = poff_call_query(device, &team->agreed, asked, &cost_ns[i], why_out);
	*cost_ns_out = cost_ns[0];
	if (answer[0] == answer[1] && (answer[0] != PST_OFF_OK || cost_ns[0] == cost_ns[1]))
		return answer[0] == PST_OFF_OK;
	*why_out = "query gives two answers to one question";
	poff_breach(device, *why_out);
	return false;
}

/* Of one of the operations that the step is made of. */
static bool
device_takes(struct poff_team *team, const struct poff_step *step, uint32_t op, size_t len_bytes,
             uint64_t *cost_ns_out)
{
	const bool reduces = op & POFF_REDUCTIONS;
	const pst_off_op_t asked = {
		.struct_bytes = sizeof asked, .op = op, .members = team->channel.members,
		.root = step->root, .dt = reduces ? step->dt : 0, .rop = reduces ? step->rop : 0,
		.nbytes = len_bytes,
	};
	const char *why = "an operation that it does not offer";

	if (reduces && step->rop & (GEX_OP_USER | GEX_OP_USER_NC)) {
		team->query_why = "an operator of the client's";
		return false;
	}
	if (team->agreed.ops & op && device_answers(team, &asked, cost_ns_out, &why))
		return true;
	team->query_why = why;
	return false;
}

static enum pcoll_operation
operation_of(const struct poff_step *step)
{
	switch (step->op_bit) {
	case PST_OFF_BARRIER: return PCOLL_BARRIER;
	case PST_OFF_BCAST: return PCOLL_BROADCAST;
	case PST_OFF_REDUCE: return PCOLL_REDUCE_TO_ONE;
	case PST_OFF_GATHER_ALL: return PCOLL_GATHER_ALL;
	case PST_OFF_REDUCE_SCATTER: return PCOLL_REDUCE_SCATTER;
	default: return PCOLL_REDUCE_TO_ALL;
	}
}

/* Who names a provider wants it. */
static bool
is_named(void)
{
	return strcmp(psi_setting_text(psi_setting_named("PST_OFFLOAD")), "auto") != 0;
}

/* In software, which goes the way that the call would go without a device: by cells, if it is an
 * attempt, and else by messages.  The same on all members. */
static uint64_t
software_ns(const struct poff_team *team, const struct poff_step *step, size_t class_bytes)
{
	struct pcoll_call call;

	if (!step->op->call.attempt)
		return pcoll_predict_ns(operation_of(step), team->channel.members,
		                        team->scope == PST_OFF_ONE_HOST,
		                        step->op_bit == PST_OFF_BARRIER ? 0 : class_bytes);
	pcoll_call_copy(&call, &step->op->call);
	call.len_bytes = class_bytes;
	return pcoll_cells_price_ns(&call, pcoll_cells_choose(&step->op->call));
}

static bool
is_dear(const struct poff_team *team, const struct poff_step *step, size_t class_bytes,
        uint64_t cost_ns)
{
	return !is_named() && cost_ns > software_ns(team, step, class_bytes);
}

/* A provider may tell any number. */
static uint64_t
sum_ns(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns > UINT64_MAX - other_ns ? UINT64_MAX : one_ns + other_ns;
}

static uint64_t
cost_of_pieces_ns(uint64_t cost_ns, uint64_t pieces)
{
	return cost_ns > UINT64_MAX / pieces ? UINT64_MAX : cost_ns * pieces;
}

/* The first of the ways is what the members take, if all have it. */
uint8_t
poff_device_answer(struct poff_team *team, const struct poff_step *step, size_t class_bytes)
{
	const size_t most = step->blocks.piece_bytes;
	const size_t piece = class_bytes < most ? class_bytes : most;
	const uint64_t pieces = piece ? (class_bytes + piece - 1) / piece : 1;
	const bool is_barrier = step->op_bit == PST_OFF_BARRIER;
	uint64_t whole_ns = 0, all_ns = 0, down_ns = 0, up_ns = 0, cost_ns;
	uint8_t ways = 0;

	if (!piece) {
		team->query_why = "its payload has no room for an element of each member's";
		return 0;
	}
	if (device_takes(team, step, step->op_bit, is_barrier ? 0 : piece, &whole_ns))
		ways |= POFF_WHOLE;
	if (is_barrier && device_takes(team, step, PST_OFF_ALLREDUCE, piece, &all_ns))
		ways |= POFF_BY_ALLREDUCE;
	if (step->op_bit & (PST_OFF_BARRIER | PST_OFF_ALLREDUCE) &&
	    device_takes(team, step, PST_OFF_BCAST, piece, &down_ns) &&
	    device_takes(team, step, PST_OFF_REDUCE, piece, &up_ns))
		ways |= POFF_COMPOSED;
	cost_ns = ways & POFF_WHOLE ? whole_ns : ways & POFF_BY_ALLREDUCE ? all_ns
	                                                                 : sum_ns(down_ns, up_ns);
	if (ways && is_dear(team, step, class_bytes, cost_of_pieces_ns(cost_ns, pieces)))
		ways |= POFF_DEAR;
	return ways;
}
