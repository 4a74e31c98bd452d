/*
 * The frames that launcher and agents send each other through the standard input and output of ssh.
 * The functions here are pure, and trust no byte that comes.  All numbers are big-endian.
 *
 *     bytes 0-3    length of what follows the head
 *           4-7    kind
 *           8-11   rank of the job; 0 if the kind has none
 *
 * The first bytes of an agent are a greeting, a line of text.  Text that a login shell has printed
 * before it is skipped.
 */
#ifndef PBOOT_SSH_FRAME_H
#define PBOOT_SSH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pboot_ssh_kind {
	/* launcher to agent */
	PBOOT_SSH_ORDER = 1,	/* a part of the order (pboot_ssh_order.h) */
	PBOOT_SSH_START,	/* the order is complete */
	PBOOT_SSH_SIGNAL,	/* a number: a signal that the launcher got */
	PBOOT_SSH_QUIT,		/* a number: the job fails with this status */
	PBOOT_SSH_TIME_OVER,
	PBOOT_SSH_KILL,		/* end all at once, and wait for no reader */
	PBOOT_SSH_STDIN,	/* bytes for the rank that reads; none: the end */
	PBOOT_SSH_READ,		/* rank: 0 or 1, stdout or stderr; a number: bytes written */
	PBOOT_SSH_NO_READER,	/* the same; its reader is gone */
	/* agent to launcher */
	PBOOT_SSH_JOINED,	/* rank has begun to join */
	PBOOT_SSH_LEFT,		/* rank has joined; its host's keeper takes care of it */
	PBOOT_SSH_ABORT,	/* a number: the status with which a rank asks to end all */
	PBOOT_SSH_STDOUT,	/* rank, bytes */
	PBOOT_SSH_STDERR,
	PBOOT_SSH_ENDED,	/* rank; a number: status of waitpid */
	PBOOT_SSH_NO_EXEC,	/* rank; a number: errno */
	PBOOT_SSH_ASKED,	/* a number: status with which the keeper ends the job */
	PBOOT_SSH_FAILED,	/* the same, of a failure */
	PBOOT_SSH_HOST_LOST,	/* a number: a rank on a host that its keeper cannot reach */
	PBOOT_SSH_STDIN_READ,	/* a number: bytes that the rank's pipe has taken */
	PBOOT_SSH_STDIN_GONE,	/* no rank reads any more */
	PBOOT_SSH_FAULT,	/* text: why this agent cannot work */
	PBOOT_SSH_DONE,		/* all here has ended; the last frame */
	/* both */
	PBOOT_SSH_PAIRS,	/* values that ranks have put since the last fence */
	PBOOT_SSH_FENCE,	/* agent: all ranks here wait; launcher: all ranks do */
	PBOOT_SSH_KINDS,
};

enum {
	PBOOT_SSH_HEAD_BYTES = 12,
	PBOOT_SSH_BODY_MAX = 64 * 1024,
	PBOOT_SSH_GREETING_MAX = 96,	/* with its newline */
	PBOOT_SSH_NOISE_MAX = 16 * 1024,	/* of text before the greeting */
	PBOOT_SSH_WINDOW = 256 * 1024,	/* bytes of output, or input, that may be on their way */
};

enum pboot_ssh_side { PBOOT_SSH_LAUNCHER, PBOOT_SSH_AGENT };

struct pboot_ssh_frame {
	enum pboot_ssh_kind kind;
	uint32_t rank;
	uint32_t len_bytes;
	const uint8_t *bytes;
	uint32_t number;	/* if the kind has one */
};

/* Which ranks the sender may speak of: from first, count of them. */
struct pboot_ssh_ranks {
	uint32_t first, count;
};

void pboot_ssh_frame_write(enum pboot_ssh_kind kind, uint32_t rank, uint32_t len_bytes,
    uint8_t head_out[PBOOT_SSH_HEAD_BYTES]);

/* Reads the frame at the beginning of these bytes, which `from' has sent.  Returns its length with
 * its head; 0: it is not complete; -1: it is faulty.  The frame points into the bytes. */
int pboot_ssh_frame_read(const uint8_t *bytes, size_t len_bytes, enum pboot_ssh_side from,
    const struct pboot_ssh_ranks *ranks, struct pboot_ssh_frame *frame_out);

/* Looks for the greeting.  Returns its length together with the text before it; 0: it is not
 * complete; -1: there is none.  The release that it names is copied, at most 31 characters. */
enum { PBOOT_SSH_RELEASE_BYTES = 32 };
int pboot_ssh_greeting_read(const uint8_t *bytes, size_t len_bytes,
    char release_out[PBOOT_SSH_RELEASE_BYTES]);
/* Writes a greeting and returns its length. */
size_t pboot_ssh_greeting_write(const char *release, char text_out[PBOOT_SSH_GREETING_MAX]);

#endif
