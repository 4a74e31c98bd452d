/*
 * A step begins with what a call gives, and ends with what it gets.  The client's buffers are not
 * given to the device: what it reads and writes is kept here, until all have got it; or, where that
 * is longer, in memory of the step, until all have confirmed that they have it.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include "runtime/process/process.h"

#include <stdlib.h>
#include <string.h>

struct poff_kept *
poff_kept_of(struct poff_team *team, uint64_t number)
{
	return &team->kept[number % POFF_KEPT];
}

/* -- memory ------------------------------------------------------------------------------------ */

void
poff_memory_release(struct poff_team *team, struct poff_memory *memory)
{
	if (memory->mem)
		team->device->provider->calls.mem_release(team->device->dev, memory->mem);
	memory->mem = NULL;
}

static bool
memory_grow(struct poff_team *team, struct poff_memory *memory, size_t len_bytes)
{
	const size_t room_bytes = (len_bytes + POFF_GUARD_BYTES + 4095) / 4096 * 4096;

	poff_memory_release(team, memory);
	free(memory->bytes);
	memory->room_bytes = 0;
	memory->bytes = aligned_alloc(64, room_bytes);
	if (!memory->bytes)
		return false;
	memory->room_bytes = room_bytes;
	return true;
}

/* Of that length, and registered if the device asks for it.  False: that fails. */
static bool
memory_make(struct poff_team *team, struct poff_memory *memory, size_t len_bytes)
{
	if (len_bytes + POFF_GUARD_BYTES > memory->room_bytes &&
	    !memory_grow(team, memory, len_bytes))
		return false;
	if (!(team->agreed.caps & PST_OFF_NEEDS_MEM) || memory->mem)
		return true;
	if (team->device->provider->calls.mem_register(team->device->dev, memory->bytes,
	                                               memory->room_bytes, &memory->mem) ==
	    PST_OFF_OK)
		return true;
	memory->mem = NULL;
	return false;
}

/* -- names of barriers ------------------------------------------------------------------------- */

/*
 * A phase of the job's barriers finds out whether the names that members give are equal.  Names are
 * numbers above 0, and what a member gives is its number and the distance of that from MOST; one
 * without a name gives zeros.  The largest of both tell the largest and the smallest name.  One
 * that asks for a mismatch gives two that differ.
 */
struct names {
	uint64_t number, distance;
};

static const uint64_t MOST = UINT64_C(1) << 33;

static struct names
names_of(struct pcoll_names given)
{
	const uint64_t number = (uint64_t)(uint32_t)given.id + 1;

	if (given.mismatch)
		return (struct names){ MOST, MOST };
	return given.named ? (struct names){ number, MOST - number } : (struct names){ 0, 0 };
}

/* What all gave; of names that differ, this member's. */
static struct pcoll_names
names_all(struct pcoll_names own, struct names most)
{
	if (!most.number)
		return (struct pcoll_names){ .named = false };
	if (most.number + most.distance == MOST)
		return (struct pcoll_names){ .named = true,
			                     .id = (int32_t)(uint32_t)(most.number - 1) };
	return (struct pcoll_names){ .mismatch = true, .named = own.named, .id = own.id };
}

/* -- from the call ----------------------------------------------------------------------------- */

static bool
step_is_phase(const struct pcoll_op *op, enum pcoll_device_does does)
{
	return op->call.phase && does == PCOLL_DEVICE_MEETS;
}

static uint32_t
op_bit_of(const struct pcoll_op *op, enum pcoll_device_does does)
{
	switch (does) {
	case PCOLL_DEVICE_MEETS: return op->call.phase ? PST_OFF_ALLREDUCE : PST_OFF_BARRIER;
	case PCOLL_DEVICE_REDUCES:
	case PCOLL_DEVICE_MEETS_UP: return PST_OFF_REDUCE;
	case PCOLL_DEVICE_REDUCES_TO_ALL: return PST_OFF_ALLREDUCE;
	case PCOLL_DEVICE_GATHERS_ALL: return PST_OFF_GATHER_ALL;
	case PCOLL_DEVICE_REDUCES_SCATTER: return PST_OFF_REDUCE_SCATTER;
	case PCOLL_DEVICE_DECLINES: return 0;
	default: return PST_OFF_BCAST;
	}
}

/* A multicast from who has heard of all, in the step before; or what brings all together itself. */
static bool
step_syncs(const struct poff_team *team, const struct pcoll_op *op, enum pcoll_device_does does)
{
	switch (does) {
	case PCOLL_DEVICE_MEETS:
	case PCOLL_DEVICE_MEETS_DOWN:
	case PCOLL_DEVICE_GATHERS_ALL:
	case PCOLL_DEVICE_REDUCES_SCATTER:
	case PCOLL_DEVICE_REDUCES_TO_ALL: return true;
	case PCOLL_DEVICE_MULTICASTS:
		return team->line == PCOLL_LINE_HOST &&
		       op->call.what.operation == PCOLL_REDUCE_TO_ALL;
	default: return false;
	}
}

/* Type and operator: of a phase the largest of names, of another barrier the sum of a word. */
static void
step_read_type(struct poff_step *step, const struct pcoll_op *op)
{
	if (step_is_phase(op, step->does)) {
		step->dt = GEX_DT_U64;
		step->rop = GEX_OP_MAX;
	} else if (!(step->op_bit & POFF_REDUCTIONS) && step->does != PCOLL_DEVICE_MEETS) {
		step->dt = step->rop = 0;
	} else if (step->does == PCOLL_DEVICE_MEETS || step->does == PCOLL_DEVICE_MEETS_UP) {
		step->dt = GEX_DT_U32;
		step->rop = GEX_OP_ADD;
	} else {
		step->dt = op->call.reduction.key >> 14;
		step->rop = op->call.reduction.key & 0x3fff;
	}
}

static size_t
step_len_bytes(const struct pcoll_op *op, const struct pcoll_act *act)
{
	switch (act->does) {
	case PCOLL_DEVICE_MEETS:
	case PCOLL_DEVICE_MEETS_UP:
	case PCOLL_DEVICE_MEETS_DOWN:
		return step_is_phase(op, act->does) ? sizeof(struct names) : sizeof(uint32_t);
	default: return act->len_bytes;
	}
}

static void
operand_copy(struct poff_step *step, const struct pcoll_op *op, const struct pcoll_act *act)
{
	const struct names names = op->call.phase ? names_of(op->executor.names)
	                                          : (struct names){ 0, 0 };

	if (step_is_phase(op, act->does))
		memcpy(step->bytes, &names, sizeof names);
	else if (act->len_bytes)
		poff_blocks_put(&step->blocks, step->bytes,
		                op->executor.buffer[act->from] + act->from_bytes);
	else
		memset(step->bytes, 0, step->blocks.len_bytes);
}

void
poff_step_read(struct poff_team *team, struct poff_step *step, struct pcoll_op *op,
               uint64_t number, const struct pcoll_act *act)
{
	const struct poff_memory longer = step->longer;
	struct poff_kept *kept = poff_kept_of(team, number);

	*step = (struct poff_step){
		.op = op, .number = number, .does = act->does, .longer = longer,
		.syncs = step_syncs(team, op, act->does), .op_bit = op_bit_of(op, act->does),
		.root = team->member_of ? team->member_of[act->peer] : act->peer,
		.blocks = poff_blocks_of(team, op, act->does, step_len_bytes(op, act)),
		.bytes = kept->bytes,
	};
	step_read_type(step, op);
	step->is_long = poff_blocks_all_bytes(&step->blocks) > POFF_KEPT_BYTES;
	kept->does = step->does;
	kept->root = step->root;
	kept->blocks = step->blocks;
	kept->is_long = step->is_long;
	if (!step->is_long)
		operand_copy(step, op, act);
}

bool
poff_step_make_long(struct poff_team *team, struct poff_step *step)
{
	if (!memory_make(team, &step->longer, poff_blocks_all_bytes(&step->blocks)))
		return false;
	step->bytes = step->longer.bytes;
	operand_copy(step, step->op, &step->op->executor.act);
	return true;
}

/* -- back to the call -------------------------------------------------------------------------- */

bool
poff_step_has_result(const struct poff_team *team, enum pcoll_device_does does, uint32_t root)
{
	return (does != PCOLL_DEVICE_REDUCES && does != PCOLL_DEVICE_MEETS_UP) ||
	       root == team->channel.me;
}

void
poff_step_deliver(const struct poff_team *team, struct pcoll_op *op, const struct pcoll_act *act,
                  const void *result)
{
	struct poff_blocks blocks;
	struct names most;

	if (team->verifies)
		return;         /* software has its results */
	if (step_is_phase(op, act->does)) {
		memcpy(&most, result, sizeof most);
		op->executor.names = names_all(op->executor.names, most);
	} else if (act->len_bytes) {
		blocks = poff_blocks_of(team, op, act->does, act->len_bytes);
		poff_blocks_result(&blocks, result, op->executor.buffer[act->to] + act->to_bytes);
	}
}
