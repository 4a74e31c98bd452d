#include "tests/unit/sysvnet_rig.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATTERN_STARTS = 4096 };

void (*rig_before_copy)(void);
bool rig_has_further;

/* The rig that is being opened: the callbacks have no argument that could say so. */
static struct rig *opening;
static const struct rig_options *opening_as;
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

/* How often ranks came to agree, all together; each rank for itself. */
static _Atomic uint32_t arrivals;
static _Thread_local uint32_t agreements;

static void
die(const char *what)
{
	fprintf(stderr, "rig: %s\n", what);
	abort();
}

/* ------------------------------------------------------------------------- callbacks --- */

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void
map_arena(struct rig *rig, size_t len_bytes)
{
	void *at = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		die("no memory for the arena");
	rig->arena = at;
	rig->arena_bytes = len_bytes;
}

/* All ranks get the same mapping. */
static void *
arena_of(struct rig *rig)
{
	pthread_mutex_lock(&arena_lock);
	if (!rig->arena)
		map_arena(rig, sysvnet_arena_bytes(rig->ranks, true));
	pthread_mutex_unlock(&arena_lock);
	return rig->arena;
}

static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	struct rig_rank *rank = owner;

	rank->handler(rank, arrival);
}

static void
copy(void *dst, const void *src, size_t len_bytes)
{
	if (rig_before_copy)
		rig_before_copy();
	memcpy(dst, src, len_bytes);
}

/* Waits for all ranks, by relaxed operations, so that it orders nothing else between them.  Every
 * rank is of this process, so all values are the same. */
static uint32_t
agree_least(uint32_t value)
{
	const uint32_t all = ++agreements * opening->ranks;

	atomic_fetch_add_explicit(&arrivals, 1, memory_order_relaxed);
	while (atomic_load_explicit(&arrivals, memory_order_relaxed) < all)
		sched_yield();
	return value;
}

/* Of the rig that is open; zero-filled when it is asked for first. */
static struct {
	void *at;
	size_t len_bytes;
} further[RIG_FURTHER];

/* A further endpoint's; the tests open and send by one thread. */
static void *
endpoint_memory(uint32_t place, size_t len_bytes)
{
	if (!rig_has_further || place >= RIG_FURTHER)
		return NULL;
	if (!further[place].at) {
		void *at = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE,
		                MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			die("no memory for a further endpoint");
		further[place].at = at;
		further[place].len_bytes = len_bytes;
	}
	return further[place].at;
}

static void
unmap_further(void)
{
	for (unsigned place = 0; place < RIG_FURTHER; place++) {
		if (further[place].at)
			munmap(further[place].at, further[place].len_bytes);
		further[place].at = NULL;
	}
}

/* 1 + the descriptor of a rank that has slept on one; 0: it has none. */
static _Atomic int wake_fds[128];

static int
wake_fd_of(uint32_t place)
{
	int fd = atomic_load(&wake_fds[place]) - 1;

	if (fd < 0) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			die("no eventfd");
		atomic_store(&wake_fds[place], fd + 1);
	}
	return fd;
}

static void
wake_asleep(uint32_t host_index)
{
	const uint64_t one = 1;

	if (write(wake_fd_of(host_index), &one, sizeof one) != sizeof one)
		die("the eventfd is full");
}

void
rig_sleep_on_fd(struct rig_rank *rank, uint32_t ticket)
{
	struct pollfd fd = { .fd = wake_fd_of(rank->place), .events = POLLIN };
	uint64_t taken;

	if (sysvnet_fd_sleep_begin(rank->port, ticket) != PSI_OK)
		return;
	poll(&fd, 1, -1);
	sysvnet_fd_sleep_end(rank->port);
	if (read(fd.fd, &taken, sizeof taken) != sizeof taken)
		die("woken by nothing");
}

static const struct sysvnet_callbacks calls = {
	.wake_asleep = wake_asleep,
	.log = say,
	.endpoint_memory = endpoint_memory,
	.deliver = deliver,
	.copy_owning = copy,
	.copy_far = copy,
};

/* ------------------------------------------------------------------- opening, closing --- */

/* A thread, as the rank's process. */
static void *
open_rank(void *argument)
{
	struct rig_rank *rank = argument;
	struct rig *rig = rank->rig;
	const struct sysvnet_job job = {
		.place = rank->place, .places = rig->ranks, .host_places = rig->ranks,
		.host_index = rig->host_index, .local = rig->local,
		.threaded = opening_as->threaded, .counts = rank->counts,
	};
	bool registered, roomy;

	rank->net = sysvnet_open(&job, &calls, arena_of(rig), true);
	if (!rank->net)
		die("open failed");
	if (sysvnet_port_open(rank->net, rank->place, false, rank, &rank->port) != PSI_OK)
		die("port_open failed");
	registered = agree_least(sysvnet_fence_register(getenv("PST_TEST_DENY")));
	roomy = agree_least(!opening_as->crowded);
	if (!sysvnet_agrees(rank->net))
		die("ranks disagree on the arena");
	sysvnet_connect(rank->net, roomy, !registered || !roomy);
	if (registered && roomy)
		agree_least(true);
	return NULL;
}

/* The process that reports on queues: looks at the arena from its first moment on, and orders
 * nothing between itself and the ranks. No rank has the number that it asks for. */
static _Atomic bool ranks_are_open;

static void *
observe(void *argument)
{
	struct rig *rig = argument;
	struct psi_queue_memory memory = { 0 };
	struct psi_queue_state state;
	bool last;

	do {
		last = atomic_load_explicit(&ranks_are_open, memory_order_relaxed);
		pthread_mutex_lock(&arena_lock);
		unsigned char *arena = rig->arena;
		pthread_mutex_unlock(&arena_lock);
		memory.host = arena;
		memory.host_bytes = arena ? rig->arena_bytes : 0;
		if (arena && sysvnet_view(&memory, PSI_REQUESTS, rig->ranks, 0, &state))
			die("a queue of a rank that there is not");
		sched_yield();
	} while (!last);
	return NULL;
}

static void
open_ranks(struct rig *rig, const struct rig_options *options, pthread_t *threads)
{
	pthread_t observer;

	opening = rig;
	opening_as = options;
	atomic_store(&arrivals, 0);
	atomic_store(&ranks_are_open, false);
	if (pthread_create(&observer, NULL, observe, rig))
		die("no thread");
	for (uint32_t place = 0; place < rig->ranks; place++) {
		rig->rank[place] = (struct rig_rank){ .rig = rig, .place = place,
		                                      .handler = options->handler };
		if (pthread_create(&threads[place], NULL, open_rank, &rig->rank[place]))
			die("no thread");
	}
	for (uint32_t place = 0; place < rig->ranks; place++)
		pthread_join(threads[place], NULL);
	atomic_store_explicit(&ranks_are_open, true, memory_order_relaxed);
	pthread_join(observer, NULL);
	opening = NULL;
}

/* What ranks do for each other, all of them being this process. */
static void
settle_fences(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		sysvnet_fence_settle();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("no process");
}

static void *
must(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

struct rig *
rig_open(const struct rig_options *options)
{
	struct rig *rig = must(calloc(1, sizeof *rig));
	pthread_t *threads;

	rig->ranks = options->ranks;
	rig->host_index = must(calloc(rig->ranks, sizeof *rig->host_index));
	rig->local = must(calloc(rig->ranks, sizeof *rig->local));
	rig->rank = must(calloc(rig->ranks, sizeof *rig->rank));
	for (uint32_t place = 0; place < rig->ranks; place++) {
		rig->host_index[place] = place;
		rig->local[place] = 1;
	}
	threads = must(calloc(rig->ranks, sizeof *threads));
	open_ranks(rig, options, threads);
	settle_fences();
	free(threads);
	return rig;
}

void
rig_close(struct rig *rig)
{
	for (uint32_t place = 0; place < rig->ranks; place++)
		sysvnet_close(rig->rank[place].net);
	munmap(rig->arena, rig->arena_bytes);
	unmap_further();
	free(rig->rank);
	free(rig->local);
	free(rig->host_index);
	free(rig);
}

/* ------------------------------------------------------------------------- for tests --- */

static void
dump_queues(const struct rig *rig, uint32_t receiver)
{
	const struct psi_queue_memory memory = { .host = rig->arena,
		                                 .host_bytes = rig->arena_bytes };
	struct psi_queue_state state;

	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		for (uint32_t sender = 0; sender < rig->ranks; sender++)
			if (sysvnet_view(&memory, network, sender, receiver, &state) &&
			    (state.in_flight || state.undelivered))
				fprintf(stderr, "    %s from %u: %u of %u in flight, %u "
				                "undelivered%s\n",
				        network == PSI_REPLIES ? "replies" : "requests", sender,
				        state.in_flight, state.slots, state.undelivered,
				        state.wants_room ? ", wants room" : "");
}

void
rig_dump(const struct rig *rig)
{
	for (uint32_t place = 0; place < rig->ranks; place++) {
		const struct sysvnet_port *port = rig->rank[place].port;

		fprintf(stderr, "rank %u: wake %u, top %llx %llx, want %llx\n", place,
		        atomic_load(&port->shared->wake),
		        (unsigned long long)atomic_load(&port->shared->top[PSI_REQUESTS]),
		        (unsigned long long)atomic_load(&port->shared->top[PSI_REPLIES]),
		        (unsigned long long)atomic_load(&port->shared->room_top));
		dump_queues(rig, place);
	}
}

static unsigned char *
make_pattern(void)
{
	unsigned char *bytes = must(malloc(RIG_PATTERN_BYTES + PATTERN_STARTS));
	uint32_t state = 12345;

	for (size_t i = 0; i < RIG_PATTERN_BYTES + PATTERN_STARTS; i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(state >> 24);
	}
	return bytes;
}

const unsigned char *
rig_pattern(uint32_t seed)
{
	static unsigned char *bytes;

	if (!bytes)
		bytes = make_pattern();
	return bytes + seed % PATTERN_STARTS;
}

int
rig_send_number(struct rig *rig, uint32_t from, uint32_t to, unsigned network, size_t len_bytes,
                uint32_t number)
{
	const int32_t arg = (int32_t)number;
	const struct psi_am am = {
		.peer = to, .handler = 1, .category = PSI_MEDIUM, .network = (uint8_t)network,
		.nargs = 1, .args = &arg, .payload = rig_pattern(number), .len_bytes = len_bytes,
	};

	return sysvnet_send(rig->rank[from].port, &am);
}
