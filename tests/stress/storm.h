/*
 * The storm: all ranks, by one thread or several, send every kind of message to every rank and
 * answer, with puts, gets, barriers, pauses and computing in between.  Each payload and argument is
 * checked where it arrives; at the end each rank knows what was accepted for it, and exactly that
 * must have come.
 *
 * A message says in its arguments what it is; see enum storm_arg.  A request that is to be answered
 * has an entry in a table of its sender, which its one answer frees.
 */
#ifndef PT_STORM_H
#define PT_STORM_H

#include "tests/lib/pt.h"

#include <pthread.h>

enum {
	MAX_THREADS = 8,
	ENTRIES = 24,                   /* requests of a thread that wait for their answers */
	LONG_ANSWERS = 4,               /* entries that have a place for an answer by Long */
	LONG_BYTES = 96 * 1024,         /* of a Long's place */
	AREA_BYTES = 48 * 1024,         /* where a thread puts and gets */
	NARROW = 5, WIDE = 16,          /* arguments of a message */
};

enum storm_kind { STORM_SHORT, STORM_MEDIUM, STORM_LONG, STORM_KINDS };

/* How a message is sent.  With a hint of IMMEDIATE that is tried first. */
enum storm_way {
	WAY_FIXED,
	WAY_LIBRARY,                    /* negotiated, buffer of the library's */
	WAY_CLIENT,                     /* negotiated, buffer of the sender's */
	WAYS
};

enum storm_arg { A_KEY, A_WHO, A_WANT, A_LENGTH, A_CHECK };
/* A_WHO: thread | entry << 8.  A_WANT: what the answer shall be. */
enum {
	WANT_KIND = 3,                  /* enum storm_kind; STORM_KINDS: none */
	WANT_WAY_SHIFT = 2, WANT_WAY = 3 << WANT_WAY_SHIFT,
	WANT_WIDE = 16, WANT_IMMEDIATE = 32, WANT_CANCEL = 64, WANT_PAUSE = 128,
	WANT_BITS = 256,
};

struct storm_message {
	gex_Rank_t rank;                /* requests only */
	gex_Token_t token;              /* replies only */
	int is_reply;
	enum storm_kind kind;
	enum storm_way way;
	int wide, immediate, cancel;
	size_t len_bytes;
	char *buffer;                   /* of LONG_BYTES, the sender's */
	void *dest;                     /* of a Long, at its owner */
	gex_AM_Arg_t args[WIDE];
};

struct storm_entry {
	pt_count waiting;
	struct storm_thread *owner;
	uint32_t key;                   /* of the request */
	int want;
	gex_Rank_t rank;
	int is_long;                    /* holds the place for Longs at that rank */
};

struct storm_thread {
	unsigned index;
	struct pt_rng rng;
	struct storm_entry entry[ENTRIES];
	pt_count waiting;               /* entries that do */
	pt_count *long_busy;            /* [ranks] */
	char *buffer, *answer;          /* of requests and of replies; LONG_BYTES each */
	char *area;                     /* AREA_BYTES */
	unsigned long requests, refused, cancelled, transfers;
};

/* Requests from one rank to another, as the sender and the receiver count them. */
struct storm_tally {
	uint64_t count, sum;            /* of the keys */
};

struct storm {
	unsigned threads;
	size_t medium_bytes;            /* largest */
	struct storm_thread thread[MAX_THREADS];
	struct storm_tally *sent, *got; /* [ranks] */
	pt_count finished;              /* all rounds are over */
};
extern struct storm storm;
extern __thread struct storm_thread *storm_self;

/* In PARSYNC threads take turns in the library. */
void storm_enter(void);
void storm_leave(void);

/* Where things lie in a rank's segment, at the owner. */
struct storm_tally *storm_told_at(gex_Rank_t owner, gex_Rank_t source);
char *storm_long_at(gex_Rank_t owner, gex_Rank_t source, unsigned thread);
char *storm_answer_at(gex_Rank_t owner, unsigned thread, unsigned entry);
char *storm_area_at(gex_Rank_t owner, gex_Rank_t source, unsigned thread);
size_t storm_segment_bytes(void);

void storm_tally_add(struct storm_tally *tally, uint32_t key);

/* Computes, yields or sleeps; mostly neither. */
void storm_pause(struct pt_rng *rng);
size_t storm_length(struct pt_rng *rng, size_t most_bytes);

/* storm_message.c: arguments are made and checked, a message is sent in one of all ways.  False: it
 * was refused for being immediate, and nothing was sent. */
void storm_seal(struct storm_message *message, gex_Rank_t target);
void storm_check(const gex_AM_Arg_t *args, unsigned nargs, gex_Rank_t source);
int storm_send(struct storm_message *message, struct storm_thread *self);

/* storm_handlers.c */
enum {
	REQ_SHORT = 128, REQ_MEDIUM = 130, REQ_LONG = 132,      /* one more: the wide one */
	REP_SHORT = 134, REP_MEDIUM = 136, REP_LONG = 138,
};
extern gex_AM_Entry_t storm_handlers[];
extern const size_t storm_handlers_count;

/* storm_transfer.c: something is put and got back. */
void storm_transfer(struct storm_thread *self);

/* storm_thread.c: one random act; and until no request waits for its answer. */
void storm_act(struct storm_thread *self);
void storm_drain(struct storm_thread *self);

#endif
