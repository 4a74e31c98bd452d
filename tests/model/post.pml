/*
 * Two ranks post to a semaphore of a third: they add to its count, and wake the third if it sleeps and the count has
 * reached its threshold (D5).  Files: include/penstock_sem.h, runtime/signal/sem_wait.c, threshold.c,
 * smp-conduit/sysvnet/sysvnet_sleep.c.  Searched with posters that fence and with a sleeper that makes all fence; with
 * several producers, and with one, whose add is a plain store.
 *
 * Proven: the third sees all posts, and what was written before each.
 *
 * Switch         in the code
 *   Z1             psi_sem_count in penstock_sem.h: what was written before, before the count
 *   Z2             sem_posts_of in sem_wait.c: the count, before what was written
 *   D5_POST        psi_sem_asleep in penstock_sem.h: fence between the count and the look at wake, where posters fence
 *   D5_ORDER       psi_sem_asleep in penstock_sem.h: the look stays behind the count, where the sleeper makes all fence
 *   D5_SUFFICES    psi_sem_threshold_met in penstock_sem.h, psi_word_threshold_met in threshold.c: the poster reads the
 *                  threshold after wake
 *   D5_THRESHOLD   threshold_write in threshold.c: the sleeper writes its threshold before it says that it sleeps
 *   D5_ALL         lanes_stop_polling in sysvnet_sleep.c: all processes fence between bit 0 of wake and the look at
 *                  the count
 *   ARM_FENCE      sysvnet_arm in sysvnet_sleep.c: fence between the same, where posters fence
 */
#define PROCS	3
#define WORDS	5
#define SWITCHES(S) \
	S(Z1, RMW, REL) \
	S(Z2, LOAD, ACQ) \
	S(D5_POST, STEP, ON) \
	S(D5_ORDER, STEP, ON) \
	S(D5_SUFFICES, STEP, ON) \
	S(D5_THRESHOLD, STEP, ON) \
	S(D5_ALL, STEP, ON) \
	S(ARM_FENCE, STEP, ON)

#define DATA	0	/* of each poster */
#define POSTS	2
#define WAKE	3
#define THRESHOLD	4

#define NOBODY	9
#define ENOUGH	(alone -> 1 : 2)

#define READS(p) (p == 2 -> BIT(POSTS) | BIT(DATA) | BIT(DATA + 1) : BIT(POSTS) | BIT(WAKE) | BIT(THRESHOLD))

#include "weak.inc"

bool posters_fence, alone;
bool asleep;

inline wake_word(me)
{
	load(me, WAKE, SC, seen);
	do
	:: seen & 1 ->
		exchange_if(me, WAKE, seen, seen + 1, RLX, RLX, v, done);
		if
		:: done -> fence(me); asleep = 0; break
		:: else -> seen = v
		fi
	:: else -> break
	od;
	atomic { seen = 0; v = 0; done = 0 }
}

inline count(me)
{
	if
	:: alone -> store(me, POSTS, 1, Z1)
	:: else -> modify(me, POSTS, Z1, v, v + 1)
	fi
}

proctype poster(byte me)
{
	byte v, seen, threshold;
	bool done;

	store(me, DATA + me, 1, RLX);
	if
	:: !D5_SUFFICES -> load(me, THRESHOLD, RLX, threshold)
	:: else
	fi;
	if
	:: !posters_fence && !D5_ORDER -> load(me, WAKE, RLX, seen); count(me)
	:: else ->
		count(me);
		if
		:: posters_fence && D5_POST -> fence(me)
		:: else
		fi;
		load(me, WAKE, RLX, seen)
	fi;
	if
	:: seen & 1 ->
		load(me, POSTS, RLX, v);
		if
		:: D5_SUFFICES -> load(me, THRESHOLD, RLX, threshold)
		:: else
		fi;
		if
		:: v >= threshold -> atomic { v = 0; threshold = 0 }; wake_word(me)
		:: else
		fi
	:: else
	fi
}

proctype sleeper()
{
	byte v, ticket;

	do
	:: true ->
		if
		:: D5_THRESHOLD -> store(2, THRESHOLD, ENOUGH, RLX)
		:: else
		fi;
		modify(2, WAKE, RLX, v, v | 1);
		ticket = v | 1;
		if
		:: posters_fence && ARM_FENCE -> fence(2)
		:: else
		fi;
		if
		:: !posters_fence && D5_ALL ->
			d_step { DONE(2); refresh(2); asked[0] = 1; asked[1] = 1 }
			d_step { !asked[0] && !asked[1] && DONE(2) -> refresh(2) }
		:: else
		fi;
		load(2, POSTS, Z2, v);
		if
		:: v == ENOUGH -> break
		:: else
		fi;
		if
		:: !D5_THRESHOLD -> store(2, THRESHOLD, ENOUGH, RLX)
		:: else
		fi;
		fence(2);
		asleep = (mem[WAKE] == ticket);
		!asleep;
		store(2, THRESHOLD, NOBODY, RLX);
		atomic { v = 0; ticket = 0 }
	od;
	read_data(2, DATA, 1);
	if
	:: alone
	:: else -> read_data(2, DATA + 1, 1)
	fi
}

init {
	c_code { switches_read(); }
	d_step {
		mem[THRESHOLD] = NOBODY;
		view[AT(0, THRESHOLD)] = NOBODY;
		view[AT(1, THRESHOLD)] = NOBODY
	}
	if
	:: posters_fence = 1
	:: posters_fence = 0
	fi;
	if
	:: alone = 1 -> atomic { run machine(); run poster(0); run sleeper() }
	:: alone = 0 -> atomic { run machine(); run poster(0); run poster(1); run sleeper() }
	fi
}
