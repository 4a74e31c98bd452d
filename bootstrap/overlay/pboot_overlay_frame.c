#include "bootstrap/overlay/pboot_overlay_frame.h"

#include "bootstrap/overlay/pboot_overlay_tree.h"

void
pboot_frame_write(const struct pboot_frame *frame, uint8_t head_out[PBOOT_FRAME_HEAD_BYTES])
{
	pboot_store_32(head_out, frame->len_bytes);
	head_out[4] = (uint8_t)frame->type;
	head_out[5] = 0;
	pboot_store_16(head_out + 6, frame->kind);
	pboot_store_32(head_out + 8, frame->from);
	pboot_store_32(head_out + 12, frame->to);
}

static bool
frame_has_length(const struct pboot_frame *frame)
{
	const uint32_t len = frame->len_bytes;

	switch (frame->type) {
	case PBOOT_FRAME_BEAT:
	case PBOOT_FRAME_BYE:
	case PBOOT_FRAME_BARRIER:
		return len == 0;
	case PBOOT_FRAME_LOSS:
		return len <= PBOOT_FRAME_WHY_BYTES;
	case PBOOT_FRAME_DATA:
		return len <= PBOOT_FRAME_DATA_BYTES;
	case PBOOT_FRAME_PIECE:
		return len >= 4 && len <= PBOOT_FRAME_PIECE_BYTES;
	}
	return false;
}

/* May the frame come from that branch, and go on from here? */
static bool
frame_has_way(const struct pboot_frame *frame, uint32_t self, uint32_t branch, uint32_t host_count)
{
	if (frame->type == PBOOT_FRAME_BEAT || frame->type == PBOOT_FRAME_BYE ||
	    frame->type == PBOOT_FRAME_BARRIER)
		return true;
	if (frame->from >= host_count || pboot_tree_branch(self, frame->from) != branch)
		return false;
	if (frame->type == PBOOT_FRAME_LOSS)
		return frame->to < host_count && frame->to != self &&
		    (pboot_tree_parent(frame->to) == frame->from ||
		    pboot_tree_parent(frame->from) == frame->to);
	if (frame->type == PBOOT_FRAME_DATA && frame->to != PBOOT_FRAME_ALL)
		return frame->to < host_count && pboot_tree_branch(self, frame->to) != branch;
	return true;
}

bool
pboot_frame_read(const uint8_t head[PBOOT_FRAME_HEAD_BYTES], uint32_t self, uint32_t branch,
    uint32_t host_count, struct pboot_frame *frame_out)
{
	const struct pboot_frame frame = {
		.len_bytes = pboot_load_32(head),
		.type = (enum pboot_frame_type)head[4],
		.kind = pboot_load_16(head + 6),
		.from = pboot_load_32(head + 8),
		.to = pboot_load_32(head + 12),
	};

	if (head[5] != 0 || !frame_has_length(&frame) ||
	    !frame_has_way(&frame, self, branch, host_count))
		return false;
	*frame_out = frame;
	return true;
}
