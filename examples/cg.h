/*
 * cg: what its parts share.
 *
 *     cg_mtx*.[ch]  a Matrix Market file becomes a matrix; rank 0 only
 *     cg_comm.c     start, barrier, sum over all ranks, addresses of peers
 *     cg_rows.c     each rank gets its rows from rank 0
 *     cg_halo.c     each rank gets the entries of p that its rows need
 *     cg_solve.c    conjugate gradients
 *     cg_latency.c  what single operations cost
 */
#ifndef CG_H
#define CG_H

#include "cg_mtx.h"

#include <gasnetex.h>
#include <penstock.h>
#include <stddef.h>
#include <stdint.h>

enum cg_handler {
	ON_SUM_UP = GEX_AM_INDEX_BASE,
	ON_SUM_DOWN,
	ON_ROWS_COUNT,
	ON_ROWS_SLICE,
	ON_HALO_WANT,
	ON_HALO_KEPT,
	ON_HALO_DATA,
	ON_HALO_READY,
	ON_PING_SHORT,
	ON_PING_MEDIUM,
	ON_PING_LONG,
	ON_PONG,
};

/* ------------------------------------------------------------ cg_comm.c --- */

extern gex_TM_t comm_tm;
extern gex_Rank_t comm_rank, comm_ranks;

void comm_open(int *argc, char ***argv);
void comm_barrier(void);
double comm_sum(double mine); /* the same bits on every rank */
double comm_max(double mine);
double comm_dot(const double *a, const double *b, size_t len);
extern double comm_spent_us; /* in sums and exchanges, by this rank */

enum { COMM_INBOX_BYTES = 1 << 16 }; /* at the base of every segment, for measuring */

/* Every rank's segment: the inbox, then room for `doubles' numbers. */
void comm_attach(uint64_t doubles);
char *comm_inbox(gex_Rank_t rank); /* as an address there */
double *comm_room(gex_Rank_t rank);

#ifdef __GNUC__
#define COMM_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define COMM_PRINTF
#endif

/* All ranks together: rank 0 prints the reason, if there is one, and the job ends. */
_Noreturn void comm_end(int status, const char *format, ...) COMM_PRINTF;
/* One rank alone. */
_Noreturn void comm_fail(int status, const char *format, ...) COMM_PRINTF;

/* ------------------------------------------------------------ cg_rows.c --- */

/* Rows [first, first + count) of the matrix. */
struct rows {
	uint32_t all, first, count;
	uint64_t entries;
	uint32_t *len; /* entries of each row */
	uint32_t *col; /* global number; after halo_open: index into p */
	double *val;
};

uint32_t rows_first(uint32_t all, gex_Rank_t rank); /* of rank `comm_ranks': all */
gex_Rank_t rows_owner(uint32_t all, uint32_t row);

void rows_register(gex_EP_t ep);
void rows_open(struct rows *rows_out, const struct mtx *mtx); /* mtx: rank 0 only */
void rows_close(struct rows *rows);

/* ------------------------------------------------------------ cg_halo.c --- */

enum halo_way { HALO_SIGNAL, HALO_PUT, HALO_LONG, HALO_WAYS };

struct halo_sink;

/*
 * The vector p lives in the segment: the rank's own part, then the foreign
 * entries that its rows need, written there by their owners.
 */
struct halo {
	double *p;
	uint32_t own, foreign;
	unsigned pieces;         /* transfers that fill the foreign part */
	struct halo_sink *sinks; /* what we send, a list */
	enum halo_way way;
};

void halo_register(gex_EP_t ep);
void halo_open(struct halo *halo_out, struct rows *rows, enum halo_way way);
void halo_close(struct halo *halo);
void halo_attach(void); /* all ranks, and likewise: */
void halo_detach(void);

/*
 * Send our part of p and get the foreign part.  Between two calls all ranks meet
 * in a comm_sum or a barrier: after it, nobody needs the old values any more.
 */
void halo_exchange(struct halo *halo);

/* ----------------------------------------------------------- cg_solve.c --- */

enum cg_end { CG_CONVERGED, CG_INDEFINITE, CG_OVERFLOW, CG_TOO_LONG };

struct cg_result {
	enum cg_end end;
	unsigned iterations;
	double residual; /* |b - A x| / |b|, by the recurrence */
	double error;    /* largest difference to the known answer */
	double seconds;
	double comm_seconds; /* of these in sums and exchanges; both on average */
};

/* Solve A x = A 1. */
void cg_solve(const struct rows *rows, struct halo *halo, double tolerance,
              struct cg_result *result_out);

/* --------------------------------------------------------- cg_latency.c --- */

void latency_register(gex_EP_t ep);
void latency_print(void);
double now_us(void);

#endif
