/*
 * A host that has some places of a job, and not place 0: its first process says what the arena is,
 * and messages come from places, not from host indices.
 */
#include "smp-conduit/sysvnet/sysvnet_inline.h"
#include "tests/unit/main.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACES = 8, HOST_PLACES = 3, INDEX_PLACE = 5 + PLACES };

/* Places 3, 5 and 7; the others are of another host, and have host indices there. */
static const uint8_t local[PLACES] = { 0, 0, 0, 1, 0, 1, 0, 1 };
static const uint32_t host_index[PLACES] = { 0, 1, 2, 0, 3, 1, 4, 2 };
static const uint32_t here[HOST_PLACES] = { 3, 5, 7 };

static struct process {
	struct sysvnet *net;
	struct sysvnet_port *port;
	uint64_t counts[SYSVNET_COUNTERS];
	unsigned arrived;
	uint32_t source;
} processes[HOST_PLACES];

static unsigned char *arena;
static void *further;

static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	struct process *process = owner;

	process->arrived++;
	process->source = arrival->source;
}

static void *
endpoint_memory(uint32_t place, size_t len_bytes)
{
	ck_assert_uint_eq(place, INDEX_PLACE);
	if (!further)
		further = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE,
		               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return further == MAP_FAILED ? NULL : further;
}

static void
copy(void *dst, const void *src, size_t len_bytes)
{
	memcpy(dst, src, len_bytes);
}

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

static const struct sysvnet_callbacks calls = {
	.log = say, .endpoint_memory = endpoint_memory, .deliver = deliver, .copy_owning = copy,
	.copy_far = copy,
};

static void
process_open(uint32_t place)
{
	struct process *process = &processes[host_index[place]];
	const struct sysvnet_job job = {
		.place = place, .places = PLACES, .host_places = HOST_PLACES,
		.host_index = host_index, .local = local, .counts = process->counts,
	};

	process->net = sysvnet_open(&job, &calls, arena, false);
	ck_assert_ptr_nonnull(process->net);
	ck_assert_int_eq(sysvnet_port_open(process->net, place, false, process, &process->port),
	                 PSI_OK);
}

static void
host_open(void)
{
	arena = mmap(NULL, sysvnet_arena_bytes(HOST_PLACES, false), PROT_READ | PROT_WRITE,
	             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert(arena != MAP_FAILED);
	for (uint32_t i = 0; i < HOST_PLACES; i++)
		process_open(here[i]);
	for (uint32_t i = 0; i < HOST_PLACES; i++)
		sysvnet_connect(processes[i].net, true, true);
}

static void
host_close(void)
{
	for (uint32_t i = 0; i < HOST_PLACES; i++)
		sysvnet_close(processes[i].net);
}

static struct process *
process_at(uint32_t place)
{
	return &processes[host_index[place]];
}

/* Sends from a port to a place of the host, and returns the source that its receiver sees. */
static uint32_t
source_seen(struct sysvnet_port *from, uint32_t to, unsigned network)
{
	const int32_t arg = 1;
	struct process *receiver = process_at(to);
	const unsigned before = receiver->arrived;

	ck_assert_int_eq(sysvnet_send_short(from, to, psi_am_tag(network, 77, 1), &arg), PSI_OK);
	ck_assert_uint_eq(sysvnet_poll(receiver->port, PSI_BOTH_NETWORKS, 10), 1);
	ck_assert_uint_eq(receiver->arrived, before + 1);
	return receiver->source;
}

START_TEST(the_first_process_of_the_host_says_what_the_arena_is)
{
	struct psi_queue_memory memory = {
		.host_bytes = sysvnet_arena_bytes(HOST_PLACES, false),
	};
	struct psi_queue_state state;

	host_open();
	memory.host = arena;
	for (uint32_t i = 0; i < HOST_PLACES; i++)
		ck_assert(sysvnet_agrees(processes[i].net));
	ck_assert(sysvnet_view(&memory, PSI_REQUESTS, 0, 1, &state));
	host_close();
}
END_TEST

START_TEST(a_message_comes_from_the_place_of_its_sender)
{
	host_open();
	for (uint32_t i = 0; i < HOST_PLACES; i++) {
		for (uint32_t k = 0; k < HOST_PLACES; k++) {
			struct sysvnet_port *from = process_at(here[i])->port;

			if (i == k)
				continue;
			for (unsigned network = 0; network < PSI_NETWORKS; network++)
				ck_assert_uint_eq(source_seen(from, here[k], network), here[i]);
		}
	}
	host_close();
}
END_TEST

START_TEST(a_message_comes_from_the_place_of_a_further_endpoint)
{
	struct process *process;
	struct sysvnet_port *port;

	host_open();
	process = process_at(5);
	ck_assert_int_eq(sysvnet_port_open(process->net, INDEX_PLACE, false, process, &port),
	                 PSI_OK);
	ck_assert_uint_eq(source_seen(port, 3, PSI_REQUESTS), INDEX_PLACE);
	ck_assert_uint_eq(source_seen(port, 7, PSI_REPLIES), INDEX_PLACE);
	host_close();
}
END_TEST

START_TEST(a_place_is_woken_by_its_own_word)
{
	const uint32_t *word;
	uint32_t ticket;
	bool fence;

	host_open();
	word = sysvnet_wake_word(process_at(3)->port, 7, &fence);
	ck_assert_ptr_nonnull(word);
	ck_assert_uint_eq(*word & 1, 0);
	ck_assert_int_eq(sysvnet_arm(process_at(7)->port, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket),
	                 PSI_OK);
	ck_assert_uint_eq(*word & 1, 1);
	sysvnet_disarm(process_at(7)->port);
	ck_assert_ptr_null(sysvnet_wake_word(process_at(3)->port, 0, &fence));
	host_close();
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("places");

	tcase_add_test(tests, the_first_process_of_the_host_says_what_the_arena_is);
	tcase_add_test(tests, a_message_comes_from_the_place_of_its_sender);
	tcase_add_test(tests, a_message_comes_from_the_place_of_a_further_endpoint);
	tcase_add_test(tests, a_place_is_woken_by_its_own_word);
	return unit_run("sysvnet_places", tests);
}
