/*
 * A buffer of a receiver's pool.  Two senders take it in turn, fill it, and send its name; one of them may give it
 * back unused.  The receiver reads it and gives it back.  Files: smp-conduit/sysvnet/sysvnet_pool.h, sysvnet_buffer.c
 * for the sender, sysvnet_poll.c for the receiver.  The lanes are a word for each sender.
 *
 * Proven: the receiver finds in the buffer what the sender wrote.
 *
 * Switch   in the code
 *   R3       sysvnet_pool_give in sysvnet_pool.h: after the last access of one user
 *   A3       sysvnet_pool_take in sysvnet_pool.h: before the first access of the next
 */
#define PROCS	3
#define WORDS	4
#define SWITCHES(S) \
	S(R3, RMW, REL) \
	S(A3, RMW, ACQ)

#define BUSY	0
#define BUFFER	1
#define LANE	2

#define READS(p) (p == 2 -> (BIT(BUFFER) | BIT(LANE) | BIT(LANE + 1)) : 0)

#include "weak.inc"

bool cancels;

proctype sender(byte me)
{
	byte taken;

	if
	:: A3 & ACQ
	:: !(A3 & ACQ) ->
		/* C11 lets the buffer be written before it is seen to be free */
		d_step { guessed[me] = guessed[me] | BIT(BUSY); due[AT(me, BUSY)] = 0 }
		store(me, BUFFER, me + 1, RLX)
	fi;
	do
	:: mem[BUSY] == 0 && FREE(me, BUSY) ->
		modify(me, BUSY, A3, taken, 1);
		if
		:: !taken -> break
		:: else
		fi
	od;
	if
	:: A3 & ACQ -> store(me, BUFFER, me + 1, RLX)
	:: else
	fi;
	if
	:: me == 1 && cancels -> modify(me, BUSY, R3, taken, 0)
	:: else -> store(me, LANE + me, 1, REL)
	fi
}

inline receive(i)
{
	load(2, LANE + i, ACQ, value);
	if
	:: value ->
		read_data(2, BUFFER, i + 1);
		modify(2, BUSY, R3, value, 0);
		got = got | BIT(i)
	:: else
	fi;
	value = 0
}

proctype receiver()
{
	byte value, got;

	do
	:: !(got & 1) && mem[LANE] -> receive(0)
	:: !(got & 2) && !cancels && mem[LANE + 1] -> receive(1)
	:: got == 3 || (got == 1 && cancels) -> break
	od
}

init {
	c_code { switches_read(); }
	if
	:: cancels = 1
	:: cancels = 0
	fi;
	atomic { run machine(); run sender(0); run sender(1); run receiver() }
}
