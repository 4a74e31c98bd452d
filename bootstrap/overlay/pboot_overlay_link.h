/*
 * One link of the tree: a TCP connection to a neighbour whose handshake is over, with a buffer for
 * each direction.  Frames are put into one and taken from the other whole; heartbeats fill pauses.
 */
#ifndef PBOOT_OVERLAY_LINK_H
#define PBOOT_OVERLAY_LINK_H

#include "bootstrap/overlay/pboot_overlay_frame.h"

enum {
	PBOOT_LINK_IN_BYTES = 2 * PBOOT_FRAME_BYTES,
	PBOOT_LINK_OUT_BYTES = 4 * PBOOT_FRAME_BYTES,
	/* While a buffer holds at most this, losses and gathers are put into it, and senders that
	 * were refused are told of room.  So neither keeps the other out. */
	PBOOT_LINK_LOW_BYTES = PBOOT_FRAME_BYTES,
};

enum pboot_link_state {
	PBOOT_LINK_ABSENT,	/* there is no such neighbour */
	PBOOT_LINK_AWAITED,	/* not linked yet */
	PBOOT_LINK_UP,
	PBOOT_LINK_CLOSED,	/* after BYE of both sides */
	PBOOT_LINK_LOST,
};

/* What a look at a connection found. */
enum pboot_link_news {
	PBOOT_LINK_FINE,
	PBOOT_LINK_ENDED,	/* the other side has closed it */
	PBOOT_LINK_BROKEN,
};

/* bytes[from..to) are in use. */
struct pboot_buffer {
	uint8_t *bytes;
	uint32_t from, to, size;
};

/* How much of what every link has to carry this link has carried. */
struct pboot_link_cursor {
	uint32_t losses;	/* how many of the known losses were sent */
	uint32_t collective;	/* number of the collective whose turn it is */
	uint32_t entry;		/* of its blobs, in the order of their arrival */
	uint32_t offset;	/* bytes of that blob that were sent */
};

struct pboot_link {
	enum pboot_link_state state;
	uint32_t peer, branch;
	int fd;
	unsigned poll_index;			/* in the last fill */
	enum pboot_link_news news;		/* not FINE: nothing more is read, but what has
						 * arrived counts */
	int error;				/* an errno value, not 0: nothing more is written */
	uint64_t heard_ns, spoke_ns;		/* when bytes last came and went */
	struct pboot_buffer in, out;
	struct pboot_link_cursor cursor;
	bool bye_sent, bye_taken;
	bool shut;				/* our direction is closed */
	bool room_requested;			/* a send found no room here */
};

/* Takes fd over.  Returns false if memory is missing; fd is closed then. */
bool pboot_link_open(struct pboot_link *link, int fd, uint64_t now_ns);
void pboot_link_close(struct pboot_link *link, enum pboot_link_state state);

/* Reads what is there and fits; writes what the kernel takes.  Both may change link->news. */
void pboot_link_read(struct pboot_link *link, uint64_t now_ns);
void pboot_link_write(struct pboot_link *link, uint64_t now_ns);

/* Puts a frame behind the others; false if it does not fit.  The body follows the prefix. */
bool pboot_link_put(struct pboot_link *link, const struct pboot_frame *frame, const void *prefix,
    uint32_t prefix_bytes, const void *body);
bool pboot_link_has_room(const struct pboot_link *link, uint32_t body_bytes);

/* Finds the first frame that has arrived whole.  Returns 1, 0 if there is none, -1 if the frame is
 * faulty. */
int pboot_link_peek(const struct pboot_link *link, uint32_t self, uint32_t host_count,
    struct pboot_frame *frame_out, const uint8_t **body_out);
void pboot_link_take(struct pboot_link *link, const struct pboot_frame *frame);

/* Is the link read?  If its buffer is full it is not, and then its silence says nothing. */
bool pboot_link_is_read(const struct pboot_link *link);

static inline uint32_t
pboot_buffer_used(const struct pboot_buffer *buffer)
{
	return buffer->to - buffer->from;
}

/* Makes the socket send at once. */
void pboot_link_prepare_socket(int fd);
/* Limits how long the kernel tries to deliver what is left at close. */
void pboot_link_limit_socket(int fd, uint64_t limit_ns);

#endif
