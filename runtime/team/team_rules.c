#include "runtime/team/team_rules.h"

void
psi_rules_check_team(gex_TM_t tm, const char *call)
{
	if (!tm || psi_tm_is_pair(tm))
		return;
	if (psi_team_is_known(tm))
		return;
	if (psi_team_was_destroyed(tm))
		psi_fatal("%s: the team at %p was destroyed before; destroy it when nothing uses "
		          "it any more", call, (void *)tm);
	psi_fatal("%s: %p is no team of this process; a team's value means nothing in another "
	          "process, nor after gex_TM_Destroy", call, (void *)tm);
}

void
psi_rules_check_target(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	gex_EP_t ep;

	psi_rules_check_call(call);
	psi_rules_check_team(tm, call);
	ep = psi_target_of(tm, rank, call).ep;
	if (psi_rule_serial_enter(ep, call))
		psi_rule_serial_leave(ep);
	if (!psi_tm_is_pair(tm))
		psi_rules_call_by(&tm->callers, call);
}
