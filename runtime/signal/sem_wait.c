/* Semaphores: taking, and waiting for what is to be taken. */
#include "runtime/signal/sem.h"

#include "runtime/signal/await.h"
#include "runtime/process/rules.h"

#include <stdlib.h>

enum { TAKES_PER_POLL = 256 };  /* of takes that need not wait */

/* -- taking ---------------------------------------------------------------------------------- */

static inline uint64_t
sem_posts_of(const struct pst_sem_s *sem)
{
	return __atomic_load_n(sem->posted,
	                       __ATOMIC_ACQUIRE); /* Z2: acquire, from Z1 in psi_sem_count */
}

static bool
sem_has(const struct pst_sem_s *sem, unsigned n)
{
	const uint64_t taken = atomic_load_explicit(&sem->taken, memory_order_relaxed);
	const uint64_t posted = sem_posts_of(sem);

	return posted >= taken && posted - taken >= n;
}

/* With checks: posters compare it with the count. */
static void
sem_tell(struct pst_sem_s *sem, uint64_t taken)
{
	uint64_t *told = &sem->table->told[sem->slot];

	__atomic_fetch_add(told, taken, __ATOMIC_RELAXED);
}

/* The acquire of the count is what orders; takers among each other only have to share it out. */
static bool
sem_take_shared(struct pst_sem_s *sem, unsigned n)
{
	uint64_t taken = atomic_load_explicit(&sem->taken, memory_order_relaxed), posted, next;

	do {
		posted = sem_posts_of(sem);
		if (posted - taken < n || posted < taken)
			return false;
		next = sem->boolean ? posted : taken + n;
	} while (!atomic_compare_exchange_weak_explicit(&sem->taken, &taken, next,
	                                                memory_order_relaxed,
	                                                memory_order_relaxed));
	if (PSI_UNLIKELY(psi.checks))
		sem_tell(sem, next - taken);
	return true;
}

static inline bool
sem_take_alone(struct pst_sem_s *sem, unsigned n)
{
	const uint64_t taken = atomic_load_explicit(&sem->taken, memory_order_relaxed);
	const uint64_t posted = sem_posts_of(sem), next = sem->boolean ? posted : taken + n;

	if (posted - taken < n)
		return false;
	atomic_store_explicit(&sem->taken, next, memory_order_relaxed);
	if (PSI_UNLIKELY(psi.checks))
		sem_tell(sem, next - taken);
	return true;
}

bool
psi_sem_take(struct pst_sem_s *sem, unsigned n)
{
	return psi_sem_is_shared(sem) ? sem_take_shared(sem, n) : sem_take_alone(sem, n);
}

/* -- one ------------------------------------------------------------------------------------- */

struct sem_request {
	struct psi_wait_threshold lack;
	struct pst_sem_s *sem;
	unsigned n;
};

static void
sem_threshold_announce(struct psi_wait_threshold *lack, bool asleep)
{
	const struct sem_request *request = (const struct sem_request *)lack;

	if (asleep)
		psi_sem_threshold_set(request->sem, request->n);
	else
		psi_sem_threshold_clear(request->sem);
}

static bool
sem_request_take(void *what)
{
	const struct sem_request *request = what;

	return psi_sem_take(request->sem, request->n);
}

static void
sem_check_wait(pst_sem_t sem, unsigned n, const char *call)
{
	psi_rule_call(call);
	psi_sem_check(sem, call);
	psi_sem_check_n(sem, n, call);
}

/* -- with checks: who waits ------------------------------------------------------------------ */

static void
sem_enter(struct pst_sem_s *sem, const char *call)
{
	const uintptr_t self = (uintptr_t)psi_thread_self();
	uintptr_t other;

	atomic_fetch_add_explicit(&sem->waits, 1, memory_order_relaxed);
	if (!sem->single_consumer)
		return;
	other = atomic_exchange_explicit(&sem->waiter, self, memory_order_relaxed);
	if (other && other != self)
		psi_fatal("%s: a second thread waits for semaphore %u, which is SCONSUMER; make it "
		          "MCONSUMER, or wait in one thread at a time", call, sem->slot);
}

static void
sem_leave(struct pst_sem_s *sem)
{
	if (atomic_fetch_sub_explicit(&sem->waits, 1, memory_order_relaxed) == 1)
		atomic_store_explicit(&sem->waiter, 0, memory_order_relaxed);
}

void
psi_sem_check_unwaited(const struct pst_sem_s *sem, const char *call)
{
	if (PSI_UNLIKELY(atomic_load_explicit(&sem->waits, memory_order_relaxed)))
		psi_fatal("%s: a thread waits for semaphore %u; free it when no thread waits",
		          call, sem->slot);
}

/* -- waiting for one ------------------------------------------------------------------------- */

static bool __attribute__((noinline))
wait_one(struct pst_sem_s *sem, unsigned n, uint64_t timeout_ns, const char *call)
{
	struct sem_request request = { { sem_threshold_announce, false }, sem, n };
	struct psi_reason reason = {
		.kind = PSI_FOR_POST, .number = sem->slot, .peer = n, .ep = sem->table->ep,
		.lack = &request.lack,
	};
	bool taken;

	if (PSI_UNLIKELY(psi.checks))
		sem_enter(sem, call);
	taken = psi_signal_wait(sem_request_take, &request, timeout_ns, &reason, call);
	if (PSI_UNLIKELY(psi.checks))
		sem_leave(sem);
	return taken;
}

/* A call that need not wait polls all the same, now and then. */
static bool
sem_take_at_once(struct pst_sem_s *sem, unsigned n)
{
	struct sem_request request = { .sem = sem, .n = n };

	if (!psi_look_often(sem_request_take, &request))
		return false;
	if (PSI_UNLIKELY(atomic_load_explicit(&sem->taken, memory_order_relaxed) % TAKES_PER_POLL ==
	                 0))
		psi_poll();
	return true;
}

void
pst_sem_wait(pst_sem_t sem, unsigned n)
{
	sem_check_wait(sem, n, "pst_sem_wait");
	if (!sem_take_at_once(sem, n))
		wait_one(sem, n, PST_FOREVER, "pst_sem_wait");
}

int
pst_sem_try(pst_sem_t sem, unsigned n)
{
	sem_check_wait(sem, n, "pst_sem_try");
	return sem_take_at_once(sem, n) || wait_one(sem, n, 0, "pst_sem_try");
}

int
pst_sem_timedwait(pst_sem_t sem, unsigned n, uint64_t timeout_ns)
{
	sem_check_wait(sem, n, "pst_sem_timedwait");
	return sem_take_at_once(sem, n) || wait_one(sem, n, timeout_ns, "pst_sem_timedwait");
}

unsigned
pst_sem_value(pst_sem_t sem)
{
	uint64_t taken, posted;

	psi_sem_check(sem, "pst_sem_value");
	taken = atomic_load_explicit(&sem->taken, memory_order_relaxed);
	posted = __atomic_load_n(sem->posted, __ATOMIC_RELAXED);
	if (posted < taken)     /* a take came between */
		return 0;
	return sem->boolean ? posted != taken : (unsigned)(posted - taken);
}

/* -- several --------------------------------------------------------------------------------- */

static bool
sem_take_entry(const struct psi_many *many, size_t i)
{
	const pst_sem_t *sems = many->items;
	const unsigned *n = many->values;

	return psi_sem_take(sems[i], n ? n[i] : 1);
}

static bool
sem_has_entry(const struct psi_many *many, size_t i)
{
	const pst_sem_t *sems = many->items;
	const unsigned *n = many->values;

	return sem_has(sems[i], n ? n[i] : 1);
}

static void
sem_tell_entry(const struct psi_many *many, size_t i, bool asleep)
{
	const pst_sem_t *sems = many->items;
	const unsigned *n = many->values;

	if (asleep)
		psi_sem_threshold_set(sems[i], n ? n[i] : 1);
	else
		psi_sem_threshold_clear(sems[i]);
}

/* The endpoint of all that are left; NULL if none is. */
static gex_EP_t
sem_check_many(const struct psi_many *many)
{
	const pst_sem_t *sems = many->items;
	const unsigned *n = many->values;
	const struct pst_sem_s *first = NULL;

	psi_rule_call(many->call);
	psi_check_list(sems, many->count, sizeof *sems, "sems", many->call);
	for (size_t i = 0; i < many->count; i++) {
		if (many->done && many->done[i])
			continue;
		psi_sem_check(sems[i], many->call);
		psi_sem_check_n(sems[i], n ? n[i] : 1, many->call);
		if (!first)
			first = sems[i];
		else if (PSI_UNLIKELY(sems[i]->table != first->table))
			psi_fatal("%s: entry %zu is of another endpoint; pass semaphores of one",
			          many->call, i);
	}
	return first ? first->table->ep : GEX_EP_INVALID;
}

static struct psi_many
sem_many_of(const pst_sem_t *sems, const unsigned *n, size_t count, int *done, const char *call)
{
	struct psi_many many = {
		.call = call,
		.take = sem_take_entry,
		.has = sem_has_entry,
		.tell = sem_tell_entry,
		.count = count,
		.done = done,
		.kind = PSI_FOR_POSTS,
		.items = sems,
		.values = n,
	};

	many.ep = sem_check_many(&many);
	return many;
}

/* Enters the entries that are left now.  Returns them as a set, for sem_leave_many. */
static bool *
sem_enter_many(const struct psi_many *many)
{
	const pst_sem_t *sems = many->items;
	bool *entered = calloc(many->count, sizeof *entered);

	if (!entered)
		psi_fatal("%s: no memory for the checks of %zu semaphores", many->call,
		          many->count);
	for (size_t i = 0; i < many->count; i++) {
		entered[i] = !many->done || !many->done[i];
		if (entered[i])
			sem_enter(sems[i], many->call);
	}
	return entered;
}

static void
sem_leave_many(const struct psi_many *many, bool *entered)
{
	const pst_sem_t *sems = many->items;

	for (size_t i = 0; i < many->count; i++)
		if (entered[i])
			sem_leave(sems[i]);
	free(entered);
}

/* True if it took what it was to take. */
static bool
sem_wait_many(struct psi_many *many, bool (*wait)(struct psi_many *many, uint64_t timeout_ns),
              uint64_t timeout_ns)
{
	bool *entered, taken;

	if (PSI_LIKELY(!psi.checks))
		return wait(many, timeout_ns);
	entered = sem_enter_many(many);
	taken = wait(many, timeout_ns);
	sem_leave_many(many, entered);
	return taken;
}

size_t
pst_sem_wait_any(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
                 uint64_t timeout_ns)
{
	struct psi_many many = sem_many_of(sems, n, count, done, "pst_sem_wait_any");
	size_t index;

	many.most = 1;
	many.indices_out = &index;
	return psi_many_left(&many) && sem_wait_many(&many, psi_many_wait, timeout_ns) ? index
	                                                                               : PST_NONE;
}

size_t
pst_sem_wait_some(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
                  uint64_t timeout_ns, size_t *indices_out)
{
	struct psi_many many = sem_many_of(sems, n, count, done, "pst_sem_wait_some");

	many.most = count;
	many.indices_out = indices_out;
	return psi_many_left(&many) && sem_wait_many(&many, psi_many_wait, timeout_ns) ? many.taken
	                                                                               : 0;
}

int
pst_sem_wait_all(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
                 uint64_t timeout_ns)
{
	const char *call = "pst_sem_wait_all";
	struct psi_many many = sem_many_of(sems, n, count, done, call);

	if (!done && timeout_ns != PST_FOREVER)
		psi_fatal("%s: done is NULL, and there is a time-out; pass an array, or "
		          "PST_FOREVER", call);
	if (done) {
		many.most = count;
		return !psi_many_left(&many) || sem_wait_many(&many, psi_many_wait_all, timeout_ns);
	}
	for (size_t i = 0; i < count; i++)
		if (!sem_take_at_once(sems[i], n ? n[i] : 1))
			wait_one(sems[i], n ? n[i] : 1, PST_FOREVER, call);
	return 1;
}
