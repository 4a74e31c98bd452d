#include "tests/lib/pt_ranks.h"

#include "tests/lib/pt.h"

#ifdef GASNET_PAR

#include <penstock.h>

#include <setjmp.h>

int main(int argc, char **argv);

PT_OWN struct pt_job *pt_own;

static PT_OWN jmp_buf end_of_rank;
static char **arguments;
static int argument_count;
static pt_count skipped;

int
pt_is_thread(void)
{
	return pt_own != NULL;
}

static int
run_rank(gex_TM_t tm, void *unused)
{
	struct pt_job job = pt_process;
	int left;

	(void)unused;
	job.tm = tm;
	job.ep = gex_TM_QueryEP(tm);
	job.rank = gex_TM_QueryRank(tm);
	job.size = gex_TM_QuerySize(tm);
	pt_own = &job;
	left = setjmp(end_of_rank);
	if (!left) {
		main(argument_count, arguments);
		PT_FAIL("main returned without pt_finish");
	}
	if (left == 77)
		PT_SET(skipped, 1);
	free(job.peers);
	free(job.where);
	pt_own = NULL;
	return 0;
}

void
pt_ranks_start(int *argc, char ***argv)
{
	if (pst_ranks_per_process() == 1)
		return;
	argument_count = argc ? *argc : 0;
	arguments = argv ? *argv : NULL;
	PT_OK(pst_threads_run(pt_process.tm, 0, 0, NULL, 0, run_rank, NULL,
	                      getenv("PT_SERIAL") ? PST_FLAG_EP_SERIAL : 0));
	pt_barrier();
	gasnet_exit(PT_GET(skipped) ? 77 : 0);
}

/* setjmp gives no 0 back. */
void
pt_ranks_leave(int status)
{
	if (pt_own)
		longjmp(end_of_rank, status ? status : 1);
}

#else

int
pt_is_thread(void)
{
	return 0;
}

void
pt_ranks_start(int *argc, char ***argv)
{
	(void)argc, (void)argv;
}

void
pt_ranks_leave(int status)
{
	(void)status;
}

#endif

gex_TM_t
pt_pair(gex_Rank_t rank)
{
	return gex_TM_Pair(pt.ep, pt.where[rank].gex_ep_index);
}
