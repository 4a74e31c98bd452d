/*
 * Conjugate gradients.
 *
 * x, r and q are plain memory of the rank; p lies where the others can write its
 * foreign part.  Two sums over all ranks per iteration: they are also what keeps
 * one exchange of p apart from the next.
 */
#include "cg.h"

#include <math.h>
#include <stdlib.h>

struct vectors {
	double *x, *r, *q, *p;
	uint32_t len;
};

static void
vectors_open(struct vectors *v, const struct rows *rows, const struct halo *halo)
{
	size_t room = (size_t)rows->count + 1;

	v->len = rows->count;
	v->p = halo->p;
	v->x = calloc(room, sizeof *v->x);
	v->r = calloc(room, sizeof *v->r);
	v->q = calloc(room, sizeof *v->q);
	if (v->x == NULL || v->r == NULL || v->q == NULL)
		comm_fail(1, "rank %u: no memory for %u rows", (unsigned)comm_rank,
		          (unsigned)rows->count);
}

static void
vectors_close(struct vectors *v)
{
	free(v->x);
	free(v->r);
	free(v->q);
}

/* out = A p */
static void
multiply(const struct rows *rows, struct halo *halo, double *out)
{
	const uint32_t *col = rows->col;
	const double *val = rows->val;
	uint32_t row, end;

	halo_exchange(halo);
	for (row = 0; row < rows->count; row++) {
		double sum = 0;

		for (end = rows->len[row]; end > 0; end--)
			sum += *val++ * halo->p[*col++];
		out[row] = sum;
	}
}

/* r = b = A 1, x = 0; returns 1'A 1, which no positive definite A makes <= 0. */
static double
start(struct vectors *v, const struct rows *rows, struct halo *halo)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < v->len; i++)
		v->p[i] = 1;
	multiply(rows, halo, v->r);
	for (i = 0; i < v->len; i++)
		sum += v->r[i];
	return comm_sum(sum);
}

/* One iteration; returns the new r'r, -1 if A is not definite. */
static double
iterate(struct vectors *v, const struct rows *rows, struct halo *halo, double rr)
{
	double alpha, beta, curvature, rr_new;
	uint32_t i;

	multiply(rows, halo, v->q);
	curvature = comm_dot(v->p, v->q, v->len);
	if (curvature <= 0)
		return -1;
	alpha = rr / curvature;
	for (i = 0; i < v->len; i++) {
		v->x[i] += alpha * v->p[i];
		v->r[i] -= alpha * v->q[i];
	}
	rr_new = comm_dot(v->r, v->r, v->len);
	beta = rr_new / rr;
	for (i = 0; i < v->len; i++)
		v->p[i] = v->r[i] + beta * v->p[i];
	return rr_new;
}

static enum cg_end
run(struct vectors *v, const struct rows *rows, struct halo *halo, double tolerance,
    struct cg_result *result)
{
	double rr, norm;
	uint32_t i;

	if (start(v, rows, halo) <= 0)
		return CG_INDEFINITE;
	for (i = 0; i < v->len; i++)
		v->p[i] = v->r[i];
	rr = comm_dot(v->r, v->r, v->len);
	norm = sqrt(rr);
	for (result->residual = 1; result->residual > tolerance; result->iterations++) {
		if (result->iterations == 10 * (uint64_t)rows->all)
			return CG_TOO_LONG;
		rr = iterate(v, rows, halo, rr);
		if (!isfinite(rr))
			return CG_OVERFLOW;
		if (rr < 0)
			return CG_INDEFINITE;
		result->residual = sqrt(rr) / norm;
	}
	return CG_CONVERGED;
}

static double
largest_error(const struct vectors *v)
{
	double error = 0;
	uint32_t i;

	for (i = 0; i < v->len; i++)
		error = fmax(error, fabs(v->x[i] - 1));
	return comm_max(error);
}

void
cg_solve(const struct rows *rows, struct halo *halo, double tolerance, struct cg_result *result_out)
{
	struct cg_result result = { 0 };
	struct vectors v;
	double begin, spent;

	vectors_open(&v, rows, halo);
	comm_sum(0); /* all begin together */
	begin = now_us();
	spent = comm_spent_us;
	result.end = run(&v, rows, halo, tolerance, &result);
	spent = comm_spent_us - spent;
	result.seconds = comm_sum(now_us() - begin) / comm_ranks / 1e6;
	result.comm_seconds = comm_sum(spent) / comm_ranks / 1e6;
	result.error = largest_error(&v);
	vectors_close(&v);
	*result_out = result;
}
