#include "offload/channel.h"

#include "offload/offload.h"

#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/team/team.h"

#include <stdlib.h>
#include <string.h>

/* A line is in the word of the kind. */
enum { MESSAGE_ARGS = 7, LINE_SHIFT = 8 };

/* Under the lock. */
static struct poff_channel *channels;
static struct poff_message *early;

static struct poff_message *
message_make(const struct poff_message *head, const void *payload, size_t len_bytes)
{
	struct poff_message *message = malloc(sizeof *message + len_bytes);

	if (!message)
		psi_fatal("no memory for messages of offload");
	*message = *head;
	message->len_bytes = len_bytes;
	if (len_bytes)
		memcpy(message->payload, payload, len_bytes);
	return message;
}

/* -- lists ------------------------------------------------------------------------------------- */

static void
come_add(struct poff_channel *channel, struct poff_message *message)
{
	message->next = NULL;
	*channel->come_last = message;
	channel->come_last = &message->next;
}

void
poff_put_back(struct poff_channel *channel, struct poff_message *message)
{
	message->next = channel->come;
	if (!channel->come)
		channel->come_last = &message->next;
	channel->come = message;
}

static struct poff_message *
come_take(struct poff_channel *channel, struct poff_message **at)
{
	struct poff_message *message = *at;

	*at = message->next;
	if (!*at)
		channel->come_last = at;
	return message;
}

struct poff_message *
poff_take(struct poff_channel *channel, enum poff_kind kind, uint64_t number)
{
	for (struct poff_message **at = &channel->come; *at; at = &(*at)->next)
		if ((*at)->kind == kind && (*at)->number == number)
			return come_take(channel, at);
	return NULL;
}

uint32_t
poff_drop(struct poff_channel *channel, enum poff_kind kind, uint64_t number)
{
	struct poff_message *message;
	uint32_t count = 0;

	for (; (message = poff_take(channel, kind, number)); count++)
		free(message);
	return count;
}

uint32_t
poff_drop_any(struct poff_channel *channel, enum poff_kind kind)
{
	struct poff_message *message;
	uint32_t count = 0;

	for (; (message = poff_take_any(channel, kind)); count++)
		free(message);
	return count;
}

uint32_t
poff_come_count(const struct poff_channel *channel, enum poff_kind kind, uint64_t number)
{
	uint32_t count = 0;

	for (const struct poff_message *at = channel->come; at; at = at->next)
		count += at->kind == kind && at->number == number;
	return count;
}

struct poff_message *
poff_take_any(struct poff_channel *channel, enum poff_kind kind)
{
	for (struct poff_message **at = &channel->come; *at; at = &(*at)->next)
		if ((*at)->kind == kind)
			return come_take(channel, at);
	return NULL;
}

bool
poff_any_nonzero(const struct poff_channel *channel, enum poff_kind kind, uint64_t number)
{
	const struct poff_message *message = channel->come;

	while (message && (message->kind != kind || message->number != number ||
	                   !message->len_bytes || !message->payload[0]))
		message = message->next;
	return message != NULL;
}

static void
messages_free(struct poff_message *list)
{
	for (struct poff_message *next; list; list = next) {
		next = list->next;
		free(list);
	}
}

/* -- channels ---------------------------------------------------------------------------------- */

static bool
message_is_for(const struct poff_message *message, const struct poff_channel *channel)
{
	return message->team == channel->team && message->line == channel->line &&
	       message->to == channel->me;
}

static void
early_claim(struct poff_channel *channel)
{
	for (struct poff_message **at = &early, *message; (message = *at); )
		if (message_is_for(message, channel)) {
			*at = message->next;
			come_add(channel, message);
		} else {
			at = &message->next;
		}
}

void
poff_channel_open(struct poff_channel *channel)
{
	channel->come = channel->going = NULL;
	channel->come_last = &channel->come;
	channel->going_last = &channel->going;
	channel->next = channels;
	channels = channel;
	early_claim(channel);
}

void
poff_channel_close(struct poff_channel *channel)
{
	struct poff_channel **at = &channels;

	while (*at != channel)
		at = &(*at)->next;
	*at = channel->next;
	messages_free(channel->come);
	messages_free(channel->going);
}

/* -- on the wire ------------------------------------------------------------------------------- */

static void
message_on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t team_low,
                   gex_AM_Arg_t team_high, gex_AM_Arg_t from, gex_AM_Arg_t to, gex_AM_Arg_t kind,
                   gex_AM_Arg_t number_low, gex_AM_Arg_t number_high)
{
	const struct poff_message head = {
		.team = (uint32_t)team_low | (uint64_t)(uint32_t)team_high << 32,
		.number = (uint32_t)number_low | (uint64_t)(uint32_t)number_high << 32,
		.line = (uint32_t)kind >> LINE_SHIFT, .from = (uint32_t)from, .to = (uint32_t)to,
		.kind = (enum poff_kind)(kind & ((1 << LINE_SHIFT) - 1)),
	};
	struct poff_message *message = message_make(&head, buf, nbytes);
	struct poff_channel *channel;

	psi_count_internal(token);
	poff_lock();
	poff_teams_changed();
	channel = channels;
	while (channel && !message_is_for(message, channel))
		channel = channel->next;
	if (channel) {
		come_add(channel, message);
	} else {
		message->next = early;
		early = message;
	}
	poff_unlock();
}

void
poff_channels_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_OFFLOAD, (gex_AM_Fn_t)message_on_message);
}

static bool
message_send(struct poff_channel *channel, const struct poff_message *message)
{
	const gex_AM_Arg_t args[MESSAGE_ARGS] = {
		(gex_AM_Arg_t)(uint32_t)message->team,
		(gex_AM_Arg_t)(uint32_t)(message->team >> 32),
		(gex_AM_Arg_t)message->from, (gex_AM_Arg_t)message->to,
		(gex_AM_Arg_t)((uint32_t)message->kind | message->line << LINE_SHIFT),
		(gex_AM_Arg_t)(uint32_t)message->number,
		(gex_AM_Arg_t)(uint32_t)(message->number >> 32),
	};
	struct psi_am am = {
		.handler = PSI_HANDLER_OFFLOAD, .category = PSI_MEDIUM, .nargs = MESSAGE_ARGS,
		.args = args, .payload = message->payload, .len_bytes = message->len_bytes,
		.peer = channel->places[message->to], .network = PSI_REQUESTS,
	};

	return psi_am_try_or_request(channel->ep, &am) == PSI_OK;
}

void
poff_channel_push(struct poff_channel *channel)
{
	struct poff_message *message;

	while ((message = channel->going) && message_send(channel, message)) {
		channel->going = message->next;
		if (!channel->going)
			channel->going_last = &channel->going;
		free(message);
	}
}

void
poff_send(struct poff_channel *channel, uint32_t to, enum poff_kind kind, uint64_t number,
          const void *payload, size_t len_bytes)
{
	const struct poff_message head = {
		.team = channel->team, .number = number, .line = channel->line,
		.from = channel->me, .to = to, .kind = kind,
	};
	struct poff_message *message = message_make(&head, payload, len_bytes);

	message->next = NULL;
	*channel->going_last = message;
	channel->going_last = &message->next;
	poff_channel_push(channel);
}

void
poff_send_all(struct poff_channel *channel, enum poff_kind kind, uint64_t number,
              const void *payload, size_t len_bytes)
{
	for (uint32_t i = 1; i < channel->members; i++)
		poff_send(channel, (channel->me + i) % channel->members, kind, number, payload,
		          len_bytes);
}

/* -- allgather --------------------------------------------------------------------------------- */

void
poff_gather_start(struct poff_gather *gather, const void *mine, size_t len_bytes, void *all_out)
{
	struct poff_channel *channel = gather->channel;

	gather->under_way = true;
	gather->len_bytes = len_bytes;
	gather->all_out = all_out;
	gather->come = 1;
	memcpy(gather->all_out + channel->me * len_bytes, mine, len_bytes);
	poff_send_all(channel, gather->kind, gather->number, mine, len_bytes);
}

bool
poff_gather_test(struct poff_gather *gather)
{
	struct poff_message *message;

	while (gather->under_way &&
	       (message = poff_take(gather->channel, gather->kind, gather->number))) {
		memcpy(gather->all_out + message->from * gather->len_bytes, message->payload,
		       message->len_bytes < gather->len_bytes ? message->len_bytes
		                                              : gather->len_bytes);
		gather->come++;
		free(message);
	}
	if (gather->under_way && gather->come == gather->channel->members) {
		gather->under_way = false;
		gather->number++;
	}
	return !gather->under_way;
}
