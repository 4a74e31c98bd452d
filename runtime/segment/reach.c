#include "runtime/segment/reach.h"

#include "runtime/process/endpoint.h"
#include "runtime/settings/settings_tables.h"

unsigned psi_ways_masked;

static const char *const ways[] = { "put", "get", "atomic", "long", "barrier", "signal", NULL };

static const struct psi_setting rows[] = {
	{ .name = "PST_TEST_CONDUIT_MASK", .kind = PSI_SETTING_SET, .default_text = "",
	  .choices = ways,
	  .help = "operations to make by messages although there is a shorter way, so that the reference "
	          "can be tested anywhere" },
};

const struct psi_setting_table psi_settings_reach = PSI_SETTING_TABLE("Reference", rows);

void
psi_reach_open(void)
{
	psi_ways_masked = (unsigned)psi_setting_set(&rows[0]);
}

static bool
covers(uintptr_t base, uintptr_t size_bytes, uintptr_t at, size_t nbytes)
{
	return nbytes <= size_bytes && at - base <= size_bytes - nbytes;
}

static void __attribute__((noreturn, cold))
bad_target(uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct psi_board_entry *known = &psi.known[place];
	char whose[PSI_PLACE_TEXT];

	psi_place_text(place, whose);
	if (!known->size_bytes)
		psi_fatal("%s: %s has no segment that is known here; attach or publish one first", call,
		          whose);
	psi_fatal("%s: %zu bytes at %p do not lie in the segment of %s, which is %zu bytes at %p; "
	          "gex_EP_QueryBoundSegmentNB tells its bounds", call, nbytes, addr, whose,
	          (size_t)known->size_bytes, (void *)(uintptr_t)known->base);
}

/* Client memory: its owner reaches it, published or not. */
void *
psi_reach_unmapped(uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct psi_board_entry *known = &psi.known[place];
	const gex_EP_t ep = psi_ep_at(place);
	const gex_Segment_t own = ep ? ep->segment : NULL;
	const uintptr_t at = (uintptr_t)addr;

	if (own && covers((uintptr_t)own->base, own->size, at, nbytes))
		return (void *)at;
	if (!covers((uintptr_t)known->base, (uintptr_t)known->size_bytes, at, nbytes))
		bad_target(place, addr, nbytes, call);
	return NULL;
}
