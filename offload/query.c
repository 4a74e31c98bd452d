/*
 * Whether the device takes a shape: what it answers itself, and whether software would be faster.
 * Each member asks its own device; they compare the answers.
 */
#include "offload/offload.h"

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
device_takes(struct poff_team *team, uint32_t op, size_t len_bytes, uint64_t *cost_ns_out)
{
	const struct poff_step *step = &team->step;
	const pst_off_op_t asked = {
		.struct_bytes = sizeof asked, .op = op, .members = team->channel.members,
		.root = step->root, .dt = op == PST_OFF_REDUCE ? step->dt : 0,
		.rop = op == PST_OFF_REDUCE ? step->rop : 0, .nbytes = len_bytes,
	};
	const char *why = "an operation that it does not offer";

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
	default: return PCOLL_REDUCE_TO_ALL;
	}
}

/* Who names a provider wants it. */
static bool
is_named(void)
{
	return strcmp(psi_setting_text(psi_setting_named("PST_OFFLOAD")), "auto") != 0;
}

enum poff_answer
poff_device_answer(struct poff_team *team, size_t class_bytes)
{
	const struct poff_step *step = &team->step;
	const size_t most = step->piece_most, piece = class_bytes < most ? class_bytes : most;
	const uint64_t pieces = piece ? (class_bytes + piece - 1) / piece : 1;
	uint64_t down_ns = 0, up_ns = 0;

	if (!piece || !device_takes(team, PST_OFF_BCAST, piece, &down_ns) ||
	    (step->two_way && !device_takes(team, PST_OFF_REDUCE, piece, &up_ns)))
		return POFF_DECLINES;
	if (!is_named() && pieces * (down_ns + up_ns) >
	                           pcoll_predict_ns(operation_of(step), team->channel.members,
	                                            step->op_bit == PST_OFF_BARRIER ? 0
	                                                                            : class_bytes))
		return POFF_DEAR;
	return POFF_TAKES;
}
