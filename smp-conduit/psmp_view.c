/*
 * The state of a lane for people, read from the arena alone, by any process that maps it: ranks may be
 * stopped or stuck.  Nothing is ordered here; numbers that change meanwhile may not fit together.
 */
#include "smp-conduit/psmp.h"

/* The layout of an arena that some process has finished. */
static bool
layout_of(const void *memory, size_t len_bytes, struct psmp_layout *layout_out)
{
	const struct psmp_header *header = memory;
	uint32_t magic;

	if (len_bytes < sizeof *header)
		return false;
	magic = atomic_load_explicit(&header->magic, memory_order_acquire); /* M2 */
	if (magic != PSMP_ARENA_MAGIC || header->abi != PSI_CONDUIT_ABI || !header->places ||
	    header->places > PSMP_MAX_PLACES)
		return false;
	*layout_out = psmp_layout_for(header->places);
	return layout_out->total_bytes == header->total_bytes && header->total_bytes <= len_bytes;
}

static bool
has_bit(const _Atomic uint64_t *words, uint32_t place)
{
	uint64_t word = atomic_load_explicit(&words[place / PSMP_WORD_BITS], memory_order_relaxed);

	return word >> place % PSMP_WORD_BITS & 1;
}

/* A 32-bit word that its owner writes with plain stores. */
static uint32_t
look_at(const uint32_t *word)
{
	return *(const volatile uint32_t *)word;
}

bool
psmp_queue(const void *memory, size_t len_bytes, unsigned network, uint32_t sender,
           uint32_t receiver, struct psi_queue_state *state_out)
{
	const unsigned char *arena = memory;
	const struct psmp_shared *shared;
	const struct psmp_out *out;
	const struct psmp_in *in;
	struct psmp_layout layout;
	uint32_t next;

	if (!layout_of(memory, len_bytes, &layout) || sender >= layout.places ||
	    receiver >= layout.places)
		return false;
	out = psmp_outs_of(arena + psmp_layout_region(&layout, sender), &layout, network) + receiver;
	in = psmp_ins_of(arena + psmp_layout_region(&layout, receiver), &layout, network) + sender;
	shared = (const struct psmp_shared *)(const void *)(arena +
	                                                    psmp_layout_region(&layout, receiver));
	next = look_at(&out->next);
	*state_out = (struct psi_queue_state){
		.slots = layout.slots,
		.in_flight = next + layout.slots - look_at(&out->limit),
		.undelivered = next - look_at(&in->next),
		.wants_room = has_bit(shared->words + (size_t)2 * layout.words, sender),
		.receiver_sleeps = atomic_load_explicit(&shared->wake, memory_order_relaxed) & 1,
	};
	if (!look_at(&out->limit))      /* this sender has not opened yet */
		state_out->in_flight = state_out->undelivered = 0;
	return true;
}
