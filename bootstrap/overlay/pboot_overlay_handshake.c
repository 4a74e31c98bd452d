#include "bootstrap/overlay/pboot_overlay_handshake.h"

#include "bootstrap/overlay/pboot_overlay_frame.h"
#include "bootstrap/overlay/pboot_overlay_tree.h"
#include "runtime/util/siphash.h"

#include <string.h>

/* Every message begins with magic (4 bytes), type (1), verdict (1; 0 but in VERDICT), protocol (2).
 * PROOF and VERDICT have nothing but the MAC after that.  HELLO and ANSWER go on as here: */
enum {
	MAGIC_BYTES = 4,
	AT_TYPE = 4,
	AT_VERDICT = 5,
	AT_PROTOCOL = 6,
	AT_MAC_OF_SHORT = 8,
	AT_SELF = 8,
	AT_PEER = 12,
	AT_COUNT = 16,
	AT_NONCE = 20,
	AT_VERSION = 36,
	AT_MAC_OF_ANSWER = 64,
	MAC_BYTES = PSI_SIPHASH_BYTES,
};

/* The order of the messages, and their types. */
enum { HELLO = 1, ANSWER, PROOF, VERDICT };

static const uint8_t magic[MAGIC_BYTES] = { 'P', 'S', 'T', 0xca };

/* The offset at which each message begins in `said'; [5] is the end of the last. */
static const uint32_t begins[] = {
	0,
	0,
	PBOOT_SHAKE_HELLO_BYTES,
	PBOOT_SHAKE_HELLO_BYTES + PBOOT_SHAKE_ANSWER_BYTES,
	PBOOT_SHAKE_HELLO_BYTES + PBOOT_SHAKE_ANSWER_BYTES + PBOOT_SHAKE_SHORT_BYTES,
	PBOOT_SHAKE_ALL_BYTES,
};

static const uint32_t mac_at[] = { 0, 0, AT_MAC_OF_ANSWER, AT_MAC_OF_SHORT, AT_MAC_OF_SHORT };

static bool
type_is_ours(const struct pboot_shake *shake, unsigned type)
{
	const bool by_caller = type == HELLO || type == PROOF;

	return by_caller == (shake->role == PBOOT_SHAKE_CALLER);
}

/* Computes the MAC of a message, over its type and everything before the MAC. */
static void
shake_mac(const struct pboot_shake *shake, unsigned type, uint8_t mac_out[MAC_BYTES])
{
	const uint32_t len_bytes = begins[type] + mac_at[type];
	uint8_t text[1 + PBOOT_SHAKE_ALL_BYTES];

	text[0] = (uint8_t)type;
	memcpy(text + 1, shake->said, len_bytes);
	psi_siphash(shake->identity.secret, text, 1 + len_bytes, mac_out);
}

static void
message_write_head(uint8_t *message, unsigned type, unsigned verdict, uint16_t protocol)
{
	memcpy(message, magic, MAGIC_BYTES);
	message[AT_TYPE] = (uint8_t)type;
	message[AT_VERDICT] = (uint8_t)verdict;
	pboot_store_16(message + AT_PROTOCOL, protocol);
}

static void
message_write_identity(const struct pboot_shake *shake, uint8_t *message)
{
	const size_t most = PBOOT_SHAKE_VERSION_BYTES - 1, len = strlen(shake->identity.version);

	pboot_store_32(message + AT_SELF, shake->identity.self);
	pboot_store_32(message + AT_PEER, shake->peer);
	pboot_store_32(message + AT_COUNT, shake->identity.host_count);
	memcpy(message + AT_NONCE, shake->nonce, PBOOT_SHAKE_NONCE_BYTES);
	memset(message + AT_VERSION, 0, PBOOT_SHAKE_VERSION_BYTES);
	memcpy(message + AT_VERSION, shake->identity.version, len < most ? len : most);
}

/* Appends a message of this side, which is to be sent next. */
static void
shake_say(struct pboot_shake *shake, unsigned type, enum pboot_shake_verdict verdict)
{
	uint8_t *message = shake->said + begins[type];

	message_write_head(message, type, verdict, shake->identity.protocol);
	if (type <= ANSWER)
		message_write_identity(shake, message);
	if (type >= ANSWER)
		shake_mac(shake, type, message + mac_at[type]);
	shake->due_from = begins[type];
	shake->due_to = begins[type + 1];
	shake->sent_bytes = 0;
	shake->said_bytes = begins[type + 1];
}

void
pboot_shake_init(struct pboot_shake *shake, enum pboot_shake_role role,
    const struct pboot_shake_identity *identity, uint32_t peer,
    const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES])
{
	memset(shake, 0, sizeof *shake);
	shake->identity = *identity;
	shake->role = role;
	shake->peer = role == PBOOT_SHAKE_CALLER ? peer : PBOOT_TREE_NONE;
	memcpy(shake->nonce, nonce, PBOOT_SHAKE_NONCE_BYTES);
	if (role == PBOOT_SHAKE_CALLER)
		shake_say(shake, HELLO, 0);
}

const uint8_t *
pboot_shake_due(const struct pboot_shake *shake, size_t *len_bytes_out)
{
	const uint32_t from = shake->due_from + shake->sent_bytes;

	*len_bytes_out = shake->due_to - from;
	return from < shake->due_to ? shake->said + from : NULL;
}

void
pboot_shake_sent(struct pboot_shake *shake, size_t len_bytes)
{
	shake->sent_bytes += (uint32_t)len_bytes;
}

/* The type of the next message, or of the one that is on its way. */
static unsigned
shake_next_type(const struct pboot_shake *shake)
{
	unsigned type = HELLO;

	while (type < VERDICT && begins[type + 1] <= shake->said_bytes)
		type++;
	return type;
}

size_t
pboot_shake_lacks(const struct pboot_shake *shake)
{
	const unsigned type = shake_next_type(shake);

	if (shake->verdict != PBOOT_SHAKE_OPEN || type_is_ours(shake, type))
		return 0;
	return begins[type + 1] - shake->said_bytes;
}

/* Can these bytes be the beginning of a message of this type?  The head is checked as it
 * arrives. */
static bool
message_may_be(const uint8_t *message, uint32_t len_bytes, unsigned type)
{
	const uint32_t compare = len_bytes < MAGIC_BYTES ? len_bytes : MAGIC_BYTES;

	if (memcmp(message, magic, compare) != 0)
		return false;
	if (len_bytes > AT_TYPE && message[AT_TYPE] != type)
		return false;
	return len_bytes <= AT_VERDICT || type == VERDICT || message[AT_VERDICT] == 0;
}

static bool
version_is_text(const char version[PBOOT_SHAKE_VERSION_BYTES])
{
	const size_t len = strnlen(version, PBOOT_SHAKE_VERSION_BYTES);
	size_t i;

	for (i = 0; i < len; i++)
		if (version[i] <= ' ' || version[i] > '~')
			return false;
	for (i = len; i < PBOOT_SHAKE_VERSION_BYTES; i++)
		if (version[i] != '\0')
			return false;
	return len > 0 && len < PBOOT_SHAKE_VERSION_BYTES;
}

static bool
shake_mac_is_right(const struct pboot_shake *shake, unsigned type)
{
	uint8_t mac[MAC_BYTES];

	shake_mac(shake, type, mac);
	return psi_siphash_same(mac, shake->said + begins[type] + mac_at[type]);
}

/* Compares what the peer says with what this side expects.  `message' is the peer's HELLO or
 * ANSWER, and authentic. */
static enum pboot_shake_verdict
shake_compare(struct pboot_shake *shake, const uint8_t *message)
{
	const struct pboot_shake_identity *identity = &shake->identity;
	const uint32_t peer = pboot_load_32(message + AT_SELF);
	const uint32_t parent = shake->role == PBOOT_SHAKE_CALLER ? peer : identity->self;
	const uint32_t child = shake->role == PBOOT_SHAKE_CALLER ? identity->self : peer;

	if (shake->role == PBOOT_SHAKE_ANSWERER)
		shake->peer = peer;
	shake->peer_protocol = pboot_load_16(message + AT_PROTOCOL);
	memcpy(shake->peer_version, message + AT_VERSION, PBOOT_SHAKE_VERSION_BYTES);
	if (pboot_load_32(message + AT_COUNT) != identity->host_count ||
	    peer >= identity->host_count || peer != shake->peer ||
	    pboot_load_32(message + AT_PEER) != identity->self ||
	    pboot_tree_parent(child) != parent)
		return PBOOT_SHAKE_HOST;
	if (shake->peer_protocol != identity->protocol ||
	    strncmp(shake->peer_version, identity->version, PBOOT_SHAKE_VERSION_BYTES - 1) != 0)
		return PBOOT_SHAKE_VERSION;
	return PBOOT_SHAKE_PROVEN;
}

/* Takes HELLO.  The answerer does not know yet whether the caller is a stranger, so it checks the
 * form alone. */
static enum pboot_shake_verdict
shake_take_hello(struct pboot_shake *shake)
{
	const uint8_t *message = shake->said + begins[HELLO];

	if (!version_is_text((const char *)message + AT_VERSION))
		return PBOOT_SHAKE_NONSENSE;
	shake->peer = pboot_load_32(message + AT_SELF);
	shake_say(shake, ANSWER, 0);
	return PBOOT_SHAKE_OPEN;
}

/* Takes ANSWER.  A caller whose version differs still proves itself, so that the answerer can name
 * it. */
static enum pboot_shake_verdict
shake_take_answer(struct pboot_shake *shake)
{
	const uint8_t *message = shake->said + begins[ANSWER];

	if (!version_is_text((const char *)message + AT_VERSION))
		return PBOOT_SHAKE_NONSENSE;
	if (!shake_mac_is_right(shake, ANSWER))
		return PBOOT_SHAKE_STRANGER;
	if (shake_compare(shake, message) == PBOOT_SHAKE_HOST)
		return PBOOT_SHAKE_HOST;
	shake_say(shake, PROOF, 0);
	return PBOOT_SHAKE_OPEN;
}

static enum pboot_shake_verdict
shake_take_proof(struct pboot_shake *shake)
{
	enum pboot_shake_verdict verdict;

	if (!shake_mac_is_right(shake, PROOF))
		return PBOOT_SHAKE_STRANGER;
	verdict = shake_compare(shake, shake->said + begins[HELLO]);
	if (verdict != PBOOT_SHAKE_PROVEN)
		shake_say(shake, VERDICT, verdict);
	return verdict;
}

static enum pboot_shake_verdict
shake_take_verdict(struct pboot_shake *shake)
{
	const unsigned verdict = shake->said[begins[VERDICT] + AT_VERDICT];

	if (!shake_mac_is_right(shake, VERDICT))
		return PBOOT_SHAKE_STRANGER;
	if (verdict != PBOOT_SHAKE_WELCOME && verdict != PBOOT_SHAKE_VERSION &&
	    verdict != PBOOT_SHAKE_HOST && verdict != PBOOT_SHAKE_TWICE)
		return PBOOT_SHAKE_NONSENSE;
	return (enum pboot_shake_verdict)verdict;
}

static enum pboot_shake_verdict
shake_take(struct pboot_shake *shake, unsigned type)
{
	switch (type) {
	case HELLO:
		return shake_take_hello(shake);
	case ANSWER:
		return shake_take_answer(shake);
	case PROOF:
		return shake_take_proof(shake);
	default:
		return shake_take_verdict(shake);
	}
}

enum pboot_shake_verdict
pboot_shake_feed(struct pboot_shake *shake, const uint8_t *bytes, size_t len_bytes)
{
	const unsigned type = shake_next_type(shake);

	if (len_bytes == 0 || len_bytes > pboot_shake_lacks(shake))
		return shake->verdict;
	memcpy(shake->said + shake->said_bytes, bytes, len_bytes);
	shake->said_bytes += (uint32_t)len_bytes;
	if (!message_may_be(shake->said + begins[type], shake->said_bytes - begins[type], type))
		shake->verdict = PBOOT_SHAKE_NONSENSE;
	else if (shake->said_bytes == begins[type + 1])
		shake->verdict = shake_take(shake, type);
	return shake->verdict;
}

void
pboot_shake_judge(struct pboot_shake *shake, enum pboot_shake_verdict verdict)
{
	shake_say(shake, VERDICT, verdict);
	shake->verdict = verdict;
}

bool
pboot_shake_is_proven(const struct pboot_shake *shake)
{
	return shake->said_bytes >= begins[VERDICT];
}
