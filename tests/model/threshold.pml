/*
 * Two threads of one rank wait for posts to one semaphore, the second for more posts than the first.  Both tell the
 * poster their thresholds.  The poster posts what the first waits for, and the rest when the first has gone (D5 with
 * several waiters).  Files: runtime/signal/threshold.c, include/penstock_sem.h, smp-conduit/sysvnet/sysvnet_sleep.c.
 *
 * A signal on a word is the same, with its value in place of the posts.  A thread that waits for another word with the
 * same slot can only lower the threshold, as the first thread does here.  Posters fence; post.pml shows that the
 * sleeper may make all fence instead.
 *
 * Proven: both see what they wait for.
 *
 * Switch        in the code
 *   D5_LEAST      threshold_lower in threshold.c: the least threshold of several waiters counts
 *   D5_LAST       threshold_leave in threshold.c: only the last waiter says that no thread waits
 */
#define PROCS	3
#define WORDS	3
#define SWITCHES(S) \
	S(D5_LEAST, STEP, ON) \
	S(D5_LAST, STEP, ON)

#define POSTS	0
#define WAKE	1
#define THRESHOLD	2

#define NOBODY	9

#define READS(p) (p == 0 -> BIT(POSTS) | BIT(WAKE) | BIT(THRESHOLD) : BIT(POSTS) | BIT(THRESHOLD))

#include "weak.inc"

bool asleep[PROCS], locked, first_gone;
byte waiters;

/* A lock: what the last holder wrote is seen. */
inline lock(me)
{
	d_step { !locked -> locked = 1; refresh(me) }
}

inline unlock(me)
{
	d_step { DONE(me) -> locked = 0 }
}

inline post(posts)
{
	store(0, POSTS, posts, REL);
	fence(0);
	load(0, WAKE, RLX, seen);
	if
	:: seen & 1 ->
		load(0, THRESHOLD, RLX, threshold);
		if
		:: posts >= threshold -> wake_word()
		:: else
		fi
	:: else
	fi;
	atomic { seen = 0; threshold = 0 }
}

inline wake_word()
{
	load(0, WAKE, SC, seen);
	do
	:: seen & 1 ->
		exchange_if(0, WAKE, seen, seen + 1, RLX, RLX, v, done);
		if
		:: done -> fence(0); d_step { asleep[1] = 0; asleep[2] = 0 }; break
		:: else -> seen = v
		fi
	:: else -> break
	od;
	atomic { v = 0; done = 0 }
}

proctype poster()
{
	byte v, seen, threshold;
	bool done;

	post(1);
	first_gone;
	post(2)
}

inline say(me, least)
{
	lock(me);
	load(me, THRESHOLD, RLX, v);
	if
	:: !waiters || least < v || !D5_LEAST -> store(me, THRESHOLD, least, RLX)
	:: else
	fi;
	waiters++;
	unlock(me)
}

inline unsay(me)
{
	lock(me);
	waiters--;
	if
	:: !waiters || !D5_LAST -> store(me, THRESHOLD, NOBODY, RLX)
	:: else
	fi;
	unlock(me)
}

/* Number 1 waits for one post, number 2 for two. */
proctype sleeper(byte me)
{
	byte v, ticket, number = me;

	do
	:: true ->
		say(me, number);
		modify(me, WAKE, RLX, v, v | 1);
		ticket = v | 1;
		fence(me);
		load(me, POSTS, ACQ, v);
		if
		:: v >= me -> unsay(me); break
		:: else
		fi;
		fence(me);
		asleep[me] = (mem[WAKE] == ticket);
		!asleep[me];
		unsay(me);
		atomic { v = 0; ticket = 0 }
	od;
	if
	:: me == 1 -> first_gone = 1
	:: else
	fi
}

init {
	c_code { switches_read(); }
	d_step {
		mem[THRESHOLD] = NOBODY;
		view[AT(0, THRESHOLD)] = NOBODY;
		view[AT(1, THRESHOLD)] = NOBODY;
		view[AT(2, THRESHOLD)] = NOBODY
	}
	atomic { run machine(); run poster(); run sleeper(1); run sleeper(2) }
}
