/*
 * Two threads of a process that sleep beside a network: one at a time, the watcher, on descriptors, the other on smp's
 * word (D6).  What both wait for is made true by another process, which wakes them, while the network has a message of
 * no interest; or by the thread that takes the network's message.  Files: runtime/conduit/watch.c,
 * smp-conduit/sysvnet/sysvnet_sleep.c, sysvnet_wake.c.
 *
 * Proven: both threads see it, whatever comes while each of them turns TURNS times.
 *
 * Switch        in the code
 *   D4_WAKE       sysvnet_wake, sysvnet_wake_port, sysvnet_wake_host, sysvnet_wake_peer in sysvnet_wake.c: fence between
 *                 what was made true, or the end of the watch, and the look at wake
 *   ARM_FENCE     sysvnet_arm in sysvnet_sleep.c: fence between setting bit 0 of wake and the looks at the condition and
 *                 at whether somebody watches
 *   D6_WATCH      psi_watch_sleep in watch.c: a thread becomes the watcher before it says that it sleeps on the descriptor
 *   D6_DRAIN      fds_await in watch.c: the watcher empties the descriptor before it ends its watch
 *   D6_WRITE      wake_word in sysvnet_wake.c: the one that finds bit 1 of wake writes to the descriptor
 */
#define PROCS	2
#define WORDS	3
#define SWITCHES(S) \
	S(D4_WAKE, STEP, ON) \
	S(ARM_FENCE, STEP, ON) \
	S(D6_WATCH, RMW, ACQ) \
	S(D6_DRAIN, STEP, ON) \
	S(D6_WRITE, STEP, ON)

#define MADE	0
#define WAKE	1
#define WATCHED	2

#define READS(p) (BIT(MADE) | BIT(WAKE))

/* TURNS, of a thread, comes from tests/model/check: two may wake each other for nothing as often as they meet. */

#include "weak.inc"

bool by_message;	/* who takes the message makes it true */
bool message;		/* the network's descriptor is readable */
bool written;		/* the process's is */
bool asleep[2];		/* in the kernel's futex call */
byte turns[2];
bool enough;

inline wake_word(me)
{
	load(me, WAKE, SC, seen);
	do
	:: seen & 1 ->
		exchange_if(me, WAKE, seen, (seen | 3) + 1, RLX, RLX, v, done);
		if
		:: done ->
			fence(me);
			d_step { asleep[0] = 0; asleep[1] = 0 }
			if
			:: seen & 2 && D6_WRITE -> written = 1
			:: else
			fi;
			break
		:: else -> seen = v
		fi
	:: else -> break
	od;
	atomic { seen = 0; v = 0; done = 0 }
}

inline wake_all(me)
{
	if
	:: D4_WAKE -> fence(me)
	:: else
	fi;
	wake_word(me)
}

/* Between becoming the watcher and its end; v and done are those of the exchange that says that it sleeps. */
inline watch(me)
{
	if
	:: done || v == (ticket | 2) ->
		fence(me);
		message || written || enough;
		modify(me, WAKE, RLX, v, v & ~2);
		fence(me);
		if
		:: D6_DRAIN -> written = 0
		:: else
		fi
	:: else
	fi;
	done = 0;
	store(me, WATCHED, 0, RLX);
	if
	:: !D6_DRAIN -> fence(me); written = 0
	:: else
	fi;
	wake_all(me)
}

proctype sleeper(byte me)
{
	byte v, seen, ticket;
	bool done;

	do
	:: d_step { enough || turns[me] == TURNS -> enough = 1 } break
	:: d_step { !enough && turns[me] < TURNS -> turns[me]++ }
		if
		:: d_step { message -> message = 0 }
			if
			:: by_message -> store(me, MADE, 1, RLX); wake_all(me)
			:: else
			fi
		:: !message
		fi;
		modify(me, WAKE, RLX, v, v | 1);
		ticket = v | 1;
		if
		:: ARM_FENCE -> fence(me)
		:: else
		fi;
		load(me, MADE, RLX, v);
		if
		:: v -> break
		:: else
		fi;
		if
		:: modify(me, WATCHED, D6_WATCH, v, 1);
			if
			:: v ->
				fence(me);
				asleep[me] = (mem[WAKE] == ticket);
				!asleep[me] || enough
			:: else ->
				exchange_if(me, WAKE, ticket, ticket | 2, RLX, RLX, v, done);
				watch(me)
			fi
		:: !(D6_WATCH & ACQ) ->         /* in the other order, as if it will become the watcher */
			exchange_if(me, WAKE, ticket, ticket | 2, RLX, RLX, v, done);
			modify(me, WATCHED, D6_WATCH, seen, 1);
			enough = enough || seen;
			seen = 0;
			watch(me)
		fi;
		atomic { v = 0; ticket = 0 }
	od
}

/* Of another process, whose orders wake_own.pml has: here each of its steps is done at once. */
proctype waker()
{
	byte seen;

	mem[MADE] = 1;
	d_step {
		!(OWNED & BIT(WAKE)) ->
		seen = mem[WAKE];
		if
		:: seen & 1 -> mem[WAKE] = (seen | 3) + 1; asleep[0] = 0; asleep[1] = 0
		:: else -> seen = 0
		fi
	}
	if
	:: seen & 2 && D6_WRITE -> written = 1
	:: else
	fi
}

proctype network()
{
	message = 1
}

init {
	c_code { switches_read(); }
	if
	:: by_message = 1
	:: by_message = 0; run waker()
	fi;
	atomic { run machine(); run sleeper(0); run sleeper(1); run network() }
}
