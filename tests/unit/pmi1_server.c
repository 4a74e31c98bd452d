#include "tests/unit/pmi1_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_ROOM = 1025, PAIRS = 256 };

static struct {
	char key[64], value[1024];
} pairs[PAIRS];
static unsigned pair_count;

static void
say(int sock, const struct pmi1_server *how, const char *text)
{
	const size_t len = strlen(text), most = how->in_bits ? 37 : len;
	size_t from, bytes;

	for (from = 0; from < len; from += bytes) {
		bytes = len - from < most ? len - from : most;
		if (how->in_bits)
			nanosleep(&(struct timespec) { 0, 100000 }, NULL);
		if (write(sock, text + from, bytes) != (ssize_t)bytes)
			_exit(1);
	}
}

/* One request, without its newline; false at the end of the connection. */
static bool
hear(int sock, char line[LINE_ROOM])
{
	size_t fill = 0;

	while (read(sock, line + fill, 1) == 1) {
		if (line[fill] == '\n') {
			line[fill] = '\0';
			return true;
		}
		if (++fill == LINE_ROOM - 1) {
			fprintf(stderr, "server: a request of over 1024 bytes\n");
			_exit(2);
		}
	}
	return false;
}

static int
limit_of(const struct pmi1_server *how)
{
	return how->vallen_max ? how->vallen_max : 1024;
}

static void
put(int sock, const struct pmi1_server *how, const char *line)
{
	if (pair_count == PAIRS ||
	    sscanf(line, "cmd=put kvsname=kvs_1 key=%63s value=%1023s", pairs[pair_count].key,
	    pairs[pair_count].value) != 2 ||
	    (int)strlen(pairs[pair_count].value) >= limit_of(how)) {
		fprintf(stderr, "server: cannot keep this: %s\n", line);
		_exit(2);
	}
	pair_count++;
	say(sock, how, "cmd=put_result rc=0 msg=success\n");
}

static void
get(int sock, const struct pmi1_server *how, const char *line)
{
	char key[64], answer[1200];
	unsigned i;

	if (sscanf(line, "cmd=get kvsname=kvs_1 key=%63s", key) != 1)
		_exit(2);
	for (i = 0; i < pair_count && strcmp(pairs[i].key, key) != 0; i++)
		;
	if (i == pair_count)
		snprintf(answer, sizeof answer, "cmd=get_result rc=-1 msg=key_%s_not_found "
		    "value=unknown\n", key);
	else
		snprintf(answer, sizeof answer, "cmd=get_result rc=0 msg=success value=%s\n",
		    pairs[i].value);
	say(sock, how, answer);
}

static void
answer(int sock, const struct pmi1_server *how, const char *line)
{
	char text[128];

	if (strcmp(line, "cmd=init pmi_version=1 pmi_subversion=1") == 0) {
		say(sock, how, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	} else if (strcmp(line, "cmd=initack pmiid=1") == 0 && how->by_port) {
		say(sock, how, "cmd=initack\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0\n");
	} else if (strcmp(line, "cmd=get_maxes") == 0) {
		snprintf(text, sizeof text, "cmd=maxes kvsname_max=256 keylen_max=64 "
		    "vallen_max=%d\n", limit_of(how));
		say(sock, how, text);
	} else if (strcmp(line, "cmd=get_my_kvsname") == 0) {
		say(sock, how, "cmd=my_kvsname kvsname=kvs_1\n");
	} else if (strcmp(line, "cmd=barrier_in") == 0) {
		say(sock, how, "cmd=barrier_out\n");
	} else if (strncmp(line, "cmd=put ", 8) == 0) {
		put(sock, how, line);
	} else if (strncmp(line, "cmd=get ", 8) == 0) {
		get(sock, how, line);
	} else {
		fprintf(stderr, "server: what is this: %s\n", line);
		_exit(2);
	}
}

int
pmi1_serve(int sock, const struct pmi1_server *how)
{
	char line[LINE_ROOM];
	int count;

	for (count = 1; hear(sock, line); count++) {
		if (count == how->close_at)
			return 1;
		if (strncmp(line, "cmd=abort exitcode=", 19) == 0)
			return 10 + atoi(line + 19);
		if (count == how->instead_at) {
			if (how->instead)
				say(sock, how, how->instead);
		} else if (strcmp(line, "cmd=finalize") == 0) {
			say(sock, how, "cmd=finalize_ack\n");
			return 0;
		} else {
			answer(sock, how, line);
		}
	}
	return 1;
}
