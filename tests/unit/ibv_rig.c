#include "tests/unit/ibv_rig.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CARD_BYTES = 4096, SETTINGS = 12, IDLE_ROUNDS = 4 };

struct rig_rank rig_ranks[RIG_RANKS];
struct psi_conduit *rig_kept[RIG_KEPT];
uint32_t rig_places;
bool rig_threaded;

/* Programs without Check use the rig too. */
#define rig_must(condition) ((condition) ? (void)0 : rig_fail(#condition, __LINE__))
static void rig_fail(const char *condition, int line) __attribute__((noreturn));

static _Thread_local struct rig_rank *self;
static struct { uint32_t place; const char *name, *value; } settings[SETTINGS];
static unsigned setting_count;

struct rig_rank *
rig_as(uint32_t place)
{
	self = &rig_ranks[place];
	mock_here(place);
	return self;
}

/* -- faults ------------------------------------------------------------------------------------ */

static void
rig_fail(const char *condition, int line)
{
	fprintf(stderr, "ibv_rig.c:%d: %s is false; the conduit's last lines:\n", line, condition);
	for (uint32_t place = 0; place < rig_places; place++)
		fprintf(stderr, "%u: %s\n", place, rig_ranks[place].said);
	abort();
}

/* -- the clock --------------------------------------------------------------------------------- */

static _Atomic uint64_t now_ns = RIG_SECOND_NS;

int __wrap_clock_gettime(clockid_t which, struct timespec *at_out);

int
__wrap_clock_gettime(clockid_t which, struct timespec *at_out)
{
	const uint64_t ns = atomic_load_explicit(&now_ns, memory_order_relaxed);

	(void)which;
	*at_out = (struct timespec){ .tv_sec = (time_t)(ns / RIG_SECOND_NS),
	                             .tv_nsec = (long)(ns % RIG_SECOND_NS) };
	return 0;
}

void
rig_pass_ns(uint64_t ns)
{
	atomic_fetch_add_explicit(&now_ns, ns, memory_order_relaxed);
}

/* -- services ---------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(self->said, sizeof self->said, format, args);
	va_end(args);
	self->lines++;
}

/* The last that was set of a name. */
static const char *
setting_of(const char *name)
{
	const char *value = NULL;

	for (unsigned i = 0; i < setting_count; i++)
		if ((settings[i].place == PSI_NO_PEER || settings[i].place == self->place) &&
		    strcmp(settings[i].name, name) == 0)
			value = settings[i].value;
	return value;
}

void
rig_set(uint32_t place, const char *name, const char *value)
{
	rig_must(setting_count < SETTINGS);
	settings[setting_count].place = place;
	settings[setting_count].name = name;
	settings[setting_count++].value = value;
}

static char cards[RIG_RANKS][CARD_BYTES];
static pthread_barrier_t meeting;

/* In a thread for each rank. */
static void
exchange(const void *mine, size_t len_bytes, void *all_out)
{
	rig_must(len_bytes <= CARD_BYTES);
	memcpy(cards[self->place], mine, len_bytes);
	pthread_barrier_wait(&meeting);
	for (uint32_t place = 0; place < rig_places; place++)
		memcpy((char *)all_out + place * len_bytes, cards[place], len_bytes);
	pthread_barrier_wait(&meeting);
}

static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	const struct rig_owner *of = owner;
	struct rig_rank *rank = of->rank;

	rig_must(rank == self);
	rank->heard[arrival->network]++;
	rank->last = *arrival;
	rank->last_port = of->port;
	memcpy(rank->args, arrival->args, arrival->nargs * sizeof *arrival->args);
	if (rank->deliver)
		rank->deliver(rank, of->port, arrival);
}

static void
completed(uint64_t cookie)
{
	rig_must(self->done_count < RIG_DONE);
	self->done[self->done_count++] = cookie;
}

static bool
signal_arrived(uint64_t packed)
{
	rig_must(self->signal_count < RIG_SIGNALS);
	if (self->refuses_signals)
		return false;
	self->signals[self->signal_count++] = packed;
	return true;
}

/* The runtime would end the job. */
static void
unreachable(uint32_t place, const char *why)
{
	self->lost = place;
	self->told_lost++;
	snprintf(self->lost_why, sizeof self->lost_why, "%s", why);
}

static void
knock(uint32_t process)
{
	rig_ranks[process].knocker = self->place;
	rig_ranks[process].knocks++;
}

static uint32_t
knocker(void)
{
	const uint32_t who = self->knocker;

	self->knocker = PSI_NO_PEER;
	return who;
}

static void look_again(void) { self->looks_again++; }
static uint32_t job_processes(void) { return rig_places; }

static const char *
host_name(uint32_t process)
{
	(void)process;
	return "here";
}

const struct psi_services rig_services = {
	.abi = PSI_CONDUIT_ABI, .size_bytes = sizeof(struct psi_services),
	.log = say, .setting = setting_of, .deliver = deliver, .exchange = exchange,
	.host_name = host_name,
	.unreachable = unreachable, .completed = completed, .signal_arrived = signal_arrived,
	.knock = knock, .knocker = knocker,
	.look_again = look_again, .job_processes = job_processes,
};

/* -- the job ----------------------------------------------------------------------------------- */

/* Conduits are never closed, as those of processes that end.  Those of a job before this one stay
 * where a leak checker finds them. */
static void
conduits_keep(void)
{
	static unsigned count;

	for (uint32_t place = 0; place < RIG_RANKS; place++)
		if (rig_ranks[place].conduit)
			rig_kept[count++ % RIG_KEPT] = rig_ranks[place].conduit;
}

void
rig_job(uint32_t places, bool fresh)
{
	conduits_keep();
	if (fresh)
		mock_reset(places);
	rig_places = places;
	memset(rig_ranks, 0, sizeof rig_ranks);
	for (uint32_t place = 0; place < RIG_RANKS; place++) {
		rig_ranks[place].place = place;
		rig_ranks[place].lost = rig_ranks[place].knocker = PSI_NO_PEER;
	}
}

struct psi_port *
rig_port(uint32_t place, unsigned index)
{
	struct rig_rank *rank = rig_as(place);
	struct rig_owner *owner = &rank->owners[index];

	owner->rank = rank;
	rig_must(pibv_ops.port_open(rank->conduit, index * rig_places + place, false, owner,
	                            &owner->port) == PSI_OK);
	return owner->port;
}

int
rig_open(uint32_t place)
{
	static const uint32_t host_index[RIG_RANKS];
	uint8_t local[RIG_RANKS] = { 0 };
	struct rig_rank *rank = rig_as(place);
	const struct psi_conduit_job job = {
		.place = place, .places = rig_places, .host_places = 1, .host_index = host_index,
		.local = local, .counts = rank->count, .threaded = rig_threaded,
	};
	int result;

	local[place] = 1;
	result = pibv_ops.open(&rig_services, &job, &rank->attributes, &rank->conduit);
	if (result == PSI_OK)
		rank->port = rig_port(place, 0);
	return result;
}

static int connect_results[RIG_RANKS];

static void *
connect_one(void *place)
{
	const struct rig_rank *rank = rig_as((uint32_t)(uintptr_t)place);

	connect_results[rank->place] = pibv_ops.connect(rank->conduit);
	return NULL;
}

void
rig_connect(int *results_out)
{
	pthread_t threads[RIG_RANKS];

	pthread_barrier_init(&meeting, NULL, rig_places);
	for (uint32_t place = 0; place < rig_places; place++)
		rig_must(pthread_create(&threads[place], NULL, connect_one,
		                        (void *)(uintptr_t)place) == 0);
	for (uint32_t place = 0; place < rig_places; place++)
		pthread_join(threads[place], NULL);
	memcpy(results_out, connect_results, sizeof connect_results);
}

void
rig_start(uint32_t places)
{
	int results[RIG_RANKS];

	rig_job(places, mock.devices[0][0].present == false);
	for (uint32_t place = 0; place < places; place++)
		rig_must(rig_open(place) == PSI_OK);
	rig_connect(results);
	for (uint32_t place = 0; place < places; place++)
		rig_must(results[place] == PSI_OK);
}

/* -- progress ---------------------------------------------------------------------------------- */

unsigned
rig_turn(uint32_t place)
{
	return pibv_ops.poll(rig_as(place)->port, PSI_BOTH_NETWORKS, 64);
}

/* All that devices have done; it changes when something happens. */
static uint64_t
fabric_work(void)
{
	uint64_t sum = 0;

	for (uint32_t host = 0; host < MOCK_HOSTS; host++) {
		const struct mock_counts *counts = &mock_device_of(host)->counts;

		sum += counts->requests + counts->datagrams + counts->receives +
		       counts->send_completions + counts->receive_completions;
	}
	return sum;
}

void
rig_settle(void)
{
	for (unsigned idle = 0; idle < IDLE_ROUNDS; idle++) {
		const uint64_t before = fabric_work();
		unsigned delivered = 0;

		for (uint32_t place = 0; place < rig_places; place++)
			delivered += rig_turn(place);
		if (delivered || fabric_work() != before)
			idle = 0;
	}
}

void
rig_meet(uint32_t a, uint32_t b)
{
	(void)rig_send(a, b, PSI_REPLIES, 0, NULL, 0, 0);
	rig_settle();
	rig_must(rig_connection(a, b)->state == PIBV_CONNECTED);
	rig_must(rig_connection(b, a)->state == PIBV_CONNECTED);
	rig_ranks[b].heard[PSI_REPLIES] = 0;
}

bool
rig_are_connected(uint32_t a, uint32_t b)
{
	const struct pibv_connection *there = rig_connection(a, b), *back = rig_connection(b, a);

	return there && back && there->state == PIBV_CONNECTED && back->state == PIBV_CONNECTED;
}

void
rig_wait_connected(uint32_t a, uint32_t b)
{
	enum { TRIES = 40 };

	for (unsigned i = 0; i < TRIES && !rig_are_connected(a, b); i++) {
		rig_settle();
		rig_pass_ns((uint64_t)RIG_HELLO_NS << (i < 6 ? i : 6));
	}
	rig_settle();
	rig_must(rig_are_connected(a, b));
}

void
rig_talk(uint32_t from, uint32_t to)
{
	rig_must(rig_send(from, to, PSI_REPLIES, 1, NULL, 0, 42) == PSI_OK);
}

void
rig_talk_all(void)
{
	for (uint32_t from = 0; from < rig_places; from++)
		for (uint32_t to = 0; to < rig_places; to++)
			if (from != to)
				rig_talk(from, to);
}

void
rig_datagram_goes(uint64_t random)
{
	unsigned index;

	if (!mock.datagram_count)
		return;
	index = (unsigned)(random >> 45) % mock.datagram_count;
	if ((random >> 39) % 3 == 0)
		mock_datagram_drop(index);
	else
		mock_datagram_deliver(index);
}

void
rig_no_lines(void)
{
	for (uint32_t place = 0; place < rig_places; place++)
		rig_must(rig_ranks[place].lines == 0);
}

/* -- calls ------------------------------------------------------------------------------------- */

int
rig_send(uint32_t from, uint32_t to, unsigned network, unsigned nargs, const void *payload,
         size_t len_bytes, int32_t seed)
{
	int32_t args[PSI_MAX_ARGS];
	struct psi_am am = psi_am_of(to, payload ? PSI_MEDIUM : PSI_SHORT,
	                             psi_am_tag(network, 200, nargs), args);

	for (unsigned i = 0; i < nargs; i++)
		args[i] = seed + (int32_t)i;
	am.payload = payload;
	am.len_bytes = len_bytes;
	return pibv_ops.am_send(rig_as(from)->port, &am);
}

struct psi_segment_name
rig_bind(uint32_t place, void *base, size_t len_bytes)
{
	struct psi_segment_name name;
	struct psi_registration *registration;

	rig_must(pibv_ops.segment_bind(rig_as(place)->conduit, base, len_bytes, &name,
	                               &registration) == PSI_OK);
	return name;
}

struct psi_transfer
rig_transfer(uint32_t peer, struct psi_segment_name name, uint64_t offset, void *here,
             size_t len_bytes, uint64_t cookie)
{
	return (struct psi_transfer){
		.remote = { .peer = peer, .name = name, .offset = offset },
		.here = here, .len_bytes = len_bytes, .cookie = cookie,
	};
}

int
rig_put(uint32_t from, struct psi_transfer transfer)
{
	return pibv_ops.put(rig_as(from)->port, &transfer);
}

int
rig_get(uint32_t from, struct psi_transfer transfer)
{
	return pibv_ops.get(rig_as(from)->port, &transfer);
}

unsigned
rig_done_count(uint32_t place, uint64_t cookie)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rig_ranks[place].done_count; i++)
		count += rig_ranks[place].done[i] == cookie;
	return count;
}

struct pibv_connection *
rig_connection(uint32_t from, uint32_t to)
{
	return rig_ranks[from].conduit->connections[to];
}

void
rig_fill(unsigned char *bytes, size_t len_bytes, uint32_t seed)
{
	for (size_t i = 0; i < len_bytes; i++)
		bytes[i] = (unsigned char)(seed * 31 + i + (i >> 8));
}

bool
rig_is_filled(const unsigned char *bytes, size_t len_bytes, uint32_t seed)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (bytes[i] != (unsigned char)(seed * 31 + i + (i >> 8)))
			return false;
	return true;
}

void
rig_buffers_come_back(uint32_t from, uint32_t to)
{
	pibv_work_flush_all(rig_as(from)->conduit);
	rig_settle();
	rig_must(rig_ranks[from].conduit->buffers.taken == 0);
	rig_must(rig_connection(from, to)->buffers == 0);
}
