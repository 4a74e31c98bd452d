/*
 * The endpoints that a thread polls, in a process with several.  A thread is bound to one endpoint,
 * at first the primordial one, and polls that.  Endpoints to which no thread is bound are polled by
 * all threads in turn, unless they are serial.  A thread that waits for a message at another
 * endpoint polls that one too.
 *
 * A process with one endpoint uses this file only to bind its threads.
 */
#ifndef PSI_POLLSET_H
#define PSI_POLLSET_H

#include "runtime/process/thread.h"

/* Polls the thread's endpoint, and others that are its business; returns messages delivered. */
unsigned psi_pollset_poll(unsigned networks, unsigned budget);
/* Polls the endpoint that the wait is for, unless it is the thread's own; for PSI_EP_SEVERAL all
 * others that are not serial.  Returns messages delivered. */
unsigned psi_pollset_poll_for(const struct psi_wait *wait, unsigned networks, unsigned budget);

/* The endpoint that the calling thread is bound to; NULL before it is counted. */
extern __thread gex_EP_t psi_pollset_bound __attribute__((tls_model("initial-exec")));

/* May threads sleep that wait for what this process does?  The caller has written what that is.
 * Where there are several endpoints. */
bool psi_pollset_sleepers(void);

/* arm, sleep and disarm of the conduit, for all endpoints that the thread polls.  arm returns false
 * if there is a message or a condition has changed. */
bool psi_pollset_arm(struct psi_wait *wait, unsigned networks, uint32_t room_peer);
void psi_pollset_sleep(struct psi_wait *wait, uint64_t timeout_ns);
void psi_pollset_disarm(struct psi_wait *wait);

/* Index of the endpoint that the calling thread serves; 0 before there is any. */
unsigned psi_pollset_index(void);

/*
 * A progress function, of any thread, found no room for a message from `ep' to a place: this
 * process is woken when there is some.  The caller tries once more, since room may have come
 * meanwhile.
 */
void psi_request_room(gex_EP_t ep, uint32_t place);
/* All progress functions are about to run.  Each says by psi_request_room what lacks room still;
 * where another thread is at it, that one does by psi_room_still_missing when it leaves. */
void psi_room_retry(void);
void psi_room_still_missing(void);
/* Has one said so since? */
extern _Atomic bool psi_room_is_missing;
static inline bool
psi_is_room_missing(void)
{
	return atomic_load_explicit(&psi_room_is_missing, memory_order_relaxed);
}

/* A thread is counted; it ends. */
void psi_pollset_thread_begins(struct psi_thread *thread);
void psi_pollset_thread_ends(struct psi_thread *thread);
extern const struct psi_module psi_serve_module;

/* hold: counts the thread of an endpoint that nobody knows yet, so that no other thread serves the
 * endpoint before that one does.  release: that thread has come and is bound, or will not come. */
void psi_pollset_hold(gex_EP_t ep);
void psi_pollset_release(gex_EP_t ep);

/* An endpoint that no thread is bound to has come, or goes. */
void psi_pollset_add(gex_EP_t ep);
void psi_pollset_remove(gex_EP_t ep);

#endif
