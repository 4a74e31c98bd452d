/*
 * Handler tables: indices are given out from 255 down after the fixed ones,
 * over several calls, and each handler finds what was registered for it.
 */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { ENTRIES = 256 - GEX_AM_INDEX_BASE, REPLY_INDEX = 255 };

static PT_OWN struct record {
	gex_AM_Fn_t fn;
	gex_Flags_t flags;
	unsigned nargs;
	const void *cdata;
	const char *name;
} registered[256];
static int marks[8]; /* what cdata points to */
static PT_OWN pt_count requests, replies;

/* Whatever Token_Info says is true, and it says what it must. */
static void
check_token(gex_Token_t token, gex_AM_Index_t index, int is_req, int is_long)
{
	gex_Token_Info_t info;
	gex_TI_t valid = gex_Token_Info(token, &info, GEX_TI_ALL);
	gasnet_node_t source = (gasnet_node_t)-1;

	PT_EQ(valid & (GEX_TI_SRCRANK | GEX_TI_EP), GEX_TI_SRCRANK | GEX_TI_EP);
	PT_CHECK(info.gex_srcrank < pt.size);
	PT_CHECK(info.gex_ep == pt.ep);
	PT_OK(gasnet_AMGetMsgSource(token, &source));
	PT_EQ(source, info.gex_srcrank);
#if GASNET_SUPPORTS_TI_ENTRY
	PT_CHECK(valid & GEX_TI_ENTRY);
#endif
#if GASNET_SUPPORTS_TI_IS_REQ
	PT_CHECK(valid & GEX_TI_IS_REQ);
#endif
#if GASNET_SUPPORTS_TI_IS_LONG
	PT_CHECK(valid & GEX_TI_IS_LONG);
#endif
	if (valid & GEX_TI_IS_REQ)
		PT_EQ(info.gex_is_req, is_req);
	if (valid & GEX_TI_IS_LONG)
		PT_EQ(info.gex_is_long, is_long);
	if (valid & GEX_TI_ENTRY) {
		const struct record *want = &registered[index];

		PT_EQ(info.gex_entry->gex_index, index);
		PT_CHECK(info.gex_entry->gex_fnptr == want->fn);
		PT_EQ(info.gex_entry->gex_flags, want->flags);
		PT_EQ(info.gex_entry->gex_nargs, want->nargs);
		PT_PTR(info.gex_entry->gex_cdata, want->cdata);
		PT_PTR(info.gex_entry->gex_name, want->name);
	}
	/* one bit alone is answered as well */
	PT_CHECK(gex_Token_Info(token, &info, GEX_TI_SRCRANK) & GEX_TI_SRCRANK);
	PT_EQ(info.gex_srcrank, source);
	PT_CHECK(gex_Token_Info(token, &info, GEX_TI_EP) & GEX_TI_EP);
	PT_CHECK(info.gex_ep == pt.ep);
}

static void
req_short(gex_Token_t token, gex_AM_Arg_t index)
{
	check_token(token, (gex_AM_Index_t)index, 1, 0);
	PT_INC(requests);
	PT_OK(gex_AM_ReplyShort1(token, REPLY_INDEX, 0, REPLY_INDEX));
}

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t index)
{
	(void)buf, (void)nbytes;
	req_short(token, index);
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t index)
{
	(void)buf, (void)nbytes;
	check_token(token, (gex_AM_Index_t)index, 1, 1);
	PT_INC(requests);
	PT_OK(gex_AM_ReplyShort1(token, REPLY_INDEX, 0, REPLY_INDEX));
}

static void
rep_short(gex_Token_t token, gex_AM_Arg_t index)
{
	check_token(token, (gex_AM_Index_t)index, 0, 0);
	PT_INC(replies);
}

static gex_AM_Entry_t
make_entry(gex_AM_Index_t index, unsigned kind)
{
	static const char *const names[] = { "short", "medium", NULL, "reply" };
	static const gex_Flags_t flags[] = { PT_REQ_SHORT,
		                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, PT_REQ_LONG,
		                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP };
	gex_AM_Fn_t fns[] = { (gex_AM_Fn_t)req_short, (gex_AM_Fn_t)req_medium,
		              (gex_AM_Fn_t)req_long, (gex_AM_Fn_t)rep_short };
	gex_AM_Entry_t entry = {
		index, fns[kind], flags[kind], 1, kind == 2 ? NULL : &marks[kind], names[kind]
	};

	return entry;
}

/* Register a copy of the table, then spoil the copy. */
static void
register_table(const gex_AM_Index_t *asked, const unsigned *kinds, const gex_AM_Index_t *want,
               size_t count)
{
	gex_AM_Entry_t *table = malloc(count * sizeof(*table));

	PT_CHECK(table != NULL);
	for (size_t i = 0; i < count; i++)
		table[i] = make_entry(asked[i], kinds[i]);
	PT_OK(gex_EP_RegisterHandlers(pt.ep, table, count));
	for (size_t i = 0; i < count; i++) {
		gex_AM_Entry_t was = make_entry(asked[i], kinds[i]);
		struct record *record = &registered[want[i]];

		PT_EQ(table[i].gex_index, want[i]);
		PT_CHECK(table[i].gex_fnptr == was.gex_fnptr);
		PT_EQ(table[i].gex_flags, was.gex_flags);
		PT_EQ(table[i].gex_nargs, was.gex_nargs);
		PT_PTR(table[i].gex_cdata, was.gex_cdata);
		PT_PTR(table[i].gex_name, was.gex_name);
		PT_CHECK(record->fn == NULL); /* never given out twice */
		record->fn = was.gex_fnptr;
		record->flags = was.gex_flags;
		record->nargs = was.gex_nargs;
		record->cdata = was.gex_cdata;
		record->name = was.gex_name;
	}
	memset(table, 0xff, count * sizeof(*table));
	free(table);
}

/* All indices that are still free, in one call of zeros. */
static void
register_rest(void)
{
	gex_AM_Index_t asked[ENTRIES], want[ENTRIES];
	unsigned kinds[ENTRIES];
	size_t count = 0;

	for (unsigned index = 255; index >= GEX_AM_INDEX_BASE; index--) {
		if (registered[index].fn)
			continue;
		asked[count] = 0;
		kinds[count] = (unsigned)count % 3;
		want[count++] = (gex_AM_Index_t)index;
	}
	register_table(asked, kinds, want, count);
}

static void
call(gex_Rank_t rank, gex_AM_Index_t index)
{
	int before = PT_GET(replies);
	gex_AM_Fn_t fn = registered[index].fn;
	char byte = 1;

	if (fn == (gex_AM_Fn_t)rep_short)
		return;
	if (fn == (gex_AM_Fn_t)req_short)
		PT_OK(gex_AM_RequestShort1(pt.tm, rank, index, 0, index));
	else if (fn == (gex_AM_Fn_t)req_medium)
		PT_OK(gex_AM_RequestMedium1(pt.tm, rank, index, &byte, 1, GEX_EVENT_NOW, 0, index));
	else
		PT_OK(gex_AM_RequestLong1(pt.tm, rank, index, NULL, 0, NULL, GEX_EVENT_NOW, 0,
		                          index));
	GASNET_BLOCKUNTIL(PT_GET(replies) != before);
}

int
main(int argc, char **argv)
{
	static const gex_AM_Index_t first[] = { 0, 200, 0, 255, 0, 254, 128 };
	static const gex_AM_Index_t first_want[] = { 253, 200, 252, 255, 251, 254, 128 };
	static const unsigned first_kinds[] = { 0, 1, 2, 3, 0, 1, 2 };
	static const gex_AM_Index_t second[] = { 0, 0, 250, 0 };
	static const gex_AM_Index_t second_want[] = { 249, 248, 250, 247 };
	static const unsigned second_kinds[] = { 1, 0, 2, 1 };
	unsigned called = 0;

	PT_LE(GEX_AM_INDEX_BASE, 128);
	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	PT_OK(gex_EP_RegisterHandlers(pt.ep, NULL, 0));
	register_table(first, first_kinds, first_want, PT_COUNT(first));
	register_table(second, second_kinds, second_want, PT_COUNT(second));
	pt_attach(NULL, 0, 1);
	pt_phase("rest of the indices after attach");
	register_rest();
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		for (unsigned index = GEX_AM_INDEX_BASE; index < 256; index++) {
			PT_CHECK(registered[index].fn != NULL);
			if (registered[index].fn != (gex_AM_Fn_t)rep_short)
				called++;
			call(rank, (gex_AM_Index_t)index);
		}
	}
	PT_EQ(PT_GET(replies), called);
	pt_barrier();
	PT_EQ(PT_GET(requests), called); /* as many from the others as to them */
	pt_finish();
}
