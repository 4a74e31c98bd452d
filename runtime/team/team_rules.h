/* Rules for the use of teams; see runtime/process/rules.h. */
#ifndef PSI_TEAM_RULES_H
#define PSI_TEAM_RULES_H

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

void psi_rules_check_team(gex_TM_t tm, const char *call);
/* The call, its team, and that no other thread is at the endpoint it goes out from, if that is
 * serial. */
void psi_rules_check_target(gex_TM_t tm, gex_Rank_t rank, const char *call);

/* Where a message or transfer goes, asked by a call that psi_rule_call is for. */
static inline struct psi_target
psi_rule_target(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_target(tm, rank, call);
	return psi_target_of(tm, rank, call);
}

/* A team of this process, or a pair of endpoints. */
static inline void
psi_rule_team(gex_TM_t tm, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_team(tm, call);
}

#endif
