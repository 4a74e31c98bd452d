/*
 * ring: a token round all ranks, through their programs; the time of one hop.
 * With more ranks than CPUs it shows how the library gives way.
 */
#include "perf_commands.h"
#include "perf_plan.h"

static volatile unsigned tokens;

static void
on_token(gex_Token_t token)
{
	(void)token;
	tokens++;
}

static void
ring_register(gex_EP_t ep)
{
	gex_AM_Entry_t table[] = {
		{ PERF_ON_TOKEN, (gex_AM_Fn_t)on_token, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "token" },
	};

	gex_EP_RegisterHandlers(ep, table, 1);
}

static void
ring_go(unsigned rounds, size_t bytes)
{
	static unsigned awaited;
	gex_Rank_t next = (perf_rank + 1) % perf_ranks;

	(void)bytes;
	while (rounds-- > 0) {
		if (perf_rank == 0)
			gex_AM_RequestShort0(perf_tm, next, PERF_ON_TOKEN, 0);
		awaited++;
		GASNET_BLOCKUNTIL(tokens == awaited);
		if (perf_rank != 0)
			gex_AM_RequestShort0(perf_tm, next, PERF_ON_TOKEN, 0);
	}
}

const struct perf_module perf_ring_module = {
	.register_handlers = ring_register, .order = PERF_ROUNDS, .follow = ring_go,
};

/* One more round before the clock starts, in which the order reaches all. */
static double
batch_ring(const struct perf_point *point, unsigned count)
{
	double start;

	(void)point;
	perf_job_order(PERF_ROUNDS, count + 1, 0);
	ring_go(1, 0);
	start = perf_now_ns();
	ring_go(count, 0);
	return (perf_now_ns() - start) / perf_ranks;
}

int
perf_ring(const struct perf_options *options)
{
	static const struct perf_kind kinds[] = { { "hop", batch_ring, NULL, 0 }, { 0 } };
	static const struct perf_style style = { "ns", 1, NULL, NULL };
	static const size_t sizes[] = { 0 };

	perf_plan_run("ring", kinds, sizes, &style, options);
	return 0;
}
