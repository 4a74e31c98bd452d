/*
 * Calls into providers.  Each is timed, and is told of where it does not return: the others see
 * which one it is (runtime/report), and a thread that does nothing else ends the job (watch.c).
 * Under the lock of offload, so a process has one call at a time.
 *
 * A provider that breaks its contract is counted and named; the third breach in a process ends its
 * use there, and with that by all teams that this process leads.
 */
#ifndef POFF_CALLS_H
#define POFF_CALLS_H

#include "penstock_offload.h"

struct poff_device;
struct poff_team;

int poff_call_query(struct poff_device *device, const pst_off_attr_t *agreed,
                    const pst_off_op_t *op, uint64_t *cost_ns_out, const char **why_out);
int poff_call_join_start(struct poff_team *team, const pst_off_group_t *group);
int poff_call_join_test(struct poff_team *team);
void poff_call_leave_start(struct poff_team *team);
int poff_call_leave_test(struct poff_team *team);
int poff_call_start(struct poff_team *team, const pst_off_call_t *call, pst_off_req_t **req_out);
int poff_call_test(struct poff_team *team, pst_off_req_t *req, pst_off_result_t *result_out);
void poff_call_cancel(struct poff_team *team, pst_off_req_t *req);
unsigned poff_call_progress(struct poff_device *device, unsigned budget);

/* The provider has broken its contract, by what the static text says. */
void poff_breach(struct poff_device *device, const char *what);

/* The provider of the call that is under way, or of the last.  Any thread. */
const char *poff_call_device(void);

/* Watches from now on for calls that do not return. */
void poff_watch_start(void);

#endif
