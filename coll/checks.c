#include "coll/checks.h"

void
pcoll_root_bad(gex_TM_t tm, gex_Rank_t root, const char *call)
{
	psi_fatal("%s: root is %u, and the team has %u members; pass a rank of the team", call,
	          root, tm->size);
}

void
pcoll_check_apart(const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                  ptrdiff_t in_place, const char *call)
{
	const uintptr_t to = (uintptr_t)dst, from = (uintptr_t)src;

	if (!dst_bytes || !src_bytes || from == to + (uintptr_t)in_place)
		return;
	if (PSI_LIKELY(to >= from + src_bytes || from >= to + dst_bytes))
		return;
	if (in_place == PCOLL_NEVER_IN_PLACE)
		psi_fatal("%s: dst %p and src %p of %zu bytes overlap; pass memory apart", call,
		          dst, src, src_bytes);
	psi_fatal("%s: dst %p and src %p of %zu bytes overlap; pass the same address twice, or "
	          "memory apart", call, dst, src, src_bytes);
}

void
pcoll_check_aligned(const void *dst, const void *src, size_t elem_bytes, const char *call)
{
	if (PSI_UNLIKELY(psi.checks && elem_bytes &&
	                 ((uintptr_t)src | (uintptr_t)dst) % elem_bytes != 0))
		psi_fatal(
			"%s: dst %p or src %p is not aligned for elements of %zu bytes; align them",
			call, dst, src, elem_bytes);
}

/* -- reductions -------------------------------------------------------------------------------- */

static bool
op_is_user(gex_OP_t op)
{
	return op == GEX_OP_USER || op == GEX_OP_USER_NC;
}

static void
reduction_check_type(const struct pcoll_reduce_args *args, bool extended, const char *call)
{
	const bool known = extended || args->dt <= GEX_DT_USER;
	const size_t bytes = known ? pcoll_type_bytes(args->dt) : 0;

	if (PSI_UNLIKELY(!bytes && args->dt != GEX_DT_USER))
		psi_fatal("%s: dt 0x%x is no type; pass one of GEX_DT_*%s", call, args->dt,
		          extended ? " or PST_DT_*" : "");
	if (PSI_UNLIKELY(!bytes && !args->dt_sz))
		psi_fatal("%s: dt_sz is 0, and the type has at least one byte; pass its sizeof",
		          call);
	if (PSI_UNLIKELY(bytes && args->dt_sz != bytes))
		psi_fatal("%s: dt_sz is %zu, and the type has %zu bytes; pass its sizeof", call,
		          args->dt_sz, bytes);
	if (PSI_UNLIKELY((!extended && !args->dt_cnt) ||
	                 !psi_fits_memory(args->dt_cnt, args->dt_sz)))
		psi_fatal("%s: dt_cnt is %zu elements of %zu bytes; pass %sno more than fit in "
		          "memory",
		          call, args->dt_cnt, args->dt_sz, extended ? "" : "at least one, and ");
}

/* Returns the function that combines; NULL: the client's does. */
static pcoll_kernel_fn
reduction_check_op(const struct pcoll_reduce_args *args, bool extended, const char *call)
{
	pcoll_kernel_fn kernel;

	if (op_is_user(args->op)) {
		if (PSI_UNLIKELY(!args->user_op))
			psi_fatal("%s: user_op is NULL, and op is the user's; pass a function",
			          call);
		return NULL;
	}
	kernel = pcoll_builtin(args->dt, args->op);
	if (PSI_UNLIKELY((!extended && args->op & (PST_OP_LAND | PST_OP_LOR)) || !kernel))
		psi_fatal(
			"%s: op 0x%x cannot reduce type 0x%x; pass ADD, MULT, MIN or MAX, "
			"with integers also AND, OR or XOR, else GEX_OP_USER",
			call, args->op, args->dt);
	return kernel;
}

struct pcoll_reduction
pcoll_check_reduction(const struct pcoll_reduce_args *args, bool extended, const char *call)
{
	reduction_check_type(args, extended, call);
	return (struct pcoll_reduction){
		.elem_bytes = args->dt_sz,
		.kernel = reduction_check_op(args, extended, call),
		.combine = args->user_op,
		.cdata = args->user_cdata,
		.ordered = args->op == GEX_OP_USER_NC,
		.key = args->op ^ args->dt << PCOLL_KEY_OP_BITS,
	};
}
