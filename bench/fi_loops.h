/*
 * fi-loops: what the provider under the ofi conduit takes for the patterns of the rows of `targets
 * net' (docs/performance.md), by bare calls of libfabric.  Ranks are processes of one host, which
 * this program forks.
 *
 * The endpoint is opened as the conduit opens its own: reliable datagrams, one completion queue
 * with a descriptor, receive buffers for many messages, one thread.
 */
#ifndef FI_LOOPS_H
#define FI_LOOPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FL_RANKS = 64,
	FL_BYTES = 4 << 20,             /* of an inbox, and of an outbox */
	FL_WINDOW = 256,                /* of a stream: messages under way, */
	FL_CREDIT = FL_WINDOW / 2,      /* of which so many are acknowledged at once */
	FL_ADDRESS_BYTES = 64,
	FL_MESSAGE_BYTES = 15 << 10,    /* the largest message; larger payloads are written */
};

/* What a message is; in its first word, with the sender's rank. */
enum fl_kind {
	FL_PING, FL_PONG, FL_STREAM, FL_CREDITS, FL_WRITE_CREDITS, FL_FLAG, FL_STEP, FL_KINDS
};

/* Memory of all ranks. */
struct fl_shared {
	struct {
		char address[FL_ADDRESS_BYTES];
		uint64_t key, origin;
	} cards[FL_RANKS];
	atomic_uint cards_filled;
	/* What the leader orders: written before `turn', which it raises (release; the others'
	 * loads of turn acquire). */
	unsigned pattern, batch, batches;
	size_t size;
	atomic_uint turn;
	atomic_uint served;             /* the turn whose calls rank 0 has made */
	atomic_uint ended;              /* ranks that have ended their turns, summed up */
	_Alignas(64) atomic_uint line;  /* of the probe of where ranks 0 and 1 are */
};

extern struct fl_shared *fl_shared;
extern unsigned fl_rank, fl_ranks;
extern bool fl_crowded;                 /* more ranks than CPUs: an empty poll yields */

/* Ends the program with one line; the code is an errno, or one of libfabric's. */
void fl_die(const char *what, int code) __attribute__((noreturn));

/* -- fi_loops_net.c: the endpoint -------------------------------------------------------------- */

/* Messages that have come, of each kind from each rank; writes with data that have come; own
 * transfers that have completed. */
extern unsigned fl_came[FL_KINDS][FL_RANKS], fl_written, fl_done;
extern uint64_t fl_value;               /* that the last message brought */
extern char *fl_inbox, *fl_outbox;

/* Opens the endpoint, and exchanges addresses with all ranks. */
void fl_net_open(const char *provider);
/* Sends len bytes, a header of 16 included; from the outbox where there are more.  What is sent may
 * change when it returns. */
void fl_send(unsigned rank, enum fl_kind kind, uint64_t value, size_t len);
/* Writes the first len bytes of the outbox to the inbox of a rank, at that offset.  `with_data':
 * the rank's fl_written counts it.  Else fl_done counts it when the bytes are there; with data when
 * the outbox may change. */
void fl_put(unsigned rank, size_t offset, size_t len, bool with_data);
void fl_get(unsigned rank, size_t len);
/* Reads completions; false if there were none. */
bool fl_poll(void);
/* Polls, and yields where that found nothing and there are more ranks than CPUs. */
void fl_step(void);

/* -- fi_loops_rows.c: the patterns ------------------------------------------------------------- */

struct fl_pattern {
	const char *name;
	bool sized;
	bool origin;                    /* rank 0 alone makes calls, the others poll */
	bool stream;                    /* a batch has several windows */
	bool rooted;                    /* ... or several rounds of roots */
	unsigned ways;                  /* what a call's time is divided by */
	void (*call)(size_t size);
	/* NULL, or what a rank that makes no calls does for a message that came. */
	void (*serve)(size_t size);
};

extern const struct fl_pattern fl_patterns[];   /* ends with one without a name */

#endif
