/*
 * PST_OFFLOAD_VERIFY: behind a device step, software does the stage too, and what the device gave
 * is compared with that.  The client gets software's.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include <stdlib.h>
#include <string.h>

/* What a device gave for a step. */
struct poff_given {
	struct poff_given *next;
	uint64_t number;
	bool exact;                     /* software gives the same bytes */
	size_t len_bytes;
	unsigned char bytes[];
};

bool
poff_verifies(void)
{
	return psi_setting_bool(psi_setting_named("PST_OFFLOAD_VERIFY"));
}

/* Sums and products of floats depend on the order, which is not the same. */
static bool
step_is_exact(const struct poff_step *step)
{
	const uint64_t floats = GEX_DT_FLT | GEX_DT_DBL;

	return !(step->dt & floats) || (step->rop & (GEX_OP_MIN | GEX_OP_MAX));
}

/* Barriers have none. */
static bool
step_has_bytes(const struct poff_step *step)
{
	switch (step->does) {
	case PCOLL_DEVICE_MEETS:
	case PCOLL_DEVICE_MEETS_UP:
	case PCOLL_DEVICE_MEETS_DOWN: return false;
	default: return true;
	}
}

void
poff_verify_keep(struct poff_team *team, const struct poff_step *step)
{
	struct poff_given *given;

	if (!step_has_bytes(step))
		return;
	given = malloc(sizeof *given + poff_blocks_got_bytes(&step->blocks));
	if (!given)
		psi_fatal("no memory for offload");
	*given = (struct poff_given){ .next = team->given, .number = step->number,
		                      .exact = step_is_exact(step),
		                      .len_bytes = poff_blocks_got_bytes(&step->blocks) };
	poff_blocks_result(&step->blocks, step->bytes + step->blocks.result_at, given->bytes);
	team->given = given;
}

void
poff_verify_compare(struct poff_team *team, struct pcoll_op *op, uint64_t number,
                    const struct pcoll_act *act)
{
	struct poff_given **at = &team->given, *given;

	while ((given = *at) && given->number != number)
		at = &given->next;
	if (!given)
		return;         /* no device has done it */
	*at = given->next;
	if (given->exact && given->len_bytes == act->len_bytes &&
	    memcmp(given->bytes, op->executor.buffer[act->to] + act->to_bytes, act->len_bytes) != 0)
		poff_breach(team->device, "a result is wrong");
	free(given);
}

void
poff_verify_drop(struct poff_team *team)
{
	for (struct poff_given *next; team->given; team->given = next) {
		next = team->given->next;
		free(team->given);
	}
}
