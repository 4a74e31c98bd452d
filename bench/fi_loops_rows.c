/*
 * The patterns of fi-loops, one for each row: what a library would do if the provider were all.
 *
 * Ranks 0 and 1 play the rows of two.  Counts go on from call to call.
 */
#include "fi_loops.h"

enum { SHORT_BYTES = 16 };      /* of a message without payload: its header */

#define UNTIL(condition) \
	do { \
		while (!(condition)) \
			fl_step(); \
	} while (0)

static unsigned
message_bytes(size_t size)
{
	return (unsigned)(SHORT_BYTES + size);
}

/* The program writes and reads what it sends, a word in each line. */
static void
outbox_write(size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		((volatile char *)fl_outbox)[at]++;
}

static void
inbox_read(size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		(void)((const volatile char *)fl_inbox)[at];
}

/* -- one message each way ---------------------------------------------------------------------- */

static unsigned pings, pongs;

static void
call_message(size_t size)
{
	outbox_write(size);
	fl_send(1, FL_PING, 0, message_bytes(size));
	pongs++;
	UNTIL(fl_came[FL_PONG][1] == pongs);
}

static void
serve_message(size_t size)
{
	if (fl_came[FL_PING][0] == pings)
		return;
	pings++;
	outbox_write(size);
	fl_send(0, FL_PONG, 0, message_bytes(size));
}

/* An addition at the owner's: rank 1's processor makes it. */
static void
serve_fadd(size_t size)
{
	static uint64_t word;

	(void)size;
	if (fl_came[FL_PING][0] == pings)
		return;
	pings++;
	fl_send(0, FL_PONG, word++, SHORT_BYTES);
}

/* -- one write each way ------------------------------------------------------------------------ */

static unsigned written, done;

static void
write_with_data(unsigned rank, size_t size)
{
	outbox_write(size);
	fl_put(rank, 0, size, true);
}

static void
written_await(size_t size)
{
	written++;
	UNTIL((int)(fl_written - written) >= 0);
	inbox_read(size);
}

/* The source may change: the caller has waited for that. */
static void
done_await(void)
{
	done++;
	UNTIL((int)(fl_done - done) >= 0);
}

static void
call_write(size_t size)
{
	if (fl_rank > 1)
		return;
	if (fl_rank == 1)
		written_await(size);
	write_with_data(1 - fl_rank, size);
	done_await();
	if (fl_rank == 0)
		written_await(size);
}

static void
call_put(size_t size)
{
	fl_put(1, 0, size, false);
	done_await();
}

static void
call_get(size_t size)
{
	fl_get(1, size);
	done_await();
}

/* A put, and behind its completion a message. */
static void
hand_over(size_t size)
{
	outbox_write(size);
	fl_put(1 - fl_rank, 0, size, false);
	done_await();
	fl_send(1 - fl_rank, FL_FLAG, 0, SHORT_BYTES);
}

static void
take_over(size_t size)
{
	static unsigned flags;

	flags++;
	UNTIL((int)(fl_came[FL_FLAG][1 - fl_rank] - flags) >= 0);
	inbox_read(size);
}

static void
call_putflag(size_t size)
{
	if (fl_rank > 1)
		return;
	if (fl_rank == 1)
		take_over(size);
	hand_over(size);
	if (fl_rank == 0)
		take_over(size);
}

/* -- streams ----------------------------------------------------------------------------------- */

/* The sender waits for acknowledgements of that kind while a window is under way. */
static void
window_await(unsigned streamed, enum fl_kind credits)
{
	UNTIL(streamed - FL_CREDIT * fl_came[credits][1] < FL_WINDOW);
}

static void
call_msgrate(size_t size)
{
	static unsigned streamed;

	window_await(streamed++, FL_CREDITS);
	fl_send(1, FL_STREAM, 0, message_bytes(size));
}

static void
serve_msgrate(size_t size)
{
	static unsigned credited;

	(void)size;
	if (fl_came[FL_STREAM][0] - FL_CREDIT * credited < FL_CREDIT)
		return;
	credited++;
	fl_send(0, FL_CREDITS, 0, SHORT_BYTES);
}

/* To memory in turn.  One source serves them all, so each waits until it has been read. */
static void
call_longrate(size_t size)
{
	static unsigned streamed;

	window_await(streamed, FL_WRITE_CREDITS);
	fl_put(1, streamed++ % (FL_BYTES / size) * size, size, true);
	done_await();
}

static void
serve_longrate(size_t size)
{
	static unsigned taken;

	while (written != fl_written) {
		const char *from = fl_inbox + taken++ % (FL_BYTES / size) * size;

		written++;
		for (size_t at = 0; at < size; at += 64)
			(void)*(const volatile char *)(from + at);
		if (taken % FL_CREDIT == 0)
			fl_send(0, FL_WRITE_CREDITS, 0, SHORT_BYTES);
	}
}

/* -- collectives ------------------------------------------------------------------------------- */

static unsigned steps_of[FL_RANKS];     /* that were awaited of each rank */

static void
step_await(unsigned rank)
{
	steps_of[rank]++;
	UNTIL((int)(fl_came[FL_STEP][rank] - steps_of[rank]) >= 0);
}

/* Dissemination. */
static void
call_barrier(size_t size)
{
	(void)size;
	for (unsigned far = 1; far < fl_ranks; far *= 2) {
		fl_send((fl_rank + far) % fl_ranks, FL_STEP, 0, SHORT_BYTES);
		step_await((fl_rank + fl_ranks - far) % fl_ranks);
	}
}

/* A binomial tree; the root moves on by one per call. */
static void
call_bcast(size_t size)
{
	static unsigned calls;
	const unsigned root = calls++ % fl_ranks, mine = (fl_rank + fl_ranks - root) % fl_ranks;
	unsigned bit = 1;

	while (bit < fl_ranks && !(mine & bit))
		bit *= 2;
	if (mine)
		step_await((mine - bit + root) % fl_ranks);
	while ((bit /= 2) > 0)
		if (mine + bit < fl_ranks)
			fl_send((mine + bit + root) % fl_ranks, FL_STEP, fl_value,
			        message_bytes(size));
}

/* Recursive doubling, of a power of two of ranks. */
static void
call_allreduce(size_t size)
{
	for (unsigned bit = 1; bit < fl_ranks; bit *= 2) {
		fl_send(fl_rank ^ bit, FL_STEP, fl_value, message_bytes(size));
		step_await(fl_rank ^ bit);
	}
}

const struct fl_pattern fl_patterns[] = {
	{ .name = "short", .origin = true, .ways = 2, .call = call_message,
	  .serve = serve_message },
	{ .name = "medium", .sized = true, .origin = true, .ways = 2, .call = call_message,
	  .serve = serve_message },
	{ .name = "long", .sized = true, .ways = 2, .call = call_write },
	{ .name = "msgrate", .sized = true, .origin = true, .stream = true, .ways = 1,
	  .call = call_msgrate, .serve = serve_msgrate },
	{ .name = "longrate", .sized = true, .origin = true, .stream = true, .ways = 1,
	  .call = call_longrate, .serve = serve_longrate },
	{ .name = "put", .sized = true, .origin = true, .ways = 1, .call = call_put },
	{ .name = "get", .sized = true, .origin = true, .ways = 1, .call = call_get },
	{ .name = "fadd", .origin = true, .ways = 1, .call = call_message, .serve = serve_fadd },
	{ .name = "putflag", .sized = true, .ways = 2, .call = call_putflag },
	{ .name = "putsignal", .sized = true, .ways = 2, .call = call_write },
	{ .name = "barrier", .ways = 1, .call = call_barrier },
	{ .name = "bcast", .sized = true, .rooted = true, .ways = 1, .call = call_bcast },
	{ .name = "allreduce", .sized = true, .ways = 1, .call = call_allreduce },
	{ .name = NULL },
};
