/*
 * penstock_threads.h: ranks that are threads. A process may have several
 * endpoints, each with messages, handlers and a segment of its own; a rank of
 * a team is one of them. Marks in capitals stand before what they hold for:
 *
 * L  local: no communication, polling or blocking; legal in handlers
 * C  collective over the processes of `parent', one caller for each
 * W  waits: polls and runs handlers
 *
 * Results are GASNET_OK, GASNET_ERR_BAD_ARG or GASNET_ERR_RESOURCE, the same
 * in all processes, and on failure nothing remains.
 */
#ifndef PENSTOCK_THREADS_H
#define PENSTOCK_THREADS_H

#include "gasnetex.h"

/* One thread at a time uses each new endpoint; no locks are taken to poll it. */
#define PST_FLAG_EP_SERIAL (_GEX_INT(gex_Flags_t, 0x40000000u))

PSI_BEGIN_DECLS

/* L. How many ranks a process shall have: PST_RANKS_PER_PROCESS, by default 1. */
PSI_API int pst_ranks_per_process(void);

/*
 * C W, in GASNET_PAR. Makes `ranks_here' endpoints (0: as many as the setting
 * says; processes may differ), registers the table for each (indices are
 * written back once), binds a segment of segment_bytes to each (a multiple of
 * GASNET_PAGESIZE, may differ; 0: none), publishes them, and makes one team of
 * all, by rank of the parent, then by index. eps_out[i] and tms_out[i] are for
 * thread i. `parent' has one member in each of its processes, and outlives the
 * team. On return all handlers are in place everywhere.
 */
PSI_API int pst_team_create_threads(gex_TM_t parent, int ranks_here, size_t segment_bytes,
				    gex_AM_Entry_t *table, size_t numentries, gex_EP_t *eps_out,
				    gex_TM_t *tms_out, gex_Flags_t flags);

/*
 * C W. Ends such a team: all its members of this process, in their order.
 * Nothing is in flight, no thread is bound to them, and what was made of the
 * team is gone. Frees teams, endpoints and segments. flags are 0.
 */
PSI_API int pst_team_destroy_threads(const gex_TM_t *tms, int ranks_here, gex_Flags_t flags);

/*
 * C W, in GASNET_PAR. Makes such a team, starts a thread for each rank here,
 * placed by PST_THREADS_BIND and bound to its endpoint, calls fn(tm, arg) in
 * each, joins them and ends the team. The caller serves its own endpoint
 * meanwhile. Gives the first non-zero result by index in this process, or the
 * code of a team that could not be made, before any fn ran.
 */
PSI_API int pst_threads_run(gex_TM_t parent, int ranks_here, size_t segment_bytes,
			    gex_AM_Entry_t *table, size_t numentries,
			    int (*fn)(gex_TM_t tm, void *arg), void *arg, gex_Flags_t flags);

/*
 * L. The endpoint of this process that the calling thread polls, in its waits
 * and in gasnet_AMPoll; at first the primordial one. Endpoints that no live
 * thread is bound to are polled by all threads in turn, but those of
 * PST_FLAG_EP_SERIAL.
 */
PSI_API void pst_thread_bind(gex_EP_t ep);

/*
 * L, in the handler that was given the token: the process and the endpoint
 * which sent the message. gex_Token_Info tells the process alone.
 */
PSI_API gex_EP_Location_t pst_token_source(gex_Token_t token);

PSI_END_DECLS

#endif
