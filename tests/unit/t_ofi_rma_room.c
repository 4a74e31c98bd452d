/*
 * The ofi conduit: puts and gets for which there is no room, whose peer is lost, and that are under
 * way when their process ends.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rma_rig.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- no room ----------------------------------------------------------------------------------- */

static unsigned char bytes[1000];

/* The provider has none: an IMMEDIATE transfer is refused, another waits in the conduit, and those
 * behind it too. */
static void
provider_is_full(void)
{
	struct psi_transfer first = rma_transfer(0, bytes, 8), second = rma_transfer(8, bytes, 8);
	struct psi_transfer now = rma_transfer(16, bytes, 8);

	rma_put(0, bytes, 8);
	rma_watch();
	rma_seen.result = -FI_EAGAIN;
	now.immediate = true;
	ck_assert_int_eq(pofi_ops.put(ofi_self.port, &now), PSI_AGAIN);
	ck_assert_int_eq(pofi_ops.get(ofi_self.port, &now), PSI_AGAIN);
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_REFUSED], 2);
	ck_assert_int_eq(pofi_ops.put(ofi_self.port, &first), PSI_OK);
	ck_assert_int_eq(pofi_ops.get(ofi_self.port, &second), PSI_OK);
	rma_seen.result = 0;
	ck_assert_int_eq(pofi_ops.put(ofi_self.port, &now), PSI_AGAIN);
	ck_assert_uint_eq(rma_seen.writes + rma_seen.reads, 0);
	OFI_UNTIL(rma_is_done(first.cookie) && rma_is_done(second.cookie));
	ck_assert_uint_eq(rma_seen.writes, 1);
	ck_assert_uint_eq(rma_seen.reads, 1);
	rma_begin(pofi_ops.put, &now);
	OFI_UNTIL(rma_is_done(now.cookie));
	ofi_meet();
}

START_TEST(what_finds_no_room_waits_or_is_refused)
{
	rma_run(2, false, provider_is_full);
}
END_TEST

/* As many as a client may have under way, to a process that does not poll; one more is refused, and
 * all arrive when it does. */
static void
many(void)
{
	struct psi_transfer put = rma_transfer(0, bytes, 8);
	unsigned taken = 0;

	if (ofi_self.place == 1) {
		while (!atomic_load(&ofi_words[0]))
			usleep(1000);
		ofi_meet();
		return;
	}
	while (pofi_ops.put(ofi_self.port, &put) == PSI_OK) {
		put = rma_transfer(8 * (++taken % 1000), bytes, 8);
		if (taken % 64 == 0)
			(void)pofi_ops.poll(ofi_self.port, PSI_BOTH_NETWORKS, 8);
	}
	ck_assert_uint_ge(taken, 65535);
	atomic_store(&ofi_words[0], 1);
	OFI_UNTIL(rma_done_count() == taken);
	ck_assert(!pofi_transfers_pending(ofi_self.conduit));
	ofi_meet();
}

START_TEST(a_client_may_have_as_many_under_way_as_it_was_promised)
{
	rma_run(2, false, many);
}
END_TEST

/* Those to a process that takes nothing leave slots for another. */
static void
one_is_deaf(void)
{
	static unsigned char large[200000];
	enum { DEAF = 1, GOOD = 2, PUTS = 400 };
	struct psi_transfer put;

	if (ofi_self.place == DEAF) {
		while (!atomic_load(&ofi_words[0]))
			usleep(1000);
	} else if (ofi_self.place == 0) {
		for (unsigned i = 0; i < PUTS; i++) {
			put = rma_transfer(0, large, sizeof large);
			rma_begin(pofi_ops.put, &put);
		}
		for (unsigned i = 0; i < PUTS; i++) {
			put = rma_transfer(0, large, 1000);
			put.remote.peer = GOOD;
			put.remote.name = rma_name(GOOD);
			rma_begin(pofi_ops.put, &put);
			OFI_UNTIL(rma_is_done(put.cookie));
		}
		atomic_store(&ofi_words[0], 1);
		OFI_UNTIL(rma_done_count() == 2 * PUTS);
	}
	ofi_meet();
}

START_TEST(a_peer_that_takes_nothing_holds_up_no_other)
{
	rma_run(3, false, one_is_deaf);
}
END_TEST

/* -- peers that are lost ----------------------------------------------------------------------- */

/* It is told of when its time is over, and not before. */
static void
told_of(uint32_t place)
{
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(ofi_self.lost, PSI_NO_PEER);
	ofi_self.conduit->lost_peer.tell_at_ns -= 3000000000;
	ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_uint_eq(ofi_self.lost, place);
}

static void
provider_refuses(void)
{
	struct psi_transfer put = rma_transfer(0, bytes, 8);

	if (ofi_self.place == 0) {
		rma_watch();
		rma_seen.result = -FI_ENOKEY;
		ck_assert_int_eq(pofi_ops.put(ofi_self.port, &put), PSI_AGAIN);
		told_of(1);
		ck_assert_ptr_nonnull(strstr(ofi_said, "Required key not available"));
		ck_assert(!pofi_transfers_pending(ofi_self.conduit));
	}
	ofi_meet_idle();
}

START_TEST(a_transfer_that_does_not_begin_loses_the_peer)
{
	rma_run(2, false, provider_refuses);
}
END_TEST

static ssize_t
read_fails(struct fid_cq *cq, void *entries, size_t count)
{
	(void)cq, (void)entries, (void)count;
	return rma_seen.context ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t
readerr_tells(struct fid_cq *cq, struct fi_cq_err_entry *error, uint64_t flags)
{
	(void)cq, (void)flags;
	*error = (struct fi_cq_err_entry){ .op_context = rma_seen.context, .err = FI_EACCES };
	rma_seen.context = NULL;
	return 1;
}

/* A completion that says that it failed: its cookie never completes, and the job ends. */
static void
transfer_fails(void)
{
	struct psi_transfer put = rma_transfer(0, bytes, sizeof bytes);
	struct fi_ops_cq ops = *ofi_self.conduit->cq->ops;

	if (ofi_self.place == 0)
		rma_put(0, bytes, 8);
	ofi_meet();
	if (ofi_self.place == 0) {
		rma_watch();
		rma_begin(pofi_ops.put, &put);
		ops.read = read_fails;
		ops.readerr = readerr_tells;
		ofi_self.conduit->cq->ops = &ops;
		told_of(1);
		ck_assert_ptr_nonnull(strstr(ofi_said, "Permission denied"));
		ck_assert(!rma_is_done(put.cookie));
		ck_assert_int_eq(pofi_ops.put(ofi_self.port, &put), PSI_AGAIN);
	}
	ofi_meet_idle();
}

START_TEST(a_transfer_that_fails_loses_the_peer)
{
	rma_run(2, false, transfer_fails);
}
END_TEST

/* Process 1 ends with transfers under way. */
static void
one_leaves(void)
{
	static unsigned char large[1 << 20];
	struct psi_transfer put;

	rma_get(0, large, 8);
	ofi_meet();
	if (ofi_self.place == 1)
		_exit(0);
	while (ofi_self.lost == PSI_NO_PEER) {
		put = rma_transfer(0, large, sizeof large);
		(void)pofi_ops.put(ofi_self.port, &put);
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
		usleep(1000);
	}
	ck_assert_uint_eq(ofi_self.lost, 1);
	while (pofi_ops.drain(ofi_self.conduit) == PSI_AGAIN)
		;
}

START_TEST(a_peer_that_is_gone_is_told_of)
{
	rma_run(2, false, one_leaves);
}
END_TEST

/* -- leaving ----------------------------------------------------------------------------------- */

/* What was drained is there, though nobody has waited for it. */
static void
leave_early(void)
{
	enum { PUTS = 300, EACH = 5000 };
	static unsigned char payload[EACH];

	if (ofi_self.place == 0) {
		ofi_fill(payload, EACH, 7);
		for (unsigned i = 0; i < PUTS; i++) {
			struct psi_transfer put = rma_transfer(i * EACH, payload, EACH);

			rma_begin(pofi_ops.put, &put);
		}
		while (pofi_ops.drain(ofi_self.conduit) == PSI_AGAIN)
			;
		atomic_store(&ofi_words[0], 1);
		return;
	}
	OFI_UNTIL(atomic_load(&ofi_words[0]));
	for (unsigned i = 0; i < PUTS; i++)
		ck_assert(ofi_is_filled(rma_own + i * EACH, EACH, 7));
}

START_TEST(puts_that_were_drained_are_at_the_target)
{
	rma_run(2, false, leave_early);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, what_finds_no_room_waits_or_is_refused);
	tcase_add_test(tests, a_client_may_have_as_many_under_way_as_it_was_promised);
	tcase_add_test(tests, a_peer_that_takes_nothing_holds_up_no_other);
	tcase_add_test(tests, a_transfer_that_does_not_begin_loses_the_peer);
	tcase_add_test(tests, a_transfer_that_fails_loses_the_peer);
	tcase_add_test(tests, a_peer_that_is_gone_is_told_of);
	tcase_add_test(tests, puts_that_were_drained_are_at_the_target);
	return unit_run("ofi conduit, room for puts and gets", tests);
}
