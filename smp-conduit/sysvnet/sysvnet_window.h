/*
 * The payload ring of a lane, as its sender gives its bytes out.  A window of the ring is in use.
 *
 * A window of the least size stays in the nearest cache of both sides, which is best for single
 * messages.  A stream needs more: its sender would fill the window, and then wait for each payload
 * to be read.  The lines that it reuses would also come from the receiver's own cache, at twice the
 * cost of lines that both have lost to the cache they share.  So if messages are under way when a
 * lap ends, the next lap uses a window twice as wide, up to all bytes of the ring; if none are, it
 * uses half of it.  Bytes that were never used have no page.
 *
 * The sender alone knows the window.  A message says where its payload is.  The receiver gives
 * bytes back by quarters of the least window.  So a window whose quarter takes the payload has room
 * once the receiver has consumed all.
 *
 * Positions count all bytes ever given out.  A lap begins at position `lap' and goes through the
 * window from its end down.  The reason: a CPU that reads a payload also fetches some lines behind
 * it.  In this direction these belong to an earlier payload and are in its cache.  In the other
 * direction they would be lines that the sender writes, or has just fetched to write.
 *
 * Bytes under way from earlier laps are at the start of the ring, within the window of the last of
 * these laps.  Bytes of this lap are at the end of this lap's window.  So the window may change to
 * any size between laps.  Bytes are free if they are no further than that size from tail, or from
 * the beginning of the lap before.
 *
 * Pure: nothing here is shared with the receiver.
 */
#ifndef SYSVNET_WINDOW_H
#define SYSVNET_WINDOW_H

#include "smp-conduit/sysvnet/sysvnet_layout.h"

#include <stdbool.h>

struct sysvnet_window {
	uint32_t head, tail;            /* bytes given out and back, ever */
	uint32_t lap, before;           /* where this lap began, and the one before */
	uint32_t bytes;                 /* in use: a power of two */
	uint32_t most_bytes;            /* of the lane: a power of two, or 0 */
};

static inline uint32_t
sysvnet_window_least(uint32_t most_bytes)
{
	return most_bytes < SYSVNET_WINDOW_BYTES ? most_bytes : SYSVNET_WINDOW_BYTES;
}

static inline struct sysvnet_window
sysvnet_window_all_free(uint32_t most_bytes, uint32_t head)
{
	return (struct sysvnet_window){
		.head = head, .tail = head, .lap = head, .before = head,
		.bytes = sysvnet_window_least(most_bytes), .most_bytes = most_bytes,
	};
}

/* Where `need' bytes from position start on lie, which are of this lap. */
static inline uint32_t
sysvnet_window_offset(const struct sysvnet_window *window, uint32_t start, uint32_t need)
{
	return window->bytes - (start - window->lap) - need;
}

/* Do `need' bytes from start on fit in a window of that size, with what is under way?  before:
 * where the lap began before the one that they are of. */
static inline bool
sysvnet_window_fits(const struct sysvnet_window *window, uint32_t start, uint32_t need,
                    uint32_t before, uint32_t bytes)
{
	const uint32_t from = (int32_t)(window->tail - before) < 0 ? before : window->tail;

	return start + need - from <= bytes;
}

/* Do `need' more end in this lap? */
static inline bool
sysvnet_window_in_lap(const struct sysvnet_window *window, uint32_t need)
{
	return window->head - window->lap + need <= window->bytes;
}

/* Begins a lap of that size, if the payload fits then.  Bytes that the lap before has left count
 * as given out, unless nothing is under way. */
static inline bool
sysvnet_window_turn(struct sysvnet_window *window, uint32_t need, uint32_t bytes)
{
	const bool idle = window->head == window->tail;
	const uint32_t start = idle ? window->head : window->lap + window->bytes;
	const uint32_t before = idle ? start : window->lap;

	if (need > bytes || !sysvnet_window_fits(window, start, need, before, bytes))
		return false;
	window->before = before;
	window->head = window->lap = start;
	window->bytes = bytes;
	return true;
}

/* The next lap, behind one that has ended: in a window twice as wide while a stream runs, that
 * is while as much is under way as a receiver does not keep to itself; half as wide otherwise. */
static inline bool
sysvnet_window_next_lap(struct sysvnet_window *window, uint32_t need)
{
	const uint32_t least = sysvnet_window_least(window->most_bytes);

	if (window->head - window->tail >= least / 4) {
		if (window->bytes < window->most_bytes &&
		    sysvnet_window_turn(window, need, 2 * window->bytes))
			return true;
	} else if (window->bytes > least && need <= window->bytes / 4) {
		if (sysvnet_window_turn(window, need, window->bytes / 2))
			return true;
	}
	return sysvnet_window_turn(window, need, window->bytes);
}

/* A lap in a window that takes the payload, nothing being under way. */
static inline bool
sysvnet_window_open(struct sysvnet_window *window, uint32_t need)
{
	uint32_t bytes = window->bytes;

	while (bytes < need && bytes < window->most_bytes)
		bytes *= 2;
	return sysvnet_window_turn(window, need, bytes);
}

/* Makes room for `need' bytes in this lap or a new one, by what is known to have come back. */
static inline bool
sysvnet_window_has(struct sysvnet_window *window, uint32_t need)
{
	if (sysvnet_window_in_lap(window, need))
		return sysvnet_window_fits(window, window->head, need, window->before,
		                           window->bytes);
	if (sysvnet_window_next_lap(window, need))
		return true;
	return window->head == window->tail && sysvnet_window_open(window, need);
}

/* The same where that was not so, and all that has come back is known: the window gets wider. */
static inline bool
sysvnet_window_widen(struct sysvnet_window *window, uint32_t need)
{
	uint32_t bytes = window->bytes;

	while (bytes < window->most_bytes && (bytes == window->bytes || bytes / 4 < need))
		bytes *= 2;
	return bytes > window->bytes && sysvnet_window_turn(window, need, bytes);
}

/* Gives them out, in one piece; their offset. */
static inline uint32_t
sysvnet_window_take(struct sysvnet_window *window, uint32_t need)
{
	const uint32_t start = window->head;

	window->head += need;
	return sysvnet_window_offset(window, start, need);
}

#endif
