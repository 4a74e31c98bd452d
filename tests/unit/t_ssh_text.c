/* What launcher and agent of a job that ssh starts read: frames, the greeting, the order; and lists
 * of hosts with the placement of ranks. */
#include "bootstrap/ssh/pboot_ssh_frame.h"
#include "bootstrap/ssh/pboot_ssh_hosts.h"
#include "bootstrap/ssh/pboot_ssh_order.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- frames ------------------------------------------------------------------------------------ */

static const struct pboot_ssh_ranks ranks = { 3, 2 };
static uint8_t bytes[PBOOT_SSH_HEAD_BYTES + 8] = "............\1\2\3\4";
static struct pboot_ssh_frame frame;

static int
read_frame(enum pboot_ssh_side from, unsigned kind, uint32_t rank, uint32_t len, size_t have)
{
	pboot_ssh_frame_write((enum pboot_ssh_kind)kind, rank, len, bytes);
	return pboot_ssh_frame_read(bytes, have, from, &ranks, &frame);
}

START_TEST(a_frame_is_read_when_it_is_complete)
{
	const int whole = PBOOT_SSH_HEAD_BYTES + 4;

	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_ENDED, 4, 4, (size_t)whole), whole);
	ck_assert_uint_eq(frame.kind, PBOOT_SSH_ENDED);
	ck_assert_uint_eq(frame.rank, 4);
	ck_assert_uint_eq(frame.number, 0x01020304);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_ENDED, 4, 4, (size_t)whole - 1), 0);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_ENDED, 4, 4, 3), 0);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_STDOUT, 3, 2, (size_t)whole),
	    whole - 2);
	ck_assert_uint_eq(frame.len_bytes, 2);
}
END_TEST

START_TEST(frames_that_are_none)
{
	const size_t all = sizeof bytes;

	/* ranks of other hosts, kinds of the other side, wrong lengths, no such kind */
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_ENDED, 2, 4, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_ENDED, 5, 4, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_ENDED, 3, 4, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_KILL, 0, 0, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_KILL, 1, 0, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_KILL, 0, 1, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_SIGNAL, 0, 0, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_READ, 2, 4, all), -1);
	ck_assert_int_gt(read_frame(PBOOT_SSH_LAUNCHER, PBOOT_SSH_READ, 1, 4, all), 0);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_STDOUT, 3, PBOOT_SSH_BODY_MAX + 1,
	    all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_STDOUT, 3, UINT32_MAX, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, 0, 0, 0, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, PBOOT_SSH_KINDS, 0, 0, all), -1);
	ck_assert_int_eq(read_frame(PBOOT_SSH_AGENT, UINT32_MAX, 0, 0, all), -1);
}
END_TEST

static int
greet(const char *text, char release[PBOOT_SSH_RELEASE_BYTES])
{
	return pboot_ssh_greeting_read((const uint8_t *)text, strlen(text), release);
}

START_TEST(a_greeting_behind_noise)
{
	char release[PBOOT_SSH_RELEASE_BYTES], text[PBOOT_SSH_GREETING_MAX];
	static char noise[PBOOT_SSH_NOISE_MAX + 2];

	text[pboot_ssh_greeting_write("0.1.0", text)] = '\0';
	ck_assert_int_eq(greet(text, release), (int)strlen(text));
	ck_assert_str_eq(release, "0.1.0");
	ck_assert_int_eq(greet("motd\npenstock-agent 7\nrest", release), 22);
	ck_assert_str_eq(release, "7");
	ck_assert_int_eq(greet("motd\npenstock-age", release), 0);
	ck_assert_int_eq(greet("penstock-agent 7", release), 0);
	ck_assert_int_eq(greet("penstock-agent 7.7.7.7.7.7.7.7.7.7.7.7.7.7.7.7.7.7", release), -1);
	memset(noise, 'x', sizeof noise - 1);
	ck_assert_int_eq(greet(noise, release), -1);
}
END_TEST

/* -- the order --------------------------------------------------------------------------------- */

START_TEST(an_order_is_read_as_it_was_written)
{
	char *argv[] = { (char[]){ "prog" }, (char[]){ "" }, (char[]){ "a b" }, NULL };
	char *variables[] = { (char[]){ "X=1\n2" }, NULL };
	const struct pboot_ssh_order order = {
		.ranks = { 2, 3 }, .size = 8, .stdin_rank = -1, .bind_cores = true,
		.inherit = { .umask = 027, .limits = { -1, 0, 1, [9] = INT64_MAX } },
		.directory = "/d", .program = "./prog", .argv = argv, .variables = variables,
	};
	struct pboot_ssh_order got;
	uint8_t *text, *copy;
	size_t len, cut;

	text = pboot_ssh_order_write(&order, &len);
	ck_assert_ptr_nonnull(text);
	copy = malloc(len);
	ck_assert_ptr_nonnull(copy);
	for (cut = 0; cut < len; cut++) {
		memcpy(copy, text, cut);
		ck_assert(!pboot_ssh_order_read(copy, cut, &got));
	}
	ck_assert(pboot_ssh_order_read(text, len, &got));
	ck_assert_uint_eq(got.ranks.first, 2);
	ck_assert_uint_eq(got.ranks.count, 3);
	ck_assert_uint_eq(got.size, 8);
	ck_assert_int_eq(got.stdin_rank, -1);
	ck_assert(got.bind_cores);
	ck_assert_uint_eq(got.inherit.umask, 027);
	ck_assert_mem_eq(got.inherit.limits, order.inherit.limits, sizeof got.inherit.limits);
	ck_assert_str_eq(got.directory, "/d");
	ck_assert_str_eq(got.argv[2], "a b");
	ck_assert_ptr_null(got.argv[3]);
	ck_assert_str_eq(got.variables[0], "X=1\n2");
	pboot_ssh_order_free(&got);
	free(copy);
	free(text);
}
END_TEST

/* An order whose inherited values are these is refused. */
static bool
order_is_read(uint32_t mask, int64_t limit)
{
	char *argv[] = { (char[]){ "prog" }, NULL };
	const struct pboot_ssh_order order = {
		.ranks = { 0, 1 }, .size = 1,
		.inherit = { .umask = mask, .limits = { [3] = limit } },
		.directory = "/d", .program = "prog", .argv = argv, .variables = argv,
	};
	struct pboot_ssh_order got;
	size_t len;
	uint8_t *text = pboot_ssh_order_write(&order, &len);
	bool read;

	ck_assert_ptr_nonnull(text);
	read = pboot_ssh_order_read(text, len, &got);
	if (read)
		pboot_ssh_order_free(&got);
	free(text);
	return read;
}

START_TEST(inherited_values_are_checked)
{
	ck_assert(order_is_read(0777, -1));
	ck_assert(!order_is_read(01000, 0));
	ck_assert(!order_is_read(0, -2));
}
END_TEST

/* Limits end at the hard one; a child so set up says what it has. */
START_TEST(a_process_takes_over_what_it_is_given)
{
	struct pboot_ssh_inherit own, less, got;

	pboot_ssh_inherit_take(&own);
	less = own;
	less.umask = 0137;
	less.limits[1] = 0;	/* core files */
	less.limits[6] = 40;	/* open files */
	pboot_ssh_inherit_give(&less);
	pboot_ssh_inherit_take(&got);
	ck_assert_uint_eq(got.umask, less.umask);
	ck_assert_mem_eq(got.limits, less.limits, sizeof got.limits);
	less.limits[6] = INT64_MAX;
	pboot_ssh_inherit_give(&less);
	pboot_ssh_inherit_take(&got);
	ck_assert_int_ge(got.limits[6], own.limits[6]);
	ck_assert_int_lt(got.limits[6], INT64_MAX);
	pboot_ssh_inherit_give(&own);
}
END_TEST

/* -- hosts ------------------------------------------------------------------------------------- */

static struct pboot_ssh_hosts hosts;
static char why[PBOOT_SSH_WHY_BYTES];

typedef bool add_fn(struct pboot_ssh_hosts *list, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES]);

/* The names of a list, with a blank behind each; NULL: it was refused. */
static const char *
list(add_fn *add, const char *text)
{
	static char names[512];
	uint32_t i;
	bool added;

	pboot_ssh_hosts_free(&hosts);
	added = add(&hosts, text, why);
	names[0] = '\0';
	for (i = 0; i < hosts.count; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
		    hosts.names[i]);
	return added ? names : NULL;
}

START_TEST(lists_of_hosts)
{
	ck_assert_str_eq(list(pboot_ssh_hosts_add_words, "a,b c\n\td,,a # x y\ne"), "a b c d e ");
	ck_assert_str_eq(list(pboot_ssh_hosts_add_words, "me@h1,10.0.0.1,fe80::1%eth0,::1"),
	    "me@h1 10.0.0.1 fe80::1%eth0 ::1 ");
	ck_assert_str_eq(list(pboot_ssh_hosts_add_words, ""), "");
	ck_assert_str_eq(list(pboot_ssh_hosts_add_lines, "a 4 q@a\n\n#c\nb slots=2\na\n"), "a b ");
	hosts.keep_twins = true;
	ck_assert_str_eq(list(pboot_ssh_hosts_add_lines, "a\nb\na"), "a b a ");
	hosts.keep_twins = false;
	ck_assert_ptr_null(list(pboot_ssh_hosts_add_words, "a,-oProxyCommand=x"));
	ck_assert_ptr_null(list(pboot_ssh_hosts_add_words, "a;b"));
	ck_assert_ptr_null(list(pboot_ssh_hosts_add_words, "a,b:2"));
	ck_assert_ptr_null(list(pboot_ssh_hosts_add_lines, "me@a:16"));
	ck_assert_ptr_null(list(pboot_ssh_hosts_add_words, "$(x)"));
	pboot_ssh_hosts_free(&hosts);
}
END_TEST

START_TEST(ranges_of_hosts)
{
	static const char *const bad[] = { "n[3-1]", "n[", "n[1", "n[]", "n[a]", "n[1,]", "n[1-]",
		"n]", "n[1-1000000]", "n[1]]", "n[9999999999]", "-n[1]" };
	size_t i;

	ck_assert_str_eq(list(pboot_ssh_hosts_add_ranges, "n[1-3,7],m"), "n1 n2 n3 n7 m ");
	ck_assert_str_eq(list(pboot_ssh_hosts_add_ranges, "n[08-10]x"), "n08x n09x n10x ");
	ck_assert_str_eq(list(pboot_ssh_hosts_add_ranges, "r[0-1]n[1-2],a,b"),
	    "r0n1 r0n2 r1n1 r1n2 a b ");
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!list(pboot_ssh_hosts_add_ranges, bad[i]), "%s is taken", bad[i]);
	pboot_ssh_hosts_free(&hosts);
}
END_TEST

/* Each host gets what dealing one rank to each host in turn would give it. */
START_TEST(placement_is_even_and_in_blocks)
{
	uint32_t size, count, host, first, next, got;

	for (size = 1; size <= 64; size++)
		for (count = 1; count <= size; count++) {
			for (next = 0, host = 0; host < count; host++, next += got) {
				got = pboot_ssh_place(size, count, host, &first);
				ck_assert_uint_eq(first, next);
				ck_assert_uint_eq(got, (size - host + count - 1) / count);
			}
			ck_assert_uint_eq(next, size);
		}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ssh");

	tcase_add_test(tests, a_frame_is_read_when_it_is_complete);
	tcase_add_test(tests, frames_that_are_none);
	tcase_add_test(tests, a_greeting_behind_noise);
	tcase_add_test(tests, an_order_is_read_as_it_was_written);
	tcase_add_test(tests, inherited_values_are_checked);
	tcase_add_test(tests, a_process_takes_over_what_it_is_given);
	tcase_add_test(tests, lists_of_hosts);
	tcase_add_test(tests, ranges_of_hosts);
	tcase_add_test(tests, placement_is_even_and_in_blocks);
	return unit_run("ssh_text", tests);
}
