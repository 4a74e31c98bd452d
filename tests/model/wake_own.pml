/*
 * Threads of one process: two make true what a third waits for, by plain stores, and wake it (D4).  Files:
 * runtime/wait/wait.c, runtime/process/thread.c, smp-conduit/sysvnet/sysvnet_wake.c, sysvnet_sleep.c.  Searched with
 * the hint of how many threads there are, and without.
 *
 * Proven: the third sees both.
 *
 * Switch        in the code
 *   D4_COUNT      thread_count_in in thread.c: after a thread has counted itself it makes all others fence
 *   D4_ORDER      psi_thread_others in thread.c: the count is looked at after the condition was made true
 *   D4_WAKE       sysvnet_wake, sysvnet_wake_port, sysvnet_wake_host, sysvnet_wake_peer in sysvnet_wake.c, cells_wake in cells.c,
 *                 psi_pollset_sleepers, psi_room_still_missing in pollset.c: fence between that and the look at wake
 *   ARM_FENCE     sysvnet_arm, sysvnet_arm_more in sysvnet_sleep.c: fence between setting bit 0 of wake and the look
 *                 at the condition
 */
#define PROCS	3
#define WORDS	4
#define SWITCHES(S) \
	S(D4_COUNT, STEP, ON) \
	S(D4_ORDER, STEP, ON) \
	S(D4_WAKE, STEP, ON) \
	S(ARM_FENCE, STEP, ON)

#define MADE	0	/* what each waker makes true */
#define COUNT	2
#define WAKE	3

#define READS(p) (p == 2 -> BIT(MADE) | BIT(MADE + 1) : BIT(COUNT))

#include "weak.inc"

bool fence_on_count;
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

proctype waker(byte me)
{
	byte v, seen;
	bool done;

	if
	:: fence_on_count && !D4_ORDER -> load(me, COUNT, RLX, v); store(me, MADE + me, 1, RLX)
	:: else -> store(me, MADE + me, 1, RLX); load(me, COUNT, RLX, v)
	fi;
	if
	:: !fence_on_count || v ->
		if
		:: D4_WAKE -> fence(me)
		:: else
		fi;
		wake_word(me)
	:: else
	fi
}

proctype sleeper()
{
	byte v, ticket, made;

	modify(2, COUNT, RLX, v, v + 1);
	if
	:: fence_on_count && D4_COUNT ->
		d_step { DONE(2); refresh(2); asked[0] = 1; asked[1] = 1 }
		d_step { !asked[0] && !asked[1] && DONE(2) -> refresh(2) }
	:: else
	fi;
	do
	:: true ->
		modify(2, WAKE, RLX, v, v | 1);
		ticket = v | 1;
		if
		:: ARM_FENCE -> fence(2)
		:: else
		fi;
		load(2, MADE, RLX, v);
		made = v;
		load(2, MADE + 1, RLX, v);
		if
		:: made && v -> break
		:: else
		fi;
		fence(2);
		asleep = (mem[WAKE] == ticket);
		!asleep;
		atomic { v = 0; ticket = 0; made = 0 }
	od
}

init {
	c_code { switches_read(); }
	if
	:: fence_on_count = 1
	:: fence_on_count = 0
	fi;
	atomic { run machine(); run waker(0); run waker(1); run sleeper() }
}
