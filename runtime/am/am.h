/* Active messages: am_*.c. */
#ifndef PSI_AM_H
#define PSI_AM_H

#include "runtime/process/process.h"

void psi_deliver(void *owner, const struct psi_arrival *arrival);
/* The message whose handler runs was counted as the client's when it came, and is the library's
 * own. */
void psi_count_internal(gex_Token_t token);

static inline unsigned
psi_shape_of(unsigned network, unsigned category)
{
	return network * 3 + category;
}

/* Handlers of gasnet_attach say nothing of arguments. */
void psi_handler_take_any_count(gex_EP_t ep, gex_AM_Index_t index);
void psi_handler_set_internal(gex_EP_t ep, enum psi_internal_handler index, gex_AM_Fn_t fn);

/* Sends or, for this endpoint itself, delivers; PSI_OK or PSI_AGAIN, never waits. */
int psi_am_try(gex_EP_t ep, const struct psi_am *am);
/* The same for progress functions, where no wait may be under way: without room the peer is asked
 * to wake this process when there is some, and the message is tried once more. */
int psi_am_try_or_request(gex_EP_t ep, const struct psi_am *am);
/* The same, waiting for room unless flags say IMMEDIATE: GASNET_OK or GASNET_ERR_NOT_READY.  The
 * caller has counted the message, which a refusal takes back. */
int psi_am_inject(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);

/* Counts a message as sent; times -1 takes that back, for one that was refused. */
static inline void
psi_am_count_sent(unsigned network, unsigned category, size_t len_bytes, int64_t times)
{
	uint64_t *counts = psi_block()->count;

	psi_count_add(counts, psi_count_of_kind(PSI_COUNT_SENT, network, category),
	              (uint64_t)times);
	if (category != PSI_SHORT)
		psi_count_add(counts, PSI_COUNT_SENT_BYTES, (uint64_t)times * len_bytes);
}

/* The conduit gave up; ends the job. */
void psi_am_failed(uint32_t place) __attribute__((noreturn, cold));

/* A counted message was refused by IMMEDIATE. */
void psi_am_count_refused(const struct psi_am *am);

/* Checks that hold for requests and replies of any payload; end the job with one line. */
void psi_am_check_lc(gex_Event_t *lc_opt, bool is_reply, const char *call);
/* The receiver of a reply.  A request handler may make one reply, to its own token. */
uint32_t psi_am_requester(gex_Token_t token, const char *call);
/* The address here of a Long's destination, or NULL if there is none or no payload. */
void *psi_am_long_target(uint32_t place, void *dest, size_t nbytes, const char *call);
/* As psi_am_inject, for a Long: where its destination is not mapped here, the payload goes its own
 * way. */
int psi_am_inject_long(gex_EP_t ep, struct psi_am *am, gex_Flags_t flags);

/* Local completion is at injection, always. */
static inline void
psi_am_completed(gex_Event_t *lc_opt)
{
	if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_GROUP)
		*lc_opt = GEX_EVENT_INVALID;
}

#endif
