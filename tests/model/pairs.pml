/*
 * The other pairs, each a small scene of its own.
 *
 * Proven: a thread that sees the flag sees what was written before it.
 *
 * Switch       in the code
 *   B1, B2, B3   area_meet, area_await_turn in pboot_exchange.c, pboot_peers_gathered in pboot_peers_gather.c: what
 *                ranks wrote before a barrier, to the last that arrives (B3) and from that one, or the keeper, to the
 *                others (B1, B2)
 *   N1, N2       phase_finish, phases_finished in pcoll_barrier.c: the result of a phase, from the thread that
 *                finishes it
 *   M1, M2       sysvnet_open, sysvnet_agrees in sysvnet_open.c, view_layout_of in sysvnet_view.c: what the arena is
 *   J1, J2       describe_shared in job.c, psi_report_map in report/report_look.c: what ranks share
 *   E1, E2       psi_endpoint_memory in shmem.c, psi_further_is_open in process/shared.h: where the memory of an
 *                endpoint is, from the process that made it
 *   Q1, Q2       sysvnet_port_open, sysvnet_out_make, further_region in sysvnet_port.c, sysvnet_out_made in
 *                sysvnet_port.h, sysvnet_wake in sysvnet_wake.c, region_number in sysvnet_open.c, psi_ep_announce,
 *                psi_ep_of in process/endpoint.c: a port, and the sending side towards that memory, from the thread
 *                that made it
 *   H1, H2       record_put in hang.c, record_take in report_rank.c: a record is read whole, as it was at one moment,
 *                or not at all
 *   C1, C2       block_give_back, block_take_bit in block.c: counts, from one owner to the next
 *   C3, C4       block_made in block.c, psi_more_in_use in process/shared.h: where blocks for more threads are, to a
 *                process that reports
 *   O1, O2       psi_part_done, psi_op_is_done, psi_op_has_done in op.h: what the parts of an operation moved, to a
 *                thread that finds no part left
 *   X1, X2       data_on_message in pcoll_data.c, slot_receiving in executor.c: payload, to a thread that finds all bytes
 *                counted
 *   X3, X4       pcoll_op_changed, op_run in pcoll_engine.c: either a step sees a change, or another step follows
 *   G1, G2, G3   count_in, phase_count_in, phase_is_told in pcoll_barrier_shared.c: what ranks wrote before a phase, to the last that
 *                enters (G1) and from that one to the others (G2, G3), with the count back at zero for the next phase
 *   G4, G5       pcoll_shm_barrier_enter, phase_looks in pcoll_barrier_shared.c: the same, from each rank to each
 *   G6, G7       pcoll_barrier_area_leave, number_is_free in pcoll_lend.c: the last looks of a team's members, to
 *                the team that uses the words next
 *   X5, X6       op_retire, pcoll_op_is_finished in pcoll_engine.c: what a collective wrote, to the thread that
 *                synchronises it
 *   V5, V6       pcoll_cells_count_finished in cells_read.c, pcoll_cells_finished in cells_side.h: the same of one by cells
 *   V7, V8       phase_copy, pcoll_cells_read_direct in cells_direct.c: a room that was filled for a member that cannot
 *                read src
 *   V11, V12     pcoll_cells_halves_offer, pcoll_cells_halves_help in cells_halves.c: a reader's memory, to the giver that
 *                writes there
 *   V13, V14     pcoll_cells_halves_help, rest_look in cells_halves.c: what it wrote, to the reader
 *   V9, V10      attempt_finish in executor.c, attempt_end in cells_phase.h: what a device wrote for a call by cells
 *   T1, T2       poff_tree_given_back, poff_tree_taken in evict.c: an entry of the list of a host's trees, to the rank
 *                that takes it next
 *   T3, T4       poff_tree_given_back, team_awaits_room in evict.c: what a provider gave back, to who joins next
 *   Z3, Z4       table_open, table_reach, table_map_peer in sem_table.c, psi_sem_reach in penstock_sem.h: a table of
 *                semaphores, to a process that maps it or posts there
 *   Z5, Z6       psi_signal_change, pst_signal_store, pst_signal_fetch in penstock_signal.h: what was written before
 *                a signal changed a word
 *   Z7, Z8       psi_sem_table_of, psi_sem_make_handles, table_chunk_of in sem_table.c: tables and handles that another
 *                thread made
 */
#define PROCS	3
#define WORDS	4
#define SWITCHES(S) \
	S(B1, STORE, REL) \
	S(B2, LOAD, ACQ) \
	S(B3, RMW, ACQ_REL) \
	S(N1, STORE, REL) \
	S(N2, LOAD, ACQ) \
	S(M1, STORE, REL) \
	S(M2, LOAD, ACQ) \
	S(J1, STORE, REL) \
	S(J2, LOAD, ACQ) \
	S(E1, STORE, REL) \
	S(E2, LOAD, ACQ) \
	S(Q1, STORE, REL) \
	S(Q2, LOAD, ACQ) \
	S(H1, STORE, REL) \
	S(H2, LOAD, ACQ) \
	S(C1, RMW, REL) \
	S(C2, RMW, ACQ) \
	S(C3, STORE, REL) \
	S(C4, LOAD, ACQ) \
	S(O1, RMW, REL) \
	S(O2, LOAD, ACQ) \
	S(X1, RMW, REL) \
	S(X2, LOAD, ACQ) \
	S(X3, STORE, REL) \
	S(X4, RMW, ACQ) \
	S(X5, STORE, REL) \
	S(X6, LOAD, ACQ) \
	S(V5, STORE, REL) \
	S(V6, LOAD, ACQ) \
	S(V7, STORE, REL) \
	S(V8, LOAD, ACQ) \
	S(V11, STORE, REL) \
	S(V12, LOAD, ACQ) \
	S(V13, STORE, REL) \
	S(V14, LOAD, ACQ) \
	S(V9, STORE, REL) \
	S(V10, LOAD, ACQ) \
	S(G1, RMW, ACQ_REL) \
	S(G2, STORE, REL) \
	S(G3, LOAD, ACQ) \
	S(G4, STORE, REL) \
	S(G5, LOAD, ACQ) \
	S(G6, RMW, REL) \
	S(G7, LOAD, ACQ) \
	S(T1, RMW, REL) \
	S(T2, RMW, ACQ) \
	S(T3, RMW, REL) \
	S(T4, LOAD, ACQ) \
	S(Z3, STORE, REL) \
	S(Z4, LOAD, ACQ) \
	S(Z5, STORE, REL) \
	S(Z6, LOAD, ACQ) \
	S(Z7, STORE, REL) \
	S(Z8, LOAD, ACQ)

#define DATA	0	/* of each rank; of each step */
#define FLAG	2	/* of each step; ARRIVED and TURN of the barrier */

#define READS(p) 15

#include "weak.inc"

/* pboot_barrier */
proctype rank(byte me)
{
	byte value;

	store(me, DATA + me, 1, RLX);
	modify(me, FLAG, B3, value, value + 1);
	if
	:: value == 1 -> store(me, FLAG + 1, 1, B1)
	:: else ->
		do
		:: mem[FLAG + 1] ->
			load(me, FLAG + 1, B2, value);
			if
			:: value -> break
			:: else
			fi
		od
	fi;
	read_data(me, DATA + 1 - me, 1)
}

inline publish(me, i, order)
{
	store(me, DATA + i, 1, RLX);
	store(me, FLAG + i, 1, order)
}

inline find(me, i, order)
{
	do
	:: mem[FLAG + i] ->
		load(me, FLAG + i, order, value);
		if
		:: value -> break
		:: else
		fi
	od;
	read_data(me, DATA + i, 1)
}

proctype first(byte order)
{
	publish(0, 0, order)
}

proctype second(byte order_in; byte order_out)
{
	byte value;

	find(1, 0, order_in);
	publish(1, 1, order_out)
}

proctype third(byte order)
{
	byte value;

	find(2, 1, order)
}

/* FLAG is odd while the two words are written. */
proctype note_writer()
{
	store(0, FLAG, 1, H1);
	store(0, DATA, 1, H1);
	store(0, DATA + 1, 1, H1);
	store(0, FLAG, 2, H1)
}

proctype note_reader()
{
	byte turn, first_word, second_word, again;

	load(1, FLAG, H2, turn);
	load(1, DATA, H2, first_word);
	load(1, DATA + 1, H2, second_word);
	load(1, FLAG, RLX, again);
	assert(turn == 1 || turn != again || first_word == second_word)
}

byte owners;

/* A bit, or an entry of a list, that is taken and given: who takes it finds the counts of the one before. */
proctype owner(byte me; byte order_in; byte order_out)
{
	byte value, count;

	do
	:: mem[FLAG] == 0 && FREE(me, FLAG) ->
		modify(me, FLAG, order_in, value, 1);
		if
		:: !value -> break
		:: else
		fi
	od;
	load(me, DATA, RLX, count);
	assert(count == owners);
	owners++;
	store(me, DATA, count + 1, RLX);
	modify(me, FLAG, order_out, value, 0)
}

/* Two parts are counted down, here up; or bytes, or those who leave. */
proctype part(byte me; byte order)
{
	byte value;

	store(me, DATA + me, 1, RLX);
	modify(me, FLAG, order, value, value + 1)
}

proctype syncer(byte order)
{
	byte value;

	do
	:: mem[FLAG] == 2 ->
		load(2, FLAG, order, value);
		if
		:: value == 2 -> break
		:: else
		fi
	od;
	read_data(2, DATA, 1);
	read_data(2, DATA + 1, 1)
}

/* A change, and its sign; each step takes the sign away first. */
proctype stirrer()
{
	store(0, DATA, 1, RLX);
	store(0, FLAG, 1, X3)
}

proctype stepper()
{
	byte sign, seen;

	do
	:: modify(1, FLAG, X4, sign, 0);
		load(1, DATA, RLX, seen);
		if
		:: seen -> break
		:: else -> mem[FLAG]
		fi
	od
}

/* FLAG counts who has entered, FLAG + 1 is the last complete phase. */
inline enter_shm_barrier(me, phase)
{
	modify(me, FLAG, G1, value, value + 1);
	if
	:: value == 1 ->
		store(me, FLAG, 0, RLX);
		store(me, FLAG + 1, phase, G2)
	:: else ->
		do
		:: mem[FLAG + 1] == phase ->
			load(me, FLAG + 1, G3, value);
			if
			:: value == phase -> break
			:: else
			fi
		od
	fi
}

/* Two phases. */
proctype by_shared_memory(byte me)
{
	byte value;

	store(me, DATA + me, 1, RLX);
	enter_shm_barrier(me, 1);
	read_data(me, DATA + 1 - me, 1);
	enter_shm_barrier(me, 2)
}

init {
	c_code { switches_read(); }
	if
	:: atomic { run machine(); run rank(0); run rank(1) }
	:: atomic { run machine(); run first(N1); run second(N2, REL); run third(ACQ) }
	:: atomic { run machine(); run first(M1); run second(M2, REL); run third(ACQ) }
	:: atomic { run machine(); run first(J1); run second(J2, REL); run third(ACQ) }
	:: atomic { run machine(); run first(E1); run second(E2, Q1); run third(Q2) }
	:: atomic { run machine(); run note_writer(); run note_reader() }
	:: atomic { run machine(); run owner(0, C2, C1); run owner(1, C2, C1) }
	:: atomic { run machine(); run owner(0, T2, T1); run owner(1, T2, T1) }
	:: atomic { run machine(); run part(0, T3); run part(1, T3); run syncer(T4) }
	:: atomic { run machine(); run part(0, O1); run part(1, O1); run syncer(O2) }
	:: atomic { run machine(); run part(0, X1); run part(1, X1); run syncer(X2) }
	:: atomic { run machine(); run part(0, G6); run part(1, G6); run syncer(G7) }
	:: atomic { run machine(); run stirrer(); run stepper() }
	:: atomic { run machine(); run by_shared_memory(0); run by_shared_memory(1) }
	:: atomic { run machine(); run first(G4); run second(G5, REL); run third(ACQ) }
	:: atomic { run machine(); run first(X5); run second(X6, REL); run third(ACQ) }
	:: atomic { run machine(); run first(V5); run second(V6, REL); run third(ACQ) }
	:: atomic { run machine(); run first(V7); run second(V8, REL); run third(ACQ) }
	:: atomic { run machine(); run first(V11); run second(V12, REL); run third(ACQ) }
	:: atomic { run machine(); run first(V13); run second(V14, REL); run third(ACQ) }
	:: atomic { run machine(); run first(V9); run second(V10, REL); run third(ACQ) }
	:: atomic { run machine(); run first(Z3); run second(Z4, REL); run third(ACQ) }
	:: atomic { run machine(); run first(Z5); run second(Z6, REL); run third(ACQ) }
	:: atomic { run machine(); run first(C3); run second(C4, REL); run third(ACQ) }
	:: atomic { run machine(); run first(Z7); run second(Z8, REL); run third(ACQ) }
	fi
}
