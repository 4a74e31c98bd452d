/*
 * What a client may not do, and only a debug build looks for: calls in the wrong context, locks in the
 * wrong hands, handlers that are not what was registered.  Each ends the job with one line that names
 * the rank, the call, what was wrong and what to do.  In other builds all of this compiles to nothing.
 */
#ifndef PSI_RULES_H
#define PSI_RULES_H

#include "runtime/psi.h"

enum { PSI_RULES = PSI_CONFIG_DEBUG };

/* What the rules know of the calling thread. */
struct psi_rules_thread {
	gex_Token_t token;      /* of the innermost handler; NULL outside handlers */
	unsigned locks;         /* handler-safe locks held */
};

/* See psi_rule_*. */
void psi_rules_check_call(const char *call);
void psi_rules_check_reply(gex_Token_t token, const char *call);
void psi_rules_check_message(gex_AM_Index_t handler, gex_Flags_t flags, const char *call);
gex_Token_t psi_rules_enter(gex_Token_t token);
void psi_rules_leave(gex_Token_t outer);
void psi_rules_before_lock(gex_HSL_t *hsl, const char *call);
void psi_rules_locked(gex_HSL_t *hsl);
void psi_rules_before_unlock(gex_HSL_t *hsl);

/* A call that communicates, polls or waits: not in a handler, with a lock held, or between Prepare and
 * Commit. */
static inline void
psi_rule_call(const char *call)
{
	if (PSI_RULES)
		psi_rules_check_call(call);
}

/* A reply, fixed or prepared: by the handler whose token it is, with no lock held. */
static inline void
psi_rule_reply(gex_Token_t token, const char *call)
{
	if (PSI_RULES)
		psi_rules_check_reply(token, call);
}

/* What a message names: a handler of the client's, flags that have a meaning here. */
static inline void
psi_rule_message(gex_AM_Index_t handler, gex_Flags_t flags, const char *call)
{
	if (PSI_RULES)
		psi_rules_check_message(handler, flags, call);
}

/* Around a handler: is it what was registered, and does it leave nothing open? */
static inline gex_Token_t
psi_rule_enter(gex_Token_t token)
{
	return PSI_RULES ? psi_rules_enter(token) : NULL;
}

static inline void
psi_rule_leave(gex_Token_t outer)
{
	if (PSI_RULES)
		psi_rules_leave(outer);
}

/* Locks: not twice by one thread, given back by the thread that took them. */
static inline void
psi_rule_lock(gex_HSL_t *hsl, const char *call)
{
	if (PSI_RULES)
		psi_rules_before_lock(hsl, call);
}

static inline void
psi_rule_locked(gex_HSL_t *hsl)
{
	if (PSI_RULES)
		psi_rules_locked(hsl);
}

static inline void
psi_rule_unlock(gex_HSL_t *hsl)
{
	if (PSI_RULES)
		psi_rules_before_unlock(hsl);
}

#endif
