/*
 * Bytes of another host against the overlay: as a stranger's part of a handshake, as frames over a
 * link, as an address, and as a look at the ranks there (runtime/report).  As a program of its own
 * it makes them up, most of them from what a keeper would send; built with PT_LIBFUZZER it is a
 * target of libFuzzer (scripts/fuzz).
 *
 *     fuzz_overlay [seconds [seed]]
 */
#include "bootstrap/overlay/pboot_overlay_parts.h"
#include "runtime/report/look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SELF = 1, HOSTS = 20, CHILD = 9, INPUT_MOST = 1 << 16 };

static const uint8_t secret[PBOOT_SHAKE_SECRET_BYTES] = "a secret of job";

static void
require(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "fuzz_overlay: %s\n", what);
		abort();
	}
}

/* ------------------------------------------------------------------- handshake --- */

/* Without the secret nobody gets further than to be heard, in whatever pieces he speaks. */
static void
fuzz_shake(const uint8_t *data, size_t size, enum pboot_shake_role role)
{
	const struct pboot_shake_identity identity = { .self = SELF, .host_count = HOSTS,
		.protocol = PBOOT_SHAKE_PROTOCOL, .version = "1.2.3", .secret = secret };
	const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES] = { 42 };
	struct pboot_shake shake;
	size_t part, due;

	pboot_shake_init(&shake, role, &identity, 0, nonce);
	while (size > 0 && (part = pboot_shake_lacks(&shake)) > 0) {
		part = part > 1 + size % 7 ? 1 + size % 7 : part;
		part = part < size ? part : size;
		pboot_shake_feed(&shake, data, part);
		data += part;
		size -= part;
		if (pboot_shake_due(&shake, &due))
			pboot_shake_sent(&shake, due);
	}
	require(shake.verdict == PBOOT_SHAKE_OPEN || shake.verdict == PBOOT_SHAKE_NONSENSE ||
	    shake.verdict == PBOOT_SHAKE_STRANGER, "a stranger was let in");
	require(shake.said_bytes <= sizeof shake.said, "more was said than there is room");
}

/* ------------------------------------------------------------------- frames --- */

static struct pboot_overlay *
net_open(int *peer_out, int *up_out)
{
	const struct pboot_overlay_options options = { .self = SELF, .host_count = HOSTS,
		.version = "1.2.3", .iface = "127.0.0.0/8" };
	struct pboot_overlay_host hosts[HOSTS];
	char why[PBOOT_OVERLAY_WHY_BYTES];
	struct pboot_overlay *net = pboot_overlay_open(&options, why);
	int child[2], up[2];
	unsigned i;

	require(net != NULL, "open failed");
	for (i = 0; i < HOSTS; i++)
		hosts[i] = (struct pboot_overlay_host){ "127.0.0.1:1", "node" };
	require(pboot_overlay_connect(net, hosts, 1, UINT64_MAX) == PBOOT_OVERLAY_OK,
	    "connect failed");
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, child) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, up) == 0, "no sockets");
	pboot_join_close(net);
	require(pboot_link_open(&net->link[1], child[0], 1) &&
	    pboot_link_open(&net->link[PBOOT_TREE_UP], up[0], 1), "no links");
	*peer_out = child[1];
	*up_out = up[1];
	return net;
}

/* All that an event points to is there to be read. */
static unsigned long
event_sum(const struct pboot_overlay_event *event)
{
	unsigned long sum = 0;
	uint32_t i, host;

	for (i = 0; i < event->len_bytes; i++)
		sum += event->bytes[i];
	for (host = 0; event->blobs && host < HOSTS; host++)
		for (i = 0; i < event->blobs[host].len_bytes; i++)
			sum += event->blobs[host].bytes[i];
	for (i = 0; event->why && event->why[i]; i++)
		sum += (unsigned char)event->why[i];
	return sum;
}

static void
take_events(struct pboot_overlay *net)
{
	static volatile unsigned long sum;
	struct pboot_overlay_event event;

	while (pboot_overlay_next(net, &event)) {
		require(event.host < HOSTS && event.witness < HOSTS, "no host of the job");
		sum += event_sum(&event);
	}
	(void)sum;
}

/* Nobody reads what the overlay sends; it is taken off, so that it goes on sending. */
static void
take_off(int fd)
{
	char bytes[4096];

	while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
}

static void
fuzz_frames(const uint8_t *data, size_t size)
{
	struct pollfd polls[PBOOT_OVERLAY_POLLS];
	int child, up;
	struct pboot_overlay *net = net_open(&child, &up);
	uint64_t now = 2;
	unsigned count;
	ssize_t sent;

	while (size > 0 && net->link[1].state == PBOOT_LINK_UP) {
		sent = send(child, data, size < 4096 ? size : 4096, MSG_NOSIGNAL);
		if (sent > 0) {
			data += sent;
			size -= (size_t)sent;
		}
		count = pboot_overlay_fill(net, polls);
		if (poll(polls, count, 0) >= 0)
			pboot_overlay_step(net, now++, polls, count);
		take_events(net);
		take_off(child);
		take_off(up);
	}
	require(net->loss_count <= HOSTS, "more losses than hosts");
	pboot_overlay_free(net);
	close(child);
	close(up);
}

static void
fuzz_address(const uint8_t *data, size_t size)
{
	char text[PBOOT_ADDRESS_BYTES + 1], again[PBOOT_ADDRESS_BYTES];
	struct pboot_address address, second;

	size = size < PBOOT_ADDRESS_BYTES ? size : PBOOT_ADDRESS_BYTES;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!pboot_address_parse(text, &address))
		return;
	require(pboot_address_format(&address, again) && pboot_address_parse(again, &second) &&
	    memcmp(&address.name, &second.name, sizeof address.name) == 0,
	    "an address does not survive its text");
}

/* ------------------------------------------------------------------- looks --- */

/* All that is read of a look is there to be printed. */
static size_t
looks_sum(const struct psi_looks *looks)
{
	size_t sum = looks->network ? strlen(looks->network) : 0;

	for (uint32_t i = 0; i < looks->rank_count; i++)
		sum += looks->ranks[i].rank + looks->ranks[i].host;
	for (uint32_t i = 0; i < looks->entry_count; i++)
		sum += strlen(looks->entries[i].text);
	for (uint32_t i = 0; i < looks->line_count; i++)
		sum += strlen(looks->lines[i].text);
	return sum;
}

static void
fuzz_look(const uint8_t *data, size_t size)
{
	static volatile size_t sum;
	struct pboot_pack pack = { .bytes = malloc(size + 1), .len_bytes = size,
		.complete = true };
	struct psi_looks looks;

	require(pack.bytes != NULL, "no memory");
	memcpy(pack.bytes, data, size);
	if (psi_looks_open(&pack, 1, &looks)) {
		require(pack.complete || looks.rank_count + looks.entry_count +
		    looks.line_count + looks.hosts == 0, "a faulty look was taken");
		sum += looks_sum(&looks);
		psi_looks_close(&looks);
	}
	(void)sum;
	free(pack.bytes);
}

static void
fuzz_one(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	switch (data[0] % 5) {
	case 0:
		fuzz_shake(data + 1, size - 1, PBOOT_SHAKE_ANSWERER);
		break;
	case 1:
		fuzz_shake(data + 1, size - 1, PBOOT_SHAKE_CALLER);
		break;
	case 2:
		fuzz_address(data + 1, size - 1);
		break;
	case 4:
		fuzz_look(data + 1, size - 1);
		break;
	default:
		fuzz_frames(data + 1, size - 1);
	}
}

#if defined(PT_LIBFUZZER)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one(data, size);
	return 0;
}

#else

#include "tests/unit/fuzz.h"

static uint32_t
draw(uint32_t below)
{
	return (uint32_t)fuzz_draw(below);
}

struct input {
	uint8_t bytes[INPUT_MOST];
	size_t len;
};

static void
input_random(struct input *input, size_t most)
{
	size_t left = draw((uint32_t)most + 1);

	while (left-- > 0 && input->len < INPUT_MOST)
		input->bytes[input->len++] = (uint8_t)draw(256);
}

/* A frame of the child, as it may be, most often; sometimes with a field that is not. */
static void
input_frame(struct input *input)
{
	struct pboot_frame frame = {
		.type = (enum pboot_frame_type)(1 + draw(6)),
		.kind = (uint16_t)draw(6), .from = CHILD,
		.to = draw(3) ? draw(4) : draw(HOSTS + 1),
	};

	if (frame.type == PBOOT_FRAME_DATA || frame.type == PBOOT_FRAME_LOSS)
		frame.len_bytes = draw(200);
	if (frame.type == PBOOT_FRAME_PIECE)
		frame.len_bytes = 4 + draw(40);
	if (draw(16) == 0)
		frame.from = draw(HOSTS + 1);
	if (draw(32) == 0)
		frame.len_bytes = draw(1 << 20);
	if (input->len + PBOOT_FRAME_HEAD_BYTES + 256 > INPUT_MOST)
		return;
	pboot_frame_write(&frame, input->bytes + input->len);
	input->len += PBOOT_FRAME_HEAD_BYTES;
	if (frame.type == PBOOT_FRAME_PIECE) {
		pboot_store_32(input->bytes + input->len,
		    draw(2) ? frame.len_bytes - 4 : draw(100));
		input->len += 4;
		frame.len_bytes -= 4;
	}
	while (frame.len_bytes-- > 0 && frame.len_bytes < 256)
		input->bytes[input->len++] = (uint8_t)draw(256);
}

static void
input_hello(struct input *input)
{
	const struct pboot_shake_identity identity = { .self = CHILD, .host_count = HOSTS,
		.protocol = PBOOT_SHAKE_PROTOCOL, .version = "1.2.3", .secret = secret };
	const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES] = { 3 };
	struct pboot_shake shake;
	size_t len;

	pboot_shake_init(&shake, PBOOT_SHAKE_CALLER, &identity, SELF, nonce);
	memcpy(input->bytes + input->len, pboot_shake_due(&shake, &len), PBOOT_SHAKE_HELLO_BYTES);
	input->len += PBOOT_SHAKE_HELLO_BYTES;
	if (draw(2))
		input->bytes[1 + draw(PBOOT_SHAKE_HELLO_BYTES)] ^= (uint8_t)(1u << draw(8));
}

static void
input_address(struct input *input)
{
	static const char *const pieces[] = { "127.0.0.1", "[", "]", ":", "::1", "4000", "0", ".",
		"%lo", "65535", "fe80", " " };
	unsigned left = draw(6);
	const char *piece;

	while (left-- > 0) {
		piece = pieces[draw(sizeof pieces / sizeof *pieces)];
		memcpy(input->bytes + input->len, piece, strlen(piece));
		input->len += strlen(piece);
	}
}

static void
input_put(struct input *input, const void *from, size_t len)
{
	memcpy(input->bytes + input->len, from, len);
	input->len += len;
}

/* A look as a keeper sends it; often with a bit that is another. */
static void
input_look(struct input *input)
{
	const struct psi_look_head head = { .magic = PSI_LOOK_MAGIC, .job_size = HOSTS,
		.rank_count = draw(4), .entry_count = draw(4), .queues_seen = draw(2) };
	struct psi_look_rank rank = { .rank = 0 };
	struct psi_look_entry entry = { .barrier = draw(3), .text_bytes = 6 };
	const struct psi_look_line line = { .rank = draw(HOSTS), .text_bytes = 6 };
	unsigned lines = draw(3);

	input_put(input, &head, sizeof head);
	for (rank.rank = 0; rank.rank < head.rank_count; rank.rank++)
		input_put(input, &rank, sizeof rank);
	for (entry.rank = 0; entry.rank < head.entry_count; entry.rank++) {
		input_put(input, &entry, sizeof entry);
		input_put(input, "entry", 6);
	}
	while (lines-- > 0) {
		input_put(input, &line, sizeof line);
		input_put(input, "queue", 6);
	}
	if (draw(2))
		input->bytes[1 + draw((uint32_t)input->len - 1)] ^= (uint8_t)(1u << draw(8));
}

static void
make_up(struct input *input)
{
	unsigned frames = draw(40);

	input->len = 1;
	input->bytes[0] = (uint8_t)draw(5);
	if (input->bytes[0] == 0)
		input_hello(input);
	if (input->bytes[0] == 4)
		input_look(input);
	if (input->bytes[0] == 2)
		input_address(input);
	while (input->bytes[0] == 3 && frames-- > 0)
		input_frame(input);
	if (draw(4) == 0)
		input_random(input, 300);
}

static void
try_one(void)
{
	static struct input input;

	make_up(&input);
	fuzz_one(input.bytes, input.len);
}

int
main(int argc, char **argv)
{
	return fuzz_run("fuzz_overlay", argc, argv, try_one);
}

#endif
