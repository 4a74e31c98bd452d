/*
 * A coarray program, as a Fortran compiler would call the layer: images.f90 in C, for machines
 * without gfortran. It ends with ERROR STOP when an answer is wrong.
 */
#include <stdio.h>
#include <string.h>
#include "coarray.h"

enum { ROUNDS = 20, ROWS = 5, COLUMNS = 4 };

static const int64_t zero = 0, one = 1, eight = sizeof(int64_t);
static int32_t me, images, next, previous;

static void
expect(int holds, const char *what)
{
	if (!holds)
		caf_error_stop_(what, strlen(what));
}

static void
neighbours_find(void)
{
	me = caf_this_image_();
	images = caf_num_images_();
	next = me % images + 1;
	previous = (me + images - 2) % images + 1;
}

static void
try_put_get(int64_t x)
{
	int64_t value = (int64_t)me * me;

	caf_put_(&x, &zero, &next, &value, &eight);
	caf_sync_all_();
	caf_get_(&x, &zero, &me, &value, &eight);
	expect(value == (int64_t)previous * previous, "put");
	caf_get_(&x, &zero, &next, &value, &eight);
	expect(value == (int64_t)me * me, "get");
	caf_sync_all_();
}

/* A table goes to the next image with rows and columns exchanged; half of the rows come back. */
static void
try_sections(int64_t x)
{
	int64_t table[COLUMNS][ROWS], back[COLUMNS][ROWS / 2 + 1];
	const int64_t across[2] = { COLUMNS * eight, eight }, along[2] = { eight, ROWS * eight };
	const int64_t every_second[2] = { 2 * COLUMNS * eight, eight };
	const int64_t packed[2] = { eight, (ROWS / 2 + 1) * eight };
	const int64_t all[2] = { ROWS, COLUMNS }, half[2] = { ROWS / 2 + 1, COLUMNS };
	const int32_t two = 2;
	int32_t i, j;

	for (j = 0; j < COLUMNS; j++)
		for (i = 0; i < ROWS; i++)
			table[j][i] = 1000 * me + 10 * i + j;
	caf_put_section_(&x, &zero, &next, across, table, along, &eight, all, &two);
	caf_sync_all_();
	caf_get_section_(&x, &zero, &me, every_second, back, packed, &eight, half, &two);
	for (j = 0; j < COLUMNS; j++)
		for (i = 0; i < ROWS; i += 2)
			expect(back[j][i / 2] == 1000 * previous + 10 * i + j, "section");
	caf_sync_all_();
}

/* Everybody draws numbers from image 1: each number is drawn once. */
static void
try_atomics(int64_t x)
{
	int64_t sum = 0, value = 0, drawn, round, total = (int64_t)ROUNDS * images;
	const int32_t first = 1;

	caf_atomic_define_(&x, &zero, &me, &zero);
	caf_sync_all_();
	for (round = 0; round < ROUNDS; round++) {
		caf_atomic_fetch_add_(&x, &zero, &first, &one, &drawn);
		sum += drawn;
	}
	caf_co_sum_(&sum, &one);
	expect(sum == total * (total - 1) / 2, "fetch and add");
	caf_sync_all_();
	caf_atomic_ref_(&x, &zero, &first, &value);
	expect(value == total, "atomic ref");
	caf_sync_all_();
	value = -me;
	caf_atomic_cas_(&x, &zero, &first, &drawn, &total, &value);
	sum = drawn == total;
	caf_co_sum_(&sum, &one);
	expect(sum == 1 && (drawn == total || drawn < 0), "compare and swap");
	caf_sync_all_();
}

/* Each round posts at the next image and waits for the previous; the last waits for two posts. */
static void
try_events(int64_t x)
{
	int64_t left;
	const int64_t two = 2;
	int round;

	caf_atomic_define_(&x, &zero, &me, &zero);
	caf_sync_all_();
	for (round = 0; round < ROUNDS; round++) {
		caf_event_post_(&x, &zero, &next);
		caf_event_wait_(&x, &zero, &one);
	}
	caf_event_post_(&x, &zero, &next);
	caf_event_post_(&x, &zero, &next);
	caf_event_wait_(&x, &zero, &two);
	caf_event_query_(&x, &zero, &left);
	expect(left == 0, "events");
	caf_sync_all_();
}

/* Neighbours wait only for each other. */
static void
try_sync_images(int64_t x)
{
	const int32_t both[2] = { previous, next }, all = -1;
	const int32_t neighbours = previous == next ? 1 : 2;
	int64_t round, value;

	for (round = 1; round <= ROUNDS; round++) {
		value = round * me;
		caf_put_(&x, &zero, &next, &value, &eight);
		caf_sync_images_(&neighbours, both);
		caf_get_(&x, &zero, &me, &value, &eight);
		expect(value == round * previous, "sync images");
		caf_sync_images_(&neighbours, both);
	}
	caf_sync_images_(&all, NULL);
}

static int64_t
greatest_common_divisor(const int64_t *left, const int64_t *right)
{
	int64_t a = *left, b = *right, rest;

	while (b != 0) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void
try_collectives(void)
{
	int64_t values[3] = { me, 1, -me }, divisor = 12 * (int64_t)(me + 1);
	const int64_t three = 3, bytes = sizeof(values);
	double highest = 0.5 * me;
	int32_t source;

	caf_co_sum_(values, &three);
	expect(values[0] == (int64_t)images * (images + 1) / 2, "co_sum");
	expect(values[1] == images && values[2] == -values[0], "co_sum of more than one");
	caf_co_max_(&highest, &one);
	expect(highest >= 0.5 * images && highest <= 0.5 * images, "co_max");
	for (source = 1; source <= images; source++) {
		values[0] = values[2] = 7 * me;
		caf_co_broadcast_(values, &bytes, &source);
		expect(values[0] == 7 * source && values[2] == 7 * source, "co_broadcast");
	}
	caf_co_reduce_(&divisor, &one, greatest_common_divisor);
	expect(images == 1 ? divisor == 24 : divisor == 12, "co_reduce");
}

/* Odd and even images part, work, and come together again. */
static void
try_teams(void)
{
	int32_t number = me % 2 + 1, old_me = me, old_images = images;
	int64_t team, x, sum = me;

	caf_form_team_(&number, &team);
	caf_change_team_(&team);
	neighbours_find();
	expect(me == (old_me + 1) / 2, "this_image in a team");
	caf_co_sum_(&sum, &one);
	/* of 1, 3, 5 ... or 2, 4, 6 ... */
	expect(sum == (int64_t)images * (number == 2 ? images : images + 1), "co_sum in a team");
	caf_allocate_(&x, &eight);
	try_put_get(x);
	try_events(x);
	try_sync_images(x);
	try_collectives();
	caf_end_team_();
	neighbours_find();
	expect(me == old_me && images == old_images, "end team");
}

int
main(void)
{
	const int64_t bytes = ROWS * COLUMNS * sizeof(int64_t);
	const int32_t success = 0;
	int64_t x, event;

	caf_init_();
	neighbours_find();
	caf_allocate_(&x, &bytes);
	caf_allocate_(&event, &eight);
	try_put_get(x);
	try_sections(x);
	try_atomics(event);
	try_events(event);
	try_sync_images(x);
	try_collectives();
	try_teams();
	try_put_get(x);
	if (me == 1)
		printf("done: %d\n", (int)images);
	caf_stop_(&success);
	return 0;
}
