/*
 * penstock-perf: what its parts share.
 *
 *     perf_main.c       the table of subcommands, help
 *     perf_options.c    the command line
 *     perf_job.c        start and end; rank 0 gives orders, the others follow them
 *     perf_plan.c       kinds of operations by size
 *     perf_message.c    active messages there and back, and streams of them
 *     perf_sample.c     batches, least and middle value
 *     perf_report.c     table, CSV, progress line
 *     perf_place.c      where ranks 0 and 1 run
 *     perf_<name>.c     the subcommand of that name
 */
#ifndef PERF_H
#define PERF_H

#include <gasnetex.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------- perf_options.c --- */

enum { PERF_LIST = 64 };

struct perf_options {
	double secs; /* per figure */
	int csv, progress, help;
	const char *kinds;           /* comma separated; NULL: all */
	size_t sizes[PERF_LIST + 1]; /* up to a 0; none: the subcommand's own */
	unsigned ranks[PERF_LIST];
	unsigned rank_count;
	const char *launcher;
	char error[128]; /* empty: the command line is good */
};

void perf_options_parse(struct perf_options *options_out, int argc, char **argv);
int perf_options_want(const struct perf_options *options, const char *kind);
int perf_list_has(const char *list, const char *word, size_t len);

/* ------------------------------------------------------- perf_report.c --- */

/* One figure; times are nanoseconds per operation. */
struct perf_point {
	const char *bench, *kind;
	size_t bytes;
	unsigned ranks;
	unsigned samples;
	double min_ns, median_ns;
};

/* How a subcommand's table looks; the CSV is the same for all. */
struct perf_style {
	const char *unit; /* of the times */
	double ns_per_unit;
	const char *rate; /* heading of one more column, or NULL */
	double (*rate_of)(const struct perf_point *point);
};

void perf_report_begin(const char *bench, const struct perf_style *style,
                       const struct perf_options *options, unsigned figures);
void perf_report_now(const char *kind, size_t bytes); /* the progress line */
void perf_report_add(const struct perf_point *point);
void perf_report_end(void);

double perf_mb_per_s(const struct perf_point *point);
double perf_m_per_s(const struct perf_point *point);

/* ------------------------------------------------------- perf_sample.c --- */

double perf_now_ns(void); /* by the ticks of gasnet_tools.h */

/*
 * Does `count' operations and returns the nanoseconds they took.  Called with
 * growing counts until a batch is long enough for the clock, then with that count
 * until the time for the figure is over.
 */
typedef double perf_batch_fn(const struct perf_point *point, unsigned count);

/* The middle value; sorts them. */
double perf_median(double *values, unsigned n);

/* Fills in samples, min_ns and median_ns; sorts the values. */
void perf_summarise(struct perf_point *point, double *values_ns, unsigned n);

/* The same from batches. */
void perf_sample(struct perf_point *point, perf_batch_fn *batch, double secs, double batch_ns);

/* ---------------------------------------------------------- perf_job.c --- */

enum {
	PERF_MAX_BYTES = 4 << 20,            /* of one transfer */
	PERF_BATCH_NS = 250 * 1000,          /* many times the cost of an order */
	PERF_CROWDED_BATCH_NS = 5000 * 1000, /* some time slices */
};

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
enum perf_order { PERF_END, PERF_BARRIERS, PERF_ROUNDS, PERF_STREAMS, PERF_ATOMICS, PERF_SIGNALS };

extern gex_TM_t perf_tm;
extern gex_Rank_t perf_rank, perf_ranks, perf_peer; /* peer: of rank 0; itself if alone */

void perf_job_open(int *argc, char ***argv);
void perf_job_attach(void);
_Noreturn void perf_job_close(int status);                                /* all ranks */
void perf_job_order(enum perf_order order, unsigned count, size_t bytes); /* rank 0 */
void perf_job_follow(void);        /* the others; returns at PERF_END */
char *perf_inbox(gex_Rank_t rank); /* PERF_MAX_BYTES each, as addresses there */
char *perf_outbox(void);

/* Measures and reports one figure; rank 0. */
void perf_job_measure(const struct perf_options *options, const char *bench, const char *kind,
                      size_t bytes, perf_batch_fn *batch);

/* --------------------------------------------------------- perf_plan.c --- */

struct perf_kind {
	const char *name;
	perf_batch_fn *batch;
	size_t (*most)(void); /* NULL: any size */
	int sized;
};

/* All kinds (up to one without a name) with all sizes (up to a 0). */
void perf_plan_run(const char *bench, const struct perf_kind *kinds, const size_t *sizes,
                   const struct perf_style *style, const struct perf_options *options);

/* ------------------------------------------------------ perf_message.c --- */

void perf_message_register(gex_EP_t ep);
size_t perf_most_medium(void);
size_t perf_most_long(void);
void perf_short(size_t bytes); /* there and back */
void perf_medium(size_t bytes);
void perf_long(size_t bytes);

/* Streams: at most a window under way; each returns when all have arrived. */
void perf_stream_short(gex_Rank_t rank, unsigned count);
void perf_stream_medium(gex_Rank_t rank, unsigned count, size_t bytes);
void perf_stream_long(gex_Rank_t rank, unsigned count, size_t bytes);
extern volatile unsigned perf_stream_received;

/* A program that writes a payload and reads one, a byte per cache line. */
void perf_dirty(char *buf, size_t bytes);
void perf_consume(const void *buf, size_t bytes);

/* -------------------------------------------------------- perf_place.c --- */

struct perf_place {
	const char *word; /* self crowded same-cpu smt near far unknown */
	int pinned, cpus;
	int cpu[2]; /* of ranks 0 and 1 */
};

void perf_place_register(gex_EP_t ep);
void perf_place_find(void);          /* all ranks */
void perf_place_again(void);         /* rank 0, while the others wait for orders */
extern struct perf_place perf_place; /* known to rank 0 */

/* --------------------------------------------------------- subcommands --- */

struct perf_command {
	const char *name, *summary;
	const char *kinds;                              /* comma separated, or NULL */
	const char *sizes;                              /* the usual ones, for the help, or NULL */
	int alone;                                      /* no job; perhaps starts some itself */
	int (*run)(const struct perf_options *options); /* on rank 0 */
};

int perf_latency(const struct perf_options *options);
int perf_bandwidth(const struct perf_options *options);
int perf_strided(const struct perf_options *options);
int perf_rate(const struct perf_options *options);
int perf_ring(const struct perf_options *options);
int perf_atomic(const struct perf_options *options);
int perf_signal(const struct perf_options *options);
int perf_startup(const struct perf_options *options);
int perf_idle(const struct perf_options *options);
int perf_tools(const struct perf_options *options);

void perf_ring_register(gex_EP_t ep);
void perf_ring_go(unsigned rounds); /* all ranks */
void perf_barriers(unsigned count); /* all ranks */
void perf_atomic_open(void);        /* all ranks */
void perf_signal_register(gex_EP_t ep);
void perf_signal_open(void);                    /* all ranks */
void perf_signal_close(void);                   /* all ranks */
void perf_signal_go(unsigned count, size_t order); /* all ranks */
void perf_atomic_together(unsigned count, int is_plain); /* all ranks */

#endif
