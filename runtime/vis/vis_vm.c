/*
 * Transfers of many pieces by process_vm_readv and process_vm_writev, to and from memory of another
 * process that is not mapped here.  The kernel looks up the pages of each remote piece, so small
 * pieces are quicker by messages, which pack them.
 */
#include "runtime/vis/vis.h"

/* Writes the next pieces, as many as one call takes; returns their number. */
static size_t
vm_gather(struct psi_cursor cursor, struct iovec *pieces)
{
	struct psi_run run;
	size_t n = 0;

	while (n < PSI_VM_PIECES && psi_cursor_look(&cursor, &run)) {
		const size_t room = PSI_VM_PIECES - n, count = run.count < room ? run.count : room;

		for (size_t i = 0; i < count; i++)
			pieces[n++] = (struct iovec){ (void *)(run.addr + i * (size_t)run.stride),
				                      run.len };
		psi_cursor_take(&cursor, run.len, count);
	}
	return n;
}

static bool
vm_is_quicker(const struct psi_vis *vis)
{
	for (unsigned which = 0; which < PSI_SIDES; which++)
		if (vis->bytes / vis->side[which].entries < PSI_VIS_VM_BYTES)
			return false;
	return true;
}

bool
psi_vis_single_copy(const struct psi_vis *vis)
{
	const bool put = vis->remote == PSI_DST;
	const uint32_t place = vis->target.place;
	struct iovec ours[PSI_VM_PIECES], theirs[PSI_VM_PIECES];
	struct psi_cursor local, remote;

	if (psi_reach_road(put ? PSI_WAY_PUT : PSI_WAY_GET, place) != PSI_BY_KERNEL ||
	    !vm_is_quicker(vis))
		return false;
	psi_cursor_open(&local, &vis->side[!vis->remote], (struct psi_position){ 0, 0 });
	psi_cursor_open(&remote, &vis->side[vis->remote], (struct psi_position){ 0, 0 });
	for (size_t done = 0; done < vis->bytes;) {
		const struct psi_vm_pieces pieces = {
			ours, theirs, vm_gather(local, ours), vm_gather(remote, theirs),
		};
		const size_t moved = psi_reach_move(place, put ? PSI_VM_WRITE : PSI_VM_READ,
		                                    &pieces);

		if (!moved)
			return false;
		psi_cursor_skip(&local, moved);
		psi_cursor_skip(&remote, moved);
		done += moved;
	}
	return true;
}
