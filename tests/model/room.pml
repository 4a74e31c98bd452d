/*
 * Waiting for room: a sender sleeps until the receiver tells that its lane has some (D3).  Either another thread of
 * the sender's process waits for room too; or another process does, and makes room that is not the sender's, so that
 * it may take the sender's mark away.  A sender marks its room request when it arms for a peer, or in a progress
 * function without sleeping (coll/pcoll_note.c).  Files: smp-conduit/sysvnet/sysvnet_wake.c, sysvnet_sleep.c.
 *
 * Proven: the sender gets its room.
 *
 * Switch         in the code
 *   D3_MADE        sysvnet_room_made in sysvnet_wake.c: fence between telling room and looking at room_top
 *   D3_REQUEST     sysvnet_request_room in sysvnet_wake.c: fence between marking and looking for room
 *   ARM_FENCE      sysvnet_arm in sysvnet_sleep.c: the same
 *   D3_AGAIN       sysvnet_mark_room_request in sysvnet_wake.c: both levels are set, although another thread has set
 *                  the first
 *   D2_WORD        bitmap_set in sysvnet_wake.c: the sleep is announced before the mark is seen
 *   D3_TAKE_TOP    wake_requesters in sysvnet_wake.c: takes room_top, then the words it names
 *   D3_TAKE_WORD   wake_requesters in sysvnet_wake.c: takes the mark, then looks at wake
 */
#define PROCS	3
#define WORDS	4
#define SWITCHES(S) \
	S(D2_WORD, RMW, REL) \
	S(ARM_FENCE, STEP, ON) \
	S(D3_MADE, STEP, ON) \
	S(D3_REQUEST, STEP, ON) \
	S(D3_AGAIN, STEP, ON) \
	S(D3_TAKE_TOP, RMW, ACQ) \
	S(D3_TAKE_WORD, RMW, ACQ)

#define ROOM	0	/* places told */
#define REQUEST	1
#define REQUEST_TOP 2
#define WAKE	3

#define READS(p) (p == 0 -> BIT(ROOM) : BIT(REQUEST_TOP) | (D3_TAKE_WORD & ACQ -> 0 : BIT(WAKE)))

#include "weak.inc"

bool asleep;
bool by_request;

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

inline room_made(me)
{
	if
	:: D3_MADE -> fence(me)
	:: else
	fi;
	load(me, REQUEST_TOP, RLX, v);
	if
	:: v ->
		take(me, REQUEST_TOP, D3_TAKE_TOP, REQUEST, D3_TAKE_WORD, v);
		if
		:: v & 1 -> wake_word(me)
		:: else
		fi
	:: else
	fi;
	v = 0
}

inline request_room(me, mark)
{
	modify(me, REQUEST, D2_WORD, v, v | mark);
	if
	:: !(v & mark) -> modify(me, REQUEST_TOP, SC, v, 1)
	:: v & mark && D3_AGAIN -> modify(me, REQUEST_TOP, RLX, v, 1)
	:: else
	fi
}

proctype receiver()
{
	byte v, seen, foreseen;
	bool done;

	store(1, ROOM, 1, REL);
	room_made(1)
}

/* Another thread of the sleeper's process waits for room here; or another process, which also makes some, but
 * not what the sleeper waits for. */
proctype other()
{
	byte v, seen, foreseen, mark;
	bool done;

	if
	:: mark = 1	/* the sleeper's, too */
	:: mark = 2
	fi;
	request_room(2, mark);
	if
	:: mark == 2 -> room_made(2)
	:: else
	fi
}

inline look()
{
	load(0, ROOM, ACQ, v);
	ok = v;
	v = 0
}

proctype sleeper()
{
	byte v, ticket;
	bool ok;

	do
	:: true ->
		modify(0, WAKE, RLX, v, v | 1);
		ticket = v | 1;
		if
		:: !by_request -> request_room(0, 1)
		:: else
		fi;
		if
		:: ARM_FENCE -> fence(0)
		:: else
		fi;
		look();
		if
		:: !ok && by_request ->
			request_room(0, 1);
			if
			:: D3_REQUEST -> fence(0)
			:: else
			fi;
			look()
		:: else
		fi;
		if
		:: ok -> break
		:: else
		fi;
		fence(0);
		asleep = (mem[WAKE] == ticket);
		!asleep || impossible;
		if
		:: impossible -> break
		:: else
		fi;
		modify(0, WAKE, RLX, v, v & 254);
		atomic { v = 0; ticket = 0 }
	od
}

init {
	c_code { switches_read(); }
	if
	:: by_request = 1
	:: by_request = 0
	fi;
	atomic { run machine(); run sleeper(); run receiver(); run other() }
}
