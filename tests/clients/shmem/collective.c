/* Barrier, broadcast and sum, made of puts, gets and GASNet's barrier. */
#include "inside.h"

void
shmem_barrier_all(void)
{
	gasnet_wait_syncnbi_all();
	gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
	GASNET_TRY(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
}

/* Down a binomial tree: whoever has the data hands it on to the PE `distance' further. */
void
shmem_broadcast(void *target, const void *source, size_t bytes, int root)
{
	int count = shmem_n_pes(), me = (shmem_my_pe() - root + count) % count, distance;
	const void *from = me == 0 ? source : target;

	for (distance = 1; distance < count; distance *= 2) {
		shmem_barrier_all();
		if (me < distance && me + distance < count)
			shmem_putmem(target, from, bytes, (me + distance + root) % count);
	}
	shmem_barrier_all();
}

/* Everybody adds up everybody's numbers. */
void
shmem_int64_sum(int64_t *target, const int64_t *source, size_t count)
{
	int64_t *others = malloc(count * sizeof(*others));
	size_t i;
	int pe;

	if_pf(others == NULL) gasnett_fatalerror("no memory for %lu numbers", (unsigned long)count);
	memset(target, 0, count * sizeof(*target));
	shmem_barrier_all();
	for (pe = 0; pe < shmem_n_pes(); pe++) {
		shmem_getmem(others, source, count * sizeof(*others), pe);
		for (i = 0; i < count; i++)
			target[i] += others[i];
	}
	shmem_barrier_all();
	free(others);
}
