/*
 * Our own client of the PMI-1 wire protocol, which Hydra and Slurm's srun speak: lines of words
 * over a socket, one answer to each request.  The socket is an inherited one (PMI_FD), or one that
 * connects to a port (PMI_PORT) and says which process this is (PMI_ID).  The server is another
 * program, perhaps of another host: the client bounds and checks all that it sends, and uses the
 * connection no more after the first fault.
 */
#include "bootstrap/engine/pboot_engine.h"

#include "bootstrap/bootstrap.h"
#include "bootstrap/engine/pboot_blob.h"
#include "bootstrap/engine/pboot_pmi1.h"
#include "bootstrap/engine/pboot_pmi1_line.h"
#include "bootstrap/engine/pboot_pmi1_socket.h"
#include "bootstrap/engine/pboot_siblings.h"
#include "bootstrap/share/pboot_wire.h"
#include "runtime/util/log.h"
#include "runtime/util/settings_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	KVSNAME_ROOM = 257,
	KEY_ROOM = 64,
	VALUE_LEAST = 32,	/* a store for shorter values is not used */
	SHOWN = 80,		/* characters of a bad line that are printed */
};

int pboot_pmi1_answer_ms = 30000;

static struct {
	int sock;
	uint32_t rank, size;
	char kvsname[KVSNAME_ROOM];
	size_t key_max, value_max;	/* characters */
	char in[PBOOT_PMI1_LINE_MAX + 1];
	size_t fill;		/* bytes in `in' */
	size_t used;		/* of these, the bytes of the line that was taken last */
} pmi1 = { .sock = -1 };

static bool PSI_PRINTF(1, 2)
pmi1_fail(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	psi_log("rank %u: PMI-1: %s", pmi1.rank, text);
	return false;
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool
pmi1_send(const char *line)
{
	size_t left = strlen(line);
	struct pollfd room = { .fd = pmi1.sock, .events = POLLOUT };

	while (left > 0) {
		const ssize_t sent = sendto(pmi1.sock, line, left, MSG_NOSIGNAL, NULL, 0);

		if (sent > 0) {
			line += sent;
			left -= (size_t)sent;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (pboot_poll(&room, 1, pboot_pmi1_answer_ms) == 0)
				return pmi1_fail(
					"the process manager does not read what is sent to it");
		} else if (errno != EINTR) {
			return pmi1_fail("cannot send to the process manager: %s", strerror(errno));
		}
	}
	return true;
}

static bool
pmi1_is_readable(int limit_ms)
{
	struct pollfd wanted = { .fd = pmi1.sock, .events = POLLIN };

	return pboot_poll(&wanted, 1, limit_ms) > 0;
}

/* Waits until the socket can be read; also true at the end of the connection. */
static bool
pmi1_await(bool fence)
{
	struct pollfd wanted = { .fd = pmi1.sock, .events = POLLIN };
	int got;

	if (fence)
		return pboot_siblings_await(pmi1_is_readable, pmi1.rank, pmi1.size);
	do {
		got = pboot_poll(&wanted, 1, pboot_pmi1_answer_ms);
		if (got == 0)
			return pmi1_fail("no answer from the process manager in %d s",
			    pboot_pmi1_answer_ms / 1000);
	} while (got < 0 && errno == EINTR);
	return true;
}

/* Adds what has come to `in'. */
static bool
pmi1_receive(void)
{
	ssize_t got;

	do {
		got = read(pmi1.sock, pmi1.in + pmi1.fill, PBOOT_PMI1_LINE_MAX - pmi1.fill);
	} while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return true;
	if (got < 0)
		return pmi1_fail("cannot read from the process manager: %s", strerror(errno));
	if (got == 0)
		return pmi1_fail("the process manager has closed the connection");
	pmi1.fill += (size_t)got;
	return true;
}

/* Prints a line that is not what was expected. */
static bool
pmi1_bad_line(const char *text, size_t len, const char *expected)
{
	char shown[SHOWN + 1];
	size_t i;

	for (i = 0; i < len && i < SHOWN; i++)
		shown[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
	shown[i] = '\0';
	return pmi1_fail("expected %s from the process manager, got \"%s\"", expected, shown);
}

/* Takes the next line, whose command must be `command'.  The words of *line_out lie in `in', and
 * stay there until the next call. */
static bool
pmi1_take(bool fence, const char *command, struct pboot_pmi1_line *line_out)
{
	char copy[SHOWN];
	size_t len;
	char *end;

	memmove(pmi1.in, pmi1.in + pmi1.used, pmi1.fill - pmi1.used);
	pmi1.fill -= pmi1.used;
	pmi1.used = 0;
	while (!(end = memchr(pmi1.in, '\n', pmi1.fill))) {
		if (pmi1.fill == PBOOT_PMI1_LINE_MAX)
			return pmi1_bad_line(pmi1.in, pmi1.fill, "a line of at most 4096 bytes");
		if (!pmi1_await(fence) || !pmi1_receive())
			return false;
	}
	len = (size_t)(end - pmi1.in);
	pmi1.used = len + 1;
	memcpy(copy, pmi1.in, len < sizeof copy ? len : sizeof copy);
	if (!pboot_pmi1_split(pmi1.in, len, line_out) ||
	    strcmp(pboot_pmi1_value(line_out, "cmd"), command) != 0)
		return pmi1_bad_line(copy, len < sizeof copy ? len : sizeof copy, command);
	return true;
}

/* Did the request succeed?  The rc of its answer tells; an answer without rc means success. */
static bool
pmi1_went_well(const struct pboot_pmi1_line *line)
{
	const char *rc = pboot_pmi1_value(line, "rc"), *msg = pboot_pmi1_value(line, "msg");

	if (!rc || strcmp(rc, "0") == 0)
		return true;
	return pmi1_fail("the process manager answers %s with an error: rc=%.20s%s%.80s",
	    pboot_pmi1_value(line, "cmd"), rc, msg ? ", " : "", msg ? msg : "");
}

static bool
pmi1_ask(const char *request, const char *answer, struct pboot_pmi1_line *line_out)
{
	return pmi1_send(request) && pmi1_take(false, answer, line_out) &&
	    pmi1_went_well(line_out);
}

/* -- opening ----------------------------------------------------------------------------------- */

static bool
pmi1_probe(void)
{
	const char *fd = getenv("PMI_FD"), *port = getenv("PMI_PORT");

	return (fd && *fd) || (port && *port);
}

bool
pboot_pmi1_is_inherited(void)
{
	const char *text = getenv("PMI_FD");
	int64_t fd;

	return text && psi_parse_int(text, &fd) && fd >= 0 && fd <= INT32_MAX &&
	    pboot_pmi1_socket_is((int)fd);
}

/* Reads a number from `least' to `most' from the environment. */
static bool
pmi1_variable(const char *name, int64_t least, int64_t most, uint32_t *out)
{
	const char *text = getenv(name);
	int64_t value;

	if (!text || !psi_parse_int(text, &value) || value < least || value > most)
		return pmi1_fail("%s=%.40s: expected a whole number from %lld to %lld; the process "
		    "manager sets it", name, text ? text : "", (long long)least, (long long)most);
	*out = (uint32_t)value;
	return true;
}

static bool
pmi1_open_inherited(void)
{
	uint32_t fd, size, rank, local;

	if (!pmi1_variable("PMI_FD", 0, INT32_MAX, &fd) ||
	    !pmi1_variable("PMI_SIZE", 1, PBOOT_RANKS_MAX, &size) ||
	    !pmi1_variable("PMI_RANK", 0, (int64_t)size - 1, &rank))
		return false;
	pmi1.rank = rank;
	pmi1.size = size;
	if (!pboot_pmi1_socket_is((int)fd))
		return pmi1_fail(
			"PMI_FD=%u is no open socket: something between the process manager and "
			"this program has closed it",
			fd);
	pmi1.sock = (int)fd;
	if (!getenv("PST_JOB_AGENT"))	/* an agent ends the job itself (bootstrap/ssh) */
		pboot_siblings_open("PMI_RANK", NULL);
	if (pboot_siblings_engine_is("hydra") && getenv("MPI_LOCALNRANKS") &&
	    pmi1_variable("MPI_LOCALNRANKS", 1, (int64_t)size, &local))
		pboot_siblings_expect(local);
	else if (pboot_siblings_engine_is("slurmstepd"))
		pboot_siblings_expect(pboot_siblings_of_slurm(
			getenv("SLURM_STEP_TASKS_PER_NODE"), getenv("SLURM_NODEID")));
	return true;
}

/* On a connection to PMI_PORT the server tells size and rank, which otherwise are in the
 * environment. */
static bool
pmi1_introduce(uint32_t id)
{
	struct pboot_pmi1_line line;
	int64_t size, rank;
	char request[64];

	snprintf(request, sizeof request, "cmd=initack pmiid=%u\n", id);
	if (!pmi1_ask(request, "initack", &line) || !pmi1_take(false, "set", &line))
		return false;
	if (!pboot_pmi1_number(&line, "size", 1, PBOOT_RANKS_MAX, &size))
		return pmi1_fail("the process manager gives no number of ranks from 1 to %d",
		    PBOOT_RANKS_MAX);
	if (!pmi1_take(false, "set", &line))
		return false;
	if (!pboot_pmi1_number(&line, "rank", 0, size - 1, &rank))
		return pmi1_fail("the process manager gives no rank below the number of ranks, %d",
		    (int)size);
	pmi1.size = (uint32_t)size;
	pmi1.rank = (uint32_t)rank;
	return pmi1_take(false, "set", &line); /* debug=0 */
}

static bool
pmi1_open_port(const char *port)
{
	const char *why;
	uint32_t id;

	if (!pmi1_variable("PMI_ID", 0, PBOOT_RANKS_MAX - 1, &id))
		return false;
	pmi1.sock = pboot_pmi1_socket_connect(port, pboot_pmi1_answer_ms, &why);
	if (pmi1.sock < 0)
		return pmi1_fail("cannot connect to PMI_PORT=%.100s: %s", port, why);
	return pmi1_introduce(id);
}

/* Learns how long keys and values may be: as long as the server takes them, but no longer than we
 * do. */
static bool
pmi1_learn_limits(void)
{
	struct pboot_pmi1_line line;
	int64_t key, value;

	if (!pmi1_ask("cmd=get_maxes\n", "maxes", &line))
		return false;
	if (!pboot_pmi1_number(&line, "keylen_max", PBOOT_ENGINE_KEY_MAX, INT64_MAX, &key) ||
	    !pboot_pmi1_number(&line, "vallen_max", VALUE_LEAST, INT64_MAX, &value))
		return pmi1_fail(
			"the process manager takes keys or values that are too short, or does not "
			"say how long they may be");
	pmi1.key_max = key < KEY_ROOM ? (size_t)key - 1 : KEY_ROOM - 1;
	pmi1.value_max = value < PBOOT_PMI1_REQUEST_MAX ? (size_t)value - 1
	                                                : PBOOT_PMI1_REQUEST_MAX - 1;
	return true;
}

static bool
pmi1_learn_store(void)
{
	struct pboot_pmi1_line line;
	const char *name;

	if (!pmi1_ask("cmd=get_my_kvsname\n", "my_kvsname", &line))
		return false;
	name = pboot_pmi1_value(&line, "kvsname");
	if (!name || !*name || strlen(name) >= KVSNAME_ROOM)
		return pmi1_fail(
			"the process manager gives no name of its store, or one of more than %d "
			"characters",
			KVSNAME_ROOM - 1);
	memcpy(pmi1.kvsname, name, strlen(name) + 1);
	return true;
}

static bool
pmi1_open(uint32_t *rank_out, uint32_t *size_out)
{
	const char *fd = getenv("PMI_FD");
	struct pboot_pmi1_line line;

	pmi1.fill = pmi1.used = 0;
	if (!(fd && *fd ? pmi1_open_inherited() : pmi1_open_port(getenv("PMI_PORT"))) ||
	    !pmi1_ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", &line) ||
	    !pmi1_learn_limits() || !pmi1_learn_store())
		return false;
	*rank_out = pmi1.rank;
	*size_out = pmi1.size;
	return true;
}

/* -- values ------------------------------------------------------------------------------------ */

/* The key of one piece of a value. */
static bool
pmi1_key(const char *key, uint32_t rank, unsigned piece, char name_out[KEY_ROOM])
{
	const int len = snprintf(name_out, KEY_ROOM, "pst-%s-%u-%u", key, rank, piece);

	if (len > 0 && (size_t)len <= pmi1.key_max)
		return true;
	return pmi1_fail("the process manager takes keys of at most %zu characters", pmi1.key_max);
}

/* Puts one piece.  The request is not too long, since the piece was cut for that
 * (pmi1_piece_chars); the compiler does not know that. */
static bool
pmi1_put_piece(const char *name, const char *piece)
{
	char request[2 * PBOOT_PMI1_REQUEST_MAX];
	struct pboot_pmi1_line line;

	snprintf(request, sizeof request, "cmd=put kvsname=%s key=%s value=%s\n", pmi1.kvsname,
	         name, piece);
	return pmi1_ask(request, "put_result", &line);
}

/* How many characters one piece can have: an even number within the server's limit for values, and
 * within a request that is not too long. */
static size_t
pmi1_piece_chars(const char *name)
{
	const size_t rest = strlen("cmd=put kvsname= key= value=\n") + strlen(pmi1.kvsname) +
	                    strlen(name);
	const size_t room = PBOOT_PMI1_REQUEST_MAX - rest;

	return (room < pmi1.value_max ? room : pmi1.value_max) / 2 * 2;
}

static bool
pmi1_put(const char *key, const void *value, size_t len_bytes)
{
	char name[KEY_ROOM], piece[PBOOT_PMI1_REQUEST_MAX];
	size_t from = 0, chars = pboot_blob_chars(len_bytes);
	unsigned i;

	for (i = 0; from < chars; i++) {
		if (!pmi1_key(key, pmi1.rank, i, name))
			return false;
		from += pboot_blob_cut(value, len_bytes, from, pmi1_piece_chars(name), piece);
		if (!pmi1_put_piece(name, piece))
			return false;
	}
	return true;
}

static bool
pmi1_fence(void)
{
	struct pboot_pmi1_line line;

	return pmi1_send("cmd=barrier_in\n") && pmi1_take(true, "barrier_out", &line) &&
	    pmi1_went_well(&line);
}

static bool
pmi1_get_piece(const char *name, struct pboot_pmi1_line *line_out)
{
	char request[PBOOT_PMI1_REQUEST_MAX];

	snprintf(request, sizeof request, "cmd=get kvsname=%s key=%s\n", pmi1.kvsname, name);
	return pmi1_ask(request, "get_result", line_out);
}

static bool
pmi1_get(uint32_t rank, const char *key, void *value_out, size_t room_bytes, size_t *len_out)
{
	struct pboot_blob blob = { .bytes = value_out, .room_bytes = room_bytes };
	struct pboot_pmi1_line line;
	char name[KEY_ROOM];
	const char *piece;
	unsigned i;
	int got = 0;

	for (i = 0; got == 0; i++) {
		if (!pmi1_key(key, rank, i, name) || !pmi1_get_piece(name, &line))
			return false;
		piece = pboot_pmi1_value(&line, "value");
		got = piece ? pboot_blob_add(&blob, piece) : -1;
	}
	if (got < 0)
		return pmi1_fail(
			"the process manager's value of %s is not what rank %u put there", name,
			rank);
	*len_out = blob.len_bytes;
	return true;
}

/* -- the end ----------------------------------------------------------------------------------- */

static void
pmi1_abort(int status, const char *text)
{
	char request[64];
	int len;

	(void)text;
	len = snprintf(request, sizeof request, "cmd=abort exitcode=%d\n", status);
	if (pmi1.sock >= 0)
		sendto(pmi1.sock, request, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

/* It is no failure of this rank if the server is gone by now: the processes that it has started end
 * with it. */
static void
pmi1_finalize(void)
{
	struct pboot_pmi1_line line;

	pmi1_ask("cmd=finalize\n", "finalize_ack", &line);
	close(pmi1.sock);
	pmi1.sock = -1;
	pboot_engine_forget();
}

const struct pboot_engine pboot_engine_pmi1 = {
	.name = "PMI-1",
	.probe = pmi1_probe,
	.open = pmi1_open,
	.put = pmi1_put,
	.fence = pmi1_fence,
	.get = pmi1_get,
	.abort = pmi1_abort,
	.finalize = pmi1_finalize,
};
