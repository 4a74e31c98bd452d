/* Handler tables. */
#include "runtime/psi.h"

#include "runtime/util/spinlock.h"

/* Registrations of one process come one at a time; delivery reads without it, since the client
 * synchronises before it sends. */
static struct psi_spinlock registering;

static void
enter(gex_EP_t ep, gex_AM_Index_t index, const gex_AM_Entry_t *entry)
{
	struct psi_handler *handler = &ep->handlers[index];

	handler->entry = *entry;
	handler->entry.gex_index = index;
	handler->fn = entry->gex_fnptr;
}

static void
check_entry(gex_EP_t ep, const gex_AM_Entry_t *entry, size_t position)
{
	if (!entry->gex_fnptr)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has no function", position);
	if (entry->gex_nargs > PSI_MAX_ARGS)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has %u arguments, the most is %d",
		          position, entry->gex_nargs, PSI_MAX_ARGS);
	if (entry->gex_index == 0)
		return;
	if (entry->gex_index < GEX_AM_INDEX_BASE)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has index %u, the least is %d",
		          position, entry->gex_index, GEX_AM_INDEX_BASE);
	if (ep->handlers[entry->gex_index].fn)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has index %u, which is taken",
		          position, entry->gex_index);
}

/* The highest index that is still free. */
static gex_AM_Index_t
highest_free(gex_EP_t ep)
{
	for (unsigned index = PSI_HANDLERS - 1; index >= GEX_AM_INDEX_BASE; index--)
		if (!ep->handlers[index].fn)
			return (gex_AM_Index_t)index;
	psi_fatal("gex_EP_RegisterHandlers: more than %d handlers",
	          PSI_HANDLERS - GEX_AM_INDEX_BASE);
}

int
gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries)
{
	psi_spinlock_lock(&registering);
	for (size_t i = 0; i < numentries; i++) {
		check_entry(ep, &table[i], i);
		if (table[i].gex_index)
			enter(ep, table[i].gex_index, &table[i]);
	}
	for (size_t i = 0; i < numentries; i++) {
		if (table[i].gex_index)
			continue;
		table[i].gex_index = highest_free(ep);
		enter(ep, table[i].gex_index, &table[i]);
	}
	psi_spinlock_unlock(&registering);
	return GASNET_OK;
}

void
psi_handler_set_internal(gex_EP_t ep, enum psi_internal_handler index, gex_AM_Fn_t fn)
{
	ep->handlers[index].fn = fn;
}
