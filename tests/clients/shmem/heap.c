/* Start, end and the symmetric heap: each PE's segment, cut in the same way everywhere. */
#include "inside.h"

#define ALIGNMENT ((size_t)64)

static gasnet_seginfo_t *segments;
static gasnet_nodeinfo_t *nodes;
static size_t heap_used;
static void *heap_last;

/* Headers define what not every client calls; taking the address keeps compilers quiet. */
static const void *const unused_functions[] = {
	(const void *)&_gasnett_trace_printf_noop,
#if GASNET_PAR
	(const void *)&_gasneti_threadkey_init,
#endif
};

static uintptr_t
heap_size(void)
{
	uint64_t wanted =
		(uint64_t)gasnett_getenv_int_withdefault("SHMEM_SYMMETRIC_SIZE", 8 << 20, 1);
	uint64_t pages = (wanted + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;

	return MIN((uintptr_t)(pages * GASNET_PAGESIZE), gasnet_getMaxGlobalSegmentSize());
}

void
shmem_init(int *argc, char ***argv)
{
	size_t i;

	for (i = 0; i < sizeof(unused_functions) / sizeof(unused_functions[0]); i++)
		if_pf(unused_functions[i] == NULL)
			gasnett_fatalerror("a function of the tools has no address");
	GASNET_TRY(gasnet_init(argc, argv));
	GASNET_TRY(gasnet_attach(atomic_handlers, ATOMIC_HANDLERS, heap_size(), 0));
	segments = calloc(gasnet_nodes(), sizeof(*segments));
	nodes = calloc(gasnet_nodes(), sizeof(*nodes));
	if_pf(segments == NULL || nodes == NULL)
		gasnett_fatalerror("no memory for %u PEs", (unsigned)gasnet_nodes());
	GASNET_TRY(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()));
	GASNET_TRY(gasnet_getNodeInfo(nodes, (int)gasnet_nodes()));
	shmem_barrier_all();
}

void
shmem_finalize(void)
{
	shmem_barrier_all();
	free(nodes);
	free(segments);
	gasnet_exit(0);
}

int
shmem_my_pe(void)
{
	return (int)gasnet_mynode();
}

int
shmem_n_pes(void)
{
	return (int)gasnet_nodes();
}

void *
heap_translate(const void *local, int pe)
{
	size_t offset = (size_t)((const char *)local - (char *)segments[gasnet_mynode()].addr);

	return (char *)segments[pe].addr + offset;
}

/* What was allocated last can be given back; a real SHMEM would do better. */
void *
shmem_malloc(size_t bytes)
{
	size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	gasnet_seginfo_t *mine = &segments[gasnet_mynode()];

	shmem_barrier_all();
	if_pf(rounded < bytes || rounded > mine->size - heap_used) return NULL;
	heap_last = (char *)mine->addr + heap_used;
	heap_used += rounded;
	return heap_last;
}

void
shmem_free(void *memory)
{
	shmem_barrier_all();
	if (memory == heap_last)
		heap_used = (size_t)((char *)memory - (char *)segments[gasnet_mynode()].addr);
}

void *
shmem_ptr(const void *target, int pe)
{
	if (nodes[pe].supernode != nodes[gasnet_mynode()].supernode)
		return NULL;
#if GASNET_PSHM
	return (void *)((uintptr_t)heap_translate(target, pe) + nodes[pe].offset);
#else
	return heap_translate(target, pe);
#endif
}
