/*
 * Each rank has PSI_FLIGHTS slots in memory that all ranks of its host map.  A slot holds the tag
 * of a word and how many SETs and ADDs are under way to it; the posters count there, those of other
 * hosts excepted.  Two words may fall on one slot.  The second is then not counted, so a mix of
 * operators on it is not found.
 */
#include "runtime/signal/flight.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"

enum { COUNT_BITS = 12, MOST = (1 << COUNT_BITS) - 1, TAG_SHIFT = 2 * COUNT_BITS };

struct flight {
	uint64_t tag;
	unsigned sets, adds;
};

static struct flight
flight_unpacked(uint64_t bits)
{
	return (struct flight){ bits >> TAG_SHIFT, (unsigned)(bits >> COUNT_BITS) & MOST,
	                        (unsigned)bits & MOST };
}

static uint64_t
flight_packed(struct flight flight)
{
	return flight.tag << TAG_SHIFT | (uint64_t)flight.sets << COUNT_BITS | flight.adds;
}

static uint64_t
flight_tag_of(const uint64_t *word)
{
	return (uint64_t)((uintptr_t)word >> 3) & (((uint64_t)1 << (64 - TAG_SHIFT)) - 1);
}

static _Atomic uint64_t *
flight_slot_of(uint32_t place, const uint64_t *word)
{
	struct psi_rank_shared *owner = psi_shared_of(psi_jobrank_of(place));

	return &owner->flights[flight_tag_of(word) * 0x9e3779b97f4a7c15u >> 32 & (PSI_FLIGHTS - 1)];
}

static bool
flight_is_counted(uint32_t place, const pst_signal_t *sig)
{
	return psi.checks && sig->pst_what != PST_SIGNAL_SEM &&
	       psi_on_this_host(psi_jobrank_of(place));
}

static void __attribute__((noreturn, cold)) flight_mixed(const pst_signal_t *sig, const char *call)
{
	const bool set = sig->pst_what == PST_SIGNAL_SET;

	psi_fatal("%s: %s of the word at %p while %s to it is under way; let that arrive first, or "
	          "use one operator for the word", call, set ? "PST_SIGNAL_SET" : "PST_SIGNAL_ADD",
	          (void *)sig->pst_word, set ? "a PST_SIGNAL_ADD" : "a PST_SIGNAL_SET");
}

/* The new content of the slot; unchanged if the slot holds another word. */
static uint64_t
flight_one_more(uint64_t bits, const pst_signal_t *sig, const char *call)
{
	const bool set = sig->pst_what == PST_SIGNAL_SET;
	struct flight flight = flight_unpacked(bits);

	if (!flight.sets && !flight.adds)
		flight.tag = flight_tag_of(sig->pst_word);
	if (flight.tag != flight_tag_of(sig->pst_word))
		return bits;
	if (set ? flight.adds : flight.sets)
		flight_mixed(sig, call);
	if (flight.sets + flight.adds < MOST)
		*(set ? &flight.sets : &flight.adds) += 1;
	return flight_packed(flight);
}

static uint64_t
flight_one_less(uint64_t bits, const pst_signal_t *sig, const char *call)
{
	struct flight flight = flight_unpacked(bits);
	unsigned *count = sig->pst_what == PST_SIGNAL_SET ? &flight.sets : &flight.adds;

	(void)call;
	if (flight.tag == flight_tag_of(sig->pst_word) && *count)
		*count -= 1;
	return flight_packed(flight);
}

static void
flight_change(uint32_t place, const pst_signal_t *sig, const char *call,
              uint64_t (*next)(uint64_t bits, const pst_signal_t *sig, const char *call))
{
	_Atomic uint64_t *slot = flight_slot_of(place, sig->pst_word);
	uint64_t bits = atomic_load_explicit(slot, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(slot, &bits, next(bits, sig, call),
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

void
psi_flight_begin(uint32_t place, const pst_signal_t *sig, const char *call)
{
	if (PSI_UNLIKELY(flight_is_counted(place, sig)))
		flight_change(place, sig, call, flight_one_more);
}

void
psi_flight_end(uint32_t place, const pst_signal_t *sig)
{
	if (PSI_UNLIKELY(flight_is_counted(place, sig)))
		flight_change(place, sig, NULL, flight_one_less);
}
