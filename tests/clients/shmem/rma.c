/* Puts, gets, and waiting for them. */
#include "inside.h"

void
shmem_putmem(void *target, const void *source, size_t bytes, int pe)
{
	gasnet_put_bulk((gasnet_node_t)pe, heap_translate(target, pe), source, bytes);
}

void
shmem_getmem(void *target, const void *source, size_t bytes, int pe)
{
	gasnet_get_bulk(target, (gasnet_node_t)pe, heap_translate(source, pe), bytes);
}

void
shmem_putmem_nbi(void *target, const void *source, size_t bytes, int pe)
{
	gasnet_put_nbi_bulk((gasnet_node_t)pe, heap_translate(target, pe), source, bytes);
}

void
shmem_getmem_nbi(void *target, const void *source, size_t bytes, int pe)
{
	gasnet_get_nbi_bulk(target, (gasnet_node_t)pe, heap_translate(source, pe), bytes);
}

void
shmem_int64_p(int64_t *target, int64_t value, int pe)
{
	gasnet_put_val((gasnet_node_t)pe, heap_translate(target, pe),
	               (gasnet_register_value_t)value, sizeof(value));
}

int64_t
shmem_int64_g(const int64_t *source, int pe)
{
	return (int64_t)gasnet_get_val((gasnet_node_t)pe, heap_translate(source, pe),
	                               sizeof(*source));
}

void
shmem_int64_iput(int64_t *target, const int64_t *source, ptrdiff_t target_step,
                 ptrdiff_t source_step, size_t count, int pe)
{
	int64_t *remote = heap_translate(target, pe);
	gasnet_handle_t all;
	ptrdiff_t i;

	gasnet_begin_nbi_accessregion();
	for (i = 0; i < (ptrdiff_t)count; i++)
		gasnet_put_nbi_val((gasnet_node_t)pe, remote + i * target_step,
		                   (gasnet_register_value_t)source[i * source_step],
		                   sizeof(*source));
	all = gasnet_end_nbi_accessregion();
	gasnet_wait_syncnb(all);
}

void
shmem_int64_iget(int64_t *target, const int64_t *source, ptrdiff_t target_step,
                 ptrdiff_t source_step, size_t count, int pe)
{
	int64_t *remote = heap_translate(source, pe);
	ptrdiff_t i;

	for (i = 0; i < (ptrdiff_t)count; i++)
		gasnet_get_nbi(target + i * target_step, (gasnet_node_t)pe,
		               remote + i * source_step, sizeof(*target));
	gasnet_wait_syncnbi_gets();
}

void
shmem_quiet(void)
{
	gasnet_wait_syncnbi_all();
	gasnett_local_mb();
}

/* Others write the flag by puts, which no handler announces: so this polls. */
void
shmem_int64_wait_until(volatile int64_t *flag, enum shmem_compare compare, int64_t value)
{
	while (compare == SHMEM_CMP_EQ ? *flag != value : *flag < value) {
		GASNET_TRY(gasnet_AMPoll());
		gasnett_sched_yield();
	}
	gasnett_local_rmb();
}
