/*
 * Late is not failed: others may not have begun what takes this member too long.  It asks them, and
 * they answer when they have; only from then on does the time count.
 */
#include "offload/offload.h"

#include "runtime/util/clock.h"

#include <stdlib.h>

/* A question's number: which join it is about, and a call on that tree, or the join itself. */
enum { SEQ_BITS = 40 };
static const uint64_t JOIN = (UINT64_C(1) << SEQ_BITS) - 1;

uint64_t
poff_late_call(const struct poff_team *team, uint64_t seq)
{
	return team->joins << SEQ_BITS | seq;
}

uint64_t
poff_late_join(const struct poff_team *team)
{
	return team->joins << SEQ_BITS | JOIN;
}

/* -- asking the other members ------------------------------------------------------------------ */

bool
poff_is_late(struct poff_team *team, uint64_t number, uint64_t began_ns, uint64_t limit_ns)
{
	struct poff_late *late = &team->late;
	const uint64_t now = psi_now_ns();

	if (now - began_ns <= limit_ns)
		return false;
	if (!late->asked || late->number != number) {
		*late = (struct poff_late){ .number = number, .asked = true };
		poff_send_all(&team->channel, POFF_ASK, number, NULL, 0);
	}
	late->told += poff_drop(&team->channel, POFF_TELL, number);
	if (!late->all_since_ns && late->told == team->channel.members - 1)
		late->all_since_ns = now;
	return late->all_since_ns && now - late->all_since_ns > limit_ns;
}

/* -- who is asked ------------------------------------------------------------------------------ */

static bool
has_begun(const struct poff_team *team, uint64_t number)
{
	const uint64_t join = number >> SEQ_BITS, seq = number & JOIN;

	if (join != team->joins || seq == JOIN)
		return join <= team->joins;
	return seq < team->provider_seq;
}

void
poff_late_answer(struct poff_team *team)
{
	struct poff_message *kept = NULL, *message;

	while ((message = poff_take_any(&team->channel, POFF_ASK))) {
		if (!has_begun(team, message->number)) {
			message->next = kept;
			kept = message;
			continue;
		}
		poff_send(&team->channel, message->from, POFF_TELL, message->number, NULL, 0);
		free(message);
	}
	for (struct poff_message *next; kept; kept = next) {
		next = kept->next;
		poff_put_back(&team->channel, kept);
	}
}
