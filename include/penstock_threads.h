/*
 * penstock_threads.h: ranks that are threads. A process may have several
 * endpoints, each with messages, handlers and a segment of its own; a rank of
 * a team is one of them. A mark in capitals stands behind each prototype:
 *
 * L  local: no communication, polling or blocking; legal in handlers
 */
#ifndef PENSTOCK_THREADS_H
#define PENSTOCK_THREADS_H

#include "gasnetex.h"

PSI_BEGIN_DECLS

/*
 * L. The endpoint of this process that the calling thread polls, in its waits
 * and in gasnet_AMPoll; at first the primordial one. Endpoints that no live
 * thread is bound to are polled by all threads in turn.
 */
PSI_API void pst_thread_bind(gex_EP_t ep);

/*
 * L, in the handler that was given the token: the process and the endpoint
 * which sent the message. gex_Token_Info tells the process alone.
 */
PSI_API gex_EP_Location_t pst_token_source(gex_Token_t token);

PSI_END_DECLS

#endif
