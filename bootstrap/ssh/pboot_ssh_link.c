#include "bootstrap/ssh/pboot_ssh_link.h"

#include "bootstrap/share/pboot_write_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for what has come: a frame and more, and the noise before a greeting. */
enum { GOT_BYTES = 2 * (PBOOT_SSH_HEAD_BYTES + PBOOT_SSH_BODY_MAX) };

bool
pboot_ssh_link_open(struct pboot_ssh_link *link, int in, int out)
{
	*link = (struct pboot_ssh_link) { .in = in, .out = out, .got = malloc(GOT_BYTES) };
	fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
	fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
	return link->got != NULL;
}

void
pboot_ssh_link_close(struct pboot_ssh_link *link)
{
	if (link->in >= 0)
		close(link->in);
	if (link->out >= 0 && link->out != link->in)
		close(link->out);
	link->in = link->out = -1;
	free(link->got);
	free(link->due);
	link->got = link->due = NULL;
	link->got_from = link->got_to = link->due_from = link->due_to = link->due_room = 0;
}

/* Makes room for len more bytes to write; returns false if memory is missing. */
static bool
link_make_room(struct pboot_ssh_link *link, size_t len)
{
	const size_t fill = link->due_to - link->due_from;
	uint8_t *larger;

	if (link->due_room - link->due_to >= len)
		return true;
	if (fill > 0)
		memmove(link->due, link->due + link->due_from, fill);
	link->due_from = 0;
	link->due_to = fill;
	if (link->due_room - fill >= len)
		return true;
	larger = realloc(link->due, 2 * (fill + len));
	if (!larger)
		return false;
	link->due = larger;
	link->due_room = 2 * (fill + len);
	return true;
}

static void
link_add(struct pboot_ssh_link *link, const void *bytes, size_t len)
{
	if (len > 0)
		memcpy(link->due + link->due_to, bytes, len);
	link->due_to += len;
}

/* Makes room for bytes to send.  If memory is missing, closes `out', which the other side
 * notices. */
static bool
link_take_room(struct pboot_ssh_link *link, size_t len)
{
	if (link->out < 0)
		return false;
	if (link_make_room(link, len))
		return true;
	close(link->out);
	link->out = -1;
	return false;
}

void
pboot_ssh_link_send(struct pboot_ssh_link *link, enum pboot_ssh_kind kind, uint32_t rank,
    const void *bytes, uint32_t len_bytes)
{
	uint8_t head[PBOOT_SSH_HEAD_BYTES];

	if (!link_take_room(link, sizeof head + len_bytes))
		return;
	pboot_ssh_frame_write(kind, rank, len_bytes, head);
	link_add(link, head, sizeof head);
	link_add(link, bytes, len_bytes);
}

void
pboot_ssh_link_send_number(struct pboot_ssh_link *link, enum pboot_ssh_kind kind, uint32_t rank,
    uint32_t number)
{
	const uint8_t bytes[4] = {
		(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
		(uint8_t)number,
	};

	pboot_ssh_link_send(link, kind, rank, bytes, sizeof bytes);
}

void
pboot_ssh_link_send_text(struct pboot_ssh_link *link, const char *text, size_t len_bytes)
{
	if (link_take_room(link, len_bytes))
		link_add(link, text, len_bytes);
}

size_t
pboot_ssh_link_due(const struct pboot_ssh_link *link)
{
	return link->out < 0 ? 0 : link->due_to - link->due_from;
}

static void
link_write(struct pboot_ssh_link *link)
{
	while (pboot_ssh_link_due(link) > 0) {
		const ssize_t done = write(link->out, link->due + link->due_from,
		    link->due_to - link->due_from);

		if (done > 0) {
			link->due_from += (size_t)done;
		} else if (done < 0 && errno == EINTR) {
			continue;
		} else if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			return;
		} else {
			close(link->out);
			link->out = -1;
		}
	}
}

/* The SIGPIPE of a link that is closed would end the launcher at the end of the job, when it no
 * longer blocks signals. */
void
pboot_ssh_link_flush(struct pboot_ssh_link *link)
{
	struct pboot_write_signals signals;

	if (pboot_ssh_link_due(link) == 0)
		return;
	signals = pboot_write_signals_block();
	link_write(link);
	pboot_write_signals_unblock(&signals);
}

bool
pboot_ssh_link_receive(struct pboot_ssh_link *link)
{
	ssize_t got;

	if (link->got_from > 0)
		memmove(link->got, link->got + link->got_from, link->got_to - link->got_from);
	link->got_to -= link->got_from;
	link->got_from = 0;
	if (link->in < 0)
		return false;
	do
		got = read(link->in, link->got + link->got_to, GOT_BYTES - link->got_to);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		link->got_to += (size_t)got;
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}
