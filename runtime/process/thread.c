/*
 * State of the calling thread.  It is thread-local, and given back by a destructor when the thread
 * ends, so threads may come and go without end.
 */
#include "runtime/process/thread.h"
#include "runtime/process/process.h"

#include "runtime/util/deny.h"
#include "runtime/util/spinlock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_membarrier
#include <linux/membarrier.h>
#endif

/* NULL until the thread is counted.  On the heap: thread-local memory of a library that is opened
 * late is scarce. */
static _Thread_local struct psi_thread *self;
static _Atomic uint32_t thread_count;
static bool fence_on_count;             /* else each thread assumes that there are others */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/* Threads that wait for others of the process to end, and want no CPU. */
static _Atomic int32_t parked;

enum { PER_CPU_MOST = 1024 };

/* Ranks are taken to be alike.  A thread changes a number, and then comes here, so the last one in
 * finds the numbers as they are. */
void
psi_threads_note_crowd(void)
{
	static struct psi_spinlock lock;
	const int64_t cpus = psi.sharers_cpus ? psi.sharers_cpus : 1;
	int64_t all, per_cpu;

	psi_spinlock_lock(&lock);
	all = (int64_t)atomic_load_explicit(&thread_count, memory_order_relaxed) -
	      atomic_load_explicit(&parked, memory_order_relaxed);
	all = (all > 1 ? all : 1) * psi.sharers;
	per_cpu = (all + cpus - 1) / cpus;
	per_cpu = per_cpu < PER_CPU_MOST ? per_cpu : PER_CPU_MOST;
	atomic_store_explicit(&psi.threads_crowd, per_cpu > 1, memory_order_relaxed);
	atomic_store_explicit(&psi.ranks_per_cpu, per_cpu > 2 ? (uint32_t)per_cpu : 2,
	                      memory_order_relaxed);
	psi_spinlock_unlock(&lock);
}

void
psi_thread_park(int by)
{
	atomic_fetch_add_explicit(&parked, by, memory_order_relaxed);
	psi_threads_note_crowd();
}

static void
thread_ends(void *state)
{
	struct psi_thread *thread = state;

	for (const struct psi_module *const *at = psi.modules; at && *at; at++)
		if ((*at)->thread_ends)
			(*at)->thread_ends(thread);
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		free(thread->buffers[network]);
	if (psi.signal_stack_close)
		psi.signal_stack_close(thread->signal_stack);
	free(thread);
	self = NULL;
	atomic_fetch_sub_explicit(&thread_count, 1, memory_order_relaxed);
	psi_threads_note_crowd();
}

static void
thread_make_key(void)
{
	if (pthread_key_create(&end_key, thread_ends) != 0)
		psi_fatal("no pthread key left for the state of threads");
}

#ifdef SYS_membarrier
static bool
thread_membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

void
psi_threads_open(void)
{
	fence_on_count = !psi_denied("membarrier") &&
	                 thread_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

static void
thread_fence_others(void)
{
	if (fence_on_count)
		thread_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
void psi_threads_open(void) {}
static void
thread_fence_others(void)
{
}
#endif

static void __attribute__((noreturn))
too_many(uint32_t threads)
{
	if (psi.thread_mode == PSI_MODE_SEQ)
		psi_fatal("a second thread calls the library, which a program compiled with "
		          "GASNET_SEQ may not; compile it with GASNET_PARSYNC or GASNET_PAR");
	psi_fatal("%u threads call the library at once, GASNET_MAX_THREADS is %llu", threads,
	          (unsigned long long)gex_System_QueryMaxThreads());
}

/*
 * A thread counts itself before it first sleeps, and then makes all other threads fence.  A thread
 * that found no other counted has therefore written its condition before that fence, so the sleeper
 * sees it.
 */
static void
thread_count_in(void)
{
	uint32_t before = atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed);

	self = calloc(1, sizeof *self);
	if (!self)
		psi_fatal("no memory for the state of a thread");
	if (psi.signal_stack_open)
		self->signal_stack = psi.signal_stack_open();
	for (const struct psi_module *const *at = psi.modules; at && *at; at++)
		if ((*at)->thread_begins)
			(*at)->thread_begins(self);
	psi_threads_note_crowd();
	if (before >= gex_System_QueryMaxThreads())
		too_many(before + 1);
	pthread_once(&end_once, thread_make_key);
	pthread_setspecific(end_key, self);
	thread_fence_others(); /* D4_COUNT: pairs with D4_ORDER in psi_thread_others */
}

struct psi_thread *
psi_thread_self(void)
{
	if (PSI_UNLIKELY(!self))
		thread_count_in();
	return self;
}

struct psi_thread *
psi_thread_known(void)
{
	return self;
}

bool
psi_thread_others(void)
{
	/* Only the compiler's order is needed: thread_count_in makes all threads fence. */
	atomic_signal_fence(memory_order_seq_cst); /* D4_ORDER: pairs with D4_COUNT */
	return !fence_on_count ||
	       atomic_load_explicit(&thread_count, memory_order_relaxed) > (self != NULL);
}

void *
psi_thread_buffer(unsigned network, size_t len_bytes)
{
	struct psi_thread *thread = psi_thread_self();
	const size_t line = 64, rounded = (len_bytes + line - 1) / line * line + line;

	if (thread->buffer_bytes[network] < rounded) {
		free(thread->buffers[network]);
		thread->buffers[network] = aligned_alloc(line, rounded);
		thread->buffer_bytes[network] = thread->buffers[network] ? rounded : 0;
		if (!thread->buffers[network])
			psi_fatal("no memory for a message buffer of %zu bytes", rounded);
	}
	return thread->buffers[network];
}
