/*
 * Two threads of one rank wait for posts to one semaphore, the second for more than the first, and both
 * tell the poster what they want; the poster posts what the first lacks, and the rest when that one has
 * gone.  runtime/signal/threshold.c, psi_sem_wake in include/penstock_sem.h, sysvnet_arm in smp-conduit/sysvnet/sysvnet_sleep.c: D5
 * with several waiters.  The same of a word, its value in place of the posts; who waits for another word of
 * the same place makes what is told lower at most, as who lacks one post does here.  Where posters fence; that the sleeper may make all fence instead shows post.
 *
 * Proven: both see what they wait for.
 *
 * Switch        in the code
 *   D5_LEAST      want: of several waiters the least counts
 *   D5_LAST       unwant: only the last waiter says that nobody waits
 */
#define PROCS	3
#define WORDS	3
#define SWITCHES(S) \
	S(D5_LEAST, STEP, ON) \
	S(D5_LAST, STEP, ON)

#define POSTS	0
#define WAKE	1
#define WANT	2

#define NOBODY	9

#define READS(p) (p == 0 -> BIT(POSTS) | BIT(WAKE) | BIT(WANT) : BIT(POSTS) | BIT(WANT))

#include "weak.inc"

bool asleep[PROCS], locked, first_gone;
byte wanting;

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
		load(0, WANT, RLX, want);
		if
		:: posts >= want -> wake_word()
		:: else
		fi
	:: else
	fi;
	atomic { seen = 0; want = 0 }
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
	byte v, seen, want;
	bool done;

	post(1);
	first_gone;
	post(2)
}

inline say(me, least)
{
	lock(me);
	load(me, WANT, RLX, v);
	if
	:: !wanting || least < v || !D5_LEAST -> store(me, WANT, least, RLX)
	:: else
	fi;
	wanting++;
	unlock(me)
}

inline unsay(me)
{
	lock(me);
	wanting--;
	if
	:: !wanting || !D5_LAST -> store(me, WANT, NOBODY, RLX)
	:: else
	fi;
	unlock(me)
}

/* Number 1 wants one post, number 2 two. */
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
		mem[WANT] = NOBODY;
		view[AT(0, WANT)] = NOBODY;
		view[AT(1, WANT)] = NOBODY;
		view[AT(2, WANT)] = NOBODY
	}
	atomic { run machine(); run poster(); run sleeper(1); run sleeper(2) }
}
