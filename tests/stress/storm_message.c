/* A message of the storm is sent, in one of all ways. */
#include "tests/stress/storm.h"

#define ARGS5(a)  (a)[0], (a)[1], (a)[2], (a)[3], (a)[4]
#define ARGS16(a)                                                                             \
	ARGS5(a), (a)[5], (a)[6], (a)[7], (a)[8], (a)[9], (a)[10], (a)[11], (a)[12], (a)[13], \
		(a)[14], (a)[15]

static uint32_t
mix(uint32_t value, uint32_t more)
{
	value = (value ^ more) * 0x9e3779b1u;
	return value ^ value >> 15;
}

static uint32_t
check_of(const gex_AM_Arg_t *args, gex_Rank_t source, gex_Rank_t target)
{
	uint32_t value = mix((uint32_t)source, (uint32_t)target << 16);

	for (int i = A_KEY; i < A_CHECK; i++)
		value = mix(value, (uint32_t)args[i]);
	return value;
}

void
storm_seal(struct storm_message *message, gex_Rank_t target)
{
	gex_AM_Arg_t *args = message->args;

	args[A_LENGTH] = (gex_AM_Arg_t)message->len_bytes;
	args[A_CHECK] = (gex_AM_Arg_t)check_of(args, pt.rank, target);
	for (int i = NARROW; i < WIDE; i++)
		args[i] = (gex_AM_Arg_t)mix((uint32_t)args[A_KEY], (uint32_t)i);
}

void
storm_check(const gex_AM_Arg_t *args, unsigned nargs, gex_Rank_t source)
{
	PT_EQ((uint32_t)args[A_CHECK], check_of(args, source, pt.rank));
	for (unsigned i = NARROW; i < nargs; i++)
		PT_EQ((uint32_t)args[i], mix((uint32_t)args[A_KEY], i));
}

static gex_AM_Index_t
handler_of(const struct storm_message *m)
{
	return (gex_AM_Index_t)((m->is_reply ? REP_SHORT : REQ_SHORT) + 2 * (int)m->kind + m->wide);
}

/* CALL is the family's name without the number of arguments; then all that comes before these. */
#define BY_WIDTH(m, CALL, ...)                                         \
	((m)->wide ? CALL##16(__VA_ARGS__, ARGS16((m)->args)) \
	           : CALL##5(__VA_ARGS__, ARGS5((m)->args)))

#define BY_WIDTH_V2(m, CALL, ...)                                           \
	((m)->wide ? CALL##16_v2(__VA_ARGS__, ARGS16((m)->args)) \
	           : CALL##5_v2(__VA_ARGS__, ARGS5((m)->args)))

static int
send_fixed(const struct storm_message *m, gex_Event_t *lc, gex_Flags_t flags)
{
	const gex_AM_Index_t handler = handler_of(m);

	if (m->kind == STORM_SHORT && m->is_reply)
		return BY_WIDTH(m, gex_AM_ReplyShort, m->token, handler, flags);
	if (m->kind == STORM_SHORT)
		return BY_WIDTH(m, gex_AM_RequestShort, pt.tm, m->rank, handler, flags);
	if (m->kind == STORM_MEDIUM && m->is_reply)
		return BY_WIDTH(m, gex_AM_ReplyMedium, m->token, handler, m->buffer, m->len_bytes,
		                lc, flags);
	if (m->kind == STORM_MEDIUM)
		return BY_WIDTH(m, gex_AM_RequestMedium, pt.tm, m->rank, handler, m->buffer,
		                m->len_bytes, lc, flags);
	if (m->is_reply)
		return BY_WIDTH(m, gex_AM_ReplyLong, m->token, handler, m->buffer, m->len_bytes,
		                m->dest, lc, flags);
	return BY_WIDTH(m, gex_AM_RequestLong, pt.tm, m->rank, handler, m->buffer, m->len_bytes,
	                m->dest, lc, flags);
}

static gex_AM_SrcDesc_t
prepare(const struct storm_message *m, size_t most_bytes, gex_Event_t *lc, gex_Flags_t flags)
{
	const unsigned nargs = m->wide ? WIDE : NARROW;
	const char *client = m->way == WAY_CLIENT ? m->buffer : NULL;

	if (m->kind == STORM_MEDIUM && m->is_reply)
		return gex_AM_PrepareReplyMedium(m->token, client, m->len_bytes, most_bytes, lc,
		                                 flags, nargs);
	if (m->kind == STORM_MEDIUM)
		return gex_AM_PrepareRequestMedium(pt.tm, m->rank, client, m->len_bytes, most_bytes,
		                                   lc, flags, nargs);
	if (m->is_reply)
		return gex_AM_PrepareReplyLong(m->token, client, m->len_bytes, most_bytes, m->dest,
		                               lc, flags, nargs);
	return gex_AM_PrepareRequestLong(pt.tm, m->rank, client, m->len_bytes, most_bytes, NULL, lc,
	                                 flags, nargs);
}

static int
commit(const struct storm_message *m, gex_AM_SrcDesc_t sd, gex_Flags_t flags)
{
	const gex_AM_Index_t handler = handler_of(m);

	if (m->kind == STORM_MEDIUM && m->is_reply)
		return BY_WIDTH_V2(m, gex_AM_CommitReplyMedium, sd, handler, m->len_bytes, flags);
	if (m->kind == STORM_MEDIUM)
		return BY_WIDTH_V2(m, gex_AM_CommitRequestMedium, sd, handler, m->len_bytes, flags);
	if (m->is_reply)
		return BY_WIDTH_V2(m, gex_AM_CommitReplyLong, sd, handler, m->len_bytes, m->dest,
		                   flags);
	return BY_WIDTH_V2(m, gex_AM_CommitRequestLong, sd, handler, m->len_bytes, m->dest, flags);
}

static void
cancel(const struct storm_message *m, gex_AM_SrcDesc_t sd)
{
	if (m->kind == STORM_MEDIUM)
		PT_OK(m->is_reply ? gex_AM_CancelReplyMedium(sd, 0)
		                  : gex_AM_CancelRequestMedium(sd, 0));
	else
		PT_OK(m->is_reply ? gex_AM_CancelReplyLong(sd, 0)
		                  : gex_AM_CancelRequestLong(sd, 0));
}

/* False: refused, or given back unused because the message says so. */
static int
send_negotiated(struct storm_message *m, struct storm_thread *self, gex_Event_t *lc,
                gex_Flags_t flags)
{
	const uint32_t key = (uint32_t)m->args[A_KEY];
	size_t most_bytes = m->len_bytes + key % 5 * 100;
	gex_AM_SrcDesc_t sd = prepare(m, most_bytes, lc, flags);
	char *at;

	if (flags && sd == GEX_AM_SRCDESC_NO_OP)
		return 0;
	PT_CHECK(sd != GEX_AM_SRCDESC_NO_OP);
	PT_LE(m->len_bytes, gex_AM_SrcDescSize(sd));
	PT_LE(gex_AM_SrcDescSize(sd), most_bytes);
	at = (char *)gex_AM_SrcDescAddr(sd);
	if (m->way == WAY_CLIENT)
		PT_PTR(at, m->buffer);
	pt_fill(at, m->len_bytes, key);
	storm_pause(&self->rng);
	if (!m->cancel) {
		if (commit(m, sd, flags) == 0)
			return 1;
		PT_CHECK(flags); /* nothing else is refused, and the descriptor is still open */
		if (key % 2) {
			PT_OK(commit(m, sd, 0));
			return 1;
		}
	}
	cancel(m, sd);
	self->cancelled++;
	return 0;
}

/* How the sender learns that its buffer is its own again. */
static gex_Event_t *
completion_of(const struct storm_message *m, gex_Event_t *event)
{
	const uint32_t key = (uint32_t)m->args[A_KEY];

	if (m->way == WAY_LIBRARY)
		return NULL;
	if (m->is_reply || key % 3 == 0)
		return GEX_EVENT_NOW;
	return key % 3 == 1 ? GEX_EVENT_GROUP : event;
}

static void
complete(gex_Event_t *lc, gex_Event_t *event, uint32_t key)
{
	if (lc == GEX_EVENT_GROUP)
		gex_NBI_Wait(GEX_EC_AM, 0);
	if (lc != event)
		return;
	if (key & 8)
		while (gex_Event_Test(*event) != GASNET_OK)
			;
	else
		gex_Event_Wait(*event);
}

int
storm_send(struct storm_message *m, struct storm_thread *self)
{
	const gex_Flags_t flags = m->immediate ? GEX_FLAG_IMMEDIATE : 0;
	gex_Event_t event = GEX_EVENT_INVALID, *lc = completion_of(m, &event);
	const uint32_t key = (uint32_t)m->args[A_KEY];
	int sent;

	if (m->way == WAY_FIXED) {
		pt_fill(m->buffer, m->len_bytes, key);
		sent = send_fixed(m, lc, flags) == 0;
		PT_CHECK(sent || flags);
	} else {
		sent = send_negotiated(m, self, lc, flags);
	}
	if (!sent || m->kind == STORM_SHORT || !lc)
		return sent;
	complete(lc, &event, key);
	memset(m->buffer, (int)key, m->len_bytes < 256 ? m->len_bytes : 256);
	return 1;
}
