/* What the files of the overlay share.  Each function stands under the name of the file that
 * defines it. */
#ifndef PBOOT_OVERLAY_PARTS_H
#define PBOOT_OVERLAY_PARTS_H

#include "bootstrap/overlay/pboot_overlay.h"
#include "bootstrap/overlay/pboot_overlay_link.h"

enum {
	/* Collectives that are remembered.  The fastest host has begun at most 2 * IN_FLIGHT more
	 * than this one has seen complete, and the slowest neighbour still has to be sent at most
	 * IN_FLIGHT older ones. */
	PBOOT_COLLECTIVES = 4 * PBOOT_OVERLAY_IN_FLIGHT,
};

enum pboot_net_state {
	PBOOT_NET_OPEN,			/* listens */
	PBOOT_NET_CONNECTING,
	PBOOT_NET_CONNECTED,
	PBOOT_NET_CLOSING,		/* close was called */
	PBOOT_NET_CLOSED,		/* and CLOSED was given to the caller */
};

/* One attempt to connect to the parent, or the pause before the next. */
enum pboot_attempt_state {
	PBOOT_ATTEMPT_NONE,		/* there is no parent, or all is settled */
	PBOOT_ATTEMPT_PAUSE,		/* until due_ns */
	PBOOT_ATTEMPT_CONNECT,		/* given up at due_ns, as is the next */
	PBOOT_ATTEMPT_SHAKE,
};

struct pboot_attempt {
	enum pboot_attempt_state state;
	int fd;
	unsigned poll_index;
	uint64_t due_ns, pause_ns;
	uint64_t refused_ns;		/* since when all attempts were refused; 0: they were not */
	struct pboot_shake shake;
	const char *trouble;		/* what ended the last attempt; a constant, or strerror's */
};

/* A connection to a child that has not connected yet: does it still listen? */
struct pboot_probe {
	int fd;				/* -1: none now */
	unsigned poll_index;
	uint64_t due_ns;		/* when the probe is given up, or the next begins */
	uint64_t refused_ns;		/* as above */
};

/* A connection that was accepted and has not proved itself; fd -1: a free slot. */
struct pboot_half {
	int fd;
	unsigned poll_index;
	uint64_t due_ns;
	struct pboot_shake shake;
};

struct pboot_loss {
	uint32_t host, witness;
	enum pboot_overlay_loss kind;
	char why[PBOOT_FRAME_WHY_BYTES + 1];
};

enum pboot_collective_kind { PBOOT_COLLECTIVE_NONE, PBOOT_COLLECTIVE_BARRIER,
	PBOOT_COLLECTIVE_GATHER };

/* A gather keeps whole blobs in the order in which they arrived, which is that of sending them. */
struct pboot_collective {
	enum pboot_collective_kind kind;
	bool called;				/* here */
	bool released;				/* barrier: all hosts have arrived */
	uint32_t arrived;			/* barrier: bit i: all below the i-th child */
	uint32_t whole;				/* gather: how many blobs have arrived */
	uint32_t *order;			/* [host_count]: whose, in order */
	uint32_t *got_bytes;			/* [host_count] */
	struct pboot_overlay_blob *blobs;	/* [host_count]; bytes are this record's */
};

struct pboot_overlay {
	struct pboot_overlay_options options;	/* strings are not kept */
	struct pboot_shake_identity identity;
	char version[PBOOT_SHAKE_VERSION_BYTES];
	char address[PBOOT_ADDRESS_BYTES];
	struct pboot_overlay_host *hosts;	/* NULL before connect */
	char *host_texts;			/* what they point into */
	enum pboot_net_state state;
	uint64_t now_ns;			/* of the last step or call that says the time */
	uint64_t expected_ns;			/* when the next step is due */
	uint64_t deadline_ns;			/* for links that are awaited */
	int listener;
	unsigned listener_poll;
	uint64_t listen_from_ns;		/* a pause after accept found no descriptor */
	struct pboot_attempt attempt;
	struct pboot_probe probe[PBOOT_TREE_BRANCHES];	/* of children */
	struct pboot_half half[PBOOT_OVERLAY_HALF_OPEN];
	struct pboot_link link[PBOOT_TREE_BRANCHES];
	uint32_t children;
	uint32_t turn;				/* the branch that is looked at next */

	struct pboot_loss *losses;		/* [loss_count], room for host_count */
	uint32_t loss_count, losses_given;	/* given as events */

	struct pboot_collective collective[PBOOT_COLLECTIVES];
	/* Numbers of collectives: oldest <= completed <= called.  oldest is the first that is
	 * remembered, completed the first that was not given as an event, called the next here. */
	uint32_t oldest, completed, called;

	/* The caller has the first frame of link[given_branch]; the next call for an event takes it
	 * off. */
	bool frame_given;
	uint32_t given_branch;
	struct pboot_frame given_frame;
	struct pboot_overlay_counts counts;
};

/* pboot_overlay_loss.c */

/* Closes a link, whose neighbour is lost.  All hosts that can be reached will be told. */
void pboot_net_lose(struct pboot_overlay *net, struct pboot_link *link,
    enum pboot_overlay_loss kind, const char *why);
/* Does the same with a formatted text. */
void pboot_net_lose_format(struct pboot_overlay *net, struct pboot_link *link,
    enum pboot_overlay_loss kind, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Takes a loss that another keeper has sent; returns false if the frame is faulty. */
bool pboot_net_hear_loss(struct pboot_overlay *net, const struct pboot_frame *frame,
    const uint8_t *text);
/* Puts the losses that this link has not carried yet; returns false if one found no room. */
bool pboot_net_tell_losses(struct pboot_overlay *net, struct pboot_link *link);
/* The name of a host, for messages; after connect. */
const char *pboot_net_name(const struct pboot_overlay *net, uint32_t host);

/* pboot_overlay_gather.c */

enum pboot_overlay_result pboot_gather_begin(struct pboot_overlay *net,
    enum pboot_collective_kind kind, const void *blob, uint32_t len_bytes);
/* These return false if the frame is faulty, with errno 0, or if memory is missing, with errno
 * ENOMEM. */
bool pboot_gather_hear_piece(struct pboot_overlay *net, const struct pboot_frame *frame,
    const uint8_t *body);
bool pboot_gather_hear_barrier(struct pboot_overlay *net, const struct pboot_link *link,
    uint32_t number);
/* Puts the next frame of a collective; returns false if none is due, or there is no room. */
bool pboot_gather_put(struct pboot_overlay *net, struct pboot_link *link);
/* The collective that is due as an event; NULL if there is none. */
struct pboot_collective *pboot_gather_completed(struct pboot_overlay *net);
/* Frees those that were given as events and that every link has carried. */
void pboot_gather_retire(struct pboot_overlay *net);
void pboot_gather_free(struct pboot_overlay *net);

/* pboot_overlay_leave.c */

/* Sends BYE where it is due, and closes links on which both sides have said it. */
void pboot_leave_step(struct pboot_overlay *net);
/* Closes a link that has ended, in order or not. */
void pboot_leave_ended(struct pboot_overlay *net, struct pboot_link *link);

/* pboot_overlay_route.c */

/* Puts the losses and collectives that a link has to carry while its buffer is low; returns true if
 * it has put all of them. */
bool pboot_route_pump(struct pboot_overlay *net, struct pboot_link *link);
/* Does the same for all links, and writes; returns false if nothing was written. */
bool pboot_route_flush(struct pboot_overlay *net);

/* pboot_overlay_join.c */

/* Returns false if there are no random bytes; without a nonce no connection is let in. */
bool pboot_join_nonce(uint8_t nonce_out[PBOOT_SHAKE_NONCE_BYTES]);
/* Sends and reads until there is a verdict, or until the other side must act first.  If it returns
 * BROKEN, errno says why. */
enum pboot_link_news pboot_join_shake(struct pboot_shake *shake, int fd);
/* Begins to connect to a host.  Returns 0, EINPROGRESS with a socket in *fd_out, or another errno
 * value; *fd_out is a socket or -1. */
int pboot_join_connect(const struct pboot_overlay *net, uint32_t host, int *fd_out);
/* How a connection that was in progress has ended: 0 or an errno value. */
int pboot_join_socket_error(int fd);
/* Has a host refused connections for so long that its keeper has ended?  error is that of the
 * latest attempt; *since is kept for each host, 0 at first. */
bool pboot_join_is_refused(uint64_t *since, int error, uint64_t now_ns);
void pboot_join_count(struct pboot_overlay *net, enum pboot_shake_verdict verdict);
/* The text is the same on both hosts. */
void pboot_join_lose_by_version(struct pboot_overlay *net, struct pboot_link *link,
    const struct pboot_shake *shake);
void pboot_join_lose_by_memory(struct pboot_overlay *net, struct pboot_link *link);
/* The parent could not be connected to, because of the last attempt's trouble. */
void pboot_join_lose_parent(struct pboot_overlay *net, enum pboot_overlay_loss kind);
/* Takes each neighbour for lost that has no link by the deadline of connect. */
void pboot_join_give_up(struct pboot_overlay *net);
/* Ends attempts and closes the listener: no more links will come up. */
void pboot_join_close(struct pboot_overlay *net);

/* pboot_overlay_call.c */

void pboot_call_begin(struct pboot_overlay *net);
/* ready: poll found something for the attempt. */
void pboot_call_step(struct pboot_overlay *net, bool ready);
void pboot_call_close(struct pboot_overlay *net);

/* pboot_overlay_probe.c */

void pboot_probe_begin(struct pboot_overlay *net);
/* ready: poll found something for the probe of this child. */
void pboot_probe_step(struct pboot_overlay *net, struct pboot_link *link, bool ready);
void pboot_probe_close(struct pboot_overlay *net);

/* pboot_overlay_answer.c */

bool pboot_answer_listen(struct pboot_overlay *net, const struct pboot_overlay_options *options,
    const struct pboot_address *address);
void pboot_answer_accept(struct pboot_overlay *net);
void pboot_answer_step(struct pboot_overlay *net, struct pboot_half *half, bool ready);
void pboot_answer_close(struct pboot_overlay *net);

#endif
