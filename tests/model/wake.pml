/*
 * Two processes send to one that polls and sleeps (D1, D2): announcing through the bitmap, lanes that are polled and
 * no longer polled, going to sleep, waking, a sleep that ends by its time; with fences of the senders and with
 * membarrier.  Files: smp-conduit/sysvnet/sysvnet_sleep.c, sysvnet_wake.c, sysvnet_inline.h, sysvnet_poll.c.  A lane is
 * a count of messages here; lane.pml has the rest of it.
 *
 * Proven: the receiver gets all messages, although no sleep need end by its time.
 *
 * Switch         in the code
 *   D1_SEND        sysvnet_notify in sysvnet_inline.h: fence between publishing and looking at `polled'
 *   D1_ORDER       sysvnet_notify in sysvnet_inline.h: with membarrier, these two stay in program order
 *   D1_FENCE       lanes_fence_senders in sysvnet_sleep.c: the receiver's fence
 *   D1_ALL         lanes_fence_senders in sysvnet_sleep.c: membarrier
 *   D1_LOOK        lanes_stop_polling in sysvnet_sleep.c: the lane is looked at after the fence
 *   D2_TOP         bitmap_set in sysvnet_wake.c: the bit in top
 *   D2_WAKE        wake_word, wake_endpoint in sysvnet_wake.c: the look at wake
 *   D2_TAKE_TOP    lanes_activate in sysvnet_poll.c: takes top, then the words it names
 *   ARM_FENCE      sysvnet_arm in sysvnet_sleep.c: fence between setting bit 0 of wake and looking at top
 *   TICKET         sysvnet_sleep in sysvnet_sleep.c: sleeps only if wake is as sysvnet_arm left it
 */
#define PROCS	3
#define WORDS	7
#define SWITCHES(S) \
	S(D1_SEND, STEP, ON) \
	S(D1_ORDER, STEP, ON) \
	S(D1_FENCE, STEP, ON) \
	S(D1_ALL, STEP, ON) \
	S(D1_LOOK, STEP, ON) \
	S(D2_TOP, RMW, SC) \
	S(D2_WAKE, LOAD, SC) \
	S(D2_TAKE_TOP, RMW, ACQ) \
	S(ARM_FENCE, STEP, ON) \
	S(TICKET, STEP, ON)

/* How many messages each sends: tests/model/check sets them. */
#ifndef FROM_0
#define FROM_0	1
#define FROM_1	1
#endif

#define LANE	0	/* how many messages were published in each */
#define POLLED	2
#define BITS	4
#define TOP	5
#define WAKE	6

#define READS(p) (p == 2 -> BIT(LANE) | BIT(LANE + 1) | BIT(TOP) : BIT(POLLED + p) | (D2_WAKE == SC -> 0 : BIT(WAKE)))

#include "weak.inc"


bool senders_fence;
bool asleep;
bit timeouts;	/* sleeps that may end by themselves */
byte got[2];
byte polling;

inline wake_word(me)
{
	load(me, WAKE, D2_WAKE, seen);
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

proctype sender(byte me; byte messages)
{
	byte n, v, seen;
	bool done;

	do
	:: n == messages -> break
	:: else ->
		n++;
		if
		:: senders_fence || D1_ORDER -> store(me, LANE + me, n, REL)
		:: else
		fi;
		if
		:: senders_fence && D1_SEND -> fence(me)
		:: else
		fi;
		load(me, POLLED + me, RLX, v);
		if
		:: senders_fence || D1_ORDER
		:: else -> store(me, LANE + me, n, REL)
		fi;
		if
		:: v == 0 ->
			modify(me, BITS, REL, v, v | BIT(me));
			if
			:: v & BIT(me)
			:: else ->
				modify(me, TOP, D2_TOP, v, 1);
				wake_word(me)
			fi
		:: else
		fi;
		v = 0
	od
}

inline fence_senders()
{
	if
	:: senders_fence && D1_FENCE -> fence(2)
	:: !senders_fence && D1_ALL ->
		d_step { DONE(2); refresh(2); asked[0] = 1; asked[1] = 1 }
		d_step { !asked[0] && !asked[1] && DONE(2) -> refresh(2) }
	:: else
	fi
}

inline activate_lane(i)
{
	if
	:: v & BIT(i) && !(polling & BIT(i)) -> polling = polling | BIT(i); store(2, POLLED + i, 1, RLX)
	:: else
	fi
}

inline drain_lane(i)
{
	if
	:: polling & BIT(i) ->
		load(2, LANE + i, ACQ, v);
		if
		:: d_step { v != got[i] -> got[i] = v; heard = 1 }
		:: else
		fi
	:: else
	fi
}

inline poll()
{
	load(2, TOP, RLX, v);
	if
	:: v != 0 ->
		take(2, TOP, D2_TAKE_TOP, BITS, RLX, v);
		activate_lane(0);
		activate_lane(1)
	:: else
	fi;
	drain_lane(0);
	drain_lane(1);
	v = 0
}

inline set_polled(i, v)
{
	if
	:: polling & BIT(i) -> store(2, POLLED + i, v, RLX)
	:: else
	fi
}

inline look_lane(i)
{
	if
	:: polling & BIT(i) && !found && D1_LOOK ->
		load(2, LANE + i, ACQ, v);
		found = (v != got[i])
	:: else
	fi
}

inline disarm()
{
	modify(2, WAKE, RLX, v, v & 254)
}

inline arm_and_sleep()
{
	modify(2, WAKE, RLX, v, v | 1);
	ticket = v | 1;
	if
	:: ARM_FENCE -> fence(2)
	:: else
	fi;
	set_polled(0, 0);
	set_polled(1, 0);
	if
	:: polling -> fence_senders()
	:: else
	fi;
	load(2, TOP, RLX, v);
	found = (v != 0);
	look_lane(0);
	look_lane(1);
	if
	:: found ->
		set_polled(0, 1);
		set_polled(1, 1)
	:: else ->
		polling = 0;
		fence(2);
		asleep = (mem[WAKE] == ticket || !TICKET);
		if
		:: !asleep || impossible
		:: atomic { timeouts > 0 -> timeouts--; asleep = 0 }
		fi
	fi;
	disarm();
	d_step { found = 0; v = 0; ticket = 0 }
}

inline unpoll(i)
{
	store(2, POLLED + i, 0, RLX);
	fence_senders();
	look_lane(i);
	if
	:: found -> store(2, POLLED + i, 1, RLX)
	:: else -> polling = polling & ~BIT(i)
	fi;
	d_step { found = 0; v = 0 }
}

proctype receiver()
{
	byte v, ticket, foreseen;
	bool heard, found;

	do
	:: got[0] == FROM_0 && got[1] == FROM_1 -> break
	:: else ->
		heard = 0;
		poll();
		if
		:: heard
		:: !heard -> arm_and_sleep()
		:: !heard && polling & 1 -> unpoll(0)
		:: !heard && polling & 2 -> unpoll(1)
		fi
	od
}

init {
	c_code { switches_read(); }
	if
	:: senders_fence = 1
	:: senders_fence = 0
	fi;
	if
	:: FROM_1 == 0 -> timeouts = 1	/* with both senders it is too much */
	:: timeouts = 0
	fi;
	atomic { run machine(); run sender(0, FROM_0); run sender(1, FROM_1); run receiver() }
}
