/*
 * The last two of three ranks enter a phase of a barrier by flags, of which each is a word; the third has entered and
 * sleeps.  Neither of the two looks again.  File: coll/pcoll_barrier_shared.c.
 *
 * Proven: one of the two sees all words, and so wakes the third.
 *
 * Switch   in the code
 *   G8     phase_looks_behind_fence in pcoll_barrier_shared.c: fence between a rank's own word and its last look
 */
#define PROCS	2
#define WORDS	3	/* the last is not used */
#define SWITCHES(S) \
	S(G8, STEP, ON)

#define READS(p) BIT(1 - p)

#include "weak.inc"

bool woken;
byte entered;

proctype rank(byte me)
{
	byte v;

	store(me, me, 1, RLX);
	load(me, 1 - me, RLX, v);
	if
	:: !v && G8 -> fence(me); load(me, 1 - me, RLX, v)
	:: else
	fi;
	if
	:: v -> woken = 1
	:: else
	fi;
	entered++
}

init {
	c_code { switches_read(); }
	atomic { run machine(); run rank(0); run rank(1) };
	entered == 2;
	assert(woken)
}
