/*
 * Semaphores, seen from the library.
 *
 * An endpoint has a table of slots in a range of shared memory, made with its first semaphore and
 * mapped by a peer with its first post:
 *
 *     lines [PSI_SEM_SLOTS]   a cache line each.  Its first word counts posts and never goes back;
 *                             only posters write it.  The second is the threshold, the count that
 *                             wakes a waiting thread; the owner writes it before it sleeps
 *                             (threshold.c)
 *     live [PSI_SEM_SLOTS]    upper part of the key of the semaphore in the slot; 0: none.  Written
 *                             by the owner
 *     told [PSI_SEM_SLOTS]    with checks: what was taken, by the owner
 *     poster [PSI_SEM_SLOTS]  with checks: place + 1 of the last poster
 *
 * The count of takes is the owner's alone, so while nobody sleeps a line is written by one side.
 * What is there to be taken is the difference; a BOOLEAN's take makes the two equal.
 *
 * Slots below PSI_SEM_SET_SLOTS are for single semaphores, the others for sets, whose members have
 * the same slots everywhere.
 */
#ifndef PSI_SEM_H
#define PSI_SEM_H

#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"

#include "penstock_sem.h"

#include "runtime/util/spinlock.h"

enum {
	PSI_SEM_SLOTS = 1 << PSI_SEM_SLOT_BITS,
	PSI_SEM_SET_SLOTS = PSI_SEM_SLOTS / 2,
	PSI_SEM_GENERATION_BITS = PSI_SEM_KEY_BITS - PSI_SEM_SLOT_BITS - 2,
	PSI_SEM_CHUNK = 256,            /* handles that are made at once */
};

struct pst_sem_s {
	/* Threads that take write it; one at a time does if single_consumer. */
	_Alignas(64) _Atomic uint64_t taken;
	uint64_t *posted;               /* the slot's line */
	struct psi_sem_table *table;
	_Atomic uint32_t live;          /* as in the slot; 0: free */
	uint32_t slot;
	uint32_t generation;            /* of the last semaphore here */
	uint32_t next_free;             /* under the table's lock */
	uint32_t waiters;               /* that told their thresholds; under the table's lock
	                                 * if the semaphore is shared */
	bool single_consumer, boolean, of_set;
	/* Kept if PST_CHECK is on: how many waits it has, and the thread of a single consumer. */
	_Atomic uint32_t waits;
	_Atomic uintptr_t waiter;
};

/* One endpoint's; lives as long as the job. */
struct psi_sem_table {
	gex_EP_t ep;
	uint64_t (*lines)[8];
	uint32_t *live;
	uint64_t *told;
	uint32_t *poster;
	struct psi_spinlock lock;       /* all that follows */
	uint32_t fresh;                 /* slots below it have been used, for single semaphores */
	uint32_t first_free, last_free; /* a queue; PSI_SEM_SLOTS: empty */
	uint32_t free_count;
	uint64_t set_slots[PSI_SEM_SET_SLOTS / 64];     /* bit: taken */
	struct pst_sem_s *_Atomic chunks[PSI_SEM_SLOTS / PSI_SEM_CHUNK];
};

/* sem_table.c */

/* The job's tables of peers; after the conduit, before the inlines. */
void psi_sem_open(void);
extern const struct psi_module psi_signal_module;
/* The endpoint's table, made if need be; NULL: no memory. */
struct psi_sem_table *psi_sem_table_of(gex_EP_t ep);
/* Maps the semaphores of a place that has some, if not done; false if it has none. */
bool psi_sem_map(uint32_t place);
/* Handle of a slot, which was made before; makes handles of `count' slots: false, no memory. */
struct pst_sem_s *psi_sem_of_slot(const struct psi_sem_table *table, uint32_t slot);
bool psi_sem_make_handles(struct psi_sem_table *table, uint32_t slot, size_t count);
/* Is it the handle of a slot of this process?  Reads nothing through the pointer. */
bool psi_sem_is_own(pst_sem_t sem);
/* A semaphore is born in a slot of the caller's, and ends there. */
void psi_sem_begin(struct pst_sem_s *sem, unsigned kind, uint32_t generation, bool of_set);
void psi_sem_end(struct pst_sem_s *sem);

/* Logs how many semaphores the client has not freed, if there are any.  Only with checks. */
void psi_sems_report_leaks(const char *call);

/* sem.c */

bool psi_sem_kind_good(unsigned kind);
/* The generation behind this one; never 0. */
uint32_t psi_sem_next_generation(uint32_t generation);
/* Checks that a handle names a semaphore. */
void psi_sem_check(pst_sem_t sem, const char *call);
void psi_sem_check_n(const struct pst_sem_s *sem, unsigned n, const char *call);
/* Name of slot's semaphore at an endpoint. */
pst_sem_ref_t psi_sem_name(gex_EP_Location_t owner, uint64_t key);

/* Whose endpoint has that place. */
static inline gex_EP_Location_t
psi_sem_owner_at(uint32_t place)
{
	return (gex_EP_Location_t){
		.gex_rank = psi_jobrank_of(place), .gex_ep_index = psi_index_of(place),
	};
}

static inline uint64_t
psi_sem_key(const struct pst_sem_s *sem)
{
	return (uint64_t)atomic_load_explicit(&sem->live, memory_order_relaxed)
	               << PSI_SEM_SLOT_BITS |
	       sem->slot;
}

/* sem_wait.c */

/* Takes n posts: true.  If there are fewer it takes none: false.  Never polls. */
bool psi_sem_take(struct pst_sem_s *sem, unsigned n);

/* May several threads take from it at once?  If not, takes need no atomic operation, and the
 * threshold needs no lock. */
static inline bool
psi_sem_is_shared(const struct pst_sem_s *sem)
{
	return psi.threaded && !sem->single_consumer;
}

/* Ends the job if a thread waits for it.  Only with checks. */
void psi_sem_check_unwaited(const struct pst_sem_s *sem, const char *call);

/* threshold.c */

/* set: tells posters that a thread is about to sleep until it can take n.  clear: that its sleep is
 * over; called once for each set. */
void psi_sem_threshold_set(struct pst_sem_s *sem, unsigned n);
void psi_sem_threshold_clear(struct pst_sem_s *sem);

#endif
