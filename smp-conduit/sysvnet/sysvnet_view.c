/*
 * The state of a lane for people, read from the arena alone, by any process that maps it: ranks may
 * be stopped or stuck.  Nothing is ordered here; numbers that change meanwhile may not fit
 * together.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

static bool
view_is_wide(const struct sysvnet_header *header)
{
	return header->total_bytes == sysvnet_layout_for(header->processes, true).total_bytes;
}

/* The layout of an arena that some process has finished. */
static bool
view_layout_of(const void *memory, size_t len_bytes, struct sysvnet_layout *layout_out)
{
	const struct sysvnet_header *header = memory;
	uint32_t magic, slots;

	if (len_bytes < sizeof *header)
		return false;
	magic = atomic_load_explicit(
		&header->magic, memory_order_acquire); /* M2: acquire, from M1 in sysvnet_open */
	if (magic != SYSVNET_ARENA_MAGIC || header->abi != SYSVNET_ABI || !header->processes ||
	    header->processes > SYSVNET_MAX_PROCESSES)
		return false;
	*layout_out = sysvnet_layout_for(header->processes, view_is_wide(header));
	slots = atomic_load_explicit(&header->slots, memory_order_relaxed);
	if (!slots || slots > layout_out->slots || slots & (slots - 1))
		return false;           /* not told yet, or damaged */
	layout_out->slots = slots;
	return layout_out->total_bytes == header->total_bytes && header->total_bytes <= len_bytes;
}

static bool
view_bitmap_has(const _Atomic uint64_t *words, uint32_t index)
{
	const _Atomic uint64_t *at = &words[index / SYSVNET_WORD_BITS];
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

	return word >> index % SYSVNET_WORD_BITS & 1;
}

/* A 32-bit word that its owner writes with plain stores. */
static uint32_t
view_look_at(const uint32_t *word)
{
	return *(const volatile uint32_t *)word;
}

static const struct sysvnet_shared *
view_shared_of(const unsigned char *region)
{
	return (const struct sysvnet_shared *)(const void *)region;
}

/* Looks at a lane of the receiving process's first endpoint.  Both sides of such a lane are in the
 * arena. */
static void
view_look_at_first(const unsigned char *arena, const struct sysvnet_layout *layout,
                   unsigned network, uint32_t sender, uint32_t receiver,
                   struct psi_queue_state *state_out)
{
	const unsigned char *region = arena + sysvnet_layout_region(layout, receiver);
	const unsigned char *sending = arena + sysvnet_layout_region(layout, sender);
	const struct sysvnet_out *out = sysvnet_outs_of(sending, layout, network) + receiver;
	const struct sysvnet_in *in = sysvnet_ins_of(region, layout, network) + sender;
	const uint32_t next = sysvnet_out_next(out), limit = view_look_at(&out->limit);

	if (!limit)                     /* this sender has not opened yet */
		return;
	state_out->in_flight = next + layout->slots - limit;
	state_out->undelivered = next - sysvnet_in_next(in);
}

/* No message has come this way.  A page of slots that nobody has written is not there, and reading
 * it would make it. */
static bool
view_is_untouched(const unsigned char *region, const struct sysvnet_layout *layout,
                  unsigned network, uint32_t sender)
{
	unsigned char *base = (unsigned char *)(uintptr_t)region;
	const struct sysvnet_in *in = sysvnet_ins_of(region, layout, network) + sender;
	const struct sysvnet_control *control = sysvnet_control_at(layout, base, network, sender);
	const _Atomic uint64_t *words =
		view_shared_of(region)->words + (1 + network) * layout->words;

	return sysvnet_in_next(in) == 0 && !view_bitmap_has(words, sender) &&
	       !atomic_load_explicit(&control->polled, memory_order_relaxed);
}

/* Looks at a lane whose sending side is in memory of the sender alone.  The slots show what the
 * sender has published. */
static void
view_look_at_lane(const unsigned char *region, const struct sysvnet_layout *layout,
                  unsigned network, uint32_t sender, struct psi_queue_state *state_out)
{
	const struct sysvnet_in *in = sysvnet_ins_of(region, layout, network) + sender;
	unsigned char *base = (unsigned char *)(uintptr_t)region;
	const struct sysvnet_slot *slots = (const struct sysvnet_slot *)(const void *)
		sysvnet_lane_at(layout, base, network, sender);
	const uint32_t shift = (uint32_t)__builtin_ctz(layout->slots), next = sysvnet_in_next(in);
	const uint64_t lap_mask = ((uint64_t)1 << SYSVNET_LAP_BITS) - 1;
	const struct sysvnet_control *control = sysvnet_control_at(layout, base, network, sender);
	uint32_t at = next, in_flight;

	if (view_is_untouched(region, layout, network, sender))
		return;
	while (at - next < layout->slots &&
	       (atomic_load_explicit(&slots[at & (layout->slots - 1)].header,
	                             memory_order_relaxed) & lap_mask) == sysvnet_lap(at, shift))
		at++;
	in_flight = at - atomic_load_explicit(&control->consumed, memory_order_relaxed);
	state_out->undelivered += at - next;
	if (in_flight > state_out->in_flight)
		state_out->in_flight = in_flight;
}

/* All lanes from the process: how much they hold, and the fullest. */
static void
view_look_at_further(const unsigned char *region, const struct sysvnet_layout *layout,
                     unsigned network, uint32_t host_index, struct psi_queue_state *state_out)
{
	for (uint32_t sender = host_index; sender < layout->senders; sender += layout->processes)
		view_look_at_lane(region, layout, network, sender, state_out);
}

bool __attribute__((cold))
sysvnet_view(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
             uint32_t receiver, struct psi_queue_state *state_out)
{
	const unsigned char *arena = memory->host, *region = memory->further;
	const struct sysvnet_shared *shared;
	struct sysvnet_layout layout, further;

	if (!view_layout_of(arena, memory->host_bytes, &layout) || sender >= layout.processes ||
	    receiver >= layout.processes)
		return false;
	further = sysvnet_layout_further(layout.processes, layout.wide);
	further.slots = layout.slots;
	if (region && memory->further_bytes < further.region_bytes)
		return false;
	shared = view_shared_of(region ? region : arena + sysvnet_layout_region(&layout, receiver));
	*state_out = (struct psi_queue_state){
		.slots = layout.slots,
		.wants_room = view_bitmap_has(shared->words, sender),
		.receiver_sleeps =
			(atomic_load_explicit(&shared->wake, memory_order_relaxed) & 1) ||
			atomic_load_explicit(&shared->far_sleepers, memory_order_relaxed),
	};
	if (region)
		view_look_at_further(region, &further, network, sender, state_out);
	else
		view_look_at_first(arena, &layout, network, sender, receiver, state_out);
	return true;
}
