/*
 * Waits for several signals at once tell what they lack while they are asleep and at no other time,
 * and a wait that finds some of it in its last look tells anew before it sleeps.  The steps of the
 * wait are this file's.
 */
#include "runtime/signal/await.h"
#include "tests/unit/main.h"

#include <check.h>
#include <string.h>

enum { ENTRIES = 4, STEPS = 16 };

/* What happens by and by: at that step an entry becomes one that can be taken, or is lost again. */
enum when { IN_LAST_LOOK, IN_SLEEP, LOST_IN_LAST_LOOK };
struct event {
	unsigned step;
	enum when when;
	size_t entry;
};

static int there[ENTRIES], told[ENTRIES], done[ENTRIES];
static const struct event *events;
static size_t event_count, steps;
static bool armed;

/* By step: which were told when the sleep was announced, a bit each; and whether it came. */
static unsigned told_at[STEPS];
static bool slept_at[STEPS];

static unsigned
told_now(void)
{
	unsigned bits = 0;

	for (size_t i = 0; i < ENTRIES; i++)
		bits |= (unsigned)(told[i] > 0) << i;
	return bits;
}

/* -- of the entries -------------------------------------------------------------------------- */

static bool
has(const struct psi_many *many, size_t i)
{
	(void)many;
	return there[i];
}

/* What is lost has been there for who asks, and is not for who takes. */
static bool
take(const struct psi_many *many, size_t i)
{
	(void)many;
	ck_assert_msg(!told[i], "entry %zu is told while it is taken", i);
	if (there[i] < 0)
		there[i] = 0;
	return there[i] && there[i]--;
}

static void
tell(const struct psi_many *many, size_t i, bool asleep)
{
	ck_assert_msg(!many->done[i], "entry %zu is told though it is done", i);
	told[i] += asleep ? 1 : -1;
	ck_assert_msg(told[i] == asleep, "entry %zu is told %d times", i, told[i]);
}

/* -- the steps ------------------------------------------------------------------------------- */

static void
happen(enum when when)
{
	for (size_t i = 0; i < event_count; i++)
		if (events[i].step == steps && events[i].when == when)
			there[events[i].entry] = when == LOST_IN_LAST_LOOK ? -1 : 1;
}

static void
end_sleep(struct psi_wait_threshold *lack)
{
	armed = false;
	lack->tell(lack, false);
	ck_assert_uint_eq(told_now(), 0);
}

/* As that of wait.c: the first of two announces the sleep, the second sleeps. */
void wrapped_step(struct psi_wait *wait) __asm__("__wrap_psi_wait_step");
void wrapped_end(struct psi_wait *wait) __asm__("__wrap_psi_wait_end");

static struct psi_wait_threshold *
threshold_of(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;

	return reason->lack;
}

void
wrapped_step(struct psi_wait *wait)
{
	struct psi_wait_threshold *lack = threshold_of(wait);

	ck_assert_uint_lt(steps, STEPS);
	if (armed) {
		slept_at[steps] = !lack->found;
		if (slept_at[steps])
			happen(IN_SLEEP);
		end_sleep(lack);
		steps++;
		return;
	}
	lack->tell(lack, true);
	armed = true;
	told_at[steps] = told_now();
	ck_assert(!lack->found);
	happen(IN_LAST_LOOK);
	happen(LOST_IN_LAST_LOOK);
}

void
wrapped_end(struct psi_wait *wait)
{
	if (armed)
		end_sleep(threshold_of(wait));
}

/* -- what is expected ------------------------------------------------------------------------ */

static struct psi_many
many_of(const struct event *list, size_t count)
{
	events = list;
	event_count = count;
	return (struct psi_many){ .call = "t_await", .take = take, .has = has, .tell = tell,
	                          .count = ENTRIES, .done = done, .most = ENTRIES };
}
#define MANY(list) many_of(list, sizeof(list) / sizeof *(list))

static void
expect_step(size_t step, unsigned told_then, bool slept)
{
	ck_assert_msg(told_at[step] == told_then, "step %zu tells of %x", step, told_at[step]);
	ck_assert_msg(slept_at[step] == slept, "step %zu %s", step,
	              slept ? "does not sleep" : "sleeps");
}

static void
expect_done(int a, int b, int c, int d)
{
	const int expected[ENTRIES] = { a, b, c, d };

	ck_assert_mem_eq(done, expected, sizeof done);
	ck_assert_uint_eq(told_now(), 0);
	ck_assert(!armed);
}

/* Of all, one that is lacking; those before it are done, some from the beginning. */
START_TEST(all_tell_of_one)
{
	static const struct event list[] = { { 0, IN_SLEEP, 1 },
		                             { 1, IN_SLEEP, 3 },
		                             { 2, IN_SLEEP, 2 } };
	struct psi_many many = MANY(list);

	done[0] = 1;
	ck_assert(psi_many_wait_all(&many, PST_FOREVER));
	expect_step(0, 1 << 1, true);
	expect_step(1, 1 << 2, true);
	expect_step(2, 1 << 2, true);
	ck_assert_uint_eq(steps, 3);
	expect_done(1, 1, 1, 1);
}
END_TEST

/* What was told is there in the last look: no sleep, and the next is told before the one that
 * follows. */
START_TEST(all_find_the_one)
{
	static const struct event list[] = { { 0, IN_LAST_LOOK, 0 }, { 1, IN_SLEEP, 1 },
		                             { 2, IN_LAST_LOOK, 2 }, { 3, IN_SLEEP, 3 } };
	struct psi_many many = MANY(list);

	ck_assert(psi_many_wait_all(&many, PST_FOREVER));
	expect_step(0, 1 << 0, false);
	expect_step(1, 1 << 1, true);
	expect_step(2, 1 << 2, false);
	expect_step(3, 1 << 3, true);
	ck_assert_uint_eq(steps, 4);
	expect_done(1, 1, 1, 1);
}
END_TEST

/* Another is there in the last look: it is taken, and what was told is lacking still. */
START_TEST(all_find_another)
{
	static const struct event list[] = { { 0, IN_LAST_LOOK, 2 },
		                             { 0, IN_SLEEP, 0 },
		                             { 1, IN_SLEEP, 1 },
		                             { 2, IN_LAST_LOOK, 3 } };
	struct psi_many many = MANY(list);

	ck_assert(psi_many_wait_all(&many, PST_FOREVER));
	expect_step(0, 1 << 0, true);
	expect_step(1, 1 << 1, true);
	ck_assert_uint_eq(steps, 2);
	expect_done(1, 1, 1, 1);
}
END_TEST

/* Any and some tell of all that are left. */
START_TEST(some_tell_of_all)
{
	static const struct event list[] = { { 0, IN_SLEEP, 3 }, { 1, IN_LAST_LOOK, 0 },
		                             { 1, IN_LAST_LOOK, 1 } };
	struct psi_many many = MANY(list);

	done[2] = 1;
	ck_assert(psi_many_wait(&many, PST_FOREVER));
	ck_assert_uint_eq(many.taken, 1);
	expect_step(0, 0xb, true);
	expect_done(0, 0, 1, 1);
	many = MANY(list);
	ck_assert(psi_many_wait(&many, PST_FOREVER));
	ck_assert_uint_eq(many.taken, 2);
	ck_assert_uint_eq(told_at[1], 0x3);
	ck_assert_uint_eq(steps, 1);
	expect_done(1, 1, 1, 1);
}
END_TEST

/* Another thread takes what the last look found. */
START_TEST(what_was_found_is_lost)
{
	static const struct event list[] = { { 0, LOST_IN_LAST_LOOK, 1 }, { 1, IN_SLEEP, 2 } };
	struct psi_many many = MANY(list);

	ck_assert(psi_many_wait(&many, PST_FOREVER));
	expect_step(0, 0xf, false);
	expect_step(1, 0xf, true);
	ck_assert_uint_eq(steps, 2);
	expect_done(0, 0, 1, 0);
}
END_TEST

START_TEST(time_is_up)
{
	static const struct event list[] = { { STEPS, IN_SLEEP, 0 } };
	struct psi_many many = MANY(list);

	if (_i)
		ck_assert(!psi_many_wait_all(&many, 1));
	else
		ck_assert(!psi_many_wait(&many, 1));
	ck_assert_uint_eq(told_at[0], _i ? 0x1 : 0xf);
	expect_done(0, 0, 0, 0);
}
END_TEST

static void
set_up(void)
{
	memset(there, 0, sizeof there);
	memset(told, 0, sizeof told);
	memset(done, 0, sizeof done);
	steps = 0;
	armed = false;
}

int
main(void)
{
	TCase *tests = tcase_create("several");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, all_tell_of_one);
	tcase_add_test(tests, all_find_the_one);
	tcase_add_test(tests, all_find_another);
	tcase_add_test(tests, some_tell_of_all);
	tcase_add_test(tests, what_was_found_is_lost);
	tcase_add_loop_test(tests, time_is_up, 0, 2);
	return unit_run("await", tests);
}
