/* Shared by the programs about negotiated payload. */
#include "tests/lib/pt.h"

#include <stddef.h>

enum { ZONE_BYTES = 512 * 1024 };

/* Where Longs of `source` land at `target`. */
static inline char *
zone(gex_Rank_t target, gex_Rank_t source)
{
	return pt.peers[target].owner + (size_t)source * ZONE_BYTES;
}

/* What holds for every open descriptor; the queries allowed meanwhile work. */
static inline char *
check_open(gex_AM_SrcDesc_t sd, const void *client, size_t least, size_t most)
{
	char *at = (char *)gex_AM_SrcDescAddr(sd);
	size_t size = gex_AM_SrcDescSize(sd);

	PT_CHECK(sd != GEX_AM_SRCDESC_NO_OP);
	PT_LE(least, size);
	PT_LE(size, most);
	if (client)
		PT_PTR(at, client);
	else if (size)
		PT_EQ((uintptr_t)at % __alignof__(max_align_t), 0);
	PT_EQ(gex_System_QueryJobRank(), pt.where[pt.rank].gex_rank);
	PT_LE(512, gex_AM_LUBRequestMedium());
	PT_CHECK(gex_TM_QueryEP(pt.tm) == pt.ep);
	if (!client && size)
		memset(at, 0x11, size); /* ours to write, all of it */
	return at;
}
