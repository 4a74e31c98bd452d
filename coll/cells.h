/*
 * Collectives of a team whose members share memory, without messages.
 *
 * Each member has PSI_CELLS cells, which it alone fills and the others read.  A member is an
 * endpoint, so threads of one process that are ranks have cells each.  A collective takes one or
 * more *phases*, which count from 0 over all collectives of the team that go by cells.  In a phase
 * a member fills its cell number phase % PSI_CELLS, or does not, and reads those of some members.
 * It passes the phase when it has read them.  Small contents are in the cell's own lines, larger
 * ones in its room.  Payloads of more than a room go piece by piece, a phase each; a member that
 * has no need to wait fills cells ahead of its reading, so that copies in and out overlap.  A large
 * payload that stays where it is until all have read it is not copied to a room: its cells are
 * *direct* (cells_direct.c).
 *
 * A cell is filled again when all members have passed the phase for which it was filled.  Each
 * tells how many phases it has passed in `taken', and with each cell that it fills.
 *
 * A call with lists of lengths takes one phase; what does not fit into a room follows by messages,
 * its *remainder* (cells_blocks.c).
 *
 * All members choose cells or messages alike, since single-valued arguments alone decide.
 *
 * Pairs:  V1 (cell_publish) -> V2 (cell_head)       contents, before they are read
 *         V3 (phase_pass, cell_publish) -> V4 (member_taken, cell_head)
 *                                                       reading, before the cell is filled again
 *         V5 (pcoll_cells_count_finished) -> V6 (pcoll_cells_finished)
 *                                                results, before the event is done
 *         V7 (phase_copy) -> V8 (pcoll_cells_read_direct)
 *                                                a room filled for one who cannot read src
 *         V11 (pcoll_cells_halves_offer) -> V12 (pcoll_cells_halves_help)
 *                                                where a giver may write, and that it may
 *         V13 (pcoll_cells_halves_help) -> V14 (rest_look)       what it wrote there
 *         V9 (attempt_finish) -> V10 (attempt_end)   a device's results, before the event is done
 * Sleep:  D4 (smp-conduit/sysvnet/sysvnet_sleep.c), behind V1, V3 and V13: members of other
 *         processes are woken by wake_peer, threads of this one by psi_wake_own.
 */
#ifndef PCOLL_CELLS_H
#define PCOLL_CELLS_H

#include "coll/coll.h"
#include "coll/pcoll_lend.h"

#include "runtime/util/distance.h"

/* Which cells a member reads in a phase. */
enum pcoll_cells_reads {
	PCOLL_READS_NONE,
	PCOLL_READS_ROOT,               /* the root's */
	PCOLL_READS_OTHERS,             /* all but its own, from the next rank on */
	PCOLL_READS_ALL_DOWN,           /* all, its own included, from the highest rank down */
	PCOLL_READS_DOWN_FROM_OWN,      /* its own and those of lower ranks, downwards */
	PCOLL_READS_DOWN_BELOW,         /* those of lower ranks, downwards */
	PCOLL_READS_GROUP_DOWN,         /* if it leads a group, all of that, downwards */
	PCOLL_READS_LEADS_DOWN,         /* those of all who lead groups, downwards */
};

/* What a member does in each phase. */
struct pcoll_cells_role {
	bool fills;
	enum pcoll_cells_reads reads;
	bool copies_own;                /* its own block, from src to dst */
};

struct pcoll_cells_kind;

/* One of the operations that carry out a long call, one behind the other. */
struct pcoll_cells_part {
	const struct pcoll_cells_kind *kind;
	struct pcoll_call call;
	unsigned results;               /* PCOLL_CELLS_ bits */
};

/* What an operation has to do with the result of the one before or behind it. */
enum {
	PCOLL_CELLS_SENDS_RESULT = 1,   /* its src is the result of the part before */
	PCOLL_CELLS_KEEPS_PARTIAL = 2,  /* its result is not dst, but what a group has combined */
	PCOLL_CELLS_SENDS_PARTIAL = 4,  /* which is its src */
};

enum { PCOLL_CELLS_PARTS = 3 };

/* One operation by cells. */
struct pcoll_cells_kind {
	enum pcoll_operation operation;
	bool src_blocks;                /* src has a block for each member, and a cell a piece of
	                                 * each but its owner's; else one block for all */
	bool own_piece;                 /* ... of its owner's too */
	bool dst_blocks;                /* dst has a block from each member; else one */
	bool names_reader;              /* a cell is for the one member that it names: each looks
	                                 * for its own */
	bool combines;                  /* what is read is combined, from right to left */
	bool leads_fill;                /* of those that fill, only who leads a group does */
	struct pcoll_cells_role root, others;   /* equal where there is no root */
	/* Where some only give: from so many bytes on a block that is mapped is read there, between
	 * two members, and with more; 0: never.  Who gives waits until it is read. */
	size_t mapped_least_of_two, mapped_least;
	/* Divides a call of more than a room.  Returns how many parts it has, 0 for none; all
	 * members divide alike.  NULL: such calls have none. */
	unsigned (*split)(const struct pcoll_call *call,
	                  struct pcoll_cells_part parts[PCOLL_CELLS_PARTS]);
	/* Divides a shorter call of a team of several groups; NULL: such a call has no parts. */
	unsigned (*by_groups)(const struct pcoll_call *call,
	                      struct pcoll_cells_part parts[PCOLL_CELLS_PARTS]);
};

/* May a device carry the call, whose team shares memory? */
bool pcoll_device_serves_call(const struct pcoll_call *call);
/* NULL: messages. */
const struct pcoll_cells_kind *pcoll_cells_choose(const struct pcoll_call *call);

/* The event is GEX_EVENT_INVALID if the call is complete already. */
gex_Event_t pcoll_cells_start(const struct pcoll_call *call, const struct pcoll_cells_kind *kind);

/* The predicted time of such a call (cells_price.c). */
uint64_t pcoll_cells_price_ns(const struct pcoll_call *call, const struct pcoll_cells_kind *kind);

/* -- memory (cells_memory.c) ------------------------------------------------------------------- */

/* Does the team have cells? */
bool pcoll_cells_are_lent(gex_TM_t tm);
struct psi_cells *pcoll_cells_of_member(gex_TM_t tm, gex_Rank_t rank);
/* The rooms of the cells of a member at a place, PSI_CELL_ROOM_BYTES each: makes one's own, which
 * come before the first cell that uses them is filled; maps another's, which has filled such a
 * cell. */
unsigned char *pcoll_cells_make_room(struct psi_cells *own, uint32_t place);
unsigned char *pcoll_cells_map_room(const struct psi_cells *cells, uint32_t place);

extern const struct psi_module pcoll_cells_module;

/* -- pieces (cells_start.c) -------------------------------------------------------------------- */

/* How many pieces the call takes; 0: what has to be in one piece does not fit into a cell or goes
 * by messages sooner, or the job's memory has no rooms. */
uint64_t pcoll_cells_pieces(const struct pcoll_call *call, const struct pcoll_cells_kind *kind);

#endif
