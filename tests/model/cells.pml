/*
 * A cell of a collective: one member fills it for two phases, another reads it in both.  The member has one cell here, so
 * that it waits for the reading before it fills it again.  Files: coll/cells_fill.c, coll/cells_read.c, coll/cells_phase.h.
 *
 * Proven: in each phase the reader finds what the member filled it with for that phase.
 *
 * Switch   in the code
 *   V1       cell_publish in cells_fill.c: behind what the cell is filled with
 *   V2       cell_head in cells_read.c: before the cell is read
 *   V3       phase_pass in cells_read.c: behind the reading
 *   V4       member_taken in cells_phase.h: before the cell is filled again, or src is the client's again
 */
#define PROCS	2
#define WORDS	3
#define SWITCHES(S) \
	S(V1, STORE, REL) \
	S(V2, LOAD, ACQ) \
	S(V3, STORE, REL) \
	S(V4, LOAD, ACQ)

#define CELL	0
#define HEAD	1
#define TAKEN	2

#define READS(p) (p == 0 -> BIT(TAKEN) : (BIT(CELL) | BIT(HEAD)))

#include "weak.inc"

proctype filler()
{
	byte taken;

	store(0, CELL, 1, RLX);
	store(0, HEAD, 1, V1);
	do
	:: load_ahead(0, TAKEN, V4, taken);
		if
		:: taken -> break
		:: else -> mem[TAKEN]
		fi
	od;
	store(0, CELL, 2, RLX);
	store(0, HEAD, 2, V1)
}

inline await_and_read(phase)
{
	do
	:: mem[HEAD] >= phase ->
		load(1, HEAD, V2, head);
		if
		:: head == phase -> break
		:: else
		fi
	od;
	read_data(1, CELL, phase)
}

proctype reader()
{
	byte head;

	await_and_read(1);
	store(1, TAKEN, 1, V3);
	await_and_read(2)
}

init {
	c_code { switches_read(); }
	atomic { run machine(); run filler(); run reader() }
}
