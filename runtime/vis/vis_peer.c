/* Peer completion: after the thread's next put a handler runs at its target, when the data is
 * there. */
#include "runtime/vis/vis.h"

#include "runtime/am/am.h"
#include "runtime/process/rules.h"

static _Thread_local struct {
	gex_AM_Index_t handler;         /* 0: none */
	const void *payload;
	size_t len_bytes;
} armed;

void
gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr, size_t nbytes,
                                 gex_Flags_t flags)
{
	const char *call = "gex_VIS_SetPeerCompletionHandler";

	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	if (handler) {
		psi_check_handler(handler, call);
		if (nbytes > GEX_VIS_MAX_PEERCOMPLETION)
			psi_fatal("%s: %zu bytes are more than it takes, which is %d; send the "
			          "rest with the put", call, nbytes, GEX_VIS_MAX_PEERCOMPLETION);
		psi_rule_transfer(source_addr, NULL, nbytes, 0, call);
	}
	armed.handler = handler;
	armed.payload = source_addr;
	armed.len_bytes = nbytes;
}

bool
psi_vis_armed(void)
{
	return PSI_UNLIKELY(armed.handler != 0);
}

void
psi_vis_check_armed(const struct psi_vis *vis)
{
	if (vis->remote != PSI_DST)
		psi_fatal("%s: a completion handler is armed, which gets do not have; arm it "
		          "before a put, or disarm it with handler 0", vis->call);
	if (vis->flags & GEX_FLAG_IMMEDIATE)
		psi_fatal("%s: a completion handler is armed, so the put may have to wait; leave "
		          "GEX_FLAG_IMMEDIATE out", vis->call);
}

void
psi_vis_tell_peer(struct psi_target target)
{
	const struct psi_am am = {
		.peer = target.place, .handler = armed.handler, .category = PSI_MEDIUM,
		.network = PSI_REPLIES, .payload = armed.payload, .len_bytes = armed.len_bytes,
	};

	armed.handler = 0;
	psi_am_count_sent(PSI_REPLIES, PSI_MEDIUM, am.len_bytes, 1);
	(void)psi_am_inject(target.ep, &am, 0);
}
