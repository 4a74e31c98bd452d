/*
 * Calls into providers.  Each is timed, and is told of where it does not return: the others see
 * which one it is (runtime/report), and a thread that does nothing else ends the job (stuck.c).
 * Under the lock of offload, so a process has one call at a time.
 *
 * A provider that breaks its contract is counted and named; the third breach in a process ends its
 * use there, and with that by all teams that this process leads.
 */
#ifndef POFF_CALLS_H
#define POFF_CALLS_H

#include "penstock_offload.h"

#include <stdbool.h>
#include <sys/resource.h>

/* What is known of the time that calls into a device take. */
struct poff_clock {
	const char *function;           /* of the call under way */
	uint64_t began_ns;
	const char *suspect;            /* the function of which one was late */
	unsigned closely;               /* so many more calls of that are looked at closely, */
	unsigned closely_next;          /* and so many after the next suspicion */
	struct rusage usage;            /* of the thread before such a call */
};

struct poff_device;
struct poff_team;

int poff_call_query(struct poff_device *device, const pst_off_attr_t *agreed,
                    const pst_off_op_t *op, uint64_t *cost_ns_out, const char **why_out);
int poff_call_join_start(struct poff_team *team, const pst_off_group_t *group);
int poff_call_join_test(struct poff_team *team);
void poff_call_leave_start(struct poff_team *team, bool peers_lost);
int poff_call_leave_test(struct poff_team *team);
/* why_out is written with FAIL, where the provider has said why in its log. */
int poff_call_start(struct poff_team *team, const pst_off_call_t *call, pst_off_req_t **req_out,
                    const char **why_out);
int poff_call_test(struct poff_team *team, pst_off_req_t *req, pst_off_result_t *result_out);
void poff_call_cancel(struct poff_team *team, pst_off_req_t *req);
int poff_call_wait_fd(struct poff_device *device);
unsigned poff_call_progress(struct poff_device *device, unsigned budget);

/* The provider has broken its contract, by what the static text says. */
void poff_breach(struct poff_device *device, const char *what);

/* Text that the provider logs, perhaps in a call of this thread that wants to know why. */
void poff_call_said(const char *text);

/* The provider of the call that is under way, or of the last.  Any thread. */
const char *poff_call_device(void);

/* Watches from now on for calls that do not return. */
void poff_watch_start(void);

#endif
