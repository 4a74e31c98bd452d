#include "runtime/rules.h"

enum {
	MESSAGE_FLAGS = GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD |
	                GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
	                GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_PEER_SEG_UNKNOWN |
	                GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |
	                GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
};

static _Thread_local struct psi_rules_thread self;

/* -- calls ----------------------------------------------------------------------------------- */

static const char *
name_of(gex_Token_t token)
{
	const char *name = token->ep->handlers[token->arrival->handler].entry.gex_name;

	return name ? name : "no name";
}

static void
check_no_lock(const char *call)
{
	if (self.locks)
		psi_fatal("%s: called while this thread holds %u handler-safe lock%s; unlock first",
		          call, self.locks, self.locks == 1 ? "" : "s");
}

static void
check_no_descriptor(unsigned network, const char *call)
{
	if (psi_thread_self()->descriptors[network].open)
		psi_fatal("%s: called between Prepare and Commit of a %s; commit or cancel it first",
		          call, network == PSI_REPLIES ? "reply" : "request");
}

void
psi_rules_check_call(const char *call)
{
	if (!psi.open)
		psi_need_init(call);
	if (self.token)
		psi_fatal("%s: called in handler %u (%s); a handler may reply and lock, and tell others "
		          "to do the rest", call, self.token->arrival->handler, name_of(self.token));
	check_no_lock(call);
	check_no_descriptor(PSI_REQUESTS, call);
}

void
psi_rules_check_reply(gex_Token_t token, const char *call)
{
	if (!self.token || token != self.token)
		psi_fatal("%s: the token is not that of the handler which runs in this thread%s; reply "
		          "in the handler that was given it", call,
		          self.token ? "" : ", where none runs");
	check_no_lock(call);
	check_no_descriptor(PSI_REPLIES, call);
}

void
psi_rules_check_message(gex_AM_Index_t handler, gex_Flags_t flags, const char *call)
{
	if (handler < GEX_AM_INDEX_BASE)
		psi_fatal("%s: handler %u is the library's own; a client's begin with %d", call, handler,
		          GEX_AM_INDEX_BASE);
	if (flags & ~(gex_Flags_t)MESSAGE_FLAGS)
		psi_fatal("%s: flags 0x%x have no meaning in this call; of 0x%x they do", call,
		          flags & ~(gex_Flags_t)MESSAGE_FLAGS, (unsigned)MESSAGE_FLAGS);
}

/* -- handlers -------------------------------------------------------------------------------- */

/* Handlers of gasnet_attach are for everything, and so say all flags. */
static bool
is_for_all(const gex_AM_Entry_t *entry)
{
	return (entry->gex_flags & GEX_FLAG_AM_SHORT) && (entry->gex_flags & GEX_FLAG_AM_MEDLONG);
}

static void
check_registration(const struct psi_arrival *arrival, const gex_AM_Entry_t *entry)
{
	static const gex_Flags_t category_flag[] = {
		[PSI_SHORT] = GEX_FLAG_AM_SHORT, [PSI_MEDIUM] = GEX_FLAG_AM_MEDIUM,
		[PSI_LONG] = GEX_FLAG_AM_LONG,
	};
	static const char *const category_name[] = {
		[PSI_SHORT] = "Short", [PSI_MEDIUM] = "Medium", [PSI_LONG] = "Long",
	};
	const bool request = arrival->network == PSI_REQUESTS;
	const gex_Flags_t needed = category_flag[arrival->category] |
	                           (request ? GEX_FLAG_AM_REQUEST : GEX_FLAG_AM_REPLY);

	if (arrival->nargs != entry->gex_nargs)
		psi_fatal("a message from rank %u for handler %u (%s) has %u arguments, registered were "
		          "%u", arrival->source, arrival->handler,
		          entry->gex_name ? entry->gex_name : "no name", arrival->nargs,
		          entry->gex_nargs);
	if ((entry->gex_flags & needed) != needed)
		psi_fatal("a message from rank %u for handler %u (%s) is a %s %s, for which it is not "
		          "registered", arrival->source, arrival->handler,
		          entry->gex_name ? entry->gex_name : "no name",
		          category_name[arrival->category], request ? "request" : "reply");
}

gex_Token_t
psi_rules_enter(gex_Token_t token)
{
	const gex_AM_Entry_t *entry = &token->ep->handlers[token->arrival->handler].entry;
	gex_Token_t outer = self.token;

	if (token->arrival->handler >= GEX_AM_INDEX_BASE && !is_for_all(entry))
		check_registration(token->arrival, entry);
	self.token = token;
	return outer;
}

void
psi_rules_leave(gex_Token_t outer)
{
	const unsigned handler = self.token->arrival->handler;

	if (self.locks)
		psi_fatal("handler %u (%s) returned with %u handler-safe lock%s held; a handler unlocks "
		          "what it locks", handler, name_of(self.token), self.locks,
		          self.locks == 1 ? "" : "s");
	if (!outer && psi_thread_self()->descriptors[PSI_REPLIES].open)
		psi_fatal("handler %u (%s) returned with a prepared reply; commit or cancel it",
		          handler, name_of(self.token));
	self.token = outer;
}

/* -- locks ----------------------------------------------------------------------------------- */

static uint64_t
own_name(void)
{
	return (uint64_t)(uintptr_t)&self;
}

/* Other threads write the word, but none writes this thread's name into it. */
static bool
is_mine(const gex_HSL_t *hsl)
{
	return __atomic_load_n(&hsl->psi_owner, __ATOMIC_RELAXED) == own_name();
}

void
psi_rules_before_lock(gex_HSL_t *hsl, const char *call)
{
	if (is_mine(hsl))
		psi_fatal("%s: this thread holds the lock at %p already; handler-safe locks are not "
		          "recursive", call, (void *)hsl);
}

void
psi_rules_locked(gex_HSL_t *hsl)
{
	__atomic_store_n(&hsl->psi_owner, own_name(), __ATOMIC_RELAXED);
	self.locks++;
}

void
psi_rules_before_unlock(gex_HSL_t *hsl)
{
	if (!is_mine(hsl))
		psi_fatal("gex_HSL_Unlock: the lock at %p is not held by this thread; the one that locked "
		          "it unlocks it", (void *)hsl);
	__atomic_store_n(&hsl->psi_owner, 0, __ATOMIC_RELAXED);
	self.locks--;
}
