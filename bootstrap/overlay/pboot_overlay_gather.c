/*
 * Gathers and barriers.  They have numbers, which all hosts count alike.
 *
 * In a gather the blob of a host goes over each edge of the tree once, away from that host, in
 * pieces.  Each keeper keeps the blobs in the order in which they arrived, and each link has a
 * cursor into that order; so nothing waits for the root, and a slow link holds up no other link.
 *
 * In a barrier a keeper tells its parent when it has called and all its children have told it so;
 * the root then tells its children that all have arrived, and they tell theirs.
 *
 * Both take a message each way over the height of the tree.
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pboot_collective *
collective_of(struct pboot_overlay *net, uint32_t number)
{
	return &net->collective[number % PBOOT_COLLECTIVES];
}

static void
collective_free(struct pboot_collective *collective, uint32_t host_count)
{
	uint32_t i;

	for (i = 0; collective->blobs && i < host_count; i++) {
		union {
			const uint8_t *in;
			void *out;
		} bytes = { .in = collective->blobs[i].bytes };

		free(bytes.out);
	}
	free(collective->blobs);
	free(collective->got_bytes);
	free(collective->order);
	memset(collective, 0, sizeof *collective);
}

/* Returns the record of a collective, which is made at its first use.  If it returns NULL, errno is
 * ENOMEM, or 0 if the number or the kind is impossible. */
static struct pboot_collective *
collective_get(struct pboot_overlay *net, uint32_t number, enum pboot_collective_kind kind)
{
	struct pboot_collective *collective = collective_of(net, number);
	const uint32_t count = net->options.host_count;

	errno = 0;
	if (number - net->oldest >= PBOOT_COLLECTIVES)
		return NULL;
	if (collective->kind != PBOOT_COLLECTIVE_NONE)
		return collective->kind == kind ? collective : NULL;
	if (kind == PBOOT_COLLECTIVE_GATHER) {
		collective->blobs = calloc(count, sizeof *collective->blobs);
		collective->got_bytes = calloc(count, sizeof *collective->got_bytes);
		collective->order = calloc(count, sizeof *collective->order);
		if (!collective->blobs || !collective->got_bytes || !collective->order) {
			collective_free(collective, count);
			errno = ENOMEM;
			return NULL;
		}
	}
	collective->kind = kind;
	return collective;
}

/* Begins a blob.  A blob of no bytes has memory too, which tells it from a blob that has not
 * begun. */
static uint8_t *
blob_begin(struct pboot_overlay_blob *blob, uint32_t len_bytes)
{
	uint8_t *bytes = malloc(len_bytes ? len_bytes : 1);

	blob->bytes = bytes;
	blob->len_bytes = bytes ? len_bytes : 0;
	return bytes;
}

static void
blob_complete(struct pboot_collective *gather, uint32_t host)
{
	gather->order[gather->whole++] = host;
}

static bool
barrier_is_full_below(const struct pboot_overlay *net, const struct pboot_collective *barrier)
{
	return barrier->called && barrier->arrived == (1u << net->children) - 1;
}

static void
barrier_release_if_full(const struct pboot_overlay *net, struct pboot_collective *barrier)
{
	if (net->options.self == 0 && barrier_is_full_below(net, barrier))
		barrier->released = true;
}

enum pboot_overlay_result
pboot_gather_begin(struct pboot_overlay *net, enum pboot_collective_kind kind, const void *blob,
    uint32_t len_bytes)
{
	struct pboot_collective *collective;
	uint8_t *bytes;

	if (net->called - net->completed >= PBOOT_OVERLAY_IN_FLIGHT)
		return PBOOT_OVERLAY_AGAIN;
	collective = collective_get(net, net->called, kind);
	if (!collective)
		return errno == ENOMEM ? PBOOT_OVERLAY_NO_MEMORY : PBOOT_OVERLAY_MISUSE;
	if (kind == PBOOT_COLLECTIVE_GATHER) {
		bytes = blob_begin(&collective->blobs[net->options.self], len_bytes);
		if (!bytes)
			return PBOOT_OVERLAY_NO_MEMORY;
		if (len_bytes > 0)
			memcpy(bytes, blob, len_bytes);
		blob_complete(collective, net->options.self);
	}
	collective->called = true;
	net->called++;
	if (kind == PBOOT_COLLECTIVE_BARRIER)
		barrier_release_if_full(net, collective);
	return PBOOT_OVERLAY_OK;
}

/* Returns where the piece goes.  The first piece brings the length of the blob, and the others must
 * bring the same.  If it returns NULL, errno is ENOMEM, or 0 if the piece is faulty. */
static uint8_t *
piece_target(struct pboot_collective *gather, uint32_t host, uint32_t whole_bytes,
    uint32_t part_bytes)
{
	struct pboot_overlay_blob *blob = &gather->blobs[host];
	union {
		const uint8_t *in;
		uint8_t *out;
	} bytes;

	errno = 0;
	if (!blob->bytes) {
		if (whole_bytes > PBOOT_FRAME_BLOB_BYTES || part_bytes > whole_bytes)
			return NULL;
		if (!blob_begin(blob, whole_bytes))
			errno = ENOMEM;
	} else if (blob->len_bytes != whole_bytes ||
	    part_bytes > whole_bytes - gather->got_bytes[host]) {
		return NULL;
	}
	bytes.in = blob->bytes;
	return bytes.out ? bytes.out + gather->got_bytes[host] : NULL;
}

bool
pboot_gather_hear_piece(struct pboot_overlay *net, const struct pboot_frame *frame,
    const uint8_t *body)
{
	struct pboot_collective *gather = collective_get(net, frame->to, PBOOT_COLLECTIVE_GATHER);
	const uint32_t part_bytes = frame->len_bytes - 4, whole_bytes = pboot_load_32(body);
	uint8_t *target;

	/* Only a blob of no bytes has an empty piece, and it has only that one. */
	if (!gather || (part_bytes == 0) != (whole_bytes == 0) ||
	    (whole_bytes == 0 && gather->blobs[frame->from].bytes))
		return false;
	target = piece_target(gather, frame->from, whole_bytes, part_bytes);
	if (!target)
		return false;
	memcpy(target, body + 4, part_bytes);
	gather->got_bytes[frame->from] += part_bytes;
	if (gather->got_bytes[frame->from] == whole_bytes)
		blob_complete(gather, frame->from);
	return true;
}

bool
pboot_gather_hear_barrier(struct pboot_overlay *net, const struct pboot_link *link, uint32_t number)
{
	struct pboot_collective *barrier = collective_get(net, number, PBOOT_COLLECTIVE_BARRIER);
	uint32_t bit;

	if (!barrier)
		return false;
	if (link->branch == PBOOT_TREE_UP) {
		if (barrier->released || !barrier_is_full_below(net, barrier))
			return false;
		barrier->released = true;
		return true;
	}
	bit = 1u << (link->branch - 1);
	if (barrier->arrived & bit)
		return false;
	barrier->arrived |= bit;
	barrier_release_if_full(net, barrier);
	return true;
}

static void
cursor_next(struct pboot_link_cursor *cursor)
{
	cursor->collective++;
	cursor->entry = 0;
	cursor->offset = 0;
}

static bool
barrier_put(struct pboot_overlay *net, struct pboot_link *link,
    const struct pboot_collective *barrier)
{
	const struct pboot_frame frame = {
		.type = PBOOT_FRAME_BARRIER, .to = link->cursor.collective,
	};
	const bool due = link->branch == PBOOT_TREE_UP ? barrier_is_full_below(net, barrier) :
	    barrier->released;

	if (!due || !pboot_link_put(link, &frame, NULL, 0, NULL))
		return false;
	cursor_next(&link->cursor);
	return true;
}

static bool
piece_put(struct pboot_link *link, const struct pboot_overlay_blob *blob, uint32_t host)
{
	const uint32_t left = blob->len_bytes - link->cursor.offset;
	const uint32_t part = left < PBOOT_FRAME_PART_BYTES ? left : PBOOT_FRAME_PART_BYTES;
	const struct pboot_frame frame = {
		.type = PBOOT_FRAME_PIECE, .from = host, .to = link->cursor.collective,
		.len_bytes = 4 + part,
	};
	uint8_t whole_bytes[4];

	pboot_store_32(whole_bytes, blob->len_bytes);
	if (!pboot_link_put(link, &frame, whole_bytes, 4, blob->bytes + link->cursor.offset))
		return false;
	link->cursor.offset += part;
	return true;
}

/* Puts the next piece into the link's buffer.  Blobs that came over the link itself are skipped. */
static bool
gather_put(struct pboot_overlay *net, struct pboot_link *link,
    const struct pboot_collective *gather)
{
	struct pboot_link_cursor *cursor = &link->cursor;
	uint32_t host;

	for (; cursor->entry < gather->whole; cursor->entry++, cursor->offset = 0) {
		host = gather->order[cursor->entry];
		if (pboot_tree_branch(net->options.self, host) == link->branch)
			continue;
		if (!piece_put(link, &gather->blobs[host], host))
			return false;
		if (cursor->offset < gather->blobs[host].len_bytes)
			return true;
		cursor->entry++;
		cursor->offset = 0;
		return true;
	}
	if (cursor->entry < net->options.host_count)
		return false;
	cursor_next(cursor);
	return true;
}

bool
pboot_gather_put(struct pboot_overlay *net, struct pboot_link *link)
{
	const uint32_t number = link->cursor.collective;
	const struct pboot_collective *collective = collective_of(net, number);

	if (number - net->oldest >= PBOOT_COLLECTIVES)
		return false;
	if (collective->kind == PBOOT_COLLECTIVE_BARRIER)
		return barrier_put(net, link, collective);
	return collective->kind == PBOOT_COLLECTIVE_GATHER && gather_put(net, link, collective);
}

static bool
collective_is_complete(const struct pboot_overlay *net, const struct pboot_collective *collective)
{
	if (collective->kind == PBOOT_COLLECTIVE_GATHER)
		return collective->whole == net->options.host_count;
	return collective->kind == PBOOT_COLLECTIVE_BARRIER && collective->released;
}

struct pboot_collective *
pboot_gather_completed(struct pboot_overlay *net)
{
	struct pboot_collective *collective = collective_of(net, net->completed);

	if (net->completed == net->called || !collective_is_complete(net, collective))
		return NULL;
	net->completed++;
	return collective;
}

static bool
collective_is_carried(const struct pboot_overlay *net, uint32_t number)
{
	const struct pboot_link *link;

	for (link = net->link; link < net->link + PBOOT_TREE_BRANCHES; link++)
		if ((link->state == PBOOT_LINK_UP || link->state == PBOOT_LINK_AWAITED) &&
		    link->cursor.collective == number)
			return false;
	return true;
}

void
pboot_gather_retire(struct pboot_overlay *net)
{
	while (net->oldest != net->completed && collective_is_carried(net, net->oldest)) {
		collective_free(collective_of(net, net->oldest), net->options.host_count);
		net->oldest++;
	}
}

void
pboot_gather_free(struct pboot_overlay *net)
{
	uint32_t i;

	for (i = 0; i < PBOOT_COLLECTIVES; i++)
		collective_free(&net->collective[i], net->options.host_count);
}
