/* Signals: checks, and how they are applied. */
#include "runtime/signal/post.h"

#include "runtime/process/rules.h"
#include "runtime/segment/reach.h"
#include "runtime/signal/flight.h"
#include "runtime/signal/sem.h"
#include "runtime/signal/threshold.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

/* -- checks ---------------------------------------------------------------------------------- */

static void __attribute__((noreturn, cold))
bad_ref(struct psi_target target, pst_sem_ref_t ref, unsigned n, const char *call)
{
	const gex_EP_Location_t at = psi_sem_owner_at(target.place);

	if (!ref.pst_w[0])
		psi_fatal("%s: the reference names nothing; pass what pst_sem_ref or "
		          "pst_sem_set_ref gave",
		          call);
	if (ref.pst_w[1] != psi_sem_name(at, 0).pst_w[1])
		psi_fatal("%s: the reference names a semaphore of rank %u, and the call goes to "
		          "rank %u; pst_sem_ref_owner tells whose it is",
		          call, (gex_Rank_t)ref.pst_w[1], at.gex_rank);
	if (ref.pst_w[0] & PSI_SEM_KEY_BOOLEAN)
		psi_fatal("%s: n is %u, and the semaphore is a BOOLEAN; pass 1", call, n);
	psi_fatal("%s: n is %u; it is at least 1 and at most %u", call, n, PST_SEM_MAXVALUE);
}

static void __attribute__((noreturn, cold))
sem_is_stale(gex_Rank_t owner, gex_Rank_t poster, pst_sem_ref_t ref, const char *call)
{
	psi_fatal("%s: a post by rank %u to semaphore %u of rank %u, which was freed before; free "
	          "it when every post has been seen",
	          call, poster, psi_sem_slot(ref.pst_w[0]), owner);
}

static void
signal_check_word(struct psi_target target, const pst_signal_t *sig, const char *call)
{
	if (PSI_UNLIKELY((uintptr_t)sig->pst_word % sizeof(uint64_t)))
		psi_fatal("%s: the word at %p is not aligned to 8 bytes; align it", call,
		          (void *)sig->pst_word);
	(void)psi_reach(PSI_WAY_SIGNAL, target.place, sig->pst_word, sizeof(uint64_t), call);
}

static bool
signal_reaches_sems(uint32_t place)
{
	return psi.sems[psi_jobrank_of(place)].wake != NULL;
}

bool
psi_signal_reaches(uint32_t place, const pst_signal_t *sig, const char *call)
{
	return signal_reaches_sems(place) &&
	       (sig->pst_what == PST_SIGNAL_SEM ||
	        psi_reach(PSI_WAY_SIGNAL, place, sig->pst_word, sizeof(uint64_t), call));
}

/* What the key of the semaphore in the slot begins with, by the owner's word. */
static uint32_t
sem_live_in(uint32_t place, uint32_t slot)
{
	if (!psi_sem_map(place))
		return 0;
	return __atomic_load_n(&psi.sems[place].live[slot], __ATOMIC_RELAXED);
}

static void
post_check_ref(struct psi_target target, pst_sem_ref_t ref, unsigned n, const char *call)
{
	const gex_EP_Location_t owner = psi_sem_owner_at(target.place);

	if (PSI_UNLIKELY(!ref.pst_w[0] || ref.pst_w[1] != psi_sem_name(owner, 0).pst_w[1] ||
	                 !psi_sem_takes(ref.pst_w[0], n)))
		bad_ref(target, ref, n, call);
	if (signal_reaches_sems(target.place) &&
	    PSI_UNLIKELY(sem_live_in(target.place, psi_sem_slot(ref.pst_w[0])) !=
	                 psi_sem_live(ref.pst_w[0])))
		sem_is_stale(owner.gex_rank, psi.boot.rank, ref, call);
}

void
psi_signal_check(struct psi_target target, const pst_signal_t *sig, const char *call)
{
	if (PSI_UNLIKELY(!sig))
		psi_fatal("%s: sig is NULL; pass a signal, such as pst_signal_sem makes", call);
	switch (sig->pst_what) {
	case PST_SIGNAL_SEM:
		post_check_ref(target, sig->pst_ref, sig->pst_n, call);
		break;
	case PST_SIGNAL_SET:
	case PST_SIGNAL_ADD:
		signal_check_word(target, sig, call);
		break;
	default:
		psi_fatal("%s: pst_what is %u; it is one of PST_SIGNAL_SEM, _SET and _ADD", call,
		          sig->pst_what);
	}
}

/* -- with checks: promises of the poster ----------------------------------------------------- */

/* The memory of one table, the owner's own or mapped. */
struct slot_view {
	uint64_t *posted, *told;
	uint32_t *poster;
	gex_Rank_t owner;
};

/* Uses the layout of the table, which starts with the lines. */
static struct slot_view
post_view_of(uint32_t place, uint32_t slot)
{
	const struct pst_sem_peer *peer = &psi.sems[place];
	uint64_t *told = (uint64_t *)(void *)(uintptr_t)(peer->live + PSI_SEM_SLOTS);

	return (struct slot_view){
		.posted = peer->lines[slot], .told = told + slot,
		.poster = (uint32_t *)(void *)(told + PSI_SEM_SLOTS) + slot,
		.owner = psi_sem_owner_at(place).gex_rank,
	};
}

/* `more' posts beyond those in the count, by a poster. */
static void
post_watch(uint32_t place, pst_sem_ref_t ref, unsigned more, uint32_t poster, const char *call)
{
	const uint32_t slot = psi_sem_slot(ref.pst_w[0]);
	const struct slot_view view = post_view_of(place, slot);
	const uint64_t posted = __atomic_load_n(
		view.posted, __ATOMIC_ACQUIRE); /* Z2: acquire, from Z1 in psi_sem_count */
	/* The owner may have taken what was posted after that; then none of these is left. */
	const int64_t left = (int64_t)(posted - __atomic_load_n(view.told, __ATOMIC_RELAXED));
	const uint64_t value = left > 0 ? (uint64_t)left : 0;
	const uint32_t last = __atomic_load_n(view.poster, __ATOMIC_RELAXED);
	char who[PSI_PLACE_TEXT], other[PSI_PLACE_TEXT];

	psi_place_text(poster, who);
	if (!(ref.pst_w[0] & PSI_SEM_KEY_BOOLEAN) && value + more > PST_SEM_MAXVALUE)
		psi_fatal("%s: %u posts by %s to semaphore %u of rank %u, which has %llu, are "
		          "beyond the limit of %u; let the owner take some first",
		          call, more, who, slot, view.owner, (unsigned long long)value,
		          PST_SEM_MAXVALUE);
	if (ref.pst_w[0] & PSI_SEM_KEY_ALONE && value && last && last != poster + 1) {
		psi_place_text(last - 1, other);
		psi_fatal("%s: %s posts to semaphore %u of rank %u, which has posts of %s and is "
		          "SPRODUCER; make it MPRODUCER, or take those first",
		          call, who, slot, view.owner, other);
	}
	if (more)
		__atomic_store_n(view.poster, poster + 1, __ATOMIC_RELAXED);
}

/* -- apply ----------------------------------------------------------------------------------- */

/* The line of a semaphore that has been reached. */
static uint64_t *
post_line_of(uint32_t place, pst_sem_ref_t ref)
{
	return psi.sems[place].lines[psi_sem_slot(ref.pst_w[0])];
}

/* The inlines leave it to the library where checks are on, so all posts come by here then. */
static void
post_count(uint32_t place, pst_sem_ref_t ref, unsigned n, uint32_t poster, bool alone,
           const char *call)
{
	uint64_t *posted = post_line_of(place, ref);
	const uint64_t key = alone ? ref.pst_w[0] : ref.pst_w[0] & ~PSI_SEM_KEY_ALONE;

	if (PSI_UNLIKELY(psi.checks))
		post_watch(place, ref, n, poster, call);
	psi_sem_count(posted, key, n);
	if (PSI_UNLIKELY(psi.checks))
		post_watch(place, ref, 0, poster, call);
}

static bool
post_suffices(uint32_t place, const pst_signal_t *sig, const uint64_t *changed)
{
	return sig->pst_what == PST_SIGNAL_SEM
		? psi_sem_threshold_met(changed)
		: psi_word_threshold_met(psi_jobrank_of(place), sig->pst_word, changed);
}

/* A signal has changed that count or word in mapped memory.  Wakes the owner if it sleeps and its
 * threshold is reached. */
static void
post_wake(uint32_t place, const pst_signal_t *sig, const uint64_t *changed)
{
	const struct pst_inline view = { .sems = psi.sems, .posts_fence = psi.posts_fence };

	if (place < psi.boot.size) {
		if (psi_sem_asleep(&view, place) && post_suffices(place, sig, changed))
			psi_sem_wake_rank(place);
		return;
	}
	psi_store_load_fence(); /* D5_POST: pairs with ARM_FENCE in sysvnet_arm */
	if (post_suffices(place, sig, changed))
		psi.ops->wake_peer(psi.ep->port, place);
}

void
psi_signal_apply(struct psi_target target, const pst_signal_t *sig, const char *call)
{
	uint64_t *word;

	PSI_COMPILER_FENCE();
	if (sig->pst_what == PST_SIGNAL_SEM) {
		post_count(target.place, sig->pst_ref, sig->pst_n, target.ep->place, true, call);
		post_wake(target.place, sig, post_line_of(target.place, sig->pst_ref));
		return;
	}
	/* before Z5: a thread that sees the change may then change the word in another way */
	psi_flight_end(target.place, sig);
	word = psi_reach(0, target.place, sig->pst_word, sizeof(uint64_t), call);
	psi_signal_change(word, sig);
	post_wake(target.place, sig, word);
}

/* Handlers of one poster may run in several threads at once, so the count is never changed by a
 * plain store. */
void
psi_signal_apply_own(gex_EP_t ep, const pst_signal_t *sig, uint32_t source, const char *call)
{
	const uint32_t slot = psi_sem_slot(sig->pst_ref.pst_w[0]);

	if (sig->pst_what != PST_SIGNAL_SEM) {
		psi_flight_end(ep->place, sig);
		psi_signal_change(sig->pst_word, sig);
		return;
	}
	if (PSI_UNLIKELY(!psi.sems[ep->place].lines) ||
	    PSI_UNLIKELY(psi.sems[ep->place].live[slot] != psi_sem_live(sig->pst_ref.pst_w[0])))
		sem_is_stale(psi.boot.rank, source, sig->pst_ref, call);
	post_count(ep->place, sig->pst_ref, sig->pst_n, source, false, call);
}

/* -- as one number ---------------------------------------------------------------------------- */

/* A packed signal has, from the highest bit down: the key of the semaphore, the number of posts,
 * the index of the endpoint. */
enum { PACKED_INDEX_BITS = 7, PACKED_N_BITS = 9 };

_Static_assert(PSI_SEM_KEY_BITS + PACKED_N_BITS + PACKED_INDEX_BITS == 64, "it fills 64 bits");
_Static_assert(GASNET_MAXEPS <= 1 << PACKED_INDEX_BITS, "each endpoint has an index");
_Static_assert(PSI_SIGNAL_BITS == ((1 << PACKED_N_BITS) - 1) << PACKED_INDEX_BITS,
	       "those of posts");

/* Words need a value and an offset too.  With checks the owner is told who posts. */
uint64_t
psi_signal_packed(uint32_t place, const pst_signal_t *sig)
{
	if (psi.checks || sig->pst_what != PST_SIGNAL_SEM || !sig->pst_n ||
	    sig->pst_n >> PACKED_N_BITS)
		return 0;
	return sig->pst_ref.pst_w[0] << (PACKED_N_BITS + PACKED_INDEX_BITS) |
	       (uint64_t)sig->pst_n << PACKED_INDEX_BITS | psi_index_of(place);
}

static bool
sem_is_there(gex_EP_t ep, uint64_t key, unsigned n)
{
	const struct pst_sem_peer *peer = &psi.sems[ep->place];

	return peer->lines && psi_sem_live(key) >> 2 && psi_sem_takes(key, n) &&
	       __atomic_load_n(&peer->live[psi_sem_slot(key)], __ATOMIC_RELAXED) ==
	               psi_sem_live(key);
}

/* The bytes of a stranger name a live semaphore once in 2^40 or so. */
bool
psi_signal_arrived(uint64_t packed)
{
	const gex_EP_t ep =
		psi_ep_of((gex_EP_Index_t)(packed & ((1 << PACKED_INDEX_BITS) - 1)));
	const unsigned n = packed >> PACKED_INDEX_BITS & ((1 << PACKED_N_BITS) - 1);
	const uint64_t key = packed >> (PACKED_N_BITS + PACKED_INDEX_BITS);
	pst_signal_t sig = { .pst_what = PST_SIGNAL_SEM, .pst_n = n };

	if (!ep || !sem_is_there(ep, key, n))
		return false;
	sig.pst_ref.pst_w[0] = key;
	psi_signal_apply_own(ep, &sig, ep->place, "put with signal");
	psi_wake_own();
	return true;
}

/* -- wake -------------------------------------------------------------------------------------- */

void
psi_sem_wake_rank(gex_Rank_t rank)
{
	psi.ops->wake_peer(psi.ep->port, rank);
}

/* In a handler a wake is the runtime's, but this call is legal elsewhere too. */
void
pst_sem_post_local(pst_sem_t sem, unsigned n)
{
	const char *call = "pst_sem_post_local";
	struct psi_sem_table *table;
	pst_signal_t sig;

	psi_sem_check(sem, call);
	psi_sem_check_n(sem, n, call);
	table = sem->table;
	sig = pst_signal_sem(psi_sem_name(psi_sem_owner_at(table->ep->place), psi_sem_key(sem)), n);
	post_count(table->ep->place, sig.pst_ref, n, table->ep->place, true, call);
	if (!psi.threaded || !psi_thread_others())
		return;
	psi_store_load_fence(); /* D5_POST: pairs with ARM_FENCE in sysvnet_arm */
	if (psi_sem_threshold_met(sem->posted))
		psi_wake_own();
}
