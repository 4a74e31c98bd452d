/*
 * What arrives: a message is looked at before anything in it is believed.  One that the poll may
 * deliver is taken, any other is copied and kept for its port.
 */
#include "ofi-conduit/pofi_record.h"

#include <string.h>

/* Bytes from any stranger: nothing is believed before this. */
static bool
header_is_sound(const struct psi_conduit *conduit, const struct pofi_header *header,
                size_t len_bytes)
{
	const uint64_t endpoints = (uint64_t)conduit->places * PSI_PORTS_MOST;

	if (header->tag != conduit->tag || header->source >= endpoints ||
	    header->nargs > PSI_MAX_ARGS || header->network >= PSI_NETWORKS ||
	    header->category > POFI_LONG_HEAD || header->to >= PSI_PORTS_MOST ||
	    !conduit->ports[header->to])
		return false;
	if (header->category == PSI_MEDIUM && header->len_bytes > conduit->medium_bytes)
		return false;
	if (header->category == POFI_LONG_HEAD && header->len_bytes != sizeof(struct pofi_tail))
		return false;
	if (header->nargs < PSI_MAX_ARGS && header->sizes >> 2 * header->nargs)
		return false;
	return len_bytes ==
	       pofi_message_bytes(header->category, header->sizes, header->len_bytes);
}

static void
credits_take(struct psi_conduit *conduit, struct pofi_look *look, const struct pofi_header *header)
{
	uint16_t *spent = header->credits ? pofi_spent_at(conduit, header->source) : NULL;

	pofi_records_read(conduit, pofi_process_of(conduit, header->source), header->records);
	look->for_others = look->for_others || spent;
	if (spent)
		*spent = (uint16_t)(*spent > header->credits ? *spent - header->credits : 0);
}

static void
message_keep(struct psi_conduit *conduit, const char *message, size_t len_bytes)
{
	struct psi_kept *kept = pofi_kept_new(conduit, message, len_bytes);

	if (kept)
		pofi_kept_add(conduit, kept);
}

static bool
look_wants(const struct psi_conduit *conduit, const struct pofi_look *look,
           const struct pofi_header *header)
{
	return look->port && conduit->ports[header->to] == look->port &&
	       look->networks >> header->network & 1;
}

/* The last two posted buffers are not pinned, so that messages always arrive, whatever the handlers
 * of other threads do. */
static bool
may_deliver_here(const struct psi_conduit *conduit, const struct pofi_look *look,
                 const struct pofi_header *header, const char *message)
{
	return look_wants(conduit, look, header) && conduit->posted > 2 &&
	       (uintptr_t)message % POFI_ALIGN == 0;
}

/* The head of a Long becomes the Long if its payload is there; else it waits for that. */
static bool
long_is_whole(struct psi_conduit *conduit, struct pofi_header *header, char *message,
              size_t len_bytes)
{
	const char *tail = message + pofi_payload_at(header->category, header->sizes);

	header->category = PSI_LONG;
	memcpy(&header->len_bytes, tail + offsetof(struct pofi_tail, len_bytes),
	       sizeof header->len_bytes);
	memcpy(message, header, POFI_HEADER_BYTES);
	return pofi_long_head(conduit, message, len_bytes);
}

/* A message without payload has none either here. */
void
pofi_message_read(char *bytes, struct pofi_message *message_out)
{
	struct pofi_header *header = &message_out->header;
	uint64_t dest;

	memcpy(header, bytes, POFI_HEADER_BYTES);
	pofi_args_unpack(bytes + pofi_args_at(header->category), header->nargs, header->sizes,
	                 message_out->args);
	if (pofi_has_dest(header->category)) {
		memcpy(&dest, bytes + POFI_HEADER_BYTES, sizeof dest);
		message_out->payload = (void *)(uintptr_t)dest;
	} else {
		message_out->payload = bytes + pofi_payload_at(header->category, header->sizes);
	}
}

static void
message_take(struct pofi_look *look, char *bytes, struct pofi_inbound *inbound)
{
	struct pofi_taken *taken = &look->taken[look->count++];

	pofi_message_read(bytes, &taken->message);
	taken->pinned = inbound;
	if (inbound)
		inbound->pins++;
}

void
pofi_message_arrives(struct psi_conduit *conduit, struct pofi_look *look,
                     struct pofi_inbound *inbound, char *bytes, size_t len_bytes)
{
	struct pofi_header header;

	pofi_inbound_arrived(inbound, bytes, len_bytes);
	if (len_bytes < POFI_HEADER_BYTES) {
		pofi_count(conduit, PSI_COUNT_DROPPED);
		return;
	}
	memcpy(&header, bytes, POFI_HEADER_BYTES);
	if (!header_is_sound(conduit, &header, len_bytes)) {
		pofi_count(conduit, PSI_COUNT_DROPPED);
		return;
	}
	credits_take(conduit, look, &header);
	if (header.category == POFI_CREDIT)
		return;
	if (header.category == POFI_LONG_HEAD && !long_is_whole(conduit, &header, bytes, len_bytes))
		return;
	if (may_deliver_here(conduit, look, &header, bytes)) {
		message_take(look, bytes, inbound);
	} else {
		message_keep(conduit, bytes, len_bytes);
		look->for_others = true;
	}
}

/* The record is read at once, since its sender may write the next one there before the handler has
 * run. */
void
pofi_record_arrives(struct psi_conduit *conduit, struct pofi_look *look, uint64_t data)
{
	char *record = pofi_record_take(conduit, data);
	struct pofi_header header;
	size_t len_bytes;

	if (!record) {
		pofi_count(conduit, PSI_COUNT_DROPPED);
		return;
	}
	memcpy(&header, record, POFI_HEADER_BYTES);
	len_bytes = pofi_message_bytes(PSI_LONG, header.sizes, 0);
	header.tag = conduit->tag;
	if (!header_is_sound(conduit, &header, len_bytes)) {
		pofi_count(conduit, PSI_COUNT_DROPPED);
		return;
	}
	credits_take(conduit, look, &header);
	if (look_wants(conduit, look, &header)) {
		message_take(look, record, NULL);
	} else {
		message_keep(conduit, record, len_bytes);
		look->for_others = true;
	}
}
