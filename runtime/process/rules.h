/*
 * Rules for clients.  A breach ends the job with one line: rank, call, fault, remedy.
 *
 * A check that costs a compare or two is made in every build, by the call itself.  A check that
 * needs a record of the thread (which handler runs in it, which locks it holds) is made here, if
 * psi.checks is set: by PST_CHECK, and by default in a library configured with --enable-debug.
 * Otherwise a rule costs one predicted branch.  docs/misuse.md lists all rules.
 */
#ifndef PSI_RULES_H
#define PSI_RULES_H

#include "runtime/process/process.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/thread.h"

/* Flags of the calls that move data. */
enum {
	PSI_TRANSFER_FLAGS = GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF |
	                     GEX_FLAG_PEER_NEVER_NBRHD | GEX_FLAG_SELF_SEG_UNKNOWN |
	                     GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |
	                     GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
	                     GEX_FLAG_PEER_SEG_BOUND,
	PSI_PREPARE_FLAGS = PSI_TRANSFER_FLAGS | GEX_FLAG_AM_PREPARE_LEAST_CLIENT |
	                    GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
};

/* -- every build ----------------------------------------------------------------------------- */

void psi_flags_bad(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
	__attribute__((noreturn, cold));
void psi_handler_bad(gex_AM_Index_t handler, const char *call) __attribute__((noreturn, cold));

/* Above this no process has memory, so a length or a product of counts that is larger is wrong:
 * mostly one that was negative. */
enum { PSI_MEMORY_BITS = 48 };

static inline bool
psi_fits_memory(size_t count, size_t bytes_each)
{
	size_t bytes;

	return !__builtin_mul_overflow(count, bytes_each, &bytes) && bytes >> PSI_MEMORY_BITS == 0;
}

/* For transfers of this size the test of the last byte costs little. */
enum { PSI_LARGE_BYTES = 1 << 20 };

bool psi_memory_ends(const void *addr, size_t bytes);

void psi_list_bad(const void *list, size_t count, const char *name, const char *call)
	__attribute__((noreturn, cold));
void psi_bytes_bad(size_t nbytes, size_t blocks, const char *call) __attribute__((noreturn, cold));
void psi_buffer_bad(const void *addr, size_t nbytes, const char *name, const char *call)
	__attribute__((noreturn, cold));

/* A list that the caller passes: it is there if it has entries, and memory holds all of them. */
static inline void
psi_check_list(const void *list, size_t count, size_t entry_bytes, const char *name,
               const char *call)
{
	if (PSI_UNLIKELY((!list && count) || !psi_fits_memory(count, entry_bytes) ||
	                 (count * entry_bytes >= PSI_LARGE_BYTES &&
	                  psi_memory_ends(list, count * entry_bytes))))
		psi_list_bad(list, count, name, call);
}

/* Checks a size: `blocks' blocks of nbytes each, in a row. */
static inline void
psi_check_bytes(size_t nbytes, size_t blocks, const char *call)
{
	if (PSI_UNLIKELY(!psi_fits_memory(nbytes, blocks)))
		psi_bytes_bad(nbytes, blocks, call);
}

/* Memory of the caller's, of a length that psi_check_bytes passed. */
static inline void
psi_check_buffer(const void *addr, size_t nbytes, const char *name, const char *call)
{
	if (PSI_UNLIKELY(!addr || (nbytes >= PSI_LARGE_BYTES && psi_memory_ends(addr, nbytes))))
		psi_buffer_bad(addr, nbytes, name, call);
}

static inline void
psi_check_flags(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
{
	if (PSI_UNLIKELY(flags & ~allowed))
		psi_flags_bad(flags, allowed, call);
}

static inline void
psi_check_handler(gex_AM_Index_t handler, const char *call)
{
	if (PSI_UNLIKELY(handler < GEX_AM_INDEX_BASE))
		psi_handler_bad(handler, call);
}

/* -- where psi.checks is set (rules.c, rules_payload.c) -------------------------------------- */

/* PST_CHECK, or what the library was built for. */
bool psi_rules_wanted(void);
/* Reads settings; at init. */
void psi_rules_payload_open(void);
void psi_rules_check_context(const char *call);
void psi_rules_check_call(const char *call);
void psi_rules_check_reply(gex_Token_t token, const char *call);
void psi_rules_check_token(gex_Token_t token, const char *call);
/* Kept in a team with checks: how many threads wait in calls on it, and the newest such call. */
struct psi_team_callers {
	_Atomic uint32_t count;
	_Atomic(const char *) call;
};

/* Notes that this thread is in `call' on the team that owns `callers'. */
void psi_rules_call_by(struct psi_team_callers *callers, const char *call);
/* A step of a wait, perhaps in a call on a team, of which gex_TM_Destroy tells until the wait has
 * ended. */
void psi_rules_check_wait(struct psi_wait *wait);
void psi_rules_check_wait_for_room(struct psi_wait *wait);
/* Around a copy in a call on a team: gex_TM_Destroy tells of the call between the two. */
void psi_rules_team_enter(void);
void psi_rules_team_leave(void);
void psi_rules_check_transfer(const void *src, const void *dest, size_t nbytes, gex_Flags_t flags,
                              const char *call);
void psi_rules_note_prepared(gex_AM_SrcDesc_t sd);
void psi_rules_check_payload(gex_AM_SrcDesc_t sd, size_t nbytes, const char *call);
void psi_rules_note_given(const void *buffer, size_t len_bytes, const char *call);
gex_Token_t psi_rules_enter(gex_Token_t token);
void psi_rules_leave(gex_Token_t outer);
void psi_rules_check_poll(void);
void psi_rules_poll_is_over(void);
/* The slow part of psi_rule_serial_enter, of a serial endpoint; ends the job if another thread is
 * at it. */
bool psi_rules_check_serial(gex_EP_t ep, const char *call);
void psi_rules_before_lock(gex_HSL_t *hsl, const char *call);
void psi_rules_after_lock(gex_HSL_t *hsl);
void psi_rules_before_unlock(gex_HSL_t *hsl);

/* A call that is not for restricted context: in a handler, with a lock held, or between Prepare and
 * Commit. */
static inline void
psi_rule_context(const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_context(call);
}

/* Enters a serial endpoint, which one thread at a time may use.  True if the calling thread was not
 * using it already; the caller then calls psi_rule_serial_leave when it is done. */
static inline bool
psi_rule_serial_enter(gex_EP_t ep, const char *call)
{
	return PSI_UNLIKELY(psi.checks) && ep->serial && psi_rules_check_serial(ep, call);
}

static inline void
psi_rule_serial_leave(gex_EP_t ep)
{
	atomic_store_explicit(&ep->user, NULL, memory_order_relaxed);
}

/* The same of a call that communicates, polls or waits, for which the job must stand as well. */
static inline void
psi_rule_call(const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_call(call);
}

/* A step of a wait. */
static inline void
psi_rule_wait_step(struct psi_wait *wait)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_wait(wait);
}

static inline void
psi_rule_wait_for_room(struct psi_wait *wait)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_wait_for_room(wait);
}

static inline void
psi_rule_wait_end(const struct psi_wait *wait)
{
	if (PSI_UNLIKELY(wait->turns & PSI_WAIT_BY_TEAM))
		psi_rules_team_leave();
}

/* Checks a reply, fixed or prepared: the handler that has the token sends it, and holds no lock. */
static inline void
psi_rule_reply(gex_Token_t token, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_reply(token, call);
}

/* A question about a token: by the handler that was given it. */
static inline void
psi_rule_token(gex_Token_t token, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_token(token, call);
}

/* Checks the memory of a transfer.  dest is the destination's address in this process, or NULL. */
static inline void
psi_rule_transfer(const void *src, const void *dest, size_t nbytes, gex_Flags_t flags,
                  const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_transfer(src, dest, nbytes, flags, call);
}

/* A library's buffer is given, and later committed. */
static inline void
psi_rule_prepared(gex_AM_SrcDesc_t sd)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_note_prepared(sd);
}

static inline void
psi_rule_payload(gex_AM_SrcDesc_t sd, size_t nbytes, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_payload(sd, nbytes, call);
}

/* Names the call that was given this address, for the message about a fault there.  The address may
 * be unknown. */
struct psi_line;
void psi_rules_report_given(struct psi_line *line, const void *address);

/* Around a poll: in SEQ and PARSYNC by one thread at a time. */
static inline void
psi_rule_poll_begin(void)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_check_poll();
}

static inline void
psi_rule_poll_end(void)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_poll_is_over();
}

/* Locks: not twice by one thread, given back by the thread that took them, the last one first. */
static inline void
psi_rule_lock(gex_HSL_t *hsl, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_before_lock(hsl, call);
}

static inline void
psi_rule_lock_taken(gex_HSL_t *hsl)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_after_lock(hsl);
}

static inline void
psi_rule_unlock(gex_HSL_t *hsl)
{
	if (PSI_UNLIKELY(psi.checks))
		psi_rules_before_unlock(hsl);
}

#endif
