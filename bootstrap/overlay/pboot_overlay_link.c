#include "bootstrap/overlay/pboot_overlay_link.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool
buffer_init(struct pboot_buffer *buffer, uint32_t size)
{
	*buffer = (struct pboot_buffer){ .bytes = malloc(size), .size = size };
	return buffer->bytes != NULL;
}

static void
buffer_fini(struct pboot_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct pboot_buffer){ .bytes = NULL };
}

/* Moves the bytes in use to the front. */
static void
buffer_compact(struct pboot_buffer *buffer)
{
	const uint32_t used = pboot_buffer_used(buffer);

	if (buffer->from == 0)
		return;
	memmove(buffer->bytes, buffer->bytes + buffer->from, used);
	buffer->from = 0;
	buffer->to = used;
}

static void
buffer_append(struct pboot_buffer *buffer, const void *bytes, uint32_t len_bytes)
{
	if (len_bytes > 0)
		memcpy(buffer->bytes + buffer->to, bytes, len_bytes);
	buffer->to += len_bytes;
}

static void
buffer_drop(struct pboot_buffer *buffer, uint32_t len_bytes)
{
	buffer->from += len_bytes;
	if (buffer->from == buffer->to)
		buffer->from = buffer->to = 0;
}

void
pboot_link_prepare_socket(int fd)
{
	const int yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* Sets the limit for the last bytes of a link.  While a link is in use, heartbeats tell the same
 * sooner, and the kernel would also give up a neighbour that lives but cannot read for a while. */
void
pboot_link_limit_socket(int fd, uint64_t limit_ns)
{
	const unsigned limit_ms = (unsigned)(limit_ns / 1000000);

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

bool
pboot_link_open(struct pboot_link *link, int fd, uint64_t now_ns)
{
	if (!buffer_init(&link->in, PBOOT_LINK_IN_BYTES) ||
	    !buffer_init(&link->out, PBOOT_LINK_OUT_BYTES)) {
		buffer_fini(&link->in);
		close(fd);
		return false;
	}
	link->fd = fd;
	link->state = PBOOT_LINK_UP;
	link->poll_index = UINT_MAX;
	link->heard_ns = link->spoke_ns = now_ns;
	return true;
}

void
pboot_link_close(struct pboot_link *link, enum pboot_link_state state)
{
	if (link->state == PBOOT_LINK_UP)
		close(link->fd);
	link->fd = -1;
	link->state = state;
	buffer_fini(&link->in);
	buffer_fini(&link->out);
}

/* Returns the room at the end of the buffer.  Bytes are moved only if one more frame would not fit
 * there. */
static uint32_t
buffer_room(struct pboot_buffer *in)
{
	if (in->size - in->to < PBOOT_FRAME_BYTES)
		buffer_compact(in);
	return in->size - in->to;
}

bool
pboot_link_is_read(const struct pboot_link *link)
{
	return link->news == PBOOT_LINK_FINE && pboot_buffer_used(&link->in) < link->in.size;
}

static bool
error_is_none(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK;
}

static void
link_read_failed(struct pboot_link *link, int error)
{
	if (error_is_none(error))
		return;
	link->news = PBOOT_LINK_BROKEN;
	if (!link->error)
		link->error = error;
}

void
pboot_link_read(struct pboot_link *link, uint64_t now_ns)
{
	uint32_t room;
	ssize_t got;

	while (link->news == PBOOT_LINK_FINE && (room = buffer_room(&link->in)) > 0) {
		got = recvfrom(link->fd, link->in.bytes + link->in.to, room, MSG_DONTWAIT,
		    NULL, NULL);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			link_read_failed(link, errno);
			break;
		}
		if (got == 0)
			link->news = link->error ? PBOOT_LINK_BROKEN : PBOOT_LINK_ENDED;
		else
			link->heard_ns = now_ns;
		link->in.to += (uint32_t)got;
	}
}

/* Writes what the kernel takes.  After an error the link is still read, since its neighbour may
 * have said why it left; the end is found there.  This function reads nothing, since the caller may
 * hold a frame in the buffer. */
void
pboot_link_write(struct pboot_link *link, uint64_t now_ns)
{
	ssize_t sent;

	while (!link->error && pboot_buffer_used(&link->out) > 0) {
		sent = sendto(link->fd, link->out.bytes + link->out.from,
		    pboot_buffer_used(&link->out), MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
		if (sent >= 0) {
			link->spoke_ns = now_ns;
			buffer_drop(&link->out, (uint32_t)sent);
		} else if (error_is_none(errno)) {
			return;
		} else if (errno != EINTR) {
			link->error = errno;
		}
	}
	buffer_drop(&link->out, pboot_buffer_used(&link->out));
}

bool
pboot_link_has_room(const struct pboot_link *link, uint32_t body_bytes)
{
	return link->out.size - pboot_buffer_used(&link->out) >=
	    PBOOT_FRAME_HEAD_BYTES + body_bytes;
}

bool
pboot_link_put(struct pboot_link *link, const struct pboot_frame *frame, const void *prefix,
    uint32_t prefix_bytes, const void *body)
{
	uint8_t head[PBOOT_FRAME_HEAD_BYTES];

	if (!pboot_link_has_room(link, frame->len_bytes))
		return false;
	if (link->out.size - link->out.to < PBOOT_FRAME_HEAD_BYTES + frame->len_bytes)
		buffer_compact(&link->out);
	pboot_frame_write(frame, head);
	buffer_append(&link->out, head, sizeof head);
	buffer_append(&link->out, prefix, prefix_bytes);
	buffer_append(&link->out, body, frame->len_bytes - prefix_bytes);
	return true;
}

int
pboot_link_peek(const struct pboot_link *link, uint32_t self, uint32_t host_count,
    struct pboot_frame *frame_out, const uint8_t **body_out)
{
	const uint8_t *head = link->in.bytes + link->in.from;
	const uint32_t used = pboot_buffer_used(&link->in);

	if (used < PBOOT_FRAME_HEAD_BYTES)
		return 0;
	if (!pboot_frame_read(head, self, link->branch, host_count, frame_out))
		return -1;
	if (used < PBOOT_FRAME_HEAD_BYTES + frame_out->len_bytes)
		return 0;
	*body_out = head + PBOOT_FRAME_HEAD_BYTES;
	return 1;
}

void
pboot_link_take(struct pboot_link *link, const struct pboot_frame *frame)
{
	buffer_drop(&link->in, PBOOT_FRAME_HEAD_BYTES + frame->len_bytes);
}
