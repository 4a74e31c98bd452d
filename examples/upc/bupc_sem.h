/*
 * The semaphores and signalling puts of Berkeley UPC, as a UPC runtime would map them: a macro
 * each.
 *
 * In UPC a semaphore is named by a pointer to shared, which any thread may hold.  Here it is a
 * value that any thread may hold: the name by which it is posted, and the handle by which its owner
 * waits.  upc_team is the runtime's team of all threads; a pointer to shared is a thread and an
 * address there.
 */
#ifndef BUPC_SEM_H
#define BUPC_SEM_H

#include <penstock.h>

extern gex_TM_t upc_team;

typedef struct {
	gex_Rank_t thread;
	void *addr; /* as the thread has it */
} upc_shared_t;

typedef struct {
	pst_sem_ref_t name;
	pst_sem_t handle; /* of use to the owner alone */
} bupc_sem_t;

/* The numbers are the same. */
#define BUPC_SEM_BOOLEAN   PST_SEM_BOOLEAN
#define BUPC_SEM_INTEGER   PST_SEM_INTEGER
#define BUPC_SEM_SPRODUCER PST_SEM_SPRODUCER
#define BUPC_SEM_MPRODUCER PST_SEM_MPRODUCER
#define BUPC_SEM_SCONSUMER PST_SEM_SCONSUMER
#define BUPC_SEM_MCONSUMER PST_SEM_MCONSUMER
#define BUPC_SEM_MAXVALUE  PST_SEM_MAXVALUE

#define upc_sem_owner(sem) (pst_sem_ref_owner((sem).name).gex_rank)

/* Of the calling thread; 0 where there is none to be had. */
static inline bupc_sem_t
bupc_sem_alloc(unsigned kind)
{
	bupc_sem_t sem = { { { 0, 0 } }, PST_SEM_INVALID };

	if (pst_sem_alloc(gex_TM_QueryEP(upc_team), kind, 1, &sem.handle) == GASNET_OK)
		sem.name = pst_sem_ref(sem.handle);
	return sem;
}

/* By its owner; a runtime sends other threads' calls there, as a Short whose handler does this. */
#define bupc_sem_free(sem) pst_sem_free(&(sem).handle, 1)

/* Any thread. */
#define bupc_sem_post(sem)     bupc_sem_postN(sem, 1)
#define bupc_sem_postN(sem, n) ((void)pst_sem_post(upc_team, upc_sem_owner(sem), (sem).name, n, 0))

/* The owner. */
#define bupc_sem_wait(sem)     pst_sem_wait((sem).handle, 1)
#define bupc_sem_waitN(sem, n) pst_sem_wait((sem).handle, n)
#define bupc_sem_try(sem)      pst_sem_try((sem).handle, 1)
#define bupc_sem_tryN(sem, n)  pst_sem_try((sem).handle, n)

/* dst lies with the thread that owns the semaphore.  The second returns before the source may be
 * overwritten, which is at the next gex_NBI_Wait(GEX_EC_LC, 0). */
#define bupc_memput_signal(dst, src, nbytes, sem, n) \
	pst_memput_signal(upc_team, (dst).thread, (dst).addr, src, nbytes, (sem).name, n)
#define bupc_memput_signal_async(dst, src, nbytes, sem, n)                                         \
	((void)pst_memput_signal_nbi(upc_team, (dst).thread, (dst).addr, src, nbytes, (sem).name,  \
	                             n, 0))

#endif
