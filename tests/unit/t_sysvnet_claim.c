/* Buffers and claims: what is granted, where it lies, and that all comes back. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sysvnet_rig.h"
#include "tests/unit/main.h"

enum { BUFFERS = SYSVNET_LARGE_COUNT + SYSVNET_SMALL_COUNT };

struct heard {
	uint32_t count;
	const void *payload;
	size_t len_bytes;
	uint32_t seed;
};

static void
hear(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct heard *heard = rank->data;

	heard->count++;
	heard->payload = got->payload;
	heard->len_bytes = got->len_bytes;
	if (got->nargs)
		heard->seed = (uint32_t)got->args[0];
	if (got->category == PSI_MEDIUM && got->len_bytes)
		ck_assert(memcmp(got->payload, rig_pattern(heard->seed), got->len_bytes) == 0);
}

static struct psi_claim
claim_for(uint32_t peer, unsigned network, size_t least_bytes, size_t most_bytes)
{
	return (struct psi_claim){ .peer = peer, .network = (uint8_t)network,
	                           .least_bytes = least_bytes, .most_bytes = most_bytes };
}

/* As the message of a claim: len_bytes of it, argument seed. */
static struct psi_am
am_for(const struct psi_claim *claim, size_t len_bytes, const int32_t *seed)
{
	return (struct psi_am){ .peer = claim->peer, .handler = 9, .category = PSI_MEDIUM,
	                        .network = claim->network, .nargs = 1, .args = seed,
	                        .len_bytes = len_bytes };
}

/* The buffer is aligned and lies among those of the receiver's region for that network. */
static void
check_place(const struct rig *rig, const struct psi_claim *claim)
{
	const struct sysvnet_layout layout = sysvnet_layout_for(rig->ranks, true);
	const unsigned char *buffers = rig->arena + sysvnet_layout_region(&layout, claim->peer) +
	                               layout.buffers +
	                               claim->network * SYSVNET_NETWORK_BUFFER_BYTES;
	const unsigned char *at = claim->buffer;

	ck_assert_uint_eq((uintptr_t)at % 16, 0);
	ck_assert(at >= buffers);
	ck_assert(at + claim->size_bytes <= buffers + SYSVNET_NETWORK_BUFFER_BYTES);
}

static uint64_t
busy(const struct rig *rig, uint32_t place)
{
	const struct sysvnet_shared *shared = rig->rank[place].port->shared;
	uint64_t all = 0;

	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		for (unsigned size = 0; size < SYSVNET_SIZES; size++)
			all |= atomic_load(&shared->busy[network][size]);
	return all;
}

static struct rig *
open_rig(uint32_t ranks, int threaded)
{
	const struct rig_options options = { ranks, threaded, true, hear };

	return rig_open(&options);
}

START_TEST(granted_between_least_and_most)
{
	static const size_t sizes[] = { 0, 1, 16, 4095, 4096, 4097, 30000, 65000, 65535, 65536 };
	struct rig *rig = open_rig(3, _i);

	for (unsigned l = 0; l < 10; l++) {
		for (unsigned m = l; m < 10; m++) {
			struct psi_claim claim = claim_for(2, m % 2, sizes[l], sizes[m]);

			ck_assert_int_eq(sysvnet_claim(rig->rank[0].port, &claim), PSI_OK);
			/* with buffers free, all that was asked for */
			ck_assert_uint_eq(claim.size_bytes, sizes[m]);
			check_place(rig, &claim);
			memset(claim.buffer, 0x33, claim.size_bytes);
			sysvnet_cancel(rig->rank[0].port, &claim);
			ck_assert_uint_eq(busy(rig, 2), 0);
		}
	}
	rig_close(rig);
}
END_TEST

/* Takes claims until refused; returns how many. */
static unsigned
claim_all(struct rig *rig, uint32_t from, struct psi_claim *claims, const struct psi_claim *like)
{
	unsigned count = 0;

	for (;;) {
		struct psi_claim claim = *like;

		if (sysvnet_claim(rig->rank[from].port, &claim) != PSI_OK)
			return count;
		ck_assert_uint_lt(count, BUFFERS);
		ck_assert_uint_ge(claim.size_bytes, like->least_bytes);
		ck_assert_uint_le(claim.size_bytes, like->most_bytes);
		check_place(rig, &claim);
		for (unsigned i = 0; i < count; i++) {
			const unsigned char *a = claims[i].buffer, *b = claim.buffer;

			ck_assert(a + claims[i].size_bytes <= b || b + claim.size_bytes <= a);
		}
		claims[count++] = claim;
	}
}

/* The pools run dry by size, network by network, and give all back. */
START_TEST(exhausted_and_given_back)
{
	static const struct { size_t least, most; unsigned count; } cases[] = {
		{ 65536, 65536, SYSVNET_LARGE_COUNT }, { 4097, 65536, SYSVNET_LARGE_COUNT },
		{ 4096, 65536, BUFFERS }, { 0, 65536, BUFFERS }, { 100, 4096, BUFFERS },
		{ 16, 16, BUFFERS },
	};
	struct rig *rig = open_rig(3, _i);

	for (unsigned c = 0; c < 6; c++) {
		for (unsigned network = 0; network < PSI_NETWORKS; network++) {
			struct psi_claim like =
				claim_for(2, network, cases[c].least, cases[c].most);
			struct psi_claim claims[BUFFERS + 1], other;
			unsigned count = claim_all(rig, network, claims, &like);

			ck_assert_uint_eq(count, cases[c].count);
			other = claim_for(2, 1 - network, 65536, 65536);
			ck_assert_int_eq(sysvnet_claim(rig->rank[0].port, &other), PSI_OK);
			sysvnet_cancel(rig->rank[0].port, &other);
			for (unsigned i = 0; i < count; i += 2) {
				sysvnet_cancel(rig->rank[network].port, &claims[i]);
				ck_assert_int_eq(sysvnet_claim(rig->rank[1].port, &claims[i]),
				                 PSI_OK);
				ck_assert_int_eq(sysvnet_claim(rig->rank[1].port, &like),
				                 PSI_AGAIN);
			}
			while (count)
				sysvnet_cancel(rig->rank[1].port, &claims[--count]);
			ck_assert_uint_eq(busy(rig, 2), 0);
		}
	}
	ck_assert_uint_eq(busy(rig, 0) | busy(rig, 1), 0);
	rig_close(rig);
}
END_TEST

/* The handler gets the claimed bytes where the sender wrote them. */
START_TEST(published_without_a_copy)
{
	static const size_t sizes[] = { 0, 1, 100, 4096, 5000, 65536 };
	struct rig *rig = open_rig(2, _i);
	struct heard heard = { 0 };

	rig->rank[1].data = &heard;
	for (int32_t seed = 0; seed < 600; seed++) {
		struct psi_claim claim = claim_for(1, (unsigned)seed % 2, 0,
			                                   sizes[seed % 6]);
		struct psi_am am;

		ck_assert_int_eq(sysvnet_claim(rig->rank[0].port, &claim), PSI_OK);
		am = am_for(&claim, claim.size_bytes - claim.size_bytes / 3, &seed);
		memcpy(claim.buffer, rig_pattern((uint32_t)seed), am.len_bytes);
		ck_assert_int_eq(sysvnet_publish(rig->rank[0].port, &claim, &am), PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 4), 1);
		ck_assert_uint_eq(heard.seed, (uint32_t)seed);
		ck_assert_uint_eq(heard.len_bytes, am.len_bytes);
		ck_assert_ptr_eq(heard.payload, claim.buffer);
		ck_assert_uint_eq(busy(rig, 1), 0);
	}
	ck_assert_uint_eq(rig_count(&rig->rank[1], SYSVNET_COUNT_COPIED_OUT), 0);
	ck_assert_uint_eq(rig_count(&rig->rank[0], SYSVNET_COUNT_CLAIMED), 600);
	rig_close(rig);
}
END_TEST

/* An open claim takes no place in the lane: whatever is sent meanwhile arrives. */
START_TEST(open_claims_delay_nobody)
{
	struct rig *rig = open_rig(2, _i);
	struct psi_claim claim = claim_for(1, PSI_REQUESTS, 10, 65536);
	struct heard heard = { 0 };
	const int32_t seed = 77;
	struct psi_am am;

	rig->rank[1].data = &heard;
	ck_assert_int_eq(sysvnet_claim(rig->rank[0].port, &claim), PSI_OK);
	for (uint32_t i = 0; i < 1000; i++) {
		const struct psi_am small = { .peer = 1, .category = PSI_SHORT };

		ck_assert_int_eq(sysvnet_send(rig->rank[0].port, &small), PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 4), 1);
	}
	am = am_for(&claim, 1000, &seed);
	memcpy(claim.buffer, rig_pattern(77), 1000);
	ck_assert_int_eq(sysvnet_publish(rig->rank[0].port, &claim, &am), PSI_OK);
	ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 4), 1);
	ck_assert_uint_eq(heard.count, 1001);
	ck_assert_uint_eq(heard.seed, 77);
	rig_close(rig);
}
END_TEST

/* No room in the lane: the claim stays open, and goes later. */
START_TEST(refused_publish_keeps_the_claim)
{
	struct rig *rig = open_rig(2, _i);
	struct psi_claim claim = claim_for(1, PSI_REQUESTS, 5000, 5000);
	const struct psi_am small = { .peer = 1, .category = PSI_SHORT };
	const int32_t seed = 8;
	struct heard heard = { 0 };
	uint32_t sent = 0;
	struct psi_am am;

	rig->rank[1].data = &heard;
	ck_assert_int_eq(sysvnet_claim(rig->rank[0].port, &claim), PSI_OK);
	am = am_for(&claim, 5000, &seed);
	memcpy(claim.buffer, rig_pattern(8), 5000);
	while (sysvnet_send(rig->rank[0].port, &small) == PSI_OK)
		ck_assert_uint_lt(++sent, 1000);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(sysvnet_publish(rig->rank[0].port, &claim, &am), PSI_AGAIN);
	ck_assert_uint_ne(busy(rig, 1), 0);
	while (sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 100))
		;
	ck_assert_uint_eq(heard.count, sent);
	ck_assert_int_eq(sysvnet_publish(rig->rank[0].port, &claim, &am), PSI_OK);
	ck_assert_uint_eq(sysvnet_poll(rig->rank[1].port, PSI_BOTH_NETWORKS, 100), 1);
	ck_assert_ptr_eq(heard.payload, claim.buffer);
	ck_assert_uint_eq(busy(rig, 1), 0);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------- at random, with an oracle --- */

struct open_claim {
	struct psi_claim claim;
	uint32_t from;
};

struct mix {
	struct rig *rig;
	struct open_claim open[3 * 2 * BUFFERS];
	uint32_t count, published, state;
};

static uint32_t
next(struct mix *mix)
{
	mix->state = mix->state * 1664525u + 1013904223u;
	return mix->state >> 12;
}

static void
mix_claim(struct mix *mix)
{
	struct open_claim *open = &mix->open[mix->count];
	size_t least = next(mix) % 65537;

	open->from = next(mix) % 3;
	open->claim = claim_for(next(mix) % 3, next(mix) % 2, least,
	                        least + next(mix) % (65537 - (uint32_t)least));
	if (sysvnet_claim(mix->rig->rank[open->from].port, &open->claim) != PSI_OK)
		return;
	check_place(mix->rig, &open->claim);
	ck_assert_uint_ge(open->claim.size_bytes, least);
	ck_assert_uint_le(open->claim.size_bytes, open->claim.most_bytes);
	mix->count++;
}

static void
mix_end(struct mix *mix, bool publish)
{
	uint32_t which = next(mix) % mix->count;
	struct open_claim open = mix->open[which];
	int32_t seed = (int32_t)(next(mix) & 0xffff);
	struct psi_am am = am_for(&open.claim, next(mix) % ((uint32_t)open.claim.size_bytes + 1),
	                          &seed);
	struct sysvnet_port *port = mix->rig->rank[open.from].port;

	if (publish) {
		memcpy(open.claim.buffer, rig_pattern((uint32_t)seed), am.len_bytes);
		if (sysvnet_publish(port, &open.claim, &am) != PSI_OK)
			return;
		mix->published++;
	} else {
		sysvnet_cancel(port, &open.claim);
	}
	mix->open[which] = mix->open[--mix->count];
}

START_TEST(any_mix_of_claims)
{
	struct heard heard[3] = { { 0 } };
	struct mix mix = { .rig = open_rig(3, _i % 2), .state = (uint32_t)_i };
	uint32_t delivered = 0;

	for (uint32_t place = 0; place < 3; place++)
		mix.rig->rank[place].data = &heard[place];
	for (int i = 0; i < 20000; i++) {
		uint32_t what = next(&mix) % 8;

		if (what < 4)
			mix_claim(&mix);
		else if (what < 7 && mix.count)
			mix_end(&mix, what != 4);
		else
			delivered += sysvnet_poll(mix.rig->rank[next(&mix) % 3].port,
			                          PSI_BOTH_NETWORKS, 5);
	}
	while (mix.count)
		mix_end(&mix, false);
	for (uint32_t place = 0; place < 3; place++)
		for (uint32_t more = 1; more; delivered += more)
			more = sysvnet_poll(mix.rig->rank[place].port, PSI_BOTH_NETWORKS,
			                    9999);
	ck_assert_uint_eq(delivered, mix.published);
	ck_assert_uint_eq(heard[0].count + heard[1].count + heard[2].count, mix.published);
	ck_assert_uint_gt(mix.published, 3000);
	for (uint32_t place = 0; place < 3; place++)
		ck_assert_uint_eq(busy(mix.rig, place), 0);
	rig_close(mix.rig);
}
END_TEST

/* The one thread of a serial port shares no lane with others, one of which may be stopped in the
 * middle. */
START_TEST(alone_takes_no_lock)
{
	struct rig *rig = open_rig(1, 1);
	struct sysvnet *net = rig->rank[0].net;
	struct heard heard = { 0 };
	struct sysvnet_port *from, *to;
	struct sysvnet_out *shared;
	const int32_t seed = 5;

	rig_has_further = true;
	rig->rank[0].data = &heard;
	ck_assert_int_eq(sysvnet_port_open(net, 1, true, &rig->rank[0], &from), PSI_OK);
	ck_assert_int_eq(sysvnet_port_open(net, 2, true, &rig->rank[0], &to), PSI_OK);
	shared = sysvnet_out_of(from, 2, PSI_REQUESTS);
	ck_assert(shared->needs_lock);
	psi_spinlock_lock(&shared->lock);
	for (uint32_t i = 0; i < 200; i++) {
		struct psi_claim claim = claim_for(2, PSI_REQUESTS, 10, 100);
		struct psi_am am;

		claim.alone = true;
		ck_assert_int_eq(sysvnet_claim(from, &claim), PSI_OK);
		am = am_for(&claim, 100, &seed);
		memcpy(claim.buffer, rig_pattern((uint32_t)seed), 100);
		ck_assert_int_eq(sysvnet_publish(from, &claim, &am), PSI_OK);
		ck_assert_uint_eq(sysvnet_poll(to, PSI_BOTH_NETWORKS, 4), 1);
		ck_assert_uint_eq(heard.count, i + 1);
		ck_assert_uint_eq(heard.seed, (uint32_t)seed);
	}
	psi_spinlock_unlock(&shared->lock);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("claims");

	tcase_add_loop_test(tests, granted_between_least_and_most, 0, 2);
	tcase_add_loop_test(tests, exhausted_and_given_back, 0, 2);
	tcase_add_loop_test(tests, published_without_a_copy, 0, 2);
	tcase_add_loop_test(tests, open_claims_delay_nobody, 0, 2);
	tcase_add_loop_test(tests, refused_publish_keeps_the_claim, 0, 2);
	tcase_add_loop_test(tests, any_mix_of_claims, 0, 6);
	tcase_add_test(tests, alone_takes_no_lock);
	return unit_run("sysvnet claims", tests);
}
