#include "runtime/process/rules.h"

#include "runtime/settings/settings_tables.h"
#include "runtime/util/readable.h"

#include <string.h>

/* State of the calling thread that the rules check. */
static _Thread_local struct {
	gex_Token_t token;              /* of the innermost handler; NULL outside handlers */
	unsigned locks;                 /* handler-safe locks held */
	gex_HSL_t *last_locked;         /* each points to the one before it */
	bool holds_interrupts;
	unsigned polls;                 /* under way, one inside the other */
	struct psi_team_callers *by;    /* of the team that the last call was by; NULL: none */
	const char *by_call;            /* that call */
	struct psi_team_callers *inside; /* the same, while its team knows of it */
} self;

static const struct psi_setting rows[] = {
	{ .name = "PST_CHECK", .kind = PSI_SETTING_BOOL,
	  .help = "look for all misuse of the interface that docs/misuse.md lists, some "
	          "nanoseconds for each call; unset: 1 in a library configured with "
	          "--enable-debug, 0 in others" },
};

const struct psi_setting_table psi_settings_rules = PSI_SETTING_TABLE("Checks", rows);

bool
psi_rules_wanted(void)
{
	return psi_setting_given(&rows[0]) ? psi_setting_bool(&rows[0]) : PSI_CONFIG_DEBUG;
}

void
psi_flags_bad(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
{
	if (!allowed)
		psi_fatal("%s: flags are 0x%x, and this call has none; pass 0", call, flags);
	psi_fatal("%s: flags 0x%x have no meaning in this call, which takes those of 0x%x; leave "
	          "them out", call, flags & ~allowed, allowed);
}

/* Is no memory mapped at the last of these bytes? */
bool
psi_memory_ends(const void *addr, size_t bytes)
{
	return !psi_is_readable((uintptr_t)addr + bytes - 1);
}

void
psi_buffer_bad(const void *addr, size_t nbytes, const char *name, const char *call)
{
	if (!addr)
		psi_fatal("%s: %s is NULL, but should have %zu bytes; pass memory of this process",
		          call, name, nbytes);
	psi_fatal("%s: %s at %p does not have %zu bytes; check the length", call, name, addr,
	          nbytes);
}

void
psi_list_bad(const void *list, size_t count, const char *name, const char *call)
{
	if (!list)
		psi_fatal("%s: %s is NULL, but should have %zu entries; pass the list",
		          call, name, count);
	psi_fatal("%s: %s would have %zu entries, more than memory holds; check whether the count "
	          "was negative", call, name, count);
}

void
psi_bytes_bad(size_t nbytes, size_t blocks, const char *call)
{
	if (blocks == 1)
		psi_fatal("%s: %zu bytes, more than memory holds; check whether the length was "
		          "negative", call, nbytes);
	psi_fatal("%s: %zu blocks of %zu bytes, more than memory holds; check whether the length "
	          "was negative", call, blocks, nbytes);
}

void
psi_handler_bad(gex_AM_Index_t handler, const char *call)
{
	psi_fatal("%s: handler %u is the library's own; name one that was registered, from %d to "
	          "%d",
	          call, handler, GEX_AM_INDEX_BASE, PSI_HANDLERS - 1);
}

/* -- calls ----------------------------------------------------------------------------------- */

static const char *
rule_name_of(gex_Token_t token)
{
	const char *name = token->ep->handlers[token->arrival->handler].entry.gex_name;

	return name ? name : "no name";
}

static void
rule_check_no_lock(const char *call)
{
	if (self.locks)
		psi_fatal("%s: called while this thread holds %u handler-safe lock%s; unlock first",
		          call, self.locks, self.locks == 1 ? "" : "s");
}

static void
rule_check_no_descriptor(unsigned network, const char *call)
{
	if (psi_thread_self()->descriptors[network].open)
		psi_fatal("%s: called between Prepare and Commit of a %s; commit or cancel it "
		          "first",
		          call, network == PSI_REPLIES ? "reply" : "request");
}

static void
rule_check_context(const char *call)
{
	if (self.token)
		psi_fatal("%s: called in handler %u (%s); a handler may only reply and lock, so "
		          "let another thread do the rest",
		          call, self.token->arrival->handler, rule_name_of(self.token));
	rule_check_no_lock(call);
	rule_check_no_descriptor(PSI_REQUESTS, call);
}

static void
rule_check_call(const char *call)
{
	psi_need_init(call);
	if (psi.attach_first)
		psi_fatal("%s: called between gasnet_init and gasnet_attach; attach first", call);
	rule_check_context(call);
	if (self.holds_interrupts)
		psi_fatal("%s: called between gasnet_hold_interrupts and gasnet_resume_interrupts; "
		          "resume first", call);
	psi_rules_check_poll();
	psi_rules_poll_is_over();
}

void
psi_rules_check_context(const char *call)
{
	self.by = NULL;
	rule_check_context(call);
}

void
psi_rules_check_call(const char *call)
{
	self.by = NULL;
	rule_check_call(call);
}

void
psi_rules_check_token(gex_Token_t token, const char *call)
{
	if (!token || token != self.token)
		psi_fatal("%s: the token is not that of the handler which runs in this thread%s; "
		          "use a token only in its own handler, before that returns",
		          call, self.token ? "" : ", where none runs");
}

void
psi_rules_check_reply(gex_Token_t token, const char *call)
{
	psi_rules_check_token(token, call);
	rule_check_no_lock(call);
	rule_check_no_descriptor(PSI_REPLIES, call);
}

static bool
rule_one_at_most(gex_Flags_t flags)
{
	return (flags & (flags - 1)) == 0;
}

void
psi_rules_check_transfer(const void *src, const void *dest, size_t nbytes, gex_Flags_t flags,
                         const char *call)
{
	const gex_Flags_t self_flags = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
	                               GEX_FLAG_SELF_SEG_BOUND;
	const gex_Flags_t peer_flags = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
	                               GEX_FLAG_PEER_SEG_BOUND;

	if (!rule_one_at_most(flags & self_flags) || !rule_one_at_most(flags & peer_flags))
		psi_fatal("%s: flags 0x%x say twice where a range lies; pass one SELF_SEG flag and "
		          "one PEER_SEG flag at most", call, flags);
	psi_rules_note_given(src, nbytes, call);
	if (!nbytes)
		return;
	if (!src)
		psi_fatal("%s: %zu bytes from address NULL; pass the address of the data", call,
		          nbytes);
	if (dest && (uintptr_t)src < (uintptr_t)dest + nbytes &&
	    (uintptr_t)dest < (uintptr_t)src + nbytes)
		psi_fatal("%s: source and destination, %zu bytes each, overlap; copy the data "
		          "elsewhere first", call, nbytes);
}

/* -- threads --------------------------------------------------------------------------------- */

/* The thread that polls, in SEQ and PARSYNC; by its own record. */
static void *_Atomic inside;

void
psi_rules_check_poll(void)
{
	void *other = NULL;

	if (psi.threaded || self.polls++)
		return;
	if (!atomic_compare_exchange_strong_explicit(&inside, &other, &self, memory_order_relaxed,
	                                             memory_order_relaxed))
		psi_fatal("two threads are in the library at a time, which a program compiled with "
		          "GASNET_%s may not; let them take turns, or compile it with GASNET_PAR",
		          psi.thread_mode == PSI_MODE_SEQ ? "SEQ" : "PARSYNC");
}

void
psi_rules_poll_is_over(void)
{
	if (!psi.threaded && --self.polls == 0)
		atomic_store_explicit(&inside, NULL, memory_order_relaxed);
}

void
psi_interrupts_hold(void)
{
	if (!psi.checks || self.token || self.locks)
		return;
	if (self.holds_interrupts)
		psi_fatal("gasnet_hold_interrupts: called twice; such sections do not nest");
	self.holds_interrupts = true;
}

void
psi_interrupts_resume(void)
{
	if (!psi.checks || self.token || self.locks)
		return;
	if (!self.holds_interrupts)
		psi_fatal("gasnet_resume_interrupts: called without gasnet_hold_interrupts before "
		          "it; pair them");
	self.holds_interrupts = false;
}

/* -- handlers -------------------------------------------------------------------------------- */

gex_Token_t
psi_rules_enter(gex_Token_t token)
{
	gex_Token_t outer = self.token;

	psi_rules_check_poll();
	self.token = token;
	return outer;
}

void
psi_rules_leave(gex_Token_t outer)
{
	const unsigned handler = self.token->arrival->handler;

	if (self.locks)
		psi_fatal("handler %u (%s) returned with %u handler-safe lock%s held; a handler "
		          "unlocks what it locks",
		          handler, rule_name_of(self.token), self.locks,
		          self.locks == 1 ? "" : "s");
	if (!outer && psi_thread_self()->descriptors[PSI_REPLIES].open)
		psi_fatal("handler %u (%s) returned with a prepared reply; commit or cancel it",
		          handler, rule_name_of(self.token));
	self.token = outer;
	psi_rules_poll_is_over();
}

/* -- endpoints for one thread at a time ------------------------------------------------------- */

bool
psi_rules_check_serial(gex_EP_t ep, const char *call)
{
	struct psi_thread *user = NULL, *caller = psi_thread_self();

	if (atomic_compare_exchange_strong_explicit(&ep->user, &user, caller, memory_order_relaxed,
	                                            memory_order_relaxed))
		return true;
	if (user != caller)
		psi_fatal("%s: another thread uses endpoint %u, which only one thread at a time "
		          "may use; let them take turns, or leave PST_FLAG_EP_SERIAL out",
		          call, ep->index);
	return false;
}

void
psi_rules_call_by(struct psi_team_callers *callers, const char *call)
{
	self.by = callers;
	self.by_call = call;
}

/* -- teams that threads are in a call by ------------------------------------------------------- */

/* Replies go by no team, and run inside a call that may. */
void
psi_rules_team_enter(void)
{
	if (!self.by || self.token || self.inside)
		return;
	self.inside = self.by;
	atomic_store_explicit(&self.by->call, self.by_call, memory_order_relaxed);
	atomic_fetch_add_explicit(&self.by->count, 1, memory_order_relaxed);
}

void
psi_rules_team_leave(void)
{
	if (!self.inside)
		return;
	atomic_fetch_sub_explicit(&self.inside->count, 1, memory_order_relaxed);
	self.inside = NULL;
}

static void
rule_wait_inside(struct psi_wait *wait)
{
	if (self.inside)
		return;
	psi_rules_team_enter();
	if (self.inside)
		wait->turns |= PSI_WAIT_BY_TEAM;
}

/* The client's own waits have names of their own. */
void
psi_rules_check_wait(struct psi_wait *wait)
{
	rule_check_call(wait->where);
	if (self.by && strcmp(wait->where, self.by_call) == 0)
		rule_wait_inside(wait);
}

void
psi_rules_check_wait_for_room(struct psi_wait *wait)
{
	rule_wait_inside(wait);
}

/* -- locks ----------------------------------------------------------------------------------- */

static uint64_t
thread_own_name(void)
{
	return (uint64_t)(uintptr_t)&self;
}

/* Other threads write the word, but none writes this thread's name into it. */
static bool
descriptor_is_mine(const gex_HSL_t *hsl)
{
	return __atomic_load_n(&hsl->psi_owner, __ATOMIC_RELAXED) == thread_own_name();
}

void
psi_rules_before_lock(gex_HSL_t *hsl, const char *call)
{
	if (psi.thread_mode == PSI_MODE_SEQ)
		(void)psi_thread_self();        /* ends the job in a second thread */
	if (descriptor_is_mine(hsl))
		psi_fatal("%s: this thread holds the lock at %p already; handler-safe locks are "
		          "not recursive", call, (void *)hsl);
}

void
psi_rules_after_lock(gex_HSL_t *hsl)
{
	__atomic_store_n(&hsl->psi_owner, thread_own_name(), __ATOMIC_RELAXED);
	hsl->psi_before = self.last_locked;
	self.last_locked = hsl;
	self.locks++;
}

/* Was it locked before init, when no record was kept? */
static bool
descriptor_is_older(gex_HSL_t *hsl)
{
	if (__atomic_load_n(&hsl->psi_owner, __ATOMIC_RELAXED))
		return false;
	if (pthread_mutex_trylock(&hsl->psi_mutex) != 0)
		return true;
	pthread_mutex_unlock(&hsl->psi_mutex);
	return false;
}

void
psi_rules_before_unlock(gex_HSL_t *hsl)
{
	if (!descriptor_is_mine(hsl)) {
		if (descriptor_is_older(hsl))
			return;
		psi_fatal("gex_HSL_Unlock: the lock at %p is not held by this thread; the one that "
		          "locked it unlocks it", (void *)hsl);
	}
	if (self.last_locked != hsl)
		psi_fatal("gex_HSL_Unlock: the lock at %p was not the last that this thread "
		          "locked; unlock the one at %p first",
		          (void *)hsl, (void *)self.last_locked);
	__atomic_store_n(&hsl->psi_owner, 0, __ATOMIC_RELAXED);
	self.last_locked = hsl->psi_before;
	self.locks--;
}
