/*
 * Transfers of many pieces by messages: what the file that builds messages (pref_vis_message.c)
 * offers to the file that sends them (pref_vis.c).
 */
#ifndef PREF_VIS_H
#define PREF_VIS_H

#include "extended-ref/pref.h"

struct pref_landing;

/* A transfer that still has messages to send. */
struct pref_vis_sender {
	gex_EP_t ep;
	uint32_t place;
	bool put;
	size_t left;                    /* bytes for which no message is built yet */
	uint64_t held, read;            /* the call's cookies, until all is sent; read may be 0 */
	struct psi_cursor remote, local;
	struct pref_landing *landing;   /* of a get */
};

/* A message that is built.  Its payload lies in a buffer of the sender. */
struct pref_vis_message {
	struct psi_am am;
	gex_AM_Arg_t args[8];
	void *buffer;                   /* [pref_vis_message_bytes] */
};

/* Longest payload of a message; set by pref_vis_messages_open, during init. */
extern size_t pref_vis_message_bytes;

void pref_vis_messages_open(void);

/* Makes the sender for a call; returns false if memory is missing.  The sender holds the call's
 * cookies until pref_vis_sent.  Each message has a part of its own. */
bool pref_vis_sender_make(struct pref_vis_sender *sender_out,
                          const struct psi_vis_operation *vis);
/* Builds the next message, in the buffer.  At least one byte is left. */
void pref_vis_build(struct pref_vis_sender *sender, struct pref_vis_message *message);
/* Undoes the first message, which found no room.  Nothing was sent; the caller keeps its
 * cookies. */
void pref_vis_refused(struct pref_vis_sender *sender, const struct pref_vis_message *message);
/* All messages are sent: completes the call's cookies. */
void pref_vis_sent(struct pref_vis_sender *sender);

#endif
