#include "runtime/op/begin.h"

#include "runtime/process/endpoint.h"

static void __attribute__((noreturn, cold))
begin_failed(const struct psi_begin *begin, int result)
{
	char whose[PSI_PLACE_TEXT];

	if (result == PSI_UNSUPPORTED)
		psi_fatal("%s: conduit %s has no operation `%s', and this library no other way to "
		          "make it", begin->call, psi.ops->name, begin->operation);
	psi_place_text(begin->place, whose);
	psi_fatal("%s: operation `%s' of conduit %s to %s failed", begin->call, begin->operation,
	          psi.ops->name, whose);
}

static void
begin_wait_for_room(struct psi_begin *begin)
{
	if (!begin->waited) {
		begin->waited = true;
		begin->reason = (struct psi_reason){
			.kind = begin->kind, .category = begin->category,
			.network = begin->network, .peer = begin->place,
		};
		begin->wait = (struct psi_wait)PSI_WAIT_FOR("", &begin->reason);
		psi_count(psi_block()->count, PSI_COUNT_ROOM_WAITS);
	}
	psi_wait_for_room(&begin->wait, begin->network, begin->place);
}

bool
psi_begin_over(struct psi_begin *begin, int result)
{
	if (PSI_UNLIKELY(result > PSI_AGAIN))
		begin_failed(begin, result);
	begin->begun = result == PSI_OK;
	if (PSI_UNLIKELY(!begin->begun && !begin->immediate)) {
		begin_wait_for_room(begin);
		return false;
	}
	if (PSI_UNLIKELY(begin->waited))
		psi_wait_end(&begin->wait);
	return true;
}

void
psi_completed(uint64_t cookie)
{
	psi_part_done(cookie);
	psi_wake_own();
}
