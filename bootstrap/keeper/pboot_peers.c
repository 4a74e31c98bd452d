#include "bootstrap/keeper/pboot_peers.h"

#include "bootstrap/share/pboot_wire.h"
#include "runtime/util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keepers of all hosts must be linked within this time.  They begin at nearly the same time,
 * when all ranks have passed the engine's last fence. */
static const uint64_t link_ns = UINT64_C(20000000000);

/* The body of a CAUSE frame: what it is, the rank, the job's status; 4 bytes each. */
enum { CAUSE_BYTES = 12 };
enum { CAUSE_ASKED, CAUSE_FAILED, CAUSE_TIMEOUT };

/* -- sending ----------------------------------------------------------------------------------- */

static bool
peers_send(struct pboot_peers *peers, uint32_t to, uint16_t kind, const void *bytes, uint32_t len)
{
	return pboot_overlay_send(peers->net, to, kind, bytes, len) == PBOOT_OVERLAY_OK;
}

/* Can other hosts still be told something? */
static bool
peers_can_tell(const struct pboot_peers *peers)
{
	return peers && !peers->closing && !peers->closed;
}

static bool
cause_is_of_another_host(const struct pboot_cause *cause)
{
	return cause->kind == PBOOT_CAUSE_ELSEWHERE || cause->kind == PBOOT_CAUSE_HOST;
}

static bool
cause_is_told(const struct pboot_peers *peers, const struct pboot_rules *rules)
{
	return peers->told_cause && peers->told_code == rules->cause.code &&
	    (peers->told_failure || rules->phase < PBOOT_ENDING);
}

static void
peers_tell_cause(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	const struct pboot_rules *rules = &keeper->rules;
	const bool failure = rules->phase >= PBOOT_ENDING;
	uint8_t bytes[CAUSE_BYTES];

	if (rules->phase == PBOOT_RUNNING || cause_is_of_another_host(&rules->cause) ||
	    cause_is_told(peers, rules))
		return;
	pboot_store_32(bytes, rules->cause.kind == PBOOT_CAUSE_TIMEOUT ? CAUSE_TIMEOUT :
	    failure ? CAUSE_FAILED : CAUSE_ASKED);
	pboot_store_32(bytes + 4, peers->job_rank[rules->cause.rank]);
	pboot_store_32(bytes + 8, (uint32_t)rules->cause.code);
	if (!peers_send(peers, PBOOT_FRAME_ALL, PBOOT_FRAME_CAUSE, bytes, sizeof bytes))
		return;
	peers->told_cause = true;
	peers->told_failure = failure;
	peers->told_code = rules->cause.code;
}

static void
peers_tell_idle(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (pboot_rules_anyone_at_work(&keeper->rules))
		return;
	if (peers->host_index != 0) {
		if (!peers->told_idle)
			peers->told_idle = peers_send(peers, 0, PBOOT_FRAME_IDLE, NULL, 0);
	} else if (!peers->all_idle && peers->idle_hosts + 1 == peers->host_count) {
		peers->all_idle = peers_send(peers, PBOOT_FRAME_ALL, PBOOT_FRAME_ALL_IDLE, NULL, 0);
	}
}

/* -- receiving --------------------------------------------------------------------------------- */

/* If the time is over, the ranks are looked at before they are ended. */
static void
peers_on_cause(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	const uint32_t what = pboot_load_32(event->bytes);

	if (what == CAUSE_TIMEOUT)
		pboot_report_ranks(keeper, PBOOT_REPORT_TIMEOUT, PBOOT_TIME_IS_OVER);
	pboot_keeper_event(keeper, what == CAUSE_ASKED ? PBOOT_EV_ELSEWHERE_ASKED :
	    PBOOT_EV_ELSEWHERE_FAILED, 0, (int)(pboot_load_32(event->bytes + 8) & 255));
}

static void
peers_on_frame(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	struct pboot_peers *peers = keeper->peers;

	switch (event->frame_kind) {
	case PBOOT_FRAME_CAUSE:
		if (event->len_bytes == CAUSE_BYTES)
			peers_on_cause(keeper, event);
		break;
	case PBOOT_FRAME_IDLE:
		peers->idle_hosts++;
		break;
	case PBOOT_FRAME_ALL_IDLE:
		peers->all_idle = true;
		break;
	case PBOOT_FRAME_PACK:
		if (peers->packs)
			pboot_pack_add(&peers->packs[event->host], event->bytes, event->len_bytes);
		break;
	case PBOOT_FRAME_WANT:
		pboot_peers_wanted(keeper, event);
		break;
	case PBOOT_FRAME_ASK:
		pboot_peers_asked(keeper, event);
		break;
	case PBOOT_FRAME_LOOK:
		pboot_peers_looked(peers, event);
		break;
	case PBOOT_FRAME_KNOCK:
		pboot_peers_knocked(keeper, event);
		break;
	default:
		break;
	}
}

/* With a host, those behind it are out of reach too.  The first rank of each is told of. */
static void
peers_tell_lost(const struct pboot_keeper *keeper)
{
	const struct pboot_peers *peers = keeper->peers;
	uint32_t rank, told = UINT32_MAX;

	for (rank = 0; rank < peers->job_size; rank++)
		if (peers->host_of[rank] != told &&
		    !pboot_overlay_reaches(peers->net, peers->host_of[rank])) {
			told = peers->host_of[rank];
			pboot_adopt_tell_lost(keeper, rank);
		}
}

/* The lost host can no longer say that it is idle, so this host stops waiting for ALL_IDLE. */
static void
peers_on_lost(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	struct pboot_peers *peers = keeper->peers;

	peers->all_idle = true;
	if (!*peers->why) {
		snprintf(peers->why, sizeof peers->why, "%s", event->why);
		peers->is_witness = event->witness == peers->host_index;
	}
	peers_tell_lost(keeper);
	pboot_keeper_event(keeper, PBOOT_EV_HOST, 0, (int)event->host);
}

static void
peers_on_event(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	switch (event->kind) {
	case PBOOT_OVERLAY_LOST:
		peers_on_lost(keeper, event);
		break;
	case PBOOT_OVERLAY_FRAME:
		peers_on_frame(keeper, event);
		break;
	case PBOOT_OVERLAY_GATHERED:
		pboot_peers_gathered(keeper, event->blobs);
		break;
	case PBOOT_OVERLAY_PASSED:
		pboot_peers_gathered(keeper, NULL);
		break;
	case PBOOT_OVERLAY_CLOSED:
		keeper->peers->closed = true;
		break;
	case PBOOT_OVERLAY_CONNECTED:
	case PBOOT_OVERLAY_ROOM:	/* the loop sends again what found no room */
		break;
	}
}

/* -- the loop ---------------------------------------------------------------------------------- */

int
pboot_peers_begin(struct pboot_keeper *keeper, const struct pboot_adoption *adoption)
{
	struct pboot_peers *peers = calloc(1, sizeof *peers);
	uint32_t *job_rank = calloc(adoption->size, sizeof *job_rank), rank;
	const uint64_t now = psi_now_ns();

	struct pboot_pack *packs = adoption->hosts->index ? NULL :
	    calloc(adoption->hosts->count, sizeof *packs);

	if (!peers || !job_rank || (!packs && adoption->hosts->index == 0))
		return ENOMEM;
	for (rank = 0; rank < adoption->size; rank++)
		job_rank[rank] = adoption->ranks[rank].rank;
	*peers = (struct pboot_peers){
		.net = adoption->net,
		.host_count = adoption->hosts->count,
		.host_index = adoption->hosts->index,
		.job_size = adoption->job_size,
		.host_of = adoption->hosts->host_of,
		.job_rank = job_rank,
		.packs = packs,
	};
	keeper->peers = peers;
	if (pboot_overlay_connect(peers->net, adoption->net_hosts, now, now + link_ns) !=
	    PBOOT_OVERLAY_OK)
		return ENOMEM;
	for (rank = 0; packs && rank < peers->host_count; rank++)
		packs[rank].host = pboot_overlay_name(peers->net, rank);
	return 0;
}

unsigned
pboot_peers_fill(struct pboot_keeper *keeper, struct pollfd *polls)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers || peers->closed)
		return 0;
	peers->polls = polls;
	peers->poll_count = pboot_overlay_fill(peers->net, polls);
	return peers->poll_count;
}

uint64_t
pboot_peers_deadline(const struct pboot_keeper *keeper)
{
	const struct pboot_peers *peers = keeper->peers;
	uint64_t net, report;

	if (!peers || peers->closed)
		return UINT64_MAX;
	net = pboot_overlay_deadline(peers->net);
	report = pboot_peers_report_deadline(peers);
	return net < report ? net : report;
}

static bool
peers_take_events(struct pboot_keeper *keeper)
{
	struct pboot_overlay_event event;
	bool any = false;

	while (!keeper->peers->closed && pboot_overlay_next(keeper->peers->net, &event)) {
		peers_on_event(keeper, &event);
		any = true;
	}
	return any;
}

/* A gather may be complete as soon as this host takes part, so there may be new events. */
bool
pboot_peers_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	bool idle;

	if (!peers_can_tell(peers))
		return false;
	idle = peers->all_idle;
	peers_tell_cause(keeper);
	peers_tell_idle(keeper);
	pboot_peers_gather_tell(keeper);
	pboot_peers_report_tell(keeper);
	return peers_take_events(keeper) || peers->all_idle != idle;
}

void
pboot_peers_step(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers || peers->closed)
		return;
	pboot_overlay_step(peers->net, psi_now_ns(), peers->polls, peers->poll_count);
	peers_take_events(keeper);
}

bool
pboot_peers_all_idle(const struct pboot_keeper *keeper)
{
	return !keeper->peers || keeper->peers->all_idle;
}

/* Host 0 closes its overlay after it has sent ALL_IDLE, the other hosts after they have received
 * it.  If a host is lost, the hosts that can still be reached do the same. */
bool
pboot_peers_linger(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;

	if (!peers)
		return false;
	if (peers->all_idle && !peers->closing && pboot_peers_report_tell(keeper) &&
	    pboot_peers_pack_tell(keeper)) {
		peers->closing = true;
		pboot_overlay_close(peers->net);
		peers_take_events(keeper);	/* which sends the word of it */
	}
	return !peers->closed;
}

void
pboot_peers_report_refused(const struct pboot_keeper *keeper)
{
	const char *wanted = getenv("PST_COUNTERS");
	const struct pboot_overlay_counts *counts;
	uint64_t refused;

	if (!keeper->peers || !wanted || !*wanted)
		return;
	counts = pboot_overlay_counted(keeper->peers->net);
	refused = counts->nonsense + counts->stranger + counts->silent + counts->left;
	if (refused)
		pboot_say("%llu connections of strangers were refused at the keeper's port on %s",
		    (unsigned long long)refused, keeper->host);
}
