/*
 * What the two halves of the reference's transfers of many pieces know of each other: messages
 * (pref_vis_message.c), and who sends them (pref_vis.c).
 */
#ifndef PREF_VIS_H
#define PREF_VIS_H

#include "extended-ref/pref.h"

struct pref_landing;

/* A transfer of which some bytes are still to be sent for. */
struct pref_vis_sender {
	gex_EP_t ep;
	uint32_t place;
	bool put;
	size_t left;                    /* bytes that no message has been sent for */
	uint64_t held, read;            /* the call's cookies, until all is sent; 0: nobody asks */
	struct psi_cursor remote, local;
	struct pref_landing *landing;   /* of a get */
};

/* One that is built: its payload lies in a buffer of the sender's. */
struct pref_vis_message {
	struct psi_am am;
	gex_AM_Arg_t args[8];
	void *buffer;                   /* [pref_vis_message_bytes] */
};

/* Longest payload of a message; set by pref_vis_messages_open, during init. */
extern size_t pref_vis_message_bytes;

void pref_vis_messages_open(void);

/* Makes the sender for a call; false: no memory.  It keeps the call's cookies until pref_vis_sent;
 * each message under way has one more. */
bool pref_vis_sender_make(struct pref_vis_sender *sender_out,
                          const struct psi_vis_operation *vis);
/* Makes the next message, in the buffer; some bytes are left. */
void pref_vis_build(struct pref_vis_sender *sender, struct pref_vis_message *message);
/* The first message found no room, so nothing was sent; the caller keeps its cookies. */
void pref_vis_refused(struct pref_vis_sender *sender, const struct pref_vis_message *message);
/* All is sent. */
void pref_vis_sent(struct pref_vis_sender *sender);

#endif
