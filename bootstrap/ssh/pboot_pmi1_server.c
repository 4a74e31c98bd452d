#include "bootstrap/ssh/pboot_pmi1_server.h"

#include "bootstrap/bootstrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE "penstock"

const char pboot_pmi1_fence_answer[] = "cmd=barrier_out\n";

bool
pboot_pmi1_server_open(struct pboot_pmi1_server *server, uint32_t size, uint32_t count)
{
	*server = (struct pboot_pmi1_server) { .size = size, .count = count, .room = 256 };
	server->ranks = calloc(count, sizeof *server->ranks);
	server->pairs = calloc(server->room, sizeof *server->pairs);
	return server->ranks && server->pairs;
}

void
pboot_pmi1_server_close(struct pboot_pmi1_server *server)
{
	size_t i;

	for (i = 0; server->pairs && i < server->room; i++)
		free(server->pairs[i]);
	free(server->pairs);
	free(server->ranks);
	free(server->fresh);
	*server = (struct pboot_pmi1_server) { 0 };
}

/* -- values ------------------------------------------------------------------------------------ */

static size_t
key_hash(const char *key, size_t len)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

/* Returns the slot of a key, or the free one where it belongs.  room is a power of two, never
 * full. */
static char **
pair_find(char **pairs, size_t room, const char *key, size_t len)
{
	size_t at = key_hash(key, len);

	for (;; at++) {
		char **slot = &pairs[at & (room - 1)];

		if (!*slot || (strncmp(*slot, key, len) == 0 && (*slot)[len] == '='))
			return slot;
	}
}

static bool
pairs_grow(struct pboot_pmi1_server *server)
{
	char **larger = calloc(2 * server->room, sizeof *larger);
	size_t i;

	if (!larger)
		return false;
	for (i = 0; i < server->room; i++) {
		char *pair = server->pairs[i];

		if (pair)
			*pair_find(larger, 2 * server->room, pair, strcspn(pair, "=")) = pair;
	}
	free(server->pairs);
	server->pairs = larger;
	server->room *= 2;
	return true;
}

/* Adds "key=value"; the later of two values of a key counts. */
static bool
pair_add(struct pboot_pmi1_server *server, const char *text, size_t len, size_t key_len)
{
	char **slot, *pair;

	if (2 * server->pair_count >= server->room && !pairs_grow(server))
		return false;
	pair = malloc(len + 1);
	if (!pair)
		return false;
	memcpy(pair, text, len);
	pair[len] = '\0';
	slot = pair_find(server->pairs, server->room, pair, key_len);
	server->pair_count += *slot == NULL;
	free(*slot);
	*slot = pair;
	return true;
}

static bool
pair_is_right(const char *text, size_t len, size_t *key_len_out)
{
	const char *equals = memchr(text, '=', len);
	size_t i;

	if (!equals || equals == text || equals - text > PBOOT_PMI1_KEY_MAX ||
	    len - (size_t)(equals - text) - 1 > PBOOT_PMI1_VALUE_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	*key_len_out = (size_t)(equals - text);
	return true;
}

static bool
fresh_add(struct pboot_pmi1_server *server, const char *key, const char *value)
{
	const size_t key_len = strlen(key), value_len = strlen(value);
	const size_t len = key_len + value_len + 2;

	if (server->fresh_room - server->fresh_len < len) {
		char *larger = realloc(server->fresh, 2 * (server->fresh_len + len));

		if (!larger)
			return false;
		server->fresh = larger;
		server->fresh_room = 2 * (server->fresh_len + len);
	}
	memcpy(server->fresh + server->fresh_len, key, key_len);
	server->fresh[server->fresh_len + key_len] = '=';
	memcpy(server->fresh + server->fresh_len + key_len + 1, value, value_len);
	server->fresh[server->fresh_len + len - 1] = '\n';
	server->fresh_len += len;
	return true;
}

/* -- lines ------------------------------------------------------------------------------------- */

static enum pboot_pmi1_what
rank_put(struct pboot_pmi1_server *server, struct pboot_pmi1_rank *self,
    const struct pboot_pmi1_line *line, char *answer_out)
{
	const char *key = pboot_pmi1_value(line, "key"), *value = pboot_pmi1_value(line, "value");

	if (!key || !value || !*key || strlen(key) > PBOOT_PMI1_KEY_MAX || strchr(key, '=') ||
	    strlen(value) > PBOOT_PMI1_VALUE_MAX || self->puts == PBOOT_PMI1_PUTS_MAX ||
	    !fresh_add(server, key, value))
		return PBOOT_PMI1_FAULT;
	self->puts++;
	strcpy(answer_out, "cmd=put_result rc=0 msg=success\n");
	return PBOOT_PMI1_ANSWERED;
}

static enum pboot_pmi1_what
rank_get(const struct pboot_pmi1_server *server, const struct pboot_pmi1_line *line,
    char *answer_out)
{
	const char *key = pboot_pmi1_value(line, "key"), *pair;

	if (!key || !*key || strlen(key) > PBOOT_PMI1_KEY_MAX)
		return PBOOT_PMI1_FAULT;
	pair = *pair_find(server->pairs, server->room, key, strlen(key));
	if (pair)
		snprintf(answer_out, PBOOT_PMI1_ANSWER_MAX,
		    "cmd=get_result rc=0 msg=success value=%s\n", pair + strlen(key) + 1);
	else
		strcpy(answer_out, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n");
	return PBOOT_PMI1_ANSWERED;
}

static enum pboot_pmi1_what
rank_init(struct pboot_pmi1_rank *self, const struct pboot_pmi1_line *line, char *answer_out)
{
	int64_t version;

	if (!pboot_pmi1_number(line, "pmi_version", 1, 1, &version))
		return PBOOT_PMI1_FAULT;
	self->state = PBOOT_PMI1_IN;
	strcpy(answer_out, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	return PBOOT_PMI1_JOINED;
}

static enum pboot_pmi1_what
rank_abort(const struct pboot_pmi1_line *line, int *status_out)
{
	int64_t status;

	if (!pboot_pmi1_number(line, "exitcode", 0, 255, &status))
		status = 1;
	*status_out = status ? (int)status : 1;
	return PBOOT_PMI1_ABORTED;
}

/* Answers what a rank may say between init and finalize. */
static enum pboot_pmi1_what
rank_say(struct pboot_pmi1_server *server, struct pboot_pmi1_rank *self, const char *command,
    const struct pboot_pmi1_line *line, char *answer_out)
{
	if (strcmp(command, "get") == 0)
		return rank_get(server, line, answer_out);
	if (strcmp(command, "put") == 0)
		return rank_put(server, self, line, answer_out);
	if (strcmp(command, "barrier_in") == 0) {
		self->state = PBOOT_PMI1_WAITS;
		server->waiting++;
		return PBOOT_PMI1_FENCED;
	}
	if (strcmp(command, "finalize") == 0) {
		self->state = PBOOT_PMI1_LEFT;
		strcpy(answer_out, "cmd=finalize_ack\n");
		return PBOOT_PMI1_DONE;
	}
	if (strcmp(command, "get_maxes") == 0)
		snprintf(answer_out, PBOOT_PMI1_ANSWER_MAX,
		    "cmd=maxes kvsname_max=256 keylen_max=%d vallen_max=%d\n",
		    PBOOT_PMI1_KEY_MAX + 1, PBOOT_PMI1_VALUE_MAX + 1);
	else if (strcmp(command, "get_my_kvsname") == 0)
		strcpy(answer_out, "cmd=my_kvsname kvsname=" STORE "\n");
	else if (strcmp(command, "get_universe_size") == 0)
		snprintf(answer_out, PBOOT_PMI1_ANSWER_MAX, "cmd=universe_size size=%u\n",
		    server->size);
	else if (strcmp(command, "get_appnum") == 0)
		strcpy(answer_out, "cmd=appnum appnum=0\n");
	else
		return PBOOT_PMI1_FAULT;
	return PBOOT_PMI1_ANSWERED;
}

enum pboot_pmi1_what
pboot_pmi1_serve(struct pboot_pmi1_server *server, uint32_t rank, char *line, size_t len_bytes,
    char answer_out[PBOOT_PMI1_ANSWER_MAX], int *status_out)
{
	struct pboot_pmi1_rank *self = &server->ranks[rank];
	struct pboot_pmi1_line words;
	const char *command;

	*answer_out = '\0';
	if (!pboot_pmi1_split(line, len_bytes, &words))
		return PBOOT_PMI1_FAULT;
	command = pboot_pmi1_value(&words, "cmd");
	if (strcmp(command, "abort") == 0)
		return rank_abort(&words, status_out);
	if (strcmp(command, "init") == 0)
		return self->state == PBOOT_PMI1_NEW ? rank_init(self, &words, answer_out) :
		    PBOOT_PMI1_TWICE;
	if (self->state != PBOOT_PMI1_IN)
		return PBOOT_PMI1_FAULT;
	return rank_say(server, self, command, &words, answer_out);
}

/* -- the fence --------------------------------------------------------------------------------- */

bool
pboot_pmi1_server_is_fenced(const struct pboot_pmi1_server *server)
{
	return server->waiting == server->count;
}

bool
pboot_pmi1_server_release(struct pboot_pmi1_server *server, const char *text, size_t len_bytes)
{
	size_t key_len;
	uint32_t rank;

	if (!pboot_pmi1_server_is_fenced(server))
		return false;
	while (len_bytes > 0) {
		const char *end = memchr(text, '\n', len_bytes);

		if (!end || !pair_is_right(text, (size_t)(end - text), &key_len) ||
		    !pair_add(server, text, (size_t)(end - text), key_len))
			return false;
		len_bytes -= (size_t)(end - text) + 1;
		text = end + 1;
	}
	server->waiting = 0;
	server->fresh_len = 0;
	for (rank = 0; rank < server->count; rank++)
		server->ranks[rank].state = PBOOT_PMI1_IN;
	return true;
}
