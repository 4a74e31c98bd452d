/*
 * How a job of two ranks ends: bootstrap/pboot_exit_rules.c (rules), pboot_keeper.c and pboot_end.c (the
 * keeper's loop), pboot_launch.c (the launcher), pboot_rank.c (what a rank says, and does when the keeper
 * is gone).  What ranks say goes through sockets, which keep the order of one sender; the keeper tells the
 * launcher the status in memory, before it ends; deaths are told by the kernel.  Time is any: a deadline may
 * pass at every moment.
 *
 * A rank works, then leaves with 0 or 3 (and says so), crashes, or is stuck for good (one, or both when the
 * launcher is gone); one obeys SIGQUIT or does not; each may leave a child behind.  Somebody may kill a
 * rank, the keeper, the launcher, or the last two together.
 *
 * Proven: everything ends and nothing stays behind; the status is that of a cause which was no doing of
 * the keeper's, and not 0 if there was one.
 *
 * Switch        in the code
 *   ZERO_LOSES    cause_set: 0 loses to any other
 *   QUIT_SENT     died_by_signal, died_by_exit: the answer to SIGQUIT is no cause
 *   KILL_SENT     died_by_signal: nor is SIGKILL, once it was sent
 *   ASK_OVER      advance: who does not join in is asked to end
 *   GRACE_OVER    advance: and killed when the grace is over
 *   FAIL_ENDS     fail: a failure ends the job
 *   LAST_WORDS    rank_died: what a rank said is heard before its death
 *   REAP          pboot_end_reap
 *   STRAYS        settle_strays: what ranks left behind is killed
 *   TELL_END      report_end: the launcher is told the status
 *   SEE_LAUNCHER  serve_launcher: the job ends with its launcher
 *   SEE_KEEPER    wait_for_end, end_abandoned: the launcher ends what a dead keeper left
 *   LOST_KEEPER      on_control: a rank ends when launcher and keeper are gone
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
#define NONE	255

mtype = { RUNNING, ASKING, ENDING, KILLING }

chan said[RANKS] = [1] of { byte };	/* a rank's control socket: the code it leaves with */
chan told = [1] of { byte };		/* keeper to launcher: the status */
bool alive[RANKS] = 1, reaped[RANKS], child[RANKS];
byte ended[RANKS];			/* how; what waitpid tells */
bool quit[RANKS], killed[RANKS];	/* signals that are under way */
bool keeper = 1, launcher = 1;
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
		:: alive[r] -> child[r] = 1
		:: skip
		fi
	}
	/* work, and then one of four ends */
	if
	:: code = OK
	:: code = FAILED
	:: code = CRASHED
	:: r == 0 || !launcher -> code = NONE	/* stuck */
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
		:: keeper && launcher && TELL_END -> told!cause
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
	:: atomic { launcher && nempty(told) -> told?status }
	:: atomic { launcher && !keeper && empty(told) -> break }
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

/* One of the job's processes, or launcher and keeper, may be killed. */
bool murder;

proctype murderer()
{
	if
	:: skip
	:: atomic { alive[0] && phase != KILLING -> chosen[KILLED] = 1; DIE(0, KILLED) }
	:: atomic { keeper -> keeper = 0; murder = 1 }
	:: atomic { launcher -> launcher = 0; murder = 1 }
	:: atomic { keeper && launcher -> launcher = 0; keeper = 0; murder = 1 }
	fi
}

init {
	c_code { switches_read(); }
	atomic { run rank(0); run rank(1); run keeps(); run launches(); run murderer() }
	_nr_pr == 1;
	assert(!alive[0] && !alive[1] && (!child[0] || !launcher && murder) && (!child[1] || !launcher && murder));
	assert(murder || (status != NONE && reaped[0] && reaped[1]));
	assert(status == NONE || chosen[status] || (murder && status == LOST));
	assert(status != OK || !(chosen[FAILED] || chosen[CRASHED] || chosen[KILLED]))
}
