/*
 * Bytes from outside against what a job that ssh starts reads: frames and greetings, the order to
 * an agent, lines of PMI-1 of its ranks, the values of other hosts, lists of hosts.  As a program
 * of its own it makes them up; built with PT_LIBFUZZER it is a target of libFuzzer (scripts/fuzz).
 *
 *     fuzz_ssh [seconds [seed]]
 */
#include "bootstrap/ssh/pboot_pmi1_server.h"
#include "bootstrap/ssh/pboot_ssh_frame.h"
#include "bootstrap/ssh/pboot_ssh_hosts.h"
#include "bootstrap/ssh/pboot_ssh_order.h"

#include "tests/unit/fuzz_need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, NAMES_MOST = 65535 };

/* A copy in memory of just that size, so that a read behind its end is found. */
static void *
copy_of(const void *bytes, size_t len, size_t more)
{
	char *copy = malloc(len + more + (len + more == 0));

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	return copy;
}

static void
check_frames(const uint8_t *source, size_t len)
{
	static const struct pboot_ssh_ranks ranks = { 2, RANKS };
	uint8_t *bytes = copy_of(source, len, 0);
	char release[PBOOT_SSH_RELEASE_BYTES];
	struct pboot_ssh_frame frame;
	size_t at = 0;
	int got;

	got = pboot_ssh_greeting_read(bytes, len, release);
	if (got > 0)
		need((size_t)got <= len && strlen(release) < sizeof release, "a greeting");
	while ((got = pboot_ssh_frame_read(bytes + at, len - at,
	                                   source[0] & 1 ? PBOOT_SSH_AGENT : PBOOT_SSH_LAUNCHER,
	                                   &ranks, &frame)) > 0) {
		need((size_t)got <= len - at, "a frame outside its bytes");
		need(frame.len_bytes <= PBOOT_SSH_BODY_MAX &&
		     frame.bytes + frame.len_bytes == bytes + at + got,
		     "a body outside its frame");
		need(frame.kind > 0 && frame.kind < PBOOT_SSH_KINDS, "no kind");
		need(frame.rank <= 1 || (frame.rank >= 2 && frame.rank < 2 + RANKS), "a rank");
		at += (size_t)got;
	}
	free(bytes);
}

static void
check_order(const uint8_t *source, size_t len)
{
	uint8_t *bytes = copy_of(source, len, 0);
	struct pboot_ssh_order order;
	char **word;
	unsigned i;

	if (pboot_ssh_order_read(bytes, len, &order)) {
		need(order.ranks.count > 0 && order.ranks.first + order.ranks.count <= order.size,
		     "ranks that are not in the job");
		need(order.inherit.umask <= PBOOT_SSH_UMASK_MAX, "a umask");
		for (i = 0; i < PBOOT_SSH_LIMITS; i++)
			need(order.inherit.limits[i] >= -1, "a limit");
		for (word = order.argv; *word; word++)
			need((uint8_t *)*word + strlen(*word) < bytes + len, "a word outside");
		pboot_ssh_order_free(&order);
	}
	free(bytes);
}

/* The text's lines come from the ranks in turn; what they put comes back with the fence. */
static void
check_pmi1(const uint8_t *source, size_t len)
{
	struct pboot_pmi1_server server;
	char *text = copy_of(source, len, 1), *at = text, *end, answer[PBOOT_PMI1_ANSWER_MAX];
	uint32_t rank = 0;
	int status;

	text[len] = '\0';
	need(pboot_pmi1_server_open(&server, RANKS, RANKS), "memory");
	for (; at < text + len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + len - at));
		end = end ? end : text + len;
		pboot_pmi1_serve(&server, rank++ % RANKS, at, (size_t)(end - at), answer,
		    &status);
		need(strlen(answer) < sizeof answer &&
		     (!*answer || strchr(answer, '\n') == answer + strlen(answer) - 1),
		     "an answer that is no line");
		need(server.fresh_len <= RANKS * (size_t)PBOOT_PMI1_FRESH_MAX, "too many values");
		if (pboot_pmi1_server_is_fenced(&server)) {
			char *fresh = copy_of(server.fresh ? server.fresh : "",
			    server.fresh_len, 0);

			need(pboot_pmi1_server_release(&server, fresh, server.fresh_len),
			     "values that do not come back");
			free(fresh);
		}
	}
	free(text);
	pboot_pmi1_server_close(&server);
}

static void
check_values(const uint8_t *source, size_t len)
{
	struct pboot_pmi1_server server;
	char line[] = "cmd=init pmi_version=1", fence[] = "cmd=barrier_in";
	char answer[PBOOT_PMI1_ANSWER_MAX], *text = copy_of(source, len, 0);
	int status;

	need(pboot_pmi1_server_open(&server, 1, 1), "memory");
	pboot_pmi1_serve(&server, 0, line, strlen(line), answer, &status);
	pboot_pmi1_serve(&server, 0, fence, strlen(fence), answer, &status);
	pboot_pmi1_server_release(&server, text, len);
	pboot_pmi1_server_close(&server);
	free(text);
}

static void
check_hosts(const uint8_t *source, size_t len)
{
	bool (*const adds[])(struct pboot_ssh_hosts *hosts, const char *text,
	    char why_out[PBOOT_SSH_WHY_BYTES]) = { pboot_ssh_hosts_add_words,
		pboot_ssh_hosts_add_lines, pboot_ssh_hosts_add_ranges };
	struct pboot_ssh_hosts hosts = { .keep_twins = true };
	char why[PBOOT_SSH_WHY_BYTES], *text = copy_of(source, len, 1);
	uint32_t i;

	text[len] = '\0';
	for (i = 0; i < 3; i++)
		adds[i](&hosts, text, why);
	need(hosts.count <= NAMES_MOST, "too many hosts");
	for (i = 0; i < hosts.count; i++)
		need(*hosts.names[i] && *hosts.names[i] != '-' &&
		     strlen(hosts.names[i]) <= PBOOT_SSH_NAME_MAX &&
		     !strpbrk(hosts.names[i], " \t\n;$'\"`\\|&<>()[]"), "no name of a host");
	pboot_ssh_hosts_free(&hosts);
	free(text);
}

static void
check(const uint8_t *source, size_t len)
{
	if (len == 0)
		return;
	check_frames(source, len);
	check_order(source, len);
	check_pmi1(source, len);
	check_values(source, len);
	check_hosts(source, len);
}

#if defined(PT_LIBFUZZER)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size);
	return 0;
}

#else

#include "tests/unit/fuzz.h"

enum { TEXT_BYTES = 512 };

struct piece {
	const char *bytes;
	size_t len;
};

#define PIECE(text) { text, sizeof(text) - 1 }

static size_t
make_up(uint8_t text[TEXT_BYTES])
{
	static const struct piece pieces[] = {
		PIECE("cmd=init pmi_version=1\n"), PIECE("cmd=barrier_in\n"),
		PIECE("cmd=put key=k value=v\n"), PIECE("cmd=get key=k\n"),
		PIECE("cmd=finalize\n"), PIECE("cmd=abort exitcode=3\n"), PIECE("cmd="),
		PIECE("key="), PIECE("value="), PIECE("\n"), PIECE(" "), PIECE("="), PIECE("k1"),
		PIECE("penstock-agent 0.1.0\n"), PIECE("n[1-3,07]"), PIECE("["), PIECE("]"),
		PIECE("-"), PIECE(","), PIECE("12"), PIECE("#"), PIECE("0\0"), PIECE("1\0"),
		PIECE("4\0"), PIECE("\0"), PIECE("/d\0prog\0001\0prog\0000\0"),
		PIECE("0\0001\0001\000-1\0000\00018\000"
		    "-1\0000\0001\0002\0003\0004\0005\0006\0007\0008\000"), PIECE("\0\0\0\4"),
		PIECE("\0\0\0\0"), PIECE("\0\0\0\3"), PIECE("\0\0\0\14\0\0\0\2abcd"),
		PIECE("\0\0\0\2\0\0\0\15\0\0\0\3xy"), PIECE("\0\0\0\4\0\0\0\17\0\0\0\2\0\0\0\11"),
		PIECE("\377\377\377\377"),
	};
	unsigned left = (unsigned)fuzz_draw(40) + 1;
	size_t len = 0;

	while (left-- > 0) {
		const struct piece *piece = &pieces[fuzz_draw(sizeof pieces / sizeof *pieces)];
		const char any = (char)fuzz_draw(256);
		const struct piece one = { &any, 1 };

		if (fuzz_draw(24) == 0)
			piece = &one;
		if (len + piece->len > TEXT_BYTES)
			break;
		memcpy(text + len, piece->bytes, piece->len);
		len += piece->len;
	}
	return len;
}

static void
try_one(void)
{
	uint8_t text[TEXT_BYTES];

	check(text, make_up(text));
}

int
main(int argc, char **argv)
{
	return fuzz_run("fuzz_ssh", argc, argv, try_one);
}

#endif
