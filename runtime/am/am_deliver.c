/*
 * Runs the handler of a message that has arrived: makes its token, and calls it with the number of
 * arguments that the message has.
 */
#include "runtime/am/am.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

#include "penstock_threads.h"

#include <string.h>

#define ARGS_0
#define ARGS_1 , a[0]
#define ARGS_2 ARGS_1, a[1]
#define ARGS_3 ARGS_2, a[2]
#define ARGS_4 ARGS_3, a[3]
#define ARGS_5 ARGS_4, a[4]
#define ARGS_6 ARGS_5, a[5]
#define ARGS_7 ARGS_6, a[6]
#define ARGS_8 ARGS_7, a[7]
#define ARGS_9 ARGS_8, a[8]
#define ARGS_10 ARGS_9, a[9]
#define ARGS_11 ARGS_10, a[10]
#define ARGS_12 ARGS_11, a[11]
#define ARGS_13 ARGS_12, a[12]
#define ARGS_14 ARGS_13, a[13]
#define ARGS_15 ARGS_14, a[14]
#define ARGS_16 ARGS_15, a[15]

#define TYPES_0
#define TYPES_1 , gex_AM_Arg_t
#define TYPES_2 TYPES_1 TYPES_1
#define TYPES_3 TYPES_2 TYPES_1
#define TYPES_4 TYPES_2 TYPES_2
#define TYPES_5 TYPES_4 TYPES_1
#define TYPES_6 TYPES_4 TYPES_2
#define TYPES_7 TYPES_4 TYPES_3
#define TYPES_8 TYPES_4 TYPES_4
#define TYPES_9 TYPES_8 TYPES_1
#define TYPES_10 TYPES_8 TYPES_2
#define TYPES_11 TYPES_8 TYPES_3
#define TYPES_12 TYPES_8 TYPES_4
#define TYPES_13 TYPES_8 TYPES_5
#define TYPES_14 TYPES_8 TYPES_6
#define TYPES_15 TYPES_8 TYPES_7
#define TYPES_16 TYPES_8 TYPES_8

#define EACH_COUNT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) \
	X(14) X(15) X(16)

static void
handler_call_short(gex_AM_Fn_t fn, gex_Token_t token, unsigned nargs, const gex_AM_Arg_t *a)
{
	switch (nargs) {
#define CASE(n) \
	case n: \
		((void (*)(gex_Token_t TYPES_##n))fn)(token ARGS_##n); \
		break;
	EACH_COUNT(CASE)
#undef CASE
	}
}

static void
handler_call_with_payload(gex_AM_Fn_t fn, gex_Token_t token, void *buf, size_t nbytes,
                          unsigned nargs, const gex_AM_Arg_t *a)
{
	switch (nargs) {
#define CASE(n) \
	case n: \
		((void (*)(gex_Token_t, void *, size_t TYPES_##n))fn)( \
			token, buf, nbytes ARGS_##n); \
		break;
	EACH_COUNT(CASE)
#undef CASE
	}
}

/* Describes the message and its sender, for a handler that does not accept it. */
static void __attribute__((noreturn, cold))
arrival_refuse(const struct psi_handler *handler, const struct psi_arrival *arrival)
{
	static const char *const category[] = {
		[PSI_SHORT] = "Short", [PSI_MEDIUM] = "Medium", [PSI_LONG] = "Long",
	};
	const char *kind = arrival->network == PSI_REQUESTS ? "request" : "reply";
	char source[PSI_PLACE_TEXT];
	const char *name = handler->entry.gex_name ? handler->entry.gex_name : "no name";

	psi_place_text(arrival->source, source);
	if (!handler->shapes)
		psi_fatal("a %s %s from %s names handler %u, which is not registered here; "
		          "register it, and let no rank send before a barrier",
		          category[arrival->category], kind, source, arrival->handler);
	if ((arrival->nargs ^ handler->nargs) & handler->nargs_mask)
		psi_fatal("a %s %s from %s has %u arguments, but handler %u (%s) is registered for "
		          "%u; send as many, or register it with that gex_nargs",
		          category[arrival->category], kind, source, arrival->nargs,
		          arrival->handler, name, handler->nargs);
	psi_fatal("a %s %s from %s names handler %u (%s), whose gex_flags do not say that it takes "
	          "one; send what it takes, or register it for that",
	          category[arrival->category], kind, source, arrival->handler, name);
}

static inline void
handler_run(const struct psi_handler *handler, gex_Token_t token, const struct psi_arrival *arrival)
{
	if (arrival->category == PSI_SHORT)
		handler_call_short(handler->fn, token, arrival->nargs, arrival->args);
	else
		handler_call_with_payload(handler->fn, token, arrival->payload, arrival->len_bytes,
		                          arrival->nargs, arrival->args);
}

static void __attribute__((noinline))
handler_run_watched(const struct psi_handler *handler, gex_Token_t token,
                    const struct psi_arrival *arrival)
{
	gex_Token_t outer = psi_rules_enter(token);

	handler_run(handler, token, arrival);
	psi_rules_leave(outer);
}

/* Notes the handler that runs, for hang reports. */
static inline void
handler_note(struct psi_block *block, const struct psi_arrival *arrival)
{
	atomic_store_explicit(&block->handler, arrival->word, memory_order_relaxed);
}

void
psi_deliver(void *owner, const struct psi_arrival *arrival)
{
	gex_EP_t ep = owner;
	const struct psi_handler *handler = &ep->handlers[arrival->handler];
	struct gex_Token_s token = { .ep = ep, .arrival = arrival };
	struct psi_block *block = psi_block();

	psi_back_from_process(ep);      /* the endpoint may be newer than the poll */
	if (PSI_UNLIKELY(
		    !(handler->shapes >> psi_shape_of(arrival->network, arrival->category) & 1) ||
		    ((arrival->nargs ^ handler->nargs) & handler->nargs_mask)))
		arrival_refuse(handler, arrival);
	handler_note(block, arrival);
	psi_count(block->count,
	          psi_count_of_kind(PSI_COUNT_RECEIVED, arrival->network, arrival->category));
	if (arrival->category != PSI_SHORT)
		psi_count_add(block->count, PSI_COUNT_RECEIVED_BYTES, arrival->len_bytes);
	if (PSI_UNLIKELY(psi.checks))
		handler_run_watched(handler, &token, arrival);
	else
		handler_run(handler, &token, arrival);
	atomic_store_explicit(&block->handler, 0, memory_order_relaxed);
	if (psi.threaded)
		psi_wake_own();         /* not later: the next handler may run for long */
}

void
psi_count_internal(gex_Token_t token)
{
	const struct psi_arrival *arrival = token->arrival;
	uint64_t *counts = psi_block()->count;

	psi_count_add(counts,
	              psi_count_of_kind(PSI_COUNT_RECEIVED, arrival->network, arrival->category),
	              (uint64_t)-1);
	if (arrival->category != PSI_SHORT)
		psi_count_add(counts, PSI_COUNT_RECEIVED_BYTES, (uint64_t)0 - arrival->len_bytes);
	psi_count(counts, PSI_COUNT_RECEIVED_INTERNAL);
}

gex_EP_Location_t
pst_token_source(gex_Token_t token)
{
	psi_rule_token(token, "pst_token_source");
	return (gex_EP_Location_t){
		.gex_rank = psi_jobrank_of(token->arrival->source),
		.gex_ep_index = psi_index_of(token->arrival->source),
	};
}

gex_TI_t
gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask)
{
	const struct psi_arrival *arrival;

	(void)mask;     /* every field is known, so every field is filled in */
	psi_rule_token(token, "gex_Token_Info");
	arrival = token->arrival;
	info->gex_srcrank = psi_jobrank_of(arrival->source);
	info->gex_ep = token->ep;
	info->gex_entry = &token->ep->handlers[arrival->handler].entry;
	info->gex_is_req = arrival->network == PSI_REQUESTS;
	info->gex_is_long = arrival->category == PSI_LONG;
	return GEX_TI_ALL;
}
