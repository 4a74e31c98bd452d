/* Heads of frames: what is written is read, and what no keeper would send is refused. */
#include "bootstrap/overlay/pboot_overlay_frame.h"
#include "bootstrap/overlay/pboot_overlay_tree.h"
#include "tests/unit/main.h"

#include <string.h>

enum { SELF = 1, HOSTS = 20, CHILD = 9, CHILD_BRANCH = 1 };

static bool
reads(const struct pboot_frame *frame, uint32_t branch)
{
	uint8_t head[PBOOT_FRAME_HEAD_BYTES];
	struct pboot_frame got;

	pboot_frame_write(frame, head);
	if (!pboot_frame_read(head, SELF, branch, HOSTS, &got))
		return false;
	ck_assert_int_eq((int)got.type, (int)frame->type);
	ck_assert_uint_eq(got.kind, frame->kind);
	ck_assert_uint_eq(got.from, frame->from);
	ck_assert_uint_eq(got.to, frame->to);
	ck_assert_uint_eq(got.len_bytes, frame->len_bytes);
	return true;
}

/* From the child to host 0: all fields differ, so that none can stand for another. */
static const struct pboot_frame good = {
	.type = PBOOT_FRAME_DATA, .kind = 0x1234, .from = CHILD, .to = 0, .len_bytes = 0x5678,
};

START_TEST(the_bytes_are_those_of_the_layout)
{
	static const uint8_t layout[PBOOT_FRAME_HEAD_BYTES] = {
		0, 0, 0x56, 0x78, 4, 0, 0x12, 0x34, 0, 0, 0, 9, 0, 0, 0, 0,
	};
	uint8_t head[PBOOT_FRAME_HEAD_BYTES];

	pboot_frame_write(&good, head);
	ck_assert_mem_eq(head, layout, sizeof layout);
	ck_assert(reads(&good, CHILD_BRANCH));
	head[5] = 1;
	ck_assert(!pboot_frame_read(head, SELF, CHILD_BRANCH, HOSTS, &(struct pboot_frame){ 0 }));
}
END_TEST

static const struct {
	enum pboot_frame_type type;
	uint32_t least, most;
} lengths[] = {
	{ PBOOT_FRAME_BEAT, 0, 0 },
	{ PBOOT_FRAME_BYE, 0, 0 },
	{ PBOOT_FRAME_LOSS, 0, PBOOT_FRAME_WHY_BYTES },
	{ PBOOT_FRAME_DATA, 0, PBOOT_FRAME_DATA_BYTES },
	{ PBOOT_FRAME_PIECE, 4, PBOOT_FRAME_PIECE_BYTES },
	{ PBOOT_FRAME_BARRIER, 0, 0 },
};

START_TEST(every_type_has_its_lengths)
{
	struct pboot_frame frame = good;
	unsigned i;

	for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		frame.type = lengths[i].type;
		frame.to = frame.type == PBOOT_FRAME_LOSS ? 0 : good.to;
		frame.from = CHILD;
		if (frame.type == PBOOT_FRAME_LOSS) {	/* two neighbours */
			frame.from = 2;
			frame.to = 0;
		}
		frame.len_bytes = lengths[i].least;
		ck_assert(reads(&frame, frame.from == 2 ? PBOOT_TREE_UP : CHILD_BRANCH));
		frame.len_bytes = lengths[i].most;
		ck_assert(reads(&frame, frame.from == 2 ? PBOOT_TREE_UP : CHILD_BRANCH));
		frame.len_bytes = lengths[i].most + 1;
		ck_assert(!reads(&frame, frame.from == 2 ? PBOOT_TREE_UP : CHILD_BRANCH));
		frame.len_bytes = UINT32_MAX;
		ck_assert(!reads(&frame, frame.from == 2 ? PBOOT_TREE_UP : CHILD_BRANCH));
	}
	frame = good;
	frame.type = PBOOT_FRAME_PIECE;
	frame.len_bytes = 3;
	ck_assert(!reads(&frame, CHILD_BRANCH));
}
END_TEST

START_TEST(other_types_are_none)
{
	struct pboot_frame frame = good;
	unsigned type;

	frame.len_bytes = 0;
	for (type = 0; type < 256; type++)
		if (type < PBOOT_FRAME_BEAT || type > PBOOT_FRAME_BARRIER) {
			frame.type = (enum pboot_frame_type)type;
			ck_assert(!reads(&frame, CHILD_BRANCH));
		}
}
END_TEST

/* Every sender and receiver, over every branch. */
START_TEST(data_comes_from_behind_its_branch_and_goes_on)
{
	struct pboot_frame frame = good;
	uint32_t branch;

	for (branch = 0; branch < PBOOT_TREE_BRANCHES; branch++)
		for (frame.from = 0; frame.from < HOSTS + 2; frame.from++)
			for (frame.to = 0; frame.to < HOSTS + 2; frame.to++) {
				const bool in_job = frame.from < HOSTS && frame.to < HOSTS;
				const bool comes = pboot_tree_branch(SELF, frame.from) == branch;
				const bool goes = pboot_tree_branch(SELF, frame.to) != branch;

				ck_assert_int_eq(reads(&frame, branch), in_job && comes && goes);
			}
	frame = good;
	frame.to = PBOOT_FRAME_ALL;
	ck_assert(reads(&frame, CHILD_BRANCH));
	ck_assert(!reads(&frame, PBOOT_TREE_UP));
}
END_TEST

/* A witness is a neighbour of the lost host, and nobody is told of his own loss. */
START_TEST(a_loss_is_an_edge_of_the_tree)
{
	struct pboot_frame frame = { .type = PBOOT_FRAME_LOSS };

	for (frame.from = 0; frame.from < HOSTS + 2; frame.from++)
		for (frame.to = 0; frame.to < HOSTS + 2; frame.to++) {
			const bool in_job = frame.from < HOSTS && frame.to < HOSTS;
			const bool edge = pboot_tree_parent(frame.from) == frame.to ||
			    pboot_tree_parent(frame.to) == frame.from;
			const bool comes = pboot_tree_branch(SELF, frame.from) == PBOOT_TREE_UP;

			ck_assert_int_eq(reads(&frame, PBOOT_TREE_UP),
			    in_job && edge && comes && frame.to != SELF);
		}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("frame");

	tcase_add_test(tests, the_bytes_are_those_of_the_layout);
	tcase_add_test(tests, every_type_has_its_lengths);
	tcase_add_test(tests, other_types_are_none);
	tcase_add_test(tests, data_comes_from_behind_its_branch_and_goes_on);
	tcase_add_test(tests, a_loss_is_an_edge_of_the_tree);
	return unit_run("overlay_frame", tests);
}
