/* Deferred progress threads: the query, its errors, and running what it lists. */
#include "tests/lib/pt.h"

#include <pthread.h>

int
main(int argc, char **argv)
{
	const gex_ProgressThreadInfo_t *info = NULL;
	unsigned count = 77;

	setenv("GASNET_RCV_THREAD", "1", 1);
	pt_init(&argc, &argv, GEX_FLAG_DEFER_THREADS);
	PT_EQ(gex_Client_QueryFlags(pt.client), GEX_FLAG_DEFER_THREADS);
	gex_System_SetVerboseErrors(0);
	PT_EQ(gex_System_QueryProgressThreads(pt.client, NULL, &info, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_System_QueryProgressThreads(pt.client, &count, NULL, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_System_QueryProgressThreads(pt.client, &count, &info, GEX_FLAG_IMMEDIATE),
	      GASNET_ERR_BAD_ARG);
	PT_OK(gex_System_QueryProgressThreads(pt.client, &count, &info, 0));
#ifdef GASNET_PAR
	PT_EQ(count, 1);
#else
	PT_EQ(count, 0);
#endif
	PT_CHECK(GEX_THREAD_ROLE_RCV != 0 && GEX_THREAD_ROLE_SND != 0);
	PT_EQ(GEX_THREAD_ROLE_RCV & GEX_THREAD_ROLE_SND, 0);
	for (unsigned i = 0; i < count; i++) {
		pthread_t id;

		PT_CHECK(info[i].gex_device_list != NULL);
		PT_CHECK(info[i].gex_thread_roles & (GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND));
		PT_EQ(pthread_create(&id, NULL, info[i].gex_progress_fn, info[i].gex_progress_arg),
		      0);
	}
	if (!gex_System_QueryHiddenAMConcurrencyLevel())
		for (unsigned i = 0; i < count; i++)
			PT_EQ(info[i].gex_thread_roles & GEX_THREAD_ROLE_RCV, 0);
	pt_attach(NULL, 0, 1);
	pt_finish();
}
