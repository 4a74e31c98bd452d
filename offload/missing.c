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
poff_missing_ask(struct poff_team *team, size_t len_bytes, const pst_off_result_t *result)
{
	struct poff_step *step = &team->step;
	struct question question = { .at = step->at, .len_bytes = len_bytes };

	if (!question_fill(&question, result))
		return false;
	for (size_t i = 0; i < question.count; i++)
		step->missing_bytes += question.range[i].nbytes;
	poff_send(&team->channel, step->root, POFF_WANT, team->turn, &question, sizeof question);
	return true;
}

bool
poff_missing_take(struct poff_team *team)
{
	struct poff_kept *kept = poff_kept_of(team, team->turn);
	struct poff_message *message;
	struct answer answer;

	while ((message = poff_take(&team->channel, POFF_PART, team->turn))) {
		const size_t len_bytes = message->len_bytes - sizeof answer;

		memcpy(&answer, message->payload, sizeof answer);
		memcpy(kept->bytes + answer.offset, message->payload + sizeof answer, len_bytes);
		team->step.missing_bytes -= len_bytes;
		poff_count_add(team, POFF_COUNT_REPAIRED_BYTES, len_bytes);
		free(message);
	}
	return !team->step.missing_bytes;
}

/* -- the root ---------------------------------------------------------------------------------- */

static void
question_answer(struct poff_team *team, const struct poff_message *message)
{
	const struct poff_kept *kept = poff_kept_of(team, message->number);
	unsigned char bytes[sizeof(struct answer) + POFF_KEPT_BYTES];
	struct question question;

	memcpy(&question, message->payload, sizeof question);
	for (size_t i = 0; i < question.count; i++) {
		const pst_off_range_t range = question.range[i];
		const struct answer answer = { question.at + range.offset };

		memcpy(bytes, &answer, sizeof answer);
		memcpy(bytes + sizeof answer, kept->bytes + answer.offset, range.nbytes);
		poff_send(&team->channel, message->from, POFF_PART, message->number, bytes,
		          sizeof answer + range.nbytes);
	}
}

void
poff_missing_answer(struct poff_team *team)
{
	struct poff_message *later = NULL, *message;

	while ((message = poff_take_any(&team->channel, POFF_WANT))) {
		struct question question;

		memcpy(&question, message->payload, sizeof question);
		if (poff_step_has_sent(team, message->number, question.at)) {
			question_answer(team, message);
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
