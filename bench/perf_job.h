/* The job: start, segments, orders, end. */
#ifndef PERF_JOB_H
#define PERF_JOB_H

#include <gasnetex.h>
#include <stddef.h>
#include <stdint.h>

enum perf_handler {
	PERF_ON_ORDER = GEX_AM_INDEX_BASE,
	PERF_ON_PLACE,
	PERF_ON_WHERE,
	PERF_ON_SHORT,
	PERF_ON_MEDIUM,
	PERF_ON_LONG,
	PERF_ON_PONG,
	PERF_ON_PONG_PAYLOAD,
	PERF_ON_STREAM_SHORT,
	PERF_ON_STREAM,
	PERF_ON_CREDIT,
	PERF_ON_TOKEN,
	PERF_ON_NEXT,
};

/* What all ranks do together when rank 0 says so. */
enum perf_order {
	PERF_END, PERF_BARRIERS, PERF_ROUNDS, PERF_STREAMS, PERF_ATOMICS, PERF_SIGNALS,
	PERF_COLLECTIVES, PERF_OVERLAPS
};

extern gex_TM_t perf_tm;
extern gex_Rank_t perf_rank, perf_ranks, perf_peer; /* peer: of rank 0; itself if alone */

/*
 * What a file needs of the job.  Any function may be NULL; all ranks call it.  perf_main.c has the
 * list of these records.
 */
struct perf_module {
	void (*register_handlers)(gex_EP_t ep);
	void (*open)(void);     /* when the segments are there */
	void (*close)(void);    /* after open */
	enum perf_order order;  /* that follow obeys */
	void (*follow)(unsigned count, size_t bytes);
};

/* The modules, up to a NULL. */
void perf_job_open(int *argc, char ***argv, const struct perf_module *const *modules);
void perf_job_attach(void);
_Noreturn void perf_job_close(int status); /* all ranks */
void perf_job_barriers(unsigned count);    /* all ranks */
void perf_job_order(enum perf_order order, unsigned count, size_t bytes); /* rank 0 */
void perf_job_follow(void);                /* the others; returns at PERF_END */
char *perf_inbox(gex_Rank_t rank);         /* PERF_MAX_BYTES each, as addresses there */
char *perf_outbox(void);

#endif
