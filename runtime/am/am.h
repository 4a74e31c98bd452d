/* Active messages: am_*.c. */
#ifndef PSI_AM_H
#define PSI_AM_H

#include "runtime/process/process.h"

void psi_deliver(void *owner, const struct psi_arrival *arrival);
/* Called by a handler of the library: the message was counted as one of the client's when it came.
 * Counts it as internal instead. */
void psi_count_internal(gex_Token_t token);

static inline unsigned
psi_shape_of(unsigned network, unsigned category)
{
	return network * 3 + category;
}

/* Handlers that gasnet_attach registers take any number of arguments. */
void psi_handler_take_any_count(gex_EP_t ep, gex_AM_Index_t index);
void psi_handler_set_internal(gex_EP_t ep, enum psi_internal_handler index, gex_AM_Fn_t fn);

/* Sends the message, or runs its handler if it is to this endpoint itself.  Never waits.  Returns
 * PSI_OK or PSI_AGAIN. */
int psi_am_try(gex_EP_t ep, const struct psi_am *am);
/* The same, for progress functions, which may not wait.  If there is no room, the peer is asked to
 * wake this process when there is some, and the message is tried once more. */
int psi_am_try_or_request(gex_EP_t ep, const struct psi_am *am);
/* The same, but waits for room unless flags say IMMEDIATE.  Returns GASNET_OK or
 * GASNET_ERR_NOT_READY.  The caller has counted the message; if it is refused, this function
 * uncounts it. */
int psi_am_inject(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);

/* Counts a message as sent.  With times -1, uncounts one that was refused. */
static inline void
psi_am_count_sent(unsigned network, unsigned category, size_t len_bytes, int64_t times)
{
	uint64_t *counts = psi_block()->count;

	psi_count_add(counts, psi_count_of_kind(PSI_COUNT_SENT, network, category),
	              (uint64_t)times);
	if (category != PSI_SHORT)
		psi_count_add(counts, PSI_COUNT_SENT_BYTES, (uint64_t)times * len_bytes);
}

/* The conduit failed to send to that place.  Ends the job. */
void psi_am_failed(uint32_t place) __attribute__((noreturn, cold));

/* Uncounts a message that IMMEDIATE refused, and counts the refusal. */
void psi_am_count_refused(const struct psi_am *am);

/* Ends the job with one line if lc_opt is not allowed.  For requests and replies with payload. */
void psi_am_check_lc(gex_Event_t *lc_opt, bool is_reply, const char *call);
/* The place to which a reply goes.  Ends the job if the handler may not reply: a request handler
 * may reply once. */
uint32_t psi_am_requester(gex_Token_t token, const char *call);
/* The address at which this process reaches a Long's destination.  NULL if it is not mapped, or if
 * the payload is empty. */
void *psi_am_long_target(uint32_t place, void *dest, size_t nbytes, const char *call);
/* psi_am_inject for a Long.  If its destination is not mapped here, the kernel or operation am_long
 * moves the payload. */
int psi_am_inject_long(gex_EP_t ep, struct psi_am *am, gex_Flags_t flags);

/* Messages complete locally before the call returns, so no event is left. */
static inline void
psi_am_completed(gex_Event_t *lc_opt)
{
	if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_GROUP)
		*lc_opt = GEX_EVENT_INVALID;
}

#endif
