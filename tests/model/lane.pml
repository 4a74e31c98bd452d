/*
 * One lane: two threads of a process send through it, under its lock, to one receiver.  It has two slots for four
 * messages, so that everything wraps, and a payload ring for one payload.  Files: smp-conduit/sysvnet/sysvnet_lane.h,
 * sysvnet_send.c, sysvnet_poll.c, runtime/util/spinlock.h.
 *
 * Proven: each message arrives, in its order, with its own body and payload, and no thread waits for ever.
 *
 * Switch       in the code
 *   R1, A1       sysvnet_out_publish, sysvnet_in_peek in sysvnet_lane.h: body and payload before the header
 *   R2, A2       sysvnet_in_retire, sysvnet_out_refresh in sysvnet_lane.h: last reads before slot and payload are
 *                reused
 *   L1, L2       psi_spinlock_unlock, psi_spinlock_try in spinlock.h: what the lock protects
 *   RESERVE      sysvnet_out_reserve in sysvnet_send.h: a slot is promised while the lock is not held
 *   UNRESERVE    out_unreserve in sysvnet_buffer.c: a thread that found no slot because of a promise is told when the
 *                promise is void
 *   TAIL         sysvnet_out_refresh in sysvnet_lane.h: payload bytes come back with the message that had them
 *                (data_end)
 *   TELL         sysvnet_in_retire in sysvnet_lane.h: payload bytes alone are reason enough to tell
 *
 * The receiver may tell at any message, and must where the code does; a quarter of two slots is one.
 */
#define PROCS	3
#define WORDS	8
#define SWITCHES(S) \
	S(R1, STORE, REL) \
	S(A1, LOAD, ACQ) \
	S(R2, STORE, REL) \
	S(A2, LOAD, ACQ) \
	S(L1, STORE, REL) \
	S(L2, RMW, ACQ) \
	S(RESERVE, STEP, ON) \
	S(UNRESERVE, STEP, ON) \
	S(TAIL, STEP, ON) \
	S(TELL, STEP, ON)

#define HEADER	0	/* two slots */
#define BODY	2
#define DATA	4
#define CONSUMED 5
#define LOCK	6
#define NEXT	7	/* what the lock protects */

#define READS(p) (p == 2 -> (BIT(HEADER) | BIT(HEADER + 1) | BIT(BODY) | BIT(BODY + 1) | BIT(DATA)) : \
		  (BIT(CONSUMED) | BIT(NEXT)))

#include "weak.inc"

#define SLOTS	2
#define DATA_UNITS 1
#define LAP(n)	((n) / SLOTS + 1)
#define FULL(n, data) (LAP(n) * 2 + (data))	/* a header */

byte limit = SLOTS;	/* with the four below, under the lock; NEXT stands for them in weak memory */
byte reserved;
byte messages = 4;	/* that arrive, if none is given up */
bit rung;		/* by unreserve */
byte data_head, data_tail;
byte data_end[SLOTS];

inline lock(me)
{
	do
	:: mem[LOCK] == 0 && FREE(me, LOCK) ->
		modify(me, LOCK, L2, taken, 1);
		if
		:: taken == 0 -> break
		:: else
		fi
	od
}

inline unlock(me)
{
	store(me, LOCK, 0, L1)
}

inline refresh_room(me)
{
	load_ahead(me, CONSUMED, A2, seen);
	d_step {
		if
		:: seen + SLOTS != limit ->
			limit = seen + SLOTS;
			data_tail = (TAIL -> data_end[(seen + 1) % SLOTS] : data_head)
		:: else
		fi
	}
}

#define NO_ROOM(n) (limit - n <= reserved)
#define WITH_DATA ((left + me) % 2)	/* the first of 1, the second of 0 */
#define NO_DATA (WITH_DATA && data_head - data_tail == DATA_UNITS)

proctype sender(byte me)
{
	byte n, taken, left = 2, seen;

	do
	:: left == 0 -> break
	:: else ->
		lock(me);
		load(me, NEXT, RLX, n);
		if
		:: NO_ROOM(n) || NO_DATA -> refresh_room(me)
		:: else
		fi;
		if
		:: NO_ROOM(n) || NO_DATA ->
			rung = 0;
			unlock(me);
			mem[CONSUMED] != seen || rung
		:: else ->
			if
			:: left == 1 && me == 1 ->
				reserved = reserved + RESERVE;
				unlock(me);
				lock(me);
				if
				:: RESERVE ->
					/* no buffer, and IMMEDIATE */
					atomic { reserved--; messages-- }
					unlock(me);
					rung = UNRESERVE;
					break
				:: true
				fi;
				load(me, NEXT, RLX, n);
				reserved = reserved - RESERVE
			:: WITH_DATA ->
				store(me, DATA, n + 1, RLX);
				data_head++
			:: else
			fi;
			store(me, BODY + n % SLOTS, n + 1, RLX);
			d_step { data_end[n % SLOTS] = data_head; seen = 0 }
			store(me, NEXT, n + 1, RLX);
			store(me, HEADER + n % SLOTS, FULL(n, WITH_DATA), R1);
			unlock(me);
			d_step { left--; n = 0; taken = 0 }
		fi
	od
}

proctype receiver()
{
	byte n, header, told, data;

	do
	:: n == messages -> break
	:: mem[HEADER + n % SLOTS] / 2 == LAP(n) ->
		load(2, HEADER + n % SLOTS, A1, header);
		if
		:: header / 2 != LAP(n)
		:: else ->
			read_data(2, BODY + n % SLOTS, n + 1);
			if
			:: header & 1 -> read_data(2, DATA, n + 1); data = 1
			:: else
			fi;
			n++;
			if
			:: n - told < SLOTS && !(TELL && data)
			:: d_step { told = n; data = 0 } store(2, CONSUMED, n, R2)
			fi
		fi
	od
}

init {
	c_code { switches_read(); }
	atomic { run machine(); run sender(0); run sender(1); run receiver() }
}
