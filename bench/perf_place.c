/*
 * Where ranks 0 and 1 run: two threads of one core, two cores of one cache, or
 * further apart.  What a message costs depends on this more than on anything
 * else, so every table says it.
 */
#include "perf_place.h"
#include "perf_sample.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct perf_place perf_place = { .word = "unknown", .cpu = { -1, -1 } };

static volatile int cpu_of_peer = -1, allowed_of_peer;
static volatile unsigned came;

static void
on_place(gex_Token_t token, gex_AM_Arg_t cpu, gex_AM_Arg_t allowed)
{
	(void)token;
	cpu_of_peer = cpu;
	allowed_of_peer = allowed;
	came++;
}

static int allowed_cpus(void);

static void
on_where(gex_Token_t token)
{
	gex_AM_ReplyShort2(token, PERF_ON_PLACE, 0, sched_getcpu(), allowed_cpus());
}

static void
place_register(gex_EP_t ep)
{
	gex_AM_Entry_t table[] = {
		{ PERF_ON_WHERE, (gex_AM_Fn_t)on_where, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "where" },
		{ PERF_ON_PLACE, (gex_AM_Fn_t)on_place, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2,
		  NULL, "place" },
	};

	gex_EP_RegisterHandlers(ep, table, 2);
}

const struct perf_module perf_place_module = { .register_handlers = place_register };

static int
allowed_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Is cpu in a list like 0-3,8 of a file below the directory of another CPU? */
static int
cpu_is_listed(int cpu, const char *what, int other)
{
	char path[128], text[1024];
	const char *p = text;
	FILE *file;
	size_t len;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", other, what);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	len = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[len] = '\0';
	while (*p >= '0' && *p <= '9') {
		char *end;
		long from = strtol(p, &end, 10),
		     to = *end == '-' ? strtol(end + 1, &end, 10) : from;

		if (cpu >= from && cpu <= to)
			return 1;
		p = *end == ',' ? end + 1 : end;
	}
	return 0;
}

static int
cpus_share_cache(int a, int b)
{
	char what[48];
	int level;

	for (level = 1; level < 8; level++) {
		snprintf(what, sizeof what, "cache/index%d/shared_cpu_list", level);
		if (cpu_is_listed(a, what, b))
			return 1;
	}
	return 0;
}

static const char *
cpus_relation(int a, int b)
{
	if (a == b)
		return "same-cpu";
	if (cpu_is_listed(a, "topology/thread_siblings_list", b))
		return "smt";
	return cpus_share_cache(a, b) ? "near" : "far";
}

static void
place_judge(int cpu, int allowed)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	perf_place.cpus = allowed > 1 ? allowed : (int)online;
	perf_place.cpu[0] = cpu;
	perf_place.cpu[1] = cpu_of_peer;
	perf_place.pinned = allowed == 1 && allowed_of_peer == 1;
	if (perf_ranks == 1)
		perf_place.word = "self";
	else if ((int)perf_ranks > perf_place.cpus)
		perf_place.word = "crowded";
	else if (cpu >= 0 && cpu_of_peer >= 0)
		perf_place.word = cpus_relation(cpu, cpu_of_peer);
}

/* Where both are now. */
static void
place_look(void)
{
	came = 0;
	gex_AM_RequestShort0(perf_tm, perf_peer, PERF_ON_WHERE, 0);
	GASNET_BLOCKUNTIL(came == 1);
	place_judge(sched_getcpu(), allowed_cpus());
}

static int
may_move(void)
{
	return perf_ranks > 1 && !perf_place.pinned && (int)perf_ranks <= perf_place.cpus;
}

/*
 * Both often start on one CPU.  The kernel moves one of them when it sees that both have work,
 * which asking gives them.
 */
void
perf_place_find(void)
{
	enum { LOOKS = 8 };
	const double settled_ns = 20e6, start = perf_now_ns();
	unsigned looks = 0;

	gex_Event_Wait(gex_Coll_BarrierNB(perf_tm, 0)); /* all have the handler */
	if (perf_rank != 0)
		return;
	do
		place_look();
	while (may_move() && (++looks < LOOKS || perf_now_ns() - start < settled_ns));
}

void
perf_place_again(void)
{
	if (may_move())
		place_look();
}
