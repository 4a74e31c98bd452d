/* The handshake of two keepers: good ones, and each way in which one may be wrong. */
#include "bootstrap/overlay/pboot_overlay_handshake.h"
#include "runtime/util/siphash.h"
#include "tests/unit/main.h"

#include <string.h>

static const uint8_t secret[PBOOT_SHAKE_SECRET_BYTES] = "a secret of job";
static const uint8_t other_secret[PBOOT_SHAKE_SECRET_BYTES] = "a secret of Job";

static struct pboot_shake caller, answerer;
static struct pboot_shake_identity who_calls, who_answers;

/* Nonces differ from handshake to handshake. */
static void
begin(void)
{
	static uint8_t nonces[2][PBOOT_SHAKE_NONCE_BYTES];

	nonces[0][0]++;
	nonces[1][1]++;
	pboot_shake_init(&caller, PBOOT_SHAKE_CALLER, &who_calls, 0, nonces[0]);
	pboot_shake_init(&answerer, PBOOT_SHAKE_ANSWERER, &who_answers, 0, nonces[1]);
}

static void
setup(void)
{
	who_calls = (struct pboot_shake_identity){ .self = 3, .host_count = 9,
		.protocol = PBOOT_SHAKE_PROTOCOL, .version = "1.2.3", .secret = secret };
	who_answers = who_calls;
	who_answers.self = 0;
	begin();
}

/* How the bytes that pass are changed: all of one message, at one place. */
struct change {
	uint32_t at;		/* counted over the messages of both sides */
	uint8_t with;		/* by exclusive or; 0: no change */
};

/* All bytes that have passed. */
static struct {
	uint8_t bytes[PBOOT_SHAKE_ALL_BYTES];
	uint32_t len;
} passed;

/* Moves what is due from one side to the other, `most' bytes at a time; false if nothing was. */
static bool
move(struct pboot_shake *from, struct pboot_shake *to, size_t most, const struct change *change)
{
	size_t len, lacks = pboot_shake_lacks(to);
	const uint8_t *due = pboot_shake_due(from, &len);
	uint8_t bytes[PBOOT_SHAKE_ALL_BYTES];

	len = len < most ? len : most;
	len = len < lacks ? len : lacks;
	if (!due || len == 0)
		return false;
	memcpy(bytes, due, len);
	if (change->at >= passed.len && change->at < passed.len + len)
		bytes[change->at - passed.len] ^= change->with;
	memcpy(passed.bytes + passed.len, bytes, len);
	passed.len += (uint32_t)len;
	pboot_shake_sent(from, len);
	pboot_shake_feed(to, bytes, len);
	return true;
}

static void
run(size_t most, const struct change *change)
{
	passed.len = 0;
	do {
		if (answerer.verdict == PBOOT_SHAKE_PROVEN)
			pboot_shake_judge(&answerer, PBOOT_SHAKE_WELCOME);
	} while (move(&caller, &answerer, most, change) || move(&answerer, &caller, most, change));
}

static const struct change no_change = { 0, 0 };

START_TEST(two_keepers_of_a_job_agree)
{
	size_t most;

	for (most = 1; most <= PBOOT_SHAKE_ALL_BYTES; most++) {
		begin();
		run(most, &no_change);
		ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_WELCOME);
		ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_WELCOME);
		ck_assert_uint_eq(answerer.peer, 3);
		ck_assert_uint_eq(passed.len, PBOOT_SHAKE_ALL_BYTES);
	}
}
END_TEST

/* The secret is in no byte that passes, nor is any four bytes of it. */
START_TEST(the_secret_does_not_pass)
{
	uint32_t i, part;

	run(1000, &no_change);
	for (part = 0; part + 4 <= sizeof secret; part += 4)
		for (i = 0; i + 4 <= passed.len; i++)
			ck_assert_mem_ne(passed.bytes + i, secret + part, 4);
}
END_TEST

/* Nobody is let in, by either side, when any bit was changed on its way. */
START_TEST(every_bit_counts)
{
	struct change change;

	for (change.at = 0; change.at < PBOOT_SHAKE_ALL_BYTES; change.at++) {
		change.with = (uint8_t)(1u << _i);
		begin();
		run(1000, &change);
		ck_assert_msg(caller.verdict != PBOOT_SHAKE_WELCOME, "byte %u", change.at);
		if (change.at < PBOOT_SHAKE_ALL_BYTES - PBOOT_SHAKE_SHORT_BYTES)
			ck_assert_int_ne(answerer.verdict, PBOOT_SHAKE_WELCOME);
	}
}
END_TEST

/* What ends early is neither let in nor judged, at whatever byte. */
START_TEST(a_handshake_that_ends_early_is_open)
{
	const uint32_t by_caller = PBOOT_SHAKE_HELLO_BYTES + PBOOT_SHAKE_SHORT_BYTES;
	uint8_t bytes[PBOOT_SHAKE_ALL_BYTES];
	uint32_t end, i;
	size_t len;

	run(1000, &no_change);
	memcpy(bytes, passed.bytes, sizeof bytes);
	for (end = 0; end < by_caller; end++) {
		begin();
		for (i = 0; i < end && i < PBOOT_SHAKE_HELLO_BYTES; i++)
			pboot_shake_feed(&answerer, bytes + i, 1);
		ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_OPEN);
		ck_assert_int_eq(pboot_shake_due(&answerer, &len) != NULL,
		    end >= PBOOT_SHAKE_HELLO_BYTES);
		ck_assert(!pboot_shake_is_proven(&answerer));
	}
}
END_TEST

/* What a caller once said proves nothing to an answerer whose nonce is another, and the reverse. */
START_TEST(a_replay_is_a_stranger)
{
	uint8_t bytes[PBOOT_SHAKE_ALL_BYTES];
	const uint8_t *hello = bytes, *answer = hello + PBOOT_SHAKE_HELLO_BYTES;
	const uint8_t *proof = answer + PBOOT_SHAKE_ANSWER_BYTES;

	run(1000, &no_change);
	memcpy(bytes, passed.bytes, sizeof bytes);
	begin();
	ck_assert_int_eq(pboot_shake_feed(&answerer, hello, PBOOT_SHAKE_HELLO_BYTES),
	    PBOOT_SHAKE_OPEN);
	ck_assert_int_eq(pboot_shake_feed(&answerer, proof, PBOOT_SHAKE_SHORT_BYTES),
	    PBOOT_SHAKE_STRANGER);
	ck_assert_int_eq(pboot_shake_feed(&caller, answer, PBOOT_SHAKE_ANSWER_BYTES),
	    PBOOT_SHAKE_STRANGER);
}
END_TEST

/* A caller that is sent its own words back does not take them for an answer. */
START_TEST(a_mirror_is_no_keeper)
{
	const uint8_t *due;
	size_t len;

	due = pboot_shake_due(&caller, &len);
	ck_assert_int_eq(pboot_shake_feed(&caller, due, len), PBOOT_SHAKE_NONSENSE);
}
END_TEST

START_TEST(another_secret_is_a_stranger)
{
	who_calls.secret = other_secret;
	begin();
	run(1000, &no_change);
	ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_STRANGER);
	ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_OPEN);
}
END_TEST

/* Both sides are told, and each knows the version of the other. */
static void
expect_version(const char *of_caller, const char *of_answerer)
{
	begin();
	run(1000, &no_change);
	ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_VERSION);
	ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_VERSION);
	ck_assert_str_eq(answerer.peer_version, of_caller);
	ck_assert_str_eq(caller.peer_version, of_answerer);
	ck_assert_uint_eq(answerer.peer, 3);
}

START_TEST(another_version_is_told)
{
	who_calls.version = "1.2.4";
	expect_version("1.2.4", "1.2.3");
	who_answers.version = "a-version-of-27-characters!-and-more";
	expect_version("1.2.4", "a-version-of-27-characters!");
	who_answers.version = who_calls.version;
	who_answers.protocol++;
	expect_version("1.2.4", "1.2.4");
	ck_assert_uint_eq(caller.peer_protocol, PBOOT_SHAKE_PROTOCOL + 1);
	ck_assert_uint_eq(answerer.peer_protocol, PBOOT_SHAKE_PROTOCOL);
}
END_TEST

/* Versions that differ behind their 27th character are the same. */
START_TEST(a_long_version_is_cut)
{
	who_calls.version = "a-version-of-27-characters.+1";
	who_answers.version = "a-version-of-27-characters.+2";
	begin();
	run(1000, &no_change);
	ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_WELCOME);
}
END_TEST

/* A caller that proves itself whatever it was answered: what the answerer makes of it. */
static enum pboot_shake_verdict
rude_call(uint32_t peer, const uint8_t *key)
{
	enum { HEAD_BYTES = 8, BOTH_BYTES = PBOOT_SHAKE_HELLO_BYTES + PBOOT_SHAKE_ANSWER_BYTES };
	const uint8_t head[] = { 'P', 'S', 'T', 0xca, 3, 0, 0, 1 };
	const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES] = { 1 };
	uint8_t text[1 + BOTH_BYTES + PBOOT_SHAKE_SHORT_BYTES] = { 3 };
	const uint8_t *due;
	size_t len;

	pboot_shake_init(&answerer, PBOOT_SHAKE_ANSWERER, &who_answers, 0, nonce);
	pboot_shake_init(&caller, PBOOT_SHAKE_CALLER, &who_calls, peer, nonce);
	due = pboot_shake_due(&caller, &len);
	memcpy(text + 1, due, len);
	pboot_shake_feed(&answerer, due, len);
	due = pboot_shake_due(&answerer, &len);
	memcpy(text + 1 + PBOOT_SHAKE_HELLO_BYTES, due, len);
	memcpy(text + 1 + BOTH_BYTES, head, HEAD_BYTES);
	psi_siphash(key, text, 1 + BOTH_BYTES + HEAD_BYTES, text + 1 + BOTH_BYTES + HEAD_BYTES);
	return pboot_shake_feed(&answerer, text + 1 + BOTH_BYTES, PBOOT_SHAKE_SHORT_BYTES);
}

START_TEST(the_answerer_looks_for_itself)
{
	ck_assert_int_eq(rude_call(0, secret), PBOOT_SHAKE_PROVEN);
	ck_assert_int_eq(rude_call(0, other_secret), PBOOT_SHAKE_STRANGER);
}
END_TEST

START_TEST(hosts_that_do_not_fit_are_refused)
{
	static const struct {
		uint32_t caller, count, peer, answerer;
	} wrong[] = {
		{ 3, 10, 0, 0 },	/* another number of hosts */
		{ 3, 9, 0, 1 },		/* not whom it wanted */
		{ 9, 9, 0, 0 },		/* not in the job */
		{ 0, 9, 0, 0 },		/* itself */
		{ 3, 9, 1, 1 },		/* not its parent */
		{ 0, 9, 3, 3 },		/* a parent does not call */
		{ UINT32_MAX, 9, 0, 0 },
	};
	unsigned i;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES] = { (uint8_t)i };

		who_calls.self = wrong[i].caller;
		who_calls.host_count = wrong[i].count;
		who_answers.self = wrong[i].answerer;
		begin();
		pboot_shake_init(&caller, PBOOT_SHAKE_CALLER, &who_calls, wrong[i].peer, nonce);
		run(1000, &no_change);
		ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_HOST);
		ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_OPEN);
		ck_assert_int_eq(rude_call(wrong[i].peer, secret), PBOOT_SHAKE_HOST);
	}
}
END_TEST

START_TEST(a_second_of_a_host_is_told)
{
	passed.len = 0;
	while (answerer.verdict == PBOOT_SHAKE_OPEN)
		ck_assert(move(&caller, &answerer, 1000, &no_change) ||
		    move(&answerer, &caller, 1000, &no_change));
	ck_assert_int_eq(answerer.verdict, PBOOT_SHAKE_PROVEN);
	ck_assert(pboot_shake_is_proven(&caller));
	pboot_shake_judge(&answerer, PBOOT_SHAKE_TWICE);
	ck_assert(move(&answerer, &caller, 1000, &no_change));
	ck_assert_int_eq(caller.verdict, PBOOT_SHAKE_TWICE);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("handshake");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, two_keepers_of_a_job_agree);
	tcase_add_test(tests, the_secret_does_not_pass);
	tcase_add_loop_test(tests, every_bit_counts, 0, 8);
	tcase_add_test(tests, a_handshake_that_ends_early_is_open);
	tcase_add_test(tests, a_replay_is_a_stranger);
	tcase_add_test(tests, a_mirror_is_no_keeper);
	tcase_add_test(tests, another_secret_is_a_stranger);
	tcase_add_test(tests, another_version_is_told);
	tcase_add_test(tests, a_long_version_is_cut);
	tcase_add_test(tests, the_answerer_looks_for_itself);
	tcase_add_test(tests, hosts_that_do_not_fit_are_refused);
	tcase_add_test(tests, a_second_of_a_host_is_told);
	return unit_run("overlay_handshake", tests);
}
