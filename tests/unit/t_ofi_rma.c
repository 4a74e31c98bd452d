/*
 * The ofi conduit: puts and gets by operations of the provider's.  Bytes of every size arrive, over
 * each provider and kind of local memory; a put is one write and a get one read.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rma_rig.h"

#include <stdlib.h>
#include <string.h>

/* -- all sizes --------------------------------------------------------------------------------- */

static size_t
size_next(size_t len_bytes, size_t most)
{
	const size_t next = len_bytes < 40 ? len_bytes + 1 : len_bytes * 5 / 3 + 1;

	return len_bytes < most && next > most ? most : next;
}

/* Each puts to the other and gets it back, at an odd place, from memory of its own heap. */
static void
sizes(void)
{
	enum { MOST = 1 << 20, AT = 12345 };
	unsigned char *bytes = malloc(MOST), *back = malloc(MOST);

	for (size_t len = 1; len <= MOST; len = size_next(len, MOST)) {
		const uint32_t seed = (uint32_t)len * 2 + ofi_self.place;

		ofi_fill(bytes, len, seed);
		rma_put(AT, bytes, len);
		memset(back, 0xee, len);
		rma_get(AT, back, len);
		ck_assert_msg(ofi_is_filled(back, len, seed), "of %zu bytes", len);
		ofi_meet();
		ck_assert_uint_eq(rma_own[AT - 1], 0);
		ck_assert_uint_eq(rma_own[AT + len], 0);
		ck_assert(ofi_is_filled(rma_own + AT, len, (uint32_t)len * 2 + rma_other()));
		ofi_meet();
		memset(rma_own + AT, 0, len);
		ofi_meet();
	}
	ck_assert_uint_eq(ofi_self.count[PSI_COUNT_DROPPED], 0);
	free(bytes);
	free(back);
}

static const char *const providers[] = { "tcp;ofi_rxm", "net", "shm" };

START_TEST(puts_and_gets_of_all_sizes_arrive_whole)
{
	if (!ofi_has_provider(providers[_i]))
		return;
	ofi_set("PST_OFI_PROVIDER", providers[_i]);
	rma_run(2, false, sizes);
	rma_run(2, true, sizes);
}
END_TEST

/* Its own heap is registered for each transfer, or goes by buffers. */
static void
sizes_registered(void)
{
	ofi_self.conduit->rma.needs_local = true;
	sizes();
}

START_TEST(local_memory_is_registered_where_the_provider_wants_that)
{
	rma_run(2, false, sizes_registered);
}
END_TEST

static int
reg_fails(struct fid *fid, const void *base, size_t len, uint64_t access, uint64_t offset,
          uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	(void)fid, (void)base, (void)len, (void)access, (void)offset, (void)key, (void)flags;
	(void)mr, (void)context;
	return -FI_ENOMEM;
}

static int (*reg_really)(struct fid *, const void *, size_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         struct fid_mr **, void *);

/* The slots' buffers are, larger memory is not. */
static int
reg_small(struct fid *fid, const void *base, size_t len, uint64_t access, uint64_t offset,
          uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	if (len > POFI_BOUNCE_BYTES)
		return -FI_ENOMEM;
	return reg_really(fid, base, len, access, offset, key, flags, mr, context);
}

static void
sizes_by_buffers(void)
{
	struct fi_ops_mr ops = *ofi_self.conduit->domain->mr;

	reg_really = ops.reg;
	ops.reg = reg_small;
	ofi_self.conduit->domain->mr = &ops;
	ofi_self.conduit->rma.needs_local = true;
	sizes();
}

START_TEST(memory_that_cannot_be_registered_goes_by_buffers)
{
	rma_run(2, false, sizes_by_buffers);
}
END_TEST

static void
sizes_in_pieces(void)
{
	ofi_self.conduit->rma.piece_bytes = 50000;
	sizes();
}

START_TEST(transfers_larger_than_the_provider_takes_go_in_pieces)
{
	rma_run(2, false, sizes_in_pieces);
}
END_TEST

/* -- what the provider is asked for ------------------------------------------------------------ */

/* Whatever its size: one write, or one read, and no message. */
static void
asks_once(void)
{
	static const size_t lens[] = { 1, 8, 64, 65, 1000, 16384, 16385, 500000 };
	static unsigned char bytes[500000];

	rma_watch();
	for (unsigned i = 0; i < sizeof lens / sizeof *lens && ofi_self.place == 0; i++) {
		rma_put(0, bytes, lens[i]);
		rma_get(0, bytes, lens[i]);
		ck_assert_uint_eq(rma_seen.writes, i + 1);
		ck_assert_uint_eq(rma_seen.reads, i + 1);
		ck_assert_uint_eq(rma_seen.len_bytes, lens[i]);
	}
	ck_assert_uint_eq(rma_seen.sends, 0);
	ck_assert_uint_eq(rma_seen.unsafe_writes, 0);
	ofi_meet();
}

START_TEST(a_put_is_one_write_and_a_get_one_read)
{
	rma_run(2, false, asks_once);
}
END_TEST

/* Memory of an own segment has a descriptor already. */
static void
own_segment(void)
{
	struct fi_ops_mr ops = *ofi_self.conduit->domain->mr;

	ops.reg = reg_fails;
	ofi_self.conduit->domain->mr = &ops;
	ofi_self.conduit->rma.needs_local = true;
	rma_watch();
	if (ofi_self.place == 0) {
		rma_put(0, rma_own + 100, 500000);
		rma_get(0, rma_own, 500000);
		ck_assert_uint_eq(rma_seen.writes, 1);
		ck_assert_uint_eq(rma_seen.reads, 1);
	}
	ofi_meet();
}

START_TEST(memory_of_the_own_segment_is_not_registered_again)
{
	rma_run(2, false, own_segment);
}
END_TEST

/* -- local completion -------------------------------------------------------------------------- */

/* The source of a small put may change when the call returns, if its caller asks; that of a large
 * one when the put is over. */
static void
early_reading(void)
{
	static unsigned char small[POFI_BOUNCE_BYTES], large[POFI_BOUNCE_BYTES + 1], back[1 << 16];
	struct psi_transfer put = rma_transfer(0, small, sizeof small);

	put.read_cookie = rma_cookie();
	if (ofi_self.place == 0) {
		rma_put(0, small, 8);           /* it is connected */
		ofi_fill(small, sizeof small, 3);
		rma_begin(pofi_ops.put, &put);
		ck_assert(rma_is_done(put.read_cookie));
		ck_assert(!rma_is_done(put.cookie));
		memset(small, 0, sizeof small);
		OFI_UNTIL(rma_is_done(put.cookie));
		rma_get(0, back, sizeof small);
		ck_assert(ofi_is_filled(back, sizeof small, 3));

		put = rma_transfer(0, large, sizeof large);
		put.read_cookie = rma_cookie();
		ofi_fill(large, sizeof large, 4);
		rma_begin(pofi_ops.put, &put);
		ck_assert(!rma_is_done(put.read_cookie));
		OFI_UNTIL(rma_is_done(put.read_cookie));
		memset(large, 0, sizeof large);
		OFI_UNTIL(rma_is_done(put.cookie));
		rma_get(0, back, sizeof large);
		ck_assert(ofi_is_filled(back, sizeof large, 4));

		/* what nobody may read later is the reference's if it is large */
		put.read_now = true;
		ck_assert_int_eq(pofi_ops.put(ofi_self.port, &put), PSI_UNSUPPORTED);
		put.len_bytes = POFI_BOUNCE_BYTES;
		put.cookie = rma_cookie();
		put.read_cookie = 0;
		ofi_fill(large, sizeof large, 5);
		rma_begin(pofi_ops.put, &put);
		memset(large, 0, sizeof large);
		OFI_UNTIL(rma_is_done(put.cookie));
		rma_get(0, back, POFI_BOUNCE_BYTES);
		ck_assert(ofi_is_filled(back, POFI_BOUNCE_BYTES, 5));
	}
	ofi_meet();
}

START_TEST(the_source_is_free_when_the_conduit_says_so)
{
	rma_run(2, false, early_reading);
}
END_TEST

/* -- puts with signal -------------------------------------------------------------------------- */

static const size_t signal_lens[] = { 1, 64, 65, 1000, POFI_BOUNCE_BYTES };

enum { SIGNALS = sizeof signal_lens / sizeof *signal_lens, SIGNAL = 0x1234567 };

static unsigned signals_heard;

/* It comes behind the bytes. */
static bool
hear_signal(uint64_t packed)
{
	if (packed >= SIGNAL + SIGNALS || packed < SIGNAL)
		return false;
	ck_assert_uint_eq(packed, SIGNAL + signals_heard);
	ck_assert(ofi_is_filled(rma_own, signal_lens[signals_heard], signals_heard));
	signals_heard++;
	return true;
}

static int
put_signal(void *bytes, size_t len_bytes, const struct psi_signal_operation *signal)
{
	struct psi_transfer put = rma_transfer(0, bytes, len_bytes);
	int result;

	put.cookie = 0;
	put.read_now = true;
	while ((result = pofi_ops.put_signal(ofi_self.port, &put, signal)) == PSI_AGAIN)
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	return result;
}

static void
signal_all(void)
{
	static unsigned char bytes[POFI_BOUNCE_BYTES];
	struct psi_signal_operation signal = { .packed = SIGNAL };

	for (unsigned i = 0; i < SIGNALS; i++, signal.packed++) {
		ofi_fill(bytes, signal_lens[i], i);
		ck_assert_int_eq(put_signal(bytes, signal_lens[i], &signal), PSI_OK);
		memset(bytes, 0, sizeof bytes);         /* it has been read */
		OFI_UNTIL(atomic_load(&ofi_words[1]) == i + 1);
	}
	ck_assert_uint_eq(rma_seen.writes, SIGNALS);
	ck_assert_uint_eq(rma_seen.sends + rma_seen.unsafe_writes, 0);
	ofi_self.conduit->tag ^= 1;
	ck_assert_int_eq(put_signal(bytes, 8, &signal), PSI_OK);
}

static void
signals(void)
{
	ofi_self.signal_arrived = hear_signal;
	rma_watch();
	if (ofi_self.place == 0)
		signal_all();
	while (ofi_self.place == 1 && !ofi_self.count[PSI_COUNT_DROPPED]) {
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
		atomic_store(&ofi_words[1], signals_heard);
	}
	ofi_meet_idle();
}

START_TEST(a_put_with_signal_is_one_write_and_its_signal_comes_behind_the_bytes)
{
	if (!ofi_has_provider(providers[_i]))
		return;
	ofi_set("PST_OFI_PROVIDER", providers[_i]);
	rma_run(2, false, signals);
}
END_TEST

/* They go by messages, or with a put in front. */
static void
signals_left_out(void)
{
	static unsigned char bytes[POFI_BOUNCE_BYTES + 1];
	struct psi_signal_operation signal = { .packed = SIGNAL };
	struct psi_transfer put = rma_transfer(0, bytes, 8);

	put.read_now = true;
	ck_assert_int_eq(put_signal(bytes, sizeof bytes, &signal), PSI_UNSUPPORTED);
	signal.cookie = 1;
	ck_assert_int_eq(put_signal(bytes, 8, &signal), PSI_UNSUPPORTED);
	signal = (struct psi_signal_operation){ .packed = 0 };
	ck_assert_int_eq(put_signal(bytes, 8, &signal), PSI_UNSUPPORTED);
	signal.packed = SIGNAL;
	rma_watch();
	rma_seen.result = -FI_EAGAIN;
	ck_assert_int_eq(pofi_ops.put_signal(ofi_self.port, &put, &signal), PSI_AGAIN);
	ck_assert(!pofi_transfers_pending(ofi_self.conduit));
	ofi_self.conduit->rma.data = false;
	ck_assert_int_eq(put_signal(bytes, 8, &signal), PSI_UNSUPPORTED);
	ofi_meet();
}

START_TEST(signals_that_do_not_fit_are_left_to_messages)
{
	rma_run(2, false, signals_left_out);
}
END_TEST

/* -- names ------------------------------------------------------------------------------------- */

static void
names(void)
{
	static char memory[2][100];
	struct psi_segment_name name[2] = { 0 };
	struct psi_registration *registration[2];
	struct psi_transfer put = rma_transfer(0, memory, 8);

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pofi_ops.segment_bind(ofi_self.conduit, memory[i],
		                                       sizeof memory[i], &name[i],
		                                       &registration[i]), PSI_OK);
	ck_assert_uint_ne(name[0].key, name[1].key);
	ck_assert_uint_ne(name[0].key, PSI_NO_KEY);
	ck_assert_uint_eq(name[0].origin, 0);
	pofi_ops.segment_release(ofi_self.conduit, registration[0]);
	pofi_ops.segment_release(ofi_self.conduit, registration[1]);
	put.remote.name.key = PSI_NO_KEY;
	ck_assert_int_eq(pofi_ops.put(ofi_self.port, &put), PSI_UNSUPPORTED);
	ck_assert_int_eq(pofi_ops.get(ofi_self.port, &put), PSI_UNSUPPORTED);
	ofi_meet();
}

START_TEST(segments_have_keys_of_their_own)
{
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	rma_run(2, false, names);
}
END_TEST

/* Where the provider has no puts and gets, or the memory cannot be registered. */
static void
no_names(void)
{
	static char memory[100];
	struct psi_segment_name name = { .key = 5 };
	struct psi_registration *registration = NULL;
	struct fi_ops_mr ops = *ofi_self.conduit->domain->mr;
	struct psi_transfer put = rma_transfer(0, memory, 8);

	ops.reg = reg_fails;
	ofi_self.conduit->domain->mr = &ops;
	ck_assert_int_eq(pofi_ops.segment_bind(ofi_self.conduit, memory, sizeof memory, &name,
	                                       &registration), PSI_FAILED);
	ck_assert_ptr_nonnull(strstr(ofi_said, "ulimit -l"));
	ofi_self.conduit->rma.puts = ofi_self.conduit->rma.gets = false;
	ck_assert_int_eq(pofi_ops.segment_bind(ofi_self.conduit, memory, sizeof memory, &name,
	                                       &registration), PSI_UNSUPPORTED);
	ck_assert_uint_eq(name.key, 5);
	ck_assert_int_eq(pofi_ops.put(ofi_self.port, &put), PSI_UNSUPPORTED);
	ck_assert_int_eq(pofi_ops.get(ofi_self.port, &put), PSI_UNSUPPORTED);
	ofi_meet();
}

START_TEST(what_has_no_name_is_left_to_messages)
{
	rma_run(2, false, no_names);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, puts_and_gets_of_all_sizes_arrive_whole, 0,
	                    sizeof providers / sizeof *providers);
	tcase_add_test(tests, local_memory_is_registered_where_the_provider_wants_that);
	tcase_add_test(tests, memory_that_cannot_be_registered_goes_by_buffers);
	tcase_add_test(tests, transfers_larger_than_the_provider_takes_go_in_pieces);
	tcase_add_test(tests, a_put_is_one_write_and_a_get_one_read);
	tcase_add_test(tests, memory_of_the_own_segment_is_not_registered_again);
	tcase_add_test(tests, the_source_is_free_when_the_conduit_says_so);
	tcase_add_loop_test(tests,
	                    a_put_with_signal_is_one_write_and_its_signal_comes_behind_the_bytes, 0,
	                    sizeof providers / sizeof *providers);
	tcase_add_test(tests, signals_that_do_not_fit_are_left_to_messages);
	tcase_add_test(tests, segments_have_keys_of_their_own);
	tcase_add_test(tests, what_has_no_name_is_left_to_messages);
	return unit_run("ofi conduit, puts and gets", tests);
}
