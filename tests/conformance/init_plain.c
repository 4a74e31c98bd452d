/* A client without legacy support and without progress threads of its own. */
#include "tests/lib/pt.h"

int
main(int argc, char **argv)
{
	const gex_ProgressThreadInfo_t *info = NULL;
	unsigned count = 0;
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;

	pt_prepare(argv);
#if GASNET_NULL_ARGV_OK
	(void)argc;
	PT_OK(gex_Client_Init(&client, &ep, &tm, "lower case is fine", NULL, NULL, 0));
#else
	PT_OK(gex_Client_Init(&client, &ep, &tm, "lower case is fine", &argc, &argv, 0));
#endif
	pt_adopt(client, ep, tm);
	PT_STR(gex_Client_QueryName(client), "lower case is fine");
	PT_EQ(gex_Client_QueryFlags(client), 0);
	gex_System_SetVerboseErrors(0);
	PT_EQ(gex_System_QueryProgressThreads(client, &count, &info, 0), GASNET_ERR_RESOURCE);
	gex_System_SetVerboseErrors(1);
	PT_CHECK(gex_TM_QueryRank(tm) == pt.rank);
	pt_finish();
}
