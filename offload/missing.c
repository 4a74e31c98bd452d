/*
 * Multicasts that lose parts of a payload.  A member that lacks some asks the root for it, which
 * has kept what it sent.  It answers when it has begun the call, which may be later.
 */
#include "offload/offload.h"

#include "runtime/process/process.h"

#include <stdlib.h>
#include <string.h>

enum { RANGES = 32 };

/* A question: of the step of the message's number. */
struct question {
	uint64_t at, len_bytes;         /* the piece in the payload */
	uint64_t count;
	pst_off_range_t range[RANGES];
};

/* An answer, in front of the bytes. */
struct answer {
	uint64_t offset;                /* in the payload */
};

/* -- who lacks something ----------------------------------------------------------------------- */

/* Ranges that are in the piece; all of it where there are too many or none. */
static bool
question_fill(struct question *question, const pst_off_result_t *result)
{
	for (size_t i = 0; i < result->missing_count; i++) {
		const pst_off_range_t range = result->missing[i];

		if (range.offset > question->len_bytes ||
		    range.nbytes > question->len_bytes - range.offset)
			return false;
		if (result->missing_count <= RANGES)
			question->range[question->count++] = range;
	}
	if (!question->count)
		question->range[question->count++] =
			(pst_off_range_t){ 0, question->len_bytes };
	return true;
}

bool
poff_missing_ask(struct poff_team *team, const struct poff_flight *flight,
                 const pst_off_result_t *result)
{
	struct poff_step *step = flight->step;
	struct question question = { .at = flight->at, .len_bytes = flight->len_bytes };

	if (!question_fill(&question, result))
		return false;
	for (size_t i = 0; i < question.count; i++)
		step->missing_bytes += question.range[i].nbytes;
	poff_send(&team->channel, step->root, POFF_WANT, step->number, &question, sizeof question);
	return true;
}

bool
poff_missing_take(struct poff_team *team, struct poff_step *step)
{
	struct poff_message *message;
	struct answer answer;

	while (step->missing_bytes &&
	       (message = poff_take(&team->channel, POFF_PART, step->number))) {
		const size_t len_bytes = message->len_bytes - sizeof answer;

		memcpy(&answer, message->payload, sizeof answer);
		memcpy(step->bytes + answer.offset, message->payload + sizeof answer, len_bytes);
		step->missing_bytes -= len_bytes;
		poff_count_add(team, POFF_COUNT_REPAIRED_BYTES, len_bytes);
		free(message);
	}
	return !step->missing_bytes;
}

/* -- the root ---------------------------------------------------------------------------------- */

/* Where what the step multicasts is; NULL: it has not begun that from there on.  A long step ends
 * at its root when all others have all of it. */
static const unsigned char *
sent_bytes(struct poff_team *team, uint64_t number, size_t at)
{
	const struct poff_step *step = poff_step_find(team, number);

	if (step)
		return at < step->sent_bytes ? step->bytes : NULL;
	return number < team->turn ? poff_kept_of(team, number)->bytes : NULL;
}

/* In parts of messages. */
static void
range_answer(struct poff_team *team, const struct poff_message *message, size_t at, size_t left,
             const unsigned char *from)
{
	unsigned char bytes[sizeof(struct answer) + POFF_KEPT_BYTES];

	while (left) {
		const struct answer answer = { at };
		const size_t part = left < POFF_KEPT_BYTES ? left : POFF_KEPT_BYTES;

		memcpy(bytes, &answer, sizeof answer);
		memcpy(bytes + sizeof answer, from + at, part);
		poff_send(&team->channel, message->from, POFF_PART, message->number, bytes,
		          sizeof answer + part);
		at += part;
		left -= part;
	}
}

/* False: it has to be asked again. */
static bool
question_answer(struct poff_team *team, const struct poff_message *message)
{
	struct question question;
	const unsigned char *bytes;

	memcpy(&question, message->payload, sizeof question);
	bytes = sent_bytes(team, message->number, question.at);
	if (!bytes)
		return false;
	for (size_t i = 0; i < question.count; i++)
		range_answer(team, message, question.at + question.range[i].offset,
		             question.range[i].nbytes, bytes);
	return true;
}

void
poff_missing_answer(struct poff_team *team)
{
	struct poff_message *later = NULL, *message;

	while ((message = poff_take_any(&team->channel, POFF_WANT))) {
		if (question_answer(team, message)) {
			free(message);
		} else {
			message->next = later;
			later = message;
		}
	}
	for (struct poff_message *next; later; later = next) {
		next = later->next;
		poff_put_back(&team->channel, later);
	}
}
