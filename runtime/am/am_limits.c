/*
 * Limits of payloads.  The limit of a Medium is the least of what the conduit takes to that peer
 * and of the job's limit.  That of a Long depends on nothing.
 */
#include "runtime/process/process.h"
#include "runtime/team/team.h"
#include "runtime/team/team_rules.h"

/* The flags are those of the message that the client asks about.  Only one of the two PREPARE flags
 * may be set. */
static void
limits_check_terms(gex_Flags_t flags, unsigned int numargs, const char *call)
{
	const gex_Flags_t both = GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;

	psi_check_flags(flags, PSI_PREPARE_FLAGS, call);
	if ((flags & both) == both)
		psi_fatal("%s: flags have both LEAST_CLIENT and LEAST_ALLOC; pass the one that "
		          "fits the client_buf of the Prepare", call);
	if (numargs > PSI_MAX_ARGS)
		psi_fatal("%s: numargs is %u, the most is %d; send the rest as payload", call,
		          numargs, PSI_MAX_ARGS);
}

static void
limits_check_query(gex_TM_t tm, gex_Rank_t other_rank, gex_Flags_t flags, unsigned int numargs,
                   const char *call)
{
	psi_need_init(call);
	psi_rule_team(tm, call);
	(void)psi_target_of(tm, other_rank == GEX_RANK_INVALID ? 0 : other_rank, call);
	limits_check_terms(flags, numargs, call);
}

static void
limits_check_lc(const gex_Event_t *lc_opt, const char *call)
{
	if (psi.checks && lc_opt == GEX_EVENT_GROUP)
		psi_fatal("%s: lc_opt is GEX_EVENT_GROUP, which replies do not have; pass what the "
		          "reply gets", call);
}

static size_t
limits_medium_to(gex_EP_t ep, uint32_t place, enum psi_network network, unsigned int numargs)
{
	const size_t here = ep->ops->am_max_medium(ep->port, place, network, numargs);

	return here < psi.attributes.max_medium_bytes ? here : psi.attributes.max_medium_bytes;
}

/* The limit for one rank; for GEX_RANK_INVALID the least of all ranks.  A conduit may have less
 * room if there are many arguments. */
static size_t
limits_medium(gex_TM_t tm, gex_Rank_t other_rank, enum psi_network network, unsigned int numargs)
{
	const bool one = other_rank != GEX_RANK_INVALID;
	const gex_Rank_t count = one ? other_rank + 1
	                             : psi_tm_is_pair(tm) ? psi.boot.size : tm->size;
	size_t least = psi.attributes.max_medium_bytes;

	for (gex_Rank_t rank = one ? other_rank : 0; rank < count; rank++) {
		const struct psi_target target = psi_target_of(tm, rank, "gex_AM_MaxRequestMedium");
		const size_t here = limits_medium_to(target.ep, target.place, network, numargs);

		least = here < least ? here : least;
	}
	return least;
}

size_t
gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                        gex_Flags_t flags, unsigned int numargs)
{
	(void)lc_opt;
	limits_check_query(tm, other_rank, flags, numargs, "gex_AM_MaxRequestMedium");
	return limits_medium(tm, other_rank, PSI_REQUESTS, numargs);
}

size_t
gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                      gex_Flags_t flags, unsigned int numargs)
{
	limits_check_query(tm, other_rank, flags, numargs, "gex_AM_MaxReplyMedium");
	limits_check_lc(lc_opt, "gex_AM_MaxReplyMedium");
	return limits_medium(tm, other_rank, PSI_REPLIES, numargs);
}

size_t
gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                      gex_Flags_t flags, unsigned int numargs)
{
	(void)lc_opt;
	limits_check_query(tm, other_rank, flags, numargs, "gex_AM_MaxRequestLong");
	return psi.attributes.max_long_bytes;
}

size_t
gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                    gex_Flags_t flags, unsigned int numargs)
{
	limits_check_query(tm, other_rank, flags, numargs, "gex_AM_MaxReplyLong");
	limits_check_lc(lc_opt, "gex_AM_MaxReplyLong");
	return psi.attributes.max_long_bytes;
}

/* The place of the sender of the request, whose handler asks for the limit of its reply. */
static uint32_t
limits_requester(gex_Token_t token, gex_Flags_t flags, unsigned int numargs, const char *call)
{
	psi_rule_token(token, call);
	if (token->arrival->network != PSI_REQUESTS)
		psi_fatal("%s: called in a reply handler, which may not reply; ask in request "
		          "handlers",
		          call);
	limits_check_terms(flags, numargs, call);
	return token->arrival->source;
}

size_t
gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                         unsigned int numargs)
{
	const uint32_t place = limits_requester(token, flags, numargs, "gex_Token_MaxReplyMedium");

	limits_check_lc(lc_opt, "gex_Token_MaxReplyMedium");
	return limits_medium_to(token->ep, place, PSI_REPLIES, numargs);
}

size_t
gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                       unsigned int numargs)
{
	(void)limits_requester(token, flags, numargs, "gex_Token_MaxReplyLong");
	limits_check_lc(lc_opt, "gex_Token_MaxReplyLong");
	return psi.attributes.max_long_bytes;
}

/* The least limits over all peers and arguments. */
size_t gex_AM_LUBRequestMedium(void) { return psi.attributes.max_medium_bytes; }
size_t gex_AM_LUBReplyMedium(void) { return psi.attributes.max_medium_bytes; }
size_t gex_AM_LUBRequestLong(void) { return psi.attributes.max_long_bytes; }
size_t gex_AM_LUBReplyLong(void) { return psi.attributes.max_long_bytes; }
