/*
 * Messages between the leaders of a team, the members of a tree.  They are kept until they are
 * taken, those too that come before this member uses the team.  All under the lock of offload
 * (offload.h).
 */
#ifndef POFF_CHANNEL_H
#define POFF_CHANNEL_H

#include "penstock_offload.h"

#include "gasnetex.h"

#include <stdbool.h>

enum poff_kind {
	POFF_GATHER,                    /* of the library; number: which one */
	POFF_OOB,                       /* of a provider's join */
	POFF_PACKET,                    /* of a provider that the library has in itself */
	POFF_ASK,                       /* have you begun it (late.c)?  Answered when so */
	POFF_TELL,
	POFF_ALARM,                     /* the sender's device has failed */
	POFF_ENDS,                      /* a gather behind that */
	POFF_RESULT,                    /* number: of that step */
	POFF_SOFTWARE,                  /* number: that step is software's */
	POFF_OPERAND,                   /* number: of that step, for its root */
	POFF_CONFIRM,                   /* a gather behind a long step */
	POFF_WANT,                      /* number: parts of that step's payload */
	POFF_PART,
	POFF_EVICT,                     /* gathers of eviction */
	POFF_LEAVE,                     /* leave the tree; number: of evictions before */
	POFF_BYE,                       /* the sender's team has ended */
	POFF_KINDS
};

struct poff_message {
	struct poff_message *next;
	uint64_t team, number;
	uint32_t line;                  /* enum pcoll_device_line */
	uint32_t from, to;              /* members */
	enum poff_kind kind;
	size_t len_bytes;
	unsigned char payload[];
};

struct poff_channel {
	gex_EP_t ep;
	uint64_t team;                  /* its id */
	uint32_t line;
	uint32_t members, me;
	const uint32_t *places;         /* [members] */
	struct poff_message *come, **come_last;
	struct poff_message *going, **going_last;       /* that found no room yet */
	struct poff_channel *next;
};

void poff_channel_open(struct poff_channel *channel);
/* Drops what has not been taken. */
void poff_channel_close(struct poff_channel *channel);
void poff_channels_register(gex_EP_t ep);

void poff_send(struct poff_channel *channel, uint32_t to, enum poff_kind kind, uint64_t number,
               const void *payload, size_t len_bytes);
/* To all others. */
void poff_send_all(struct poff_channel *channel, enum poff_kind kind, uint64_t number,
                   const void *payload, size_t len_bytes);
/* Takes the first message of that kind and number; NULL: it has not come.  The caller frees it. */
struct poff_message *poff_take(struct poff_channel *channel, enum poff_kind kind, uint64_t number);
struct poff_message *poff_take_any(struct poff_channel *channel, enum poff_kind kind);
/* How many messages of that kind and number have come. */
uint32_t poff_come_count(const struct poff_channel *channel, enum poff_kind kind, uint64_t number);
/* Drops all of that kind and number, or of that kind.  Returns how many there were. */
uint32_t poff_drop(struct poff_channel *channel, enum poff_kind kind, uint64_t number);
uint32_t poff_drop_any(struct poff_channel *channel, enum poff_kind kind);
/* Has a message of that kind and number come whose first byte is not 0? */
bool poff_any_nonzero(const struct poff_channel *channel, enum poff_kind kind, uint64_t number);
/* Puts back what cannot be served yet. */
void poff_put_back(struct poff_channel *channel, struct poff_message *message);
/* Sends what found no room. */
void poff_channel_push(struct poff_channel *channel);

/* An allgather of blocks, one at a time of a kind. */
struct poff_gather {
	struct poff_channel *channel;
	enum poff_kind kind;
	uint64_t number;                /* of the one under way, or the next */
	bool under_way;
	size_t len_bytes;
	unsigned char *all_out;
	uint32_t come;
};

void poff_gather_start(struct poff_gather *gather, const void *mine, size_t len_bytes,
                       void *all_out);
/* True: all have come. */
bool poff_gather_test(struct poff_gather *gather);

#endif
