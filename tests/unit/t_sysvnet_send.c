/* Sending: contents of messages, their order, and what happens when a lane is full. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sysvnet_rig.h"
#include "tests/unit/main.h"

/* What the next message is to be; the handler compares. */
struct expected {
	struct psi_am am;
	uint32_t source, heard;
};

static void
compare(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct expected *want = rank->data;
	const struct psi_am *am = &want->am;

	want->heard++;
	ck_assert_uint_eq(got->source, want->source);
	ck_assert_uint_eq(got->handler, am->handler);
	ck_assert_uint_eq(got->category, am->category);
	ck_assert_uint_eq(got->network, am->network);
	ck_assert_uint_eq(got->nargs, am->nargs);
	ck_assert_uint_eq((uintptr_t)got->args % sizeof(int32_t), 0);
	ck_assert(am->nargs == 0 || memcmp(got->args, am->args, am->nargs * sizeof(int32_t)) == 0);
	if (am->category == PSI_SHORT)
		return;
	ck_assert_uint_eq(got->len_bytes, am->len_bytes);
	if (am->category == PSI_LONG) {
		ck_assert_ptr_eq(got->payload, am->dest);
		return;
	}
	ck_assert_uint_eq((uintptr_t)got->payload % 16, 0);
	ck_assert(am->len_bytes == 0 || memcmp(got->payload, am->payload, am->len_bytes) == 0);
	if (am->len_bytes) /* writable, as promised */
		((unsigned char *)got->payload)[am->len_bytes - 1] ^= 1;
}

static const int32_t arguments[PSI_MAX_ARGS] = {
	0, -1, INT32_MAX, INT32_MIN, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x5a5a5a5a,
};

static void
send_and_compare(struct rig *rig, uint32_t from, uint32_t to, const struct psi_am *am)
{
	struct expected want = { .am = *am, .source = from };

	want.am.peer = to;
	rig->rank[to].data = &want;
	ck_assert_int_eq(sysvnet_send(rig->rank[from].port, &want.am), PSI_OK);
	sysvnet_poll(rig->rank[to].port, PSI_BOTH_NETWORKS, 16);
	ck_assert_uint_eq(want.heard, 1);
}

static void
send_medium(struct rig *rig, unsigned nargs, size_t len_bytes)
{
	const uint32_t from = (uint32_t)len_bytes % rig->ranks;
	const struct psi_am am = {
		.handler = (uint8_t)(len_bytes ^ nargs), .category = PSI_MEDIUM,
		.network = (uint8_t)(len_bytes / 3 % PSI_NETWORKS), .nargs = (uint8_t)nargs,
		.args = arguments + (PSI_MAX_ARGS - nargs),
		.payload = rig_pattern((uint32_t)len_bytes), .len_bytes = len_bytes,
	};

	send_and_compare(rig, from, rig->ranks - 1, &am);
}

/* {ranks, threaded, crowded}: with payload rings of every size, and without */
static const struct rig_options kinds[] = {
	{ 1, false, true, compare }, { 2, false, false, compare }, { 2, true, true, compare },
	{ 20, false, true, compare }, { 60, true, false, compare }, { 200, false, true, compare },
	{ 300, true, true, compare },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

START_TEST(mediums_around_every_boundary)
{
	struct rig *rig = rig_open(&kinds[_i]);
	const size_t share = rig->rank[0].net->layout.data_bytes / 4;
	const size_t edges[] = { share, 4 * share, SYSVNET_SMALL_BYTES, SYSVNET_SMALL_BYTES / 2,
	                         SYSVNET_LARGE_BYTES, SYSVNET_LARGE_BYTES - 512, 65000 };

	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++) {
		for (size_t len = 0; len <= 2 * SYSVNET_SLOT_BYTES; len++)
			send_medium(rig, nargs, len);
		for (unsigned e = 0; e < sizeof edges / sizeof *edges; e++)
			for (size_t len = edges[e] > 5 ? edges[e] - 5 : 0; len < edges[e] + 5;
			     len++)
				if (len <= SYSVNET_LARGE_BYTES)
					send_medium(rig, nargs, len);
	}
	rig_close(rig);
}
END_TEST

START_TEST(mediums_of_every_size)
{
	const char *level = getenv("CHECK_LEVEL");
	const size_t step = level && strcmp(level, "quick") == 0 ? 23 : 1;
	struct rig *rig = rig_open(&kinds[1 + _i]);

	for (size_t len = 0; len <= SYSVNET_LARGE_BYTES; len += step)
		send_medium(rig, (unsigned)len % (PSI_MAX_ARGS + 1), len);
	ck_assert_uint_eq(SYSVNET_MEDIUM_BYTES, SYSVNET_LARGE_BYTES);
	rig_close(rig);
}
END_TEST

START_TEST(shorts_and_longs)
{
	static unsigned char dest[300 * 1000];
	struct rig *rig = rig_open(&kinds[_i]);
	const uint32_t to = rig->ranks / 2;

	for (unsigned nargs = 0; nargs <= PSI_MAX_ARGS; nargs++) {
		struct psi_am am = { .handler = 200, .category = PSI_SHORT,
		                     .nargs = (uint8_t)nargs, .args = arguments };

		send_and_compare(rig, 0, to, &am);
		am.category = PSI_LONG;
		am.network = PSI_REPLIES;
		am.payload = rig_pattern(nargs);
		am.dest = (void *)(uintptr_t)(0x7000000000 + nargs); /* as the owner names it */
		am.dest_here = dest + nargs;
		for (am.len_bytes = 0; am.len_bytes <= 100000;
		     am.len_bytes = am.len_bytes * 7 + 1) {
			memset(dest, 0x77, sizeof dest);
			send_and_compare(rig, 0, to, &am);
			ck_assert(memcmp(am.dest_here, am.payload, am.len_bytes) == 0);
			ck_assert_uint_eq(dest[nargs + am.len_bytes], 0x77);
		}
	}
	rig_close(rig);
}
END_TEST

/* -------------------------------------------------------------------------------- full --- */

struct counted {
	uint32_t heard, next_in_order;
};

static void
count_in_order(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct counted *counted = rank->data;

	ck_assert_int_eq(got->args[0], (int32_t)counted->next_in_order);
	if (got->category == PSI_MEDIUM)
		ck_assert(got->len_bytes == 0 ||
		          memcmp(got->payload, rig_pattern(counted->next_in_order),
		                 got->len_bytes) == 0);
	counted->next_in_order++;
	counted->heard++;
}

/* The arena up to where the region of rank 2 begins. */
static size_t
shared_by_two(const struct rig *rig)
{
	const struct sysvnet_layout layout = sysvnet_layout_for(rig->ranks, true);

	return sysvnet_layout_region(&layout, 2);
}

static unsigned char *
copy_of_arena(const struct rig *rig)
{
	unsigned char *copy = malloc(shared_by_two(rig));

	ck_assert_ptr_nonnull(copy);
	return memcpy(copy, rig->arena, shared_by_two(rig));
}

/* The target does not poll: after a bounded number all is refused, a refusal changes nothing, and
 * what was accepted arrives, in order.  Then it goes on as before. */
START_TEST(refused_without_trace_when_full)
{
	static const size_t lengths[] = { 0, 40, 300, 2000, 4096, 8000, 30000, 65536 };
	struct rig_options options = kinds[1 + _i];
	struct rig *rig;

	options.handler = count_in_order;
	rig = rig_open(&options);
	for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
		const uint32_t most = rig->rank[0].net->layout.slots;
		struct counted counted = { 0, 0 };
		unsigned char *before;
		uint32_t sent = 0;

		rig->rank[1].data = &counted;
		while (rig_send_number(rig, 0, 1, l % 2, lengths[l], sent) == PSI_OK)
			ck_assert_uint_le(++sent, most);
		ck_assert_uint_ge(sent, SYSVNET_LARGE_COUNT);
		before = copy_of_arena(rig);
		for (int i = 0; i < 300; i++)
			ck_assert_int_eq(rig_send_number(rig, 0, 1, l % 2, lengths[l], sent),
			                 PSI_AGAIN);
		ck_assert(memcmp(before, rig->arena, shared_by_two(rig)) == 0);
		free(before);
		while (sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 3))
			;
		ck_assert_uint_eq(counted.heard, sent);
	}
	rig_close(rig);
}
END_TEST

/* Long that is refused leaves its destination alone. */
START_TEST(refused_long_writes_nothing)
{
	struct rig_options options = { 2, _i == 1, true, count_in_order };
	struct rig *rig = rig_open(&options);
	struct counted counted = { 0, 0 };
	unsigned char dest[64], zeroes[64] = { 0 };
	uint32_t sent = 0;
	int32_t number = 0;
	struct psi_am am = { .peer = 1, .category = PSI_LONG, .nargs = 1, .args = &number,
	                     .payload = rig_pattern(3), .len_bytes = sizeof dest,
	                     .dest = dest, .dest_here = dest };

	rig->rank[1].data = &counted;
	for (; sysvnet_send(rig->rank[0].port, &am) == PSI_OK; number++)
		ck_assert_uint_le(++sent, 1000);
	memset(dest, 0, sizeof dest);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(sysvnet_send(rig->rank[0].port, &am), PSI_AGAIN);
	ck_assert(memcmp(dest, zeroes, sizeof dest) == 0);
	sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 1000);
	ck_assert_uint_eq(counted.heard, sent);
	rig_close(rig);
}
END_TEST

/* With one network full of everything, the other takes messages of every size. */
START_TEST(networks_do_not_block_each_other)
{
	static const size_t lengths[] = { 65536, 4096, 2000, 0 };
	struct rig_options options = { 2, _i / 2, true, count_in_order };
	const unsigned full = (unsigned)_i % 2, other = 1 - full;
	struct rig *rig = rig_open(&options);

	for (unsigned l = 0; l < 4; l++)
		while (rig_send_number(rig, 0, 1, full, lengths[l], 0) == PSI_OK)
			;
	for (uint32_t round = 0; round < 200; round++) {
		struct counted counted = { 0, round };

		rig->rank[1].data = &counted;
		ck_assert_int_eq(rig_send_number(rig, 0, 1, other, lengths[round % 4], round),
		                 PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, 1u << other, 8), 1);
		ck_assert_uint_eq(counted.heard, 1);
	}
	rig_close(rig);
}
END_TEST

/* All kinds of payload in turn keep their order in a lane. */
START_TEST(order_over_all_kinds)
{
	static const size_t lengths[] = { 8, 1000, 65536, 0, 5000, 64, 3000, 20000 };
	struct rig_options options = { 2, _i == 1, true, count_in_order };
	struct rig *rig = rig_open(&options);
	struct counted counted = { 0, 0 };
	uint32_t sent = 0;

	rig->rank[1].data = &counted;
	for (uint32_t round = 0; round < 3000; round++) {
		for (uint32_t burst = round % 13; burst; burst--)
			sent += rig_send_number(rig, 0, 1, PSI_REQUESTS, lengths[sent % 8], sent) ==
			        PSI_OK;
		sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, round % 7);
	}
	while (sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 9))
		;
	ck_assert_uint_eq(counted.heard, sent);
	ck_assert_uint_gt(sent, 5000);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("send");

	tcase_add_loop_test(tests, mediums_around_every_boundary, 0, KINDS);
	tcase_add_loop_test(tests, mediums_of_every_size, 0, 2);
	tcase_add_loop_test(tests, shorts_and_longs, 0, KINDS);
	tcase_add_loop_test(tests, refused_without_trace_when_full, 0, 4);
	tcase_add_loop_test(tests, refused_long_writes_nothing, 0, 2);
	tcase_add_loop_test(tests, networks_do_not_block_each_other, 0, 4);
	tcase_add_loop_test(tests, order_over_all_kinds, 0, 2);
	return unit_run("sysvnet send", tests);
}
