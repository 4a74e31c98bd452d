/* Transfers of many pieces as an operation of the contract: by the reference, whose messages may
 * find no room, and by a conduit that moves the pieces itself. */
#include "tests/unit/operations_rig.h"

#include "runtime/vis/vis.h"
#include "tests/unit/main.h"

#include <string.h>

static gex_Event_t
put_pieces(gex_Flags_t flags)
{
	const ptrdiff_t strides[] = { STEP }, packed[] = { PIECE };
	const size_t count[] = { PIECES };

	return gex_VIS_StridedPutNB(&rig_tm, PEER, (char *)(uintptr_t)BASE, strides, rig_source,
	                            packed, PIECE, count, 1, flags);
}

static void
check_pieces(void)
{
	for (size_t i = 0; i < PIECES; i++)
		ck_assert_mem_eq(fake.there + i * STEP, rig_source + i * PIECE, PIECE);
}

START_TEST(pieces_that_find_no_room_are_sent_by_polls)
{
	const unsigned room = (unsigned)_i;

	rig_set_up_without_room();
	fake.room = room;
	ck_assert_ptr_ne(put_pieces(0), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.sends, room);
	fake.room_each_poll = 1;
	for (unsigned i = 0; i < 100; i++)
		psi_poll();
	check_pieces();
}
END_TEST

START_TEST(pieces_that_may_not_wait_are_refused_whole_or_sent_whole)
{
	rig_set_up_without_room();
	ck_assert_ptr_eq(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.polls, 0);
	fake.room = 1;
	ck_assert_ptr_ne(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.polls, 0);
	ck_assert_uint_eq(fake.sends, 1);
	fake.room = 1000;
	psi_poll();
	check_pieces();
}
END_TEST

START_TEST(transfers_of_pieces_that_wait_are_bounded)
{
	rig_set_up_without_room();
	for (unsigned i = 0; i < 64; i++)
		ck_assert_ptr_ne(put_pieces(0), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.sends, 0);
	ck_assert_ptr_eq(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	fake.room_each_poll = 1;
	(void)put_pieces(0);
	ck_assert_uint_gt(fake.sends, 1);       /* one poll is every put's */
}
END_TEST

/* -- by a conduit ------------------------------------------------------------------------------ */

/* The conduit copies the description, and moves the pieces in its next poll.  Like a plug-in, which
 * has no undefined symbols, it reads sides only by services. */
static const struct psi_services served = {
	.cursor_open = psi_cursor_open, .cursor_look = psi_cursor_look,
	.cursor_take = psi_cursor_take, .completed = psi_completed,
};

static struct {
	struct psi_vis_operation vis;
	struct psi_side there, here;
	struct psi_nest nests[2];
} kept;

static int
fake_vis(struct psi_port *port, const struct psi_vis_operation *vis)
{
	(void)port;
	ck_assert_uint_le(psi_side_room_bytes(vis->there), sizeof kept.nests[0]);
	kept.vis = *vis;
	kept.there = psi_side_copy(vis->there, &kept.nests[0]);
	kept.here = psi_side_copy(vis->here, &kept.nests[1]);
	return PSI_OK;
}

/* Moves the first bytes of both runs, as many as both have in one piece. */
static size_t
move_piece(const struct psi_run *theirs, const struct psi_run *ours)
{
	const size_t len = theirs->len < ours->len ? theirs->len : ours->len;
	char *at = fake.there + theirs->addr, *here = (char *)ours->addr;

	ck_assert_uint_le(theirs->addr + len, SIZE);
	memcpy(kept.vis.is_put ? at : here, kept.vis.is_put ? here : at, len);
	return len;
}

static void
move_kept(void)
{
	struct psi_cursor at, from;
	struct psi_run theirs, ours;
	size_t moved = 0;

	if (!kept.vis.cookie)
		return;
	served.cursor_open(&at, &kept.there, (struct psi_position){ 0, 0 });
	served.cursor_open(&from, &kept.here, (struct psi_position){ 0, 0 });
	while (served.cursor_look(&at, &theirs) && served.cursor_look(&from, &ours)) {
		const size_t len = move_piece(&theirs, &ours);

		served.cursor_take(&at, len, 1);
		served.cursor_take(&from, len, 1);
		moved += len;
	}
	ck_assert_uint_eq(moved, kept.vis.len_bytes);
	served.completed(kept.vis.cookie);
	kept.vis.cookie = 0;
}

static const struct psi_conduit_ops that_moves_pieces = { FAKE_REQUIRED, .vis = fake_vis };

START_TEST(a_conduit_reads_the_pieces_of_a_strided_put)
{
	gex_Event_t event;

	rig_set_up(&that_moves_pieces, rig_reference());
	fake.on_poll = move_kept;
	rig_fill_source();
	event = put_pieces(0);
	ck_assert_uint_eq(kept.vis.remote.peer, PEER);
	ck_assert_uint_eq(kept.vis.remote.name.key, KEY);
	ck_assert_uint_eq(kept.vis.remote.offset, 0);
	ck_assert_uint_eq(kept.vis.len_bytes, WHOLE);
	ck_assert(kept.vis.is_put);
	gex_Event_Wait(event);
	check_pieces();
	ck_assert_uint_eq(fake.sends, 0);
}
END_TEST

START_TEST(a_conduit_reads_the_pieces_of_a_get_by_lists)
{
	char here[WHOLE];
	gex_Memvec_t dst[] = { { here, 100 }, { here + 100, 0 }, { here + 200, 30 } };
	gex_Memvec_t src[] = { { (char *)(uintptr_t)BASE + 7, 60 },
		               { (char *)(uintptr_t)BASE + SIZE - 70, 70 } };
	gex_Event_t event;

	rig_set_up(&that_moves_pieces, rig_reference());
	fake.on_poll = move_kept;
	rig_fill_source();
	memcpy(fake.there, rig_source, WHOLE);
	memcpy(fake.there + SIZE - 70, rig_source, 70);
	event = gex_VIS_VectorGetNB(&rig_tm, 3, dst, PEER, 2, src, 0);
	ck_assert_ptr_ne(event, GEX_EVENT_INVALID);
	gex_Event_Wait(event);
	ck_assert_mem_eq(here, rig_source + 7, 60);
	ck_assert_mem_eq(here + 60, rig_source, 40);
	ck_assert_mem_eq(here + 200, rig_source + 40, 30);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("operations_vis");

	tcase_add_loop_test(tests, pieces_that_find_no_room_are_sent_by_polls, 0, 4);
	tcase_add_test(tests, pieces_that_may_not_wait_are_refused_whole_or_sent_whole);
	tcase_add_test(tests, transfers_of_pieces_that_wait_are_bounded);
	tcase_add_test(tests, a_conduit_reads_the_pieces_of_a_strided_put);
	tcase_add_test(tests, a_conduit_reads_the_pieces_of_a_get_by_lists);
	return unit_run("operations_vis", tests);
}
