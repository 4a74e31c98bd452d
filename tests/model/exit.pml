/*
 * How a job of two ranks ends: the rules (bootstrap/keeper/pboot_exit_rules.c), the keeper's loop
 * (pboot_keeper.c, pboot_end.c), the launcher (pboot_launch.c), the guard between the two (pboot_guard.c), and what
 * a rank says, and does when the keeper is gone (pboot_rank.c).  Ranks send through sockets, which keep the order
 * of one sender.  The keeper writes the status to memory, where the launcher finds it, before it ends.  The kernel
 * reports deaths.  Any time may pass: a deadline may be over at every moment.
 *
 * A rank works, then leaves with 0 or 3 and says so, or crashes, or is stuck for good.  At most one rank is stuck, or
 * both when the launcher or the guard is gone.  One rank obeys SIGQUIT or does not; the other may leave a child
 * behind.  A rank may be killed, or any of keeper, launcher and guard together.
 *
 * Proven: everything ends, and nothing stays behind unless all three were killed.  The status is that of a cause
 * which the keeper did not itself bring about, and it is not 0 if there was such a cause.
 *
 * Switch        in the code
 *   ZERO_LOSES    cause_set in pboot_exit_rules.c: a cause with status 0 gives way to any other
 *   QUIT_SENT     rules_died_by_signal, rules_died_by_exit in pboot_exit_rules.c: a rank's answer to SIGQUIT is no cause
 *   KILL_SENT     rules_died_by_signal in pboot_exit_rules.c: a death by SIGKILL is no cause once the keeper has sent it
 *   ASK_OVER      rules_advance in pboot_exit_rules.c: a rank that does not join in is asked to end
 *   GRACE_OVER    rules_advance in pboot_exit_rules.c: it is killed when the grace is over
 *   FAIL_ENDS     rules_fail in pboot_exit_rules.c: a failure ends the job
 *   LAST_WORDS    rank_take_end in pboot_end.c: what a rank said is read before its death counts
 *   REAP          pboot_end_reap in pboot_end.c: the keeper collects the dead
 *   STRAYS        strays_settle in pboot_end.c: processes that ranks left behind are killed
 *   TELL_END      keeper_report_end in pboot_keeper.c: the keeper writes the status for the launcher
 *   SEE_LAUNCHER  keeper_take_launcher in pboot_keeper.c: the job ends with its launcher
 *   SEE_KEEPER    launcher_wait in pboot_launch.c: the launcher ends what a dead keeper left
 *   SEE_GUARD     keeper_check_guard in pboot_keeper.c: the job ends with its guard
 *   GUARD_KILLS   guard_run in pboot_guard.c: the guard ends what a dead keeper left
 *   LOST_KEEPER   death_signal_handle in pboot_rank.c: a rank ends with the keeper
 */
#define SWITCHES(S) \
	S(ZERO_LOSES, STEP, ON) \
	S(QUIT_SENT, STEP, ON) \
	S(KILL_SENT, STEP, ON) \
	S(ASK_OVER, STEP, ON) \
	S(GRACE_OVER, STEP, ON) \
	S(FAIL_ENDS, STEP, ON) \
	S(LAST_WORDS, STEP, ON) \
	S(REAP, STEP, ON) \
	S(STRAYS, STEP, ON) \
	S(TELL_END, STEP, ON) \
	S(SEE_LAUNCHER, STEP, ON) \
	S(SEE_KEEPER, STEP, ON) \
	S(SEE_GUARD, STEP, ON) \
	S(GUARD_KILLS, STEP, ON) \
	S(LOST_KEEPER, STEP, ON)

#include "switch.inc"

#define RANKS	2

/* Ends, as statuses of the job. */
#define OK	0
#define FAILED	3	/* gasnet_exit(3) */
#define LOST	1	/* the launcher is gone */
#define UNSAID	11	/* ended with 0 without a word: 1 in the code */
#define QUITTED	131	/* by SIGQUIT */
#define CRASHED	139	/* by a signal of its own */
#define KILLED	137	/* by somebody's SIGKILL */
#define GUARDLESS 138	/* the guard is gone; 137 in the code */
#define NONE	255

mtype = { RUNNING, ASKING, ENDING, KILLING }

chan said[RANKS] = [1] of { byte };	/* a rank's control socket: the code it leaves with */
byte told = NONE;			/* the status, as the keeper writes it */
bool alive[RANKS] = 1, reaped[RANKS], child[RANKS];
byte ended[RANKS];			/* how; what waitpid tells */
bool quit[RANKS], killed[RANKS];	/* signals that are under way */
bool keeper = 1, launcher = 1, guard = 1;
byte status = NONE;			/* the launcher's */
bool chosen[256];			/* causes that nobody of the bootstrap made */

#define DIE(r, how)	alive[r] = 0; ended[r] = how; quit[r] = 0; killed[r] = 0

proctype rank(byte r)
{
	byte code;
	bool stubborn;

	atomic {
		if
		:: r == 0 -> stubborn = 1
		:: stubborn = 0
		fi;
		if
		:: r == 1 && alive[r] -> child[r] = 1
		:: skip
		fi
	}
	/* work, and then one of four ends */
	if
	:: code = OK
	:: code = FAILED
	:: code = CRASHED
	:: r == 0 || !launcher || !guard -> code = NONE	/* stuck */
	fi;
	if
	:: atomic { alive[r] && code != NONE && code != CRASHED && keeper -> said[r]!code; chosen[code] = 1 }
	:: atomic { alive[r] && code != NONE && code != CRASHED && !keeper }
	:: atomic { alive[r] && code == CRASHED -> chosen[CRASHED] = 1; DIE(r, CRASHED) }
	:: atomic { code == NONE }
	:: atomic { !alive[r] || killed[r] || quit[r] || !keeper -> code = NONE }
	fi;
	do
	:: atomic { alive[r] && killed[r] -> DIE(r, KILLED) }
	:: atomic { alive[r] && quit[r] && !stubborn -> DIE(r, QUITTED) }
	:: atomic { alive[r] && code != NONE -> DIE(r, code) }
	:: atomic { alive[r] && !keeper && LOST_KEEPER -> DIE(r, LOST) }
	:: !alive[r] -> break
	od
}

/* ------------------------------------------------------------------ rules and keeper --- */

mtype phase = RUNNING;
byte cause = NONE;
bool asked[RANKS], quit_sent[RANKS];

inline cause_set(code)
{
	if
	:: cause == NONE || (cause == OK && code != OK && ZERO_LOSES) -> cause = code
	:: else
	fi
}

inline ask_quit(i)
{
	if
	:: !reaped[i] && !asked[i] -> quit_sent[i] = 1; quit[i] = alive[i]
	:: else
	fi
}

inline fail(code)
{
	if
	:: (phase == RUNNING || phase == ASKING) && FAIL_ENDS ->
		phase = ENDING;
		ask_quit(0);
		ask_quit(1)
	:: else
	fi;
	cause_set(code)
}

inline leave(i)
{
	said[i]?code;
	asked[i] = 1;
	if
	:: phase == RUNNING -> phase = ASKING
	:: else
	fi;
	cause_set(code)
}

inline died(i)
{
	if
	:: LAST_WORDS && len(said[i]) > 0 -> leave(i)
	:: else
	fi;
	reaped[i] = 1;
	if
	:: quit_sent[i] && QUIT_SENT && ended[i] != KILLED && ended[i] != CRASHED
	:: phase == KILLING && ended[i] == KILLED && KILL_SENT
	:: asked[i] && (ended[i] == OK || ended[i] == FAILED)
	:: !asked[i] && ended[i] == OK && !(quit_sent[i] && QUIT_SENT) -> fail(UNSAID)
	:: else -> fail(ended[i])
	fi;
	code = 0
}

inline kill_all()
{
	killed[0] = alive[0];
	killed[1] = alive[1];
	child[0] = child[0] && alive[0];
	child[1] = child[1] && alive[1]
}

/* What happened long before a deadline has been heard of before it. */
#define SERVED ((alive[0] || reaped[0]) && (alive[1] || reaped[1]) && empty(said[0]) && empty(said[1]))

proctype keeps()
{
	byte code;

	do
	:: atomic { keeper && len(said[0]) > 0 -> leave(0); code = 0 }
	:: atomic { keeper && len(said[1]) > 0 -> leave(1); code = 0 }
	:: atomic { keeper && !alive[0] && !reaped[0] && REAP -> died(0) }
	:: atomic { keeper && !alive[1] && !reaped[1] && REAP -> died(1) }
	:: atomic { keeper && !launcher && cause != LOST && phase != KILLING && phase != ENDING &&
		SEE_LAUNCHER -> fail(LOST) }
	:: atomic { keeper && !guard && phase != KILLING && phase != ENDING && SEE_GUARD ->
		fail(GUARDLESS) }
	:: atomic { keeper && phase == ASKING && ASK_OVER -> phase = ENDING; ask_quit(0); ask_quit(1) }
	:: atomic { keeper && phase == ENDING && SERVED && GRACE_OVER -> phase = KILLING; kill_all() }
	:: keeper && reaped[0] && reaped[1] -> break
	:: !keeper -> goto gone
	od;
	atomic {
		if
		:: keeper && STRAYS -> child[0] = 0; child[1] = 0
		:: else
		fi
	}
	atomic {
		if
		:: keeper && TELL_END -> told = cause
		:: else
		fi;
		keeper = 0
	}
gone:
	skip
}

/* ---------------------------------------------------------------------------- launcher --- */

proctype launches()
{
	do
	:: atomic { launcher && !keeper && (told != NONE || !guard) -> status = told; guard = 0; break }
	:: atomic { launcher && !keeper && told == NONE && guard -> guard = 0 }	/* its time is over */
	:: !launcher -> goto gone
	od;
	/* also adopts, and kills, what a dead keeper had; again and again */
	do
	:: atomic { launcher && status == NONE && SEE_KEEPER &&
		((alive[0] && !killed[0]) || (alive[1] && !killed[1])) -> kill_all() }
	:: atomic { launcher && !alive[0] && !alive[1] ->
		child[0] = child[0] && !(status == NONE && SEE_KEEPER);
		child[1] = child[1] && !(status == NONE && SEE_KEEPER);
		reaped[0] = 1; reaped[1] = 1;
		break }
	:: !launcher -> goto gone
	od;
gone:
	skip
}

/* ------------------------------------------------------------------------------- guard --- */

proctype guards()
{
	do
	:: atomic { guard && !keeper && told != NONE -> break }
	:: atomic { guard && !keeper && told == NONE && GUARD_KILLS &&
		((alive[0] && !killed[0]) || (alive[1] && !killed[1])) -> kill_all() }
	:: atomic { guard && !keeper && told == NONE && !alive[0] && !alive[1] ->
		child[0] = child[0] && !GUARD_KILLS;
		child[1] = child[1] && !GUARD_KILLS;
		break }
	:: !guard -> break
	od;
	guard = 0
}

/* One rank, or some of the other three, may be killed. */
bool murder, all_three;

proctype murderer()
{
	if
	:: skip
	:: atomic { alive[0] && phase != KILLING -> chosen[KILLED] = 1; DIE(0, KILLED) }
	:: atomic { keeper -> keeper = 0; murder = 1 }
	:: atomic { launcher -> launcher = 0; murder = 1 }
	:: atomic { keeper && guard -> guard = 0; murder = 1 }
	:: atomic { keeper && launcher -> launcher = 0; keeper = 0; murder = 1 }
	:: atomic { guard && launcher && keeper -> launcher = 0; guard = 0; murder = 1 }
	:: atomic { keeper && guard -> keeper = 0; guard = 0; murder = 1; all_three = !launcher }
	:: atomic { keeper && launcher && guard ->
		launcher = 0; keeper = 0; guard = 0; murder = 1; all_three = 1 }
	fi
}

init {
	c_code { switches_read(); }
	atomic { run rank(0); run rank(1); run keeps(); run launches(); run guards(); run murderer() }
	_nr_pr == 1;
	assert(!alive[0] && !alive[1] && (!child[0] || all_three) && (!child[1] || all_three));
	assert(murder || (status != NONE && reaped[0] && reaped[1]));
	assert(status == NONE || chosen[status] || (murder && (status == LOST || status == GUARDLESS)));
	assert(status != OK || !(chosen[FAILED] || chosen[CRASHED] || chosen[KILLED]))
}
