/*
 * The handshake by which two keepers make sure of each other: both show that they know the job's
 * secret, and neither sends it.  Pure functions: bytes go in, bytes and a verdict come out; no
 * socket and no clock is read.
 *
 *     CALLER, the child                              ANSWERER, its parent
 *     HELLO    both numbers, version, nonce   -->
 *                                             <--    ANSWER   the same of this side, MAC of both
 *     PROOF    MAC of both, other label       -->
 *                                             <--    VERDICT  welcome, or why not; MAC
 *
 * The MAC is SipHash with the secret as its key, over a label for the message and all that was said
 * before.  So what one side said proves nothing for the other, and nothing in a later handshake,
 * whose nonces differ.  The MAC covers every number and text of HELLO and ANSWER.  A side whose MAC
 * is wrong is told nothing.  Messages have fixed lengths, so no byte behind the handshake is taken.
 *
 * The layout and the MAC are the same in all versions of the protocol: two versions that cannot
 * work together must still be able to tell each other so.
 */
#ifndef PBOOT_OVERLAY_HANDSHAKE_H
#define PBOOT_OVERLAY_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PBOOT_SHAKE_PROTOCOL = 1,
	PBOOT_SHAKE_SECRET_BYTES = 16,
	PBOOT_SHAKE_NONCE_BYTES = 16,
	PBOOT_SHAKE_VERSION_BYTES = 28,		/* with at least one NUL */
	PBOOT_SHAKE_HELLO_BYTES = 64,
	PBOOT_SHAKE_ANSWER_BYTES = 80,
	PBOOT_SHAKE_SHORT_BYTES = 24,		/* PROOF and VERDICT */
	PBOOT_SHAKE_ALL_BYTES = PBOOT_SHAKE_HELLO_BYTES + PBOOT_SHAKE_ANSWER_BYTES +
	    2 * PBOOT_SHAKE_SHORT_BYTES,
};

enum pboot_shake_role { PBOOT_SHAKE_CALLER, PBOOT_SHAKE_ANSWERER };

/* The state of a handshake.  It is OPEN until this side knows the verdict.  All other states are
 * final, except PROVEN. */
enum pboot_shake_verdict {
	PBOOT_SHAKE_OPEN,
	PBOOT_SHAKE_WELCOME,
	PBOOT_SHAKE_NONSENSE,	/* these bytes are no message of a keeper */
	PBOOT_SHAKE_STRANGER,	/* the MAC is wrong: another secret, or none */
	PBOOT_SHAKE_VERSION,	/* of the protocol or of the library */
	PBOOT_SHAKE_HOST,	/* another job's number of hosts, or hosts that are no neighbours */
	PBOOT_SHAKE_TWICE,	/* this host is linked, or lost, already */
	PBOOT_SHAKE_PROVEN,	/* answerer: all is right; pboot_shake_judge decides */
};

/* What one side says of itself.  version is that of the library, printable and without blanks. */
struct pboot_shake_identity {
	uint32_t self, host_count;
	uint16_t protocol;
	const char *version;
	const uint8_t *secret;		/* [PBOOT_SHAKE_SECRET_BYTES] */
};

struct pboot_shake {
	struct pboot_shake_identity identity;
	enum pboot_shake_role role;
	enum pboot_shake_verdict verdict;
	uint32_t peer;			/* the host that a caller calls; or the caller */
	uint16_t peer_protocol;		/* these two: once the verdict is final */
	char peer_version[PBOOT_SHAKE_VERSION_BYTES];
	/* All messages so far, of both sides, in order. */
	uint8_t said[PBOOT_SHAKE_ALL_BYTES];
	uint32_t said_bytes;
	uint32_t sent_bytes;		/* how far the transport has sent what is due */
	uint32_t due_from, due_to;	/* the part of `said' that this side has to send */
	uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES];
};

/* Starts a handshake.  peer is the host that a caller calls.  The nonce is random, and never used
 * twice. */
void pboot_shake_init(struct pboot_shake *shake, enum pboot_shake_role role,
    const struct pboot_shake_identity *identity, uint32_t peer,
    const uint8_t nonce[PBOOT_SHAKE_NONCE_BYTES]);

/* Returns the bytes that are to be sent now; NULL and 0 if there are none.  The caller tells by
 * pboot_shake_sent how many it has sent. */
const uint8_t *pboot_shake_due(const struct pboot_shake *shake, size_t *len_bytes_out);
void pboot_shake_sent(struct pboot_shake *shake, size_t len_bytes);

/* Returns how many bytes the other side's next message still lacks; 0 if none is awaited. */
size_t pboot_shake_lacks(const struct pboot_shake *shake);

/* Takes bytes of the other side, at most pboot_shake_lacks of them; returns the verdict. */
enum pboot_shake_verdict pboot_shake_feed(struct pboot_shake *shake, const uint8_t *bytes,
    size_t len_bytes);

/* The answerer's decision on a caller that is PROVEN: WELCOME or TWICE. */
void pboot_shake_judge(struct pboot_shake *shake, enum pboot_shake_verdict verdict);

/* Has the caller shown that it knows the secret?  From then on the answerer may have let it in. */
bool pboot_shake_is_proven(const struct pboot_shake *shake);

#endif
