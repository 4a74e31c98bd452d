/*
 * The smp conduit's table: each of its operations reaches sysvnet, and what the runtime's services
 * give comes back.  sysvnet has tests of its own, whose names begin with t_sysvnet.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "smp-conduit/psmp.h"
#include "tests/unit/main.h"

enum { RANKS = 2, PAYLOAD_BYTES = 3000 };

static const struct psi_conduit_ops *const ops = &psmp_ops;

/* ------------------------------------------------------------------------- services --- */

static void *arena;
static uint64_t counts[RANKS][PSI_COUNTERS];
static char said[256];

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof said, format, args);
	va_end(args);
}

static const char *
no_setting(const char *name)
{
	(void)name;
	return NULL;
}

static void *
host_memory(size_t most_bytes, size_t least_bytes, size_t *len_out)
{
	(void)most_bytes;
	if (!arena)
		arena = mmap(NULL, least_bytes, PROT_READ | PROT_WRITE,
		             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	*len_out = least_bytes;
	return arena == MAP_FAILED ? NULL : arena;
}

static void *
no_memory(size_t most_bytes, size_t least_bytes, size_t *len_out)
{
	(void)most_bytes, (void)least_bytes, (void)len_out;
	return NULL;
}

static void *
no_endpoint_memory(uint32_t place, size_t len_bytes)
{
	(void)place, (void)len_bytes;
	return NULL;
}

/* What the last message was. */
static struct {
	void *owner;
	uint32_t source;
	unsigned handler, category, count;
	size_t len_bytes;
	int32_t arg;
	unsigned char payload[PAYLOAD_BYTES];
} heard;

static void
deliver(void *owner, const struct psi_arrival *got)
{
	heard.owner = owner;
	heard.source = got->source;
	heard.handler = got->handler;
	heard.category = got->category;
	heard.len_bytes = got->category == PSI_SHORT ? 0 : got->len_bytes;
	heard.arg = got->args[0];
	heard.count++;
	ck_assert_uint_le(heard.len_bytes, PAYLOAD_BYTES);
	if (heard.len_bytes)
		memcpy(heard.payload, got->payload, heard.len_bytes);
}

static void
copy(void *dst, const void *src, size_t len_bytes)
{
	memcpy(dst, src, len_bytes);
}

/* There is one process here, so all ranks say the same. */
static uint32_t
agree_least(uint32_t value)
{
	return value;
}

static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI, .size_bytes = sizeof(struct psi_services),
	.log = say, .setting = no_setting,
	.host_memory = host_memory, .endpoint_memory = no_endpoint_memory,
	.deliver = deliver, .copy_owning = copy, .copy_far = copy, .agree_least = agree_least,
};

/* ----------------------------------------------------------------------------- ranks --- */

static const uint32_t host_index[RANKS] = { 0, 1 };
static const uint8_t local[RANKS] = { 1, 1 };
static struct psi_conduit *conduit[RANKS];
static struct psi_port *port[RANKS];

static struct psi_conduit_job
job_of(uint32_t place)
{
	return (struct psi_conduit_job){
		.place = place, .places = RANKS, .host_places = RANKS, .host_index = host_index,
		.local = local, .crowded = true, .counts = counts[place],
	};
}

/* The port of each rank is its owner, too. */
static void
open_ranks(void)
{
	struct psi_attributes attributes;

	for (uint32_t place = 0; place < RANKS; place++) {
		const struct psi_conduit_job job = job_of(place);

		ck_assert_int_eq(ops->open(&services, &job, &attributes, &conduit[place]), PSI_OK);
		ck_assert_uint_eq(attributes.max_medium_bytes, SYSVNET_MEDIUM_BYTES);
		ck_assert_uint_eq(attributes.shared_bytes, sysvnet_arena_bytes(RANKS, false));
		ck_assert_int_eq(ops->port_open(conduit[place], place, false, &port[place],
		                                &port[place]), PSI_OK);
	}
	for (uint32_t place = 0; place < RANKS; place++)
		ck_assert_int_eq(ops->connect(conduit[place]), PSI_OK);
}

/* One message has come to rank 1, of that category, with that argument. */
static void
hear(unsigned category, int32_t arg, const void *payload, size_t len_bytes)
{
	heard.count = 0;
	ck_assert_uint_eq(ops->poll(port[1], PSI_BOTH_NETWORKS, 4), 1);
	ck_assert_uint_eq(heard.count, 1);
	ck_assert_ptr_eq(heard.owner, &port[1]);
	ck_assert_uint_eq(heard.source, 0);
	ck_assert_uint_eq(heard.handler, 77);
	ck_assert_uint_eq(heard.category, category);
	ck_assert_int_eq(heard.arg, arg);
	ck_assert_uint_eq(heard.len_bytes, len_bytes);
	ck_assert(len_bytes == 0 || memcmp(heard.payload, payload, len_bytes) == 0);
}

/* ----------------------------------------------------------------------------- tests --- */

START_TEST(messages_of_every_kind)
{
	const uint32_t tag = psi_am_tag(PSI_REQUESTS, 77, 1);
	static unsigned char payload[PAYLOAD_BYTES], dest[PAYLOAD_BYTES];
	int32_t arg = 5;
	struct psi_am am = psi_am_medium(1, tag, &arg, payload, PAYLOAD_BYTES);
	struct psi_claim claim = { .peer = 1, .most_bytes = PAYLOAD_BYTES };

	open_ranks();
	memset(payload, 0x5a, sizeof payload);
	ck_assert_int_eq(ops->am_short(port[0], 1, tag, &arg), PSI_OK);
	hear(PSI_SHORT, arg++, NULL, 0);
	ck_assert_int_eq(ops->am_medium(port[0], 1, tag, &arg, payload, 8), PSI_OK);
	hear(PSI_MEDIUM, arg++, payload, 8);
	ck_assert_uint_eq(counts[0][PSI_COUNT_IN_SLOT], 1);
	ck_assert_int_eq(ops->am_send(port[0], &am), PSI_OK);
	hear(PSI_MEDIUM, arg++, payload, PAYLOAD_BYTES);
	ck_assert_int_eq(ops->am_send_alone(port[0], &am), PSI_OK);
	hear(PSI_MEDIUM, arg++, payload, PAYLOAD_BYTES);
	ck_assert_int_eq(ops->am_claim(port[0], &claim), PSI_OK);
	ops->am_cancel(port[0], &claim);
	ck_assert_int_eq(ops->am_claim(port[0], &claim), PSI_OK);
	ck_assert_uint_eq(counts[0][PSI_COUNT_CLAIMED], 2);
	memcpy(claim.buffer, payload, PAYLOAD_BYTES);
	ck_assert_int_eq(ops->am_publish(port[0], &claim, &am), PSI_OK);
	hear(PSI_MEDIUM, arg++, payload, PAYLOAD_BYTES);
	am.category = PSI_LONG;
	am.dest = am.dest_here = dest;
	ck_assert_int_eq(ops->am_send(port[0], &am), PSI_OK);
	hear(PSI_LONG, arg, payload, PAYLOAD_BYTES);
	ck_assert_uint_eq(ops->am_max_medium(port[0], 1, 0, 16), SYSVNET_MEDIUM_BYTES);
}
END_TEST

/* A wake-up after the ticket ends the sleep before it begins, whoever makes it. */
START_TEST(sleeping_and_waking)
{
	void (*const wakes[])(struct psi_port *) = { ops->wake, ops->wake_host };
	const uint32_t *word;
	uint32_t ticket;
	bool fence;

	open_ranks();
	word = ops->sleep_word(port[0], 1, &fence);
	ck_assert_ptr_nonnull(word);
	ck_assert(fence);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(ops->arm(port[1], PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket),
		                 PSI_OK);
		ck_assert_uint_eq(*word & 1, 1);
		wakes[i](port[1]);
		ops->sleep(port[1], ticket, 0);
		ops->disarm(port[1]);
	}
	ck_assert_int_eq(ops->arm(port[1], PSI_BOTH_NETWORKS, 0, &ticket), PSI_OK);
	ops->wake_peer(port[0], 1);
	ops->sleep(port[1], ticket, 0);
	ops->disarm(port[1]);
	ck_assert_uint_eq(counts[1][PSI_COUNT_SLEEPS], 3);
	ck_assert_uint_eq(counts[1][PSI_COUNT_WAKEUPS_RECEIVED], 3);
	ck_assert_int_eq(ops->arm_more(port[1], PSI_BOTH_NETWORKS), PSI_OK);
	ops->disarm_more(port[1]);
	ops->request_room(port[1], 0);
}
END_TEST

START_TEST(what_people_see)
{
	const int32_t arg = 1;
	const size_t bytes = sysvnet_arena_bytes(RANKS, false);
	struct psi_queue_memory memory;
	struct psi_queue_state state;
	struct psi_memory_area area;
	char text[256];
	size_t sum = 0;

	open_ranks();
	ops->describe(conduit[0], text, sizeof text);
	ck_assert_ptr_nonnull(strstr(text, "2 endpoints, lanes of "));
	ck_assert_ptr_nonnull(strstr(text, "senders fence ("));
	memory = (struct psi_queue_memory){ .host = arena, .host_bytes = bytes };
	ck_assert_int_eq(ops->am_short(port[0], 1, psi_am_tag(PSI_REPLIES, 77, 1), &arg), PSI_OK);
	ck_assert(ops->queue(&memory, PSI_REPLIES, 0, 1, &state));
	ck_assert_uint_eq(state.in_flight, 1);
	ck_assert_uint_eq(state.undelivered, 1);
	ck_assert(!state.wants_room && !state.receiver_sleeps);
	ops->request_room(port[0], 1);
	ck_assert(ops->queue(&memory, PSI_REPLIES, 0, 1, &state) && state.wants_room);
	for (unsigned i = 0; ops->memory_area(conduit[0], i, &area); i++) {
		static const enum psi_memory_kind kinds[] = {
			PSI_MEMORY_CONTROL, PSI_MEMORY_QUEUES, PSI_MEMORY_BUFFERS,
		};

		ck_assert_int_eq(area.kind, i ? kinds[(i - 1) % 3] : PSI_MEMORY_CONTROL);
		sum += area.len_bytes;
	}
	ck_assert_uint_eq(sum, bytes);
	ck_assert_uint_eq(ops->queue_bytes(RANKS), sysvnet_arena_bytes(RANKS, true));
	ck_assert_uint_eq(ops->queue_bytes(SYSVNET_MAX_PROCESSES + 1), 0);
}
END_TEST

/* One line says why; a contract of another number is refused. */
START_TEST(refused_with_a_reason)
{
	struct psi_services others = services;
	struct psi_conduit_job job = job_of(0);
	struct psi_attributes attributes;
	struct psi_conduit *none;

	others.host_memory = no_memory;
	ck_assert_int_eq(ops->open(&others, &job, &attributes, &none), PSI_FAILED);
	ck_assert_ptr_nonnull(strstr(said, "no shared memory of "));
	job.host_places = SYSVNET_MAX_PROCESSES + 1;
	ck_assert_int_eq(ops->open(&services, &job, &attributes, &none), PSI_FAILED);
	ck_assert_str_eq(said, "smp: 4097 ranks on one host are more than 4096");
	others.abi++;
	ck_assert_int_eq(ops->open(&others, &job, &attributes, &none), PSI_FATAL);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("table");

	tcase_add_test(tests, messages_of_every_kind);
	tcase_add_test(tests, sleeping_and_waking);
	tcase_add_test(tests, what_people_see);
	tcase_add_test(tests, refused_with_a_reason);
	return unit_run("psmp", tests);
}
