/*
 * Limits of payloads.  On this host every pair of endpoints has the same, for both directions and any
 * number of arguments, so they depend on the category alone.
 */
#include "runtime/psi.h"

static void
check_query(gex_TM_t tm, gex_Rank_t other_rank, unsigned int numargs, const char *call)
{
	psi_need_init(call);
	if (other_rank != GEX_RANK_INVALID)
		(void)psi_target_of(tm, other_rank, call);
	if (numargs > PSI_MAX_ARGS)
		psi_fatal("%s: %u arguments, the most is %d", call, numargs, PSI_MAX_ARGS);
}

/* A conduit may have less room behind many arguments; asked of all for GEX_RANK_INVALID. */
static size_t
max_medium(gex_TM_t tm, gex_Rank_t other_rank, enum psi_network network, unsigned int numargs,
           const char *call)
{
	size_t least = psi.attributes.max_medium_bytes;

	check_query(tm, other_rank, numargs, call);
	for (uint32_t place = 0; place < psi.boot.size; place++) {
		size_t here;

		if (other_rank != GEX_RANK_INVALID && place != other_rank)
			continue;
		here = psi.ops->am_max_medium(psi.ep->port, place, network, numargs);
		least = here < least ? here : least;
	}
	return least;
}

static size_t
max_long(gex_TM_t tm, gex_Rank_t other_rank, unsigned int numargs, const char *call)
{
	check_query(tm, other_rank, numargs, call);
	return psi.attributes.max_long_bytes;
}

#define UNUSED_IN_LIMIT (void)lc_opt, (void)flags

size_t
gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                        gex_Flags_t flags, unsigned int numargs)
{
	UNUSED_IN_LIMIT;
	return max_medium(tm, other_rank, PSI_REQUESTS, numargs, "gex_AM_MaxRequestMedium");
}

size_t
gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                      gex_Flags_t flags, unsigned int numargs)
{
	UNUSED_IN_LIMIT;
	return max_medium(tm, other_rank, PSI_REPLIES, numargs, "gex_AM_MaxReplyMedium");
}

size_t
gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                      gex_Flags_t flags, unsigned int numargs)
{
	UNUSED_IN_LIMIT;
	return max_long(tm, other_rank, numargs, "gex_AM_MaxRequestLong");
}

size_t
gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
                    gex_Flags_t flags, unsigned int numargs)
{
	UNUSED_IN_LIMIT;
	return max_long(tm, other_rank, numargs, "gex_AM_MaxReplyLong");
}

size_t
gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                         unsigned int numargs)
{
	return gex_AM_MaxReplyMedium(psi.tm, token->arrival->source, lc_opt, flags, numargs);
}

size_t
gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags,
                       unsigned int numargs)
{
	return gex_AM_MaxReplyLong(psi.tm, token->arrival->source, lc_opt, flags, numargs);
}

/* The LUBs are taken over all arguments; here nothing depends on any. */
size_t gex_AM_LUBRequestMedium(void) { return psi.attributes.max_medium_bytes; }
size_t gex_AM_LUBReplyMedium(void) { return psi.attributes.max_medium_bytes; }
size_t gex_AM_LUBRequestLong(void) { return psi.attributes.max_long_bytes; }
size_t gex_AM_LUBReplyLong(void) { return psi.attributes.max_long_bytes; }
