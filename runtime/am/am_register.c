/* Handler tables. */
#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/util/fence.h"
#include "runtime/util/spinlock.h"

/* Held by registrations.  Delivery reads handlers without it: the client synchronises ranks between
 * the registration and the first message. */
static struct psi_spinlock registering;

static uint8_t
entry_shapes(gex_Flags_t flags)
{
	const gex_Flags_t categories[] = { GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM,
		                           GEX_FLAG_AM_LONG };
	unsigned shapes = 0;

	for (unsigned category = PSI_SHORT; category <= PSI_LONG; category++) {
		if (!(flags & categories[category]))
			continue;
		if (flags & GEX_FLAG_AM_REQUEST)
			shapes |= 1u << psi_shape_of(PSI_REQUESTS, category);
		if (flags & GEX_FLAG_AM_REPLY)
			shapes |= 1u << psi_shape_of(PSI_REPLIES, category);
	}
	return (uint8_t)shapes;
}

static void
handler_enter(gex_EP_t ep, gex_AM_Index_t index, const gex_AM_Entry_t *entry)
{
	struct psi_handler *handler = &ep->handlers[index];

	handler->entry = *entry;
	handler->entry.gex_index = index;
	handler->shapes = entry_shapes(entry->gex_flags);
	handler->nargs = (uint8_t)entry->gex_nargs;
	handler->nargs_mask = UINT8_MAX;
	handler->fn = entry->gex_fnptr;
}

static void
entry_check(gex_EP_t ep, const gex_AM_Entry_t *entry, size_t position)
{
	if (!entry->gex_fnptr)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has no function; set gex_fnptr",
		          position);
	if (entry->gex_nargs > PSI_MAX_ARGS)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has %u arguments, the most is %d; "
		          "send the rest as payload", position, entry->gex_nargs, PSI_MAX_ARGS);
	if (!entry_shapes(entry->gex_flags))
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has gex_flags 0x%x; set a category "
		          "(GEX_FLAG_AM_SHORT, MEDIUM, LONG, MEDLONG) and a direction "
		          "(GEX_FLAG_AM_REQUEST, REPLY, REQREP)", position, entry->gex_flags);
	if (entry->gex_index == 0)
		return;
	if (entry->gex_index < GEX_AM_INDEX_BASE)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has index %u, the least is %d; lower "
		          "ones are the library's", position, entry->gex_index, GEX_AM_INDEX_BASE);
	if (ep->handlers[entry->gex_index].fn)
		psi_fatal("gex_EP_RegisterHandlers: entry %zu has index %u, which is taken; choose "
		          "another, or 0 for any", position, entry->gex_index);
}

static void __attribute__((noreturn, cold))
handlers_too_many(void)
{
	psi_fatal("gex_EP_RegisterHandlers: more than %d handlers; let some share one and an "
	          "argument",
	          PSI_HANDLERS - GEX_AM_INDEX_BASE);
}

/* The highest index that is still free. */
static gex_AM_Index_t
handlers_highest_free(gex_EP_t ep)
{
	for (unsigned index = PSI_HANDLERS - 1; index >= GEX_AM_INDEX_BASE; index--)
		if (!ep->handlers[index].fn)
			return (gex_AM_Index_t)index;
	handlers_too_many();
}

int
gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries)
{
	psi_rule_context("gex_EP_RegisterHandlers");
	if (!ep)
		psi_invalid("gex_EP_RegisterHandlers", "GEX_EP_INVALID");
	psi_check_list(table, numentries, sizeof *table, "table", "gex_EP_RegisterHandlers");
	if (numentries > PSI_HANDLERS - GEX_AM_INDEX_BASE)
		handlers_too_many();     /* checked first: numentries may be wrong */
	psi_spinlock_lock(&registering);
	for (size_t i = 0; i < numentries; i++) {
		entry_check(ep, &table[i], i);
		if (table[i].gex_index)
			handler_enter(ep, table[i].gex_index, &table[i]);
	}
	for (size_t i = 0; i < numentries; i++) {
		if (table[i].gex_index)
			continue;
		table[i].gex_index = handlers_highest_free(ep);
		handler_enter(ep, table[i].gex_index, &table[i]);
	}
	psi_spinlock_unlock(&registering);
	psi_handed_to_process(ep);      /* other processes may send to them from now on */
	return GASNET_OK;
}

void
psi_handler_take_any_count(gex_EP_t ep, gex_AM_Index_t index)
{
	ep->handlers[index].nargs_mask = 0;
}

void
psi_handler_set_internal(gex_EP_t ep, enum psi_internal_handler index, gex_AM_Fn_t fn)
{
	ep->handlers[index] = (struct psi_handler){ .fn = fn, .shapes = UINT8_MAX };
}
