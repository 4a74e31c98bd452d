/* Semaphores: making, freeing, naming. */
#include "runtime/signal/sem.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

/* -- checks ---------------------------------------------------------------------------------- */

static bool
sem_has_both(unsigned kind, unsigned one, unsigned other)
{
	return (kind & one) && (kind & other);
}

bool
psi_sem_kind_good(unsigned kind)
{
	const unsigned all = PST_SEM_BOOLEAN | PST_SEM_INTEGER | PST_SEM_SPRODUCER |
	                     PST_SEM_MPRODUCER | PST_SEM_SCONSUMER | PST_SEM_MCONSUMER;

	return !(kind & ~all) && !sem_has_both(kind, PST_SEM_BOOLEAN, PST_SEM_INTEGER) &&
	       !sem_has_both(kind, PST_SEM_SPRODUCER, PST_SEM_MPRODUCER) &&
	       !sem_has_both(kind, PST_SEM_SCONSUMER, PST_SEM_MCONSUMER);
}

uint32_t
psi_sem_next_generation(uint32_t generation)
{
	return generation + 1 == (uint32_t)1 << PSI_SEM_GENERATION_BITS ? 1 : generation + 1;
}

static void __attribute__((noreturn, cold))
bad_sem(pst_sem_t sem, const char *call)
{
	if (!sem)
		psi_invalid(call, "PST_SEM_INVALID");
	psi_fatal("%s: semaphore %u of this rank was freed before; free it when nobody uses it any "
	          "more",
	          call, sem->slot);
}

void
psi_sem_check(pst_sem_t sem, const char *call)
{
	if (PSI_UNLIKELY(psi.checks) && sem && !psi_sem_is_own(sem))
		psi_fatal("%s: %p is no semaphore of this process; a handle means nothing "
		          "elsewhere, send what pst_sem_ref gives", call, (void *)sem);
	if (PSI_UNLIKELY(!sem) ||
	    PSI_UNLIKELY(!atomic_load_explicit(&sem->live, memory_order_relaxed)))
		bad_sem(sem, call);
}

void
psi_sem_check_n(const struct pst_sem_s *sem, unsigned n, const char *call)
{
	if (PSI_LIKELY(psi_sem_takes(psi_sem_key(sem), n)))
		return;
	if (sem->boolean)
		psi_fatal("%s: n is %u, and the semaphore is a BOOLEAN; pass 1", call, n);
	psi_fatal("%s: n is %u; it is at least 1 and at most %u", call, n, PST_SEM_MAXVALUE);
}

/* -- alloc and free -------------------------------------------------------------------------- */

/* Returns the slot that was freed longest ago, or one that was never used.  The caller holds the
 * table's lock and has checked that there is one. */
static struct pst_sem_s *
sem_next_slot(struct psi_sem_table *table)
{
	struct pst_sem_s *sem;

	if (!table->free_count)
		return psi_sem_of_slot(table, table->fresh++);
	sem = psi_sem_of_slot(table, table->first_free);
	table->first_free = sem->next_free;
	table->free_count--;
	return sem;
}

/* All or none. */
static int
sem_alloc_locked(struct psi_sem_table *table, unsigned kind, size_t count, pst_sem_t *sems_out)
{
	const size_t reused = count < table->free_count ? count : table->free_count;

	if (count - reused > PSI_SEM_SET_SLOTS - table->fresh)
		return GASNET_ERR_RESOURCE;
	if (!psi_sem_make_handles(table, table->fresh, count - reused))
		return GASNET_ERR_RESOURCE;
	for (size_t i = 0; i < count; i++) {
		struct pst_sem_s *sem = sem_next_slot(table);

		psi_sem_begin(sem, kind, psi_sem_next_generation(sem->generation), false);
		sems_out[i] = sem;
	}
	return GASNET_OK;
}

int
pst_sem_alloc(gex_EP_t ep, unsigned kind, size_t count, pst_sem_t *sems_out)
{
	const char *call = "pst_sem_alloc";
	struct psi_sem_table *table;
	int code;

	psi_need_init(call);
	psi_rule_context(call);
	if (!ep)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the endpoint is GEX_EP_INVALID");
	if (!psi_sem_kind_good(kind))
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "kind must be at most one of BOOLEAN "
		                  "and INTEGER, of SPRODUCER and MPRODUCER, of SCONSUMER and "
		                  "MCONSUMER");
	if (!count)
		return GASNET_OK;
	if (!sems_out)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "sems_out is NULL");
	table = psi_sem_table_of(ep);
	if (!table)
		return psi_refuse(GASNET_ERR_RESOURCE, call, "no shared memory for semaphores");
	psi_spinlock_lock(&table->lock);
	code = sem_alloc_locked(table, kind, count, sems_out);
	psi_spinlock_unlock(&table->lock);
	if (code != GASNET_OK)
		return psi_refuse(code, call, "that many semaphores are more than an endpoint has "
		                  "left, of 65536");
	return GASNET_OK;
}

static void
sem_give_back(struct pst_sem_s *sem)
{
	struct psi_sem_table *table = sem->table;

	psi_spinlock_lock(&table->lock);
	psi_sem_end(sem);
	if (table->free_count++)
		psi_sem_of_slot(table, table->last_free)->next_free = sem->slot;
	else
		table->first_free = sem->slot;
	table->last_free = sem->slot;
	psi_spinlock_unlock(&table->lock);
}

void
pst_sem_free(const pst_sem_t *sems, size_t count)
{
	const char *call = "pst_sem_free";

	psi_check_list(sems, count, sizeof *sems, "sems", call);
	for (size_t i = 0; i < count; i++) {
		psi_sem_check(sems[i], call);
		if (sems[i]->of_set)
			psi_fatal("%s: semaphore %u is of a set; pst_sem_set_destroy frees it",
			          call, sems[i]->slot);
		psi_sem_check_unwaited(sems[i], call);
		sem_give_back(sems[i]);
	}
}

/* -- names ----------------------------------------------------------------------------------- */

pst_sem_ref_t
psi_sem_name(gex_EP_Location_t owner, uint64_t key)
{
	return (pst_sem_ref_t){ { key, (uint64_t)owner.gex_ep_index << 32 | owner.gex_rank } };
}

pst_sem_ref_t
pst_sem_ref(pst_sem_t sem)
{
	gex_EP_Location_t owner = { .gex_rank = psi.boot.rank };

	psi_sem_check(sem, "pst_sem_ref");
	owner.gex_ep_index = sem->table->ep->index;
	return psi_sem_name(owner, psi_sem_key(sem));
}

/* Is that the first word of a reference? */
static bool
sem_is_key(uint64_t key)
{
	return key >> PSI_SEM_KEY_BITS == 0 && psi_sem_live(key) >> 2 != 0;
}

static void
sem_check_ref(pst_sem_ref_t ref, const char *call)
{
	if (PSI_UNLIKELY(!sem_is_key(ref.pst_w[0]) || ref.pst_w[1] >> 48))
		psi_fatal("%s: {0x%llx, 0x%llx} is not a reference; pass what pst_sem_ref, "
		          "pst_sem_ref_make or pst_sem_set_ref gave", call,
		          (unsigned long long)ref.pst_w[0], (unsigned long long)ref.pst_w[1]);
}

uint64_t
pst_sem_ref_key(pst_sem_ref_t ref)
{
	sem_check_ref(ref, "pst_sem_ref_key");
	return ref.pst_w[0];
}

pst_sem_ref_t
pst_sem_ref_make(gex_TM_t tm, gex_Rank_t rank, uint64_t key)
{
	const char *call = "pst_sem_ref_make";

	if (PSI_UNLIKELY(!sem_is_key(key)))
		psi_fatal("%s: 0x%llx is not a key; pass what pst_sem_ref_key gave", call,
		          (unsigned long long)key);
	return psi_sem_name(psi_sem_owner_at(psi_target_of(tm, rank, call).place), key);
}

gex_EP_Location_t
pst_sem_ref_owner(pst_sem_ref_t ref)
{
	sem_check_ref(ref, "pst_sem_ref_owner");
	return (gex_EP_Location_t){
		.gex_rank = (gex_Rank_t)ref.pst_w[1],
		.gex_ep_index = (gex_EP_Index_t)(ref.pst_w[1] >> 32),
	};
}
