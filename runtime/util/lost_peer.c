#include "runtime/util/lost_peer.h"

#include <stdarg.h>
#include <stdio.h>

void
psi_lost_peer_note(struct psi_lost_peer *lost, uint32_t place, uint64_t tell_at_ns,
                   const char *format, ...)
{
	va_list args;

	if (psi_lost_peer_any(lost))
		return;
	lost->place = place;
	lost->tell_at_ns = tell_at_ns;
	va_start(args, format);
	vsnprintf(lost->why, sizeof lost->why, format, args);
	va_end(args);
	atomic_store_explicit(&lost->any, true, memory_order_relaxed);
}
