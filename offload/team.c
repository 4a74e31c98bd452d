/*
 * The teams that use a device, of members that lead, from the first device step on until all
 * members have ended: one that has may have what another still lacks, so it stays to answer.
 */
#include "offload/offload.h"

#include "coll/coll.h"
#include "coll/layout.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct poff_team *teams;

struct poff_team *
poff_team_find(uint64_t key)
{
	struct poff_team *team = teams;

	while (team && team->group.key != key)
		team = team->next;
	return team;
}

/* -- beginning --------------------------------------------------------------------------------- */

/* Phases of the job's barriers have the members that its other calls have. */
static bool
line_has_all(enum pcoll_device_line line)
{
	return line == PCOLL_LINE_ALL || (line >= PCOLL_LINE_PLAIN &&
	                                  pcoll_device->scopes & PCOLL_SCOPE_RANKS);
}

static uint32_t
line_scope(enum pcoll_device_line line)
{
	if (pcoll_device->scopes & PCOLL_SCOPE_RANKS)
		return PST_OFF_PER_RANK;
	return line == PCOLL_LINE_HOST || line == PCOLL_LINE_ALL ? PST_OFF_ONE_HOST
	                                                         : PST_OFF_PER_LEADER;
}

/* The ranks of the members, and how many they are; NULL: all. */
static const uint32_t *
line_ranks(gex_TM_t tm, enum pcoll_device_line line, uint32_t *count_out)
{
	const struct pcoll_layout *layout = tm->layout;

	*count_out = tm->size;
	if (line_has_all(line))
		return NULL;
	if (line == PCOLL_LINE_HOST)
		return pcoll_layout_members(layout, layout->nbrhd_of[tm->rank], count_out);
	*count_out = layout->nbrhds;
	return layout->leads;
}

static void
team_set_members(struct poff_team *team, gex_TM_t tm, enum pcoll_device_line line)
{
	uint32_t members;
	const uint32_t *ranks = line_ranks(tm, line, &members);

	team->places = calloc(members, sizeof *team->places);
	team->gathered = calloc(members, sizeof(struct poff_offer));
	team->numbers = calloc(members, sizeof *team->numbers);
	team->confirmed = calloc(members, 1);
	if (!team->places || !team->gathered || !team->numbers || !team->confirmed)
		psi_fatal("no memory for offload of a team of %u", tm->size);
	for (uint32_t i = 0; i < members; i++)
		team->places[i] = psi_target_of(tm, ranks ? ranks[i] : i, "offload").place;
	if (ranks)
		team->member_of = line == PCOLL_LINE_HOST ? tm->layout->place
		                                          : tm->layout->nbrhd_of;
	team->channel = (struct poff_channel){
		.ep = tm->ep, .team = tm->id, .line = line, .members = members,
		.me = team->member_of ? team->member_of[tm->rank] : tm->rank,
		.places = team->places,
	};
}

static struct poff_gather
team_gather(struct poff_team *team, enum poff_kind kind)
{
	return (struct poff_gather){ .channel = &team->channel, .kind = kind };
}

static void
team_open(struct poff_team *team, gex_TM_t tm, enum pcoll_device_line line)
{
	team_set_members(team, tm, line);
	team->tm = tm;
	team->line = line;
	team->scope = line_scope(line);
	team->size = tm->size;
	team->device = poff_device_at(team->scope, 0);
	team->verifies = poff_verifies();
	team->gather = team_gather(team, POFF_GATHER);
	team->oob = team_gather(team, POFF_OOB);
	team->ends = team_gather(team, POFF_ENDS);
	team->evict = team_gather(team, POFF_EVICT);
	team->confirm = team_gather(team, POFF_CONFIRM);
	team->hold_from = team->active_from = UINT64_MAX;
	team->until = team->rejoin_at = UINT64_MAX;
	team->slot = PSI_DEVICE_TREES;
	team->next = teams;
	teams = team;
	psi_progress_begins();  /* other members wait for answers */
	poff_channel_open(&team->channel);
	poff_join_start(team);
}

/* Its payloads are aligned as the type says. */
struct poff_team *
poff_team_of(gex_TM_t tm, enum pcoll_device_line line)
{
	struct poff_team *team = tm->offload[line];

	if (team)
		return team;
	team = aligned_alloc(_Alignof(struct poff_team), sizeof *team);
	if (!team)
		psi_fatal("no memory for offload of a team of %u", tm->size);
	memset(team, 0, sizeof *team);
	tm->offload[line] = team;
	team_open(team, tm, line);
	return team;
}

uint64_t
poff_team_begun(const struct poff_team *team)
{
	return team->tm ? team->tm->device_steps[team->line] : team->begun_at_end;
}

bool
poff_team_all_agree(const struct poff_team *team)
{
	return memchr(team->gathered, 0, team->channel.members) == NULL;
}

void
poff_team_give_up(struct poff_team *team, const char *why)
{
	team->why = why;
	team->go_on = NULL;
	team->hold_from = UINT64_MAX;
	poff_team_stir(team);
}

/* -- end --------------------------------------------------------------------------------------- */

static void
memory_release(struct poff_team *team)
{
	if (team->mem)
		team->device->provider->calls.mem_release(team->device->dev, team->mem);
	team->mem = NULL;
	for (unsigned i = 0; i < POFF_STEPS; i++)
		poff_memory_release(team, &team->steps[i].longer);
}

static void
team_leaves(struct poff_team *team)
{
	if (poff_call_leave_test(team) == PST_OFF_AGAIN)
		return;
	team->tree = NULL;
	memory_release(team);
	team->go_on = team->then;
	team->then = NULL;
	poff_tree_given_back(team);
	poff_team_stir(team);
}

void
poff_tree_leave(struct poff_team *team)
{
	if (!team->tree || team->abandoned)
		return;
	poff_call_leave_start(team, false);
	team->go_on = team_leaves;
}

/* The members may be gone, or wait for this one, so nobody is talked to. */
void
poff_join_cancel(struct poff_team *team, void (*go_on)(struct poff_team *team))
{
	team->joining = false;
	team->then = go_on;
	poff_call_leave_start(team, true);
	team->go_on = team_leaves;
}

static void
line_close(struct poff_team *team)
{
	gex_TM_t tm = team->tm;

	team->begun_at_end = tm->device_steps[team->line];
	team->tm = NULL;
	team->closing = true;
	tm->offload[team->line] = NULL;
	poff_send_all(&team->channel, POFF_BYE, 0, NULL, 0);
}

void
poff_team_close(gex_TM_t tm)
{
	for (unsigned line = 0; line < PCOLL_LINES; line++)
		if (tm->offload[line])
			line_close(tm->offload[line]);
}

void
poff_teams_close(void)
{
	for (struct poff_team *team = teams; team; team = team->next)
		if (!team->closing)
			line_close(team);
}

/* Has it anything that another member may lack? */
static bool
team_is_needed(const struct poff_team *team)
{
	return !team->abandoned && (team->tree || team->joining ||
	                            (team->active_from != UINT64_MAX && !team->settled));
}

uint64_t
poff_teams_need_ns(void)
{
	uint64_t most_ns = 0;

	for (const struct poff_team *team = teams; team; team = team->next)
		if (team_is_needed(team) && team->agreed.timeout_ns >= most_ns)
			most_ns = team->agreed.timeout_ns + 1;
	return most_ns;
}

static void
team_free(struct poff_team *team)
{
	struct poff_team **at = &teams;

	while (*at != team)
		at = &(*at)->next;
	*at = team->next;
	psi_progress_ends();
	poff_stats_team(team);
	poff_channel_close(&team->channel);
	poff_team_stir(team);
	for (struct poff_waiting *next; team->spare; team->spare = next) {
		next = team->spare->next;
		free(team->spare);
	}
	poff_verify_drop(team);
	for (unsigned i = 0; i < POFF_STEPS; i++)
		free(team->steps[i].longer.bytes);
	free(team->places);
	free(team->gathered);
	free(team->numbers);
	free(team->confirmed);
	free(team);
}

/* All members have ended: nobody needs anything from here, nor the tree of a join that is under
 * way.  What others wait for has to leave first. */
static void
team_end(struct poff_team *team)
{
	if (team->channel.going || team->abandoned)
		return;
	if (team->joining)
		poff_join_cancel(team, NULL);
	else if (!team->tree)
		team_free(team);
	else if (team->go_on != team_leaves)
		poff_tree_leave(team);
}

/* -- progress ---------------------------------------------------------------------------------- */

void
poff_team_stir(struct poff_team *team)
{
	for (struct poff_waiting *waiting = team->waiting, *next; waiting; waiting = next) {
		next = waiting->next;
		pcoll_op_changed(waiting->op);
		waiting->next = team->spare;
		team->spare = waiting;
	}
	team->waiting = NULL;
}

/* Those that come while the team is being activated wait until it is, here too. */
static void
alarms_take(struct poff_team *team)
{
	struct poff_message *alarm;

	while (team->active_from != UINT64_MAX &&
	       (alarm = poff_take_any(&team->channel, POFF_ALARM))) {
		snprintf(team->alarm, sizeof team->alarm, "%.*s", (int)alarm->len_bytes,
		         (const char *)alarm->payload);
		poff_team_alarm(team, team->alarm);
		free(alarm);
	}
}

static void
steps_stir(struct poff_team *team)
{
	for (unsigned i = 0; i < POFF_STEPS; i++)
		if (team->steps[i].go_on)
			pcoll_op_changed(team->steps[i].op);
}

static void
team_progress(struct poff_team *team)
{
	poff_channel_push(&team->channel);
	alarms_take(team);
	if (team->device->banned && team->active_from != UINT64_MAX && !team->drained)
		poff_team_alarm(team, team->device->breach);
	poff_late_answer(team);
	poff_missing_answer(team);
	poff_eviction_look(team);
	if (team->go_on)
		team->go_on(team);
	steps_stir(team);
	if (team->settled)
		poff_team_stir(team);
	team->byes += poff_drop_any(&team->channel, POFF_BYE);
	if (team->closing && team->byes == team->channel.members - 1)
		team_end(team);
}

/* -- sleeping ---------------------------------------------------------------------------------- */

enum { LOOKS_PER_TIMEOUT = 4 };

/* Does something wait for polls alone?  What members tell each other wakes them. */
static bool
team_needs_polls(const struct poff_team *team)
{
	return team->go_on || team->start_again || team->channel.going || team->abandoned;
}

static bool
fd_is_listed(const int *fds, unsigned count, int fd)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i] == fd)
			return true;
	return false;
}

/* Time-outs are looked at by polls. */
static uint64_t
team_sleep_ns(struct poff_team *team, uint64_t short_ns, int fd)
{
	uint64_t most_ns;

	if (team_needs_polls(team) || (team->tree && fd < 0))
		return short_ns;
	most_ns = team->agreed.timeout_ns / LOOKS_PER_TIMEOUT;
	return team->flown == team->provider_seq ? 0 : most_ns > short_ns ? most_ns : short_ns;
}

unsigned
poff_teams_fds(int *fds_out, uint64_t short_ns, uint64_t *most_ns_out)
{
	unsigned count = 0;

	*most_ns_out = 0;
	for (struct poff_team *team = teams; team; team = team->next) {
		int fd = team->tree ? poff_device_fd(team->device) : -1;

		if (fd >= 0 && !fd_is_listed(fds_out, count, fd)) {
			if (count < PSI_DEVICE_FDS)
				fds_out[count++] = fd;
			else
				fd = -1;
		}
		*most_ns_out = psi_limit_shorter(*most_ns_out, team_sleep_ns(team, short_ns, fd));
	}
	return count;
}

void
poff_teams_stats(void)
{
	for (const struct poff_team *team = teams; team; team = team->next)
		poff_stats_team(team);
}

/* A tree that is left when nobody talks any more has its provider to blame.  One line tells of
 * all. */
void
poff_teams_tell_leaving(void)
{
	const struct poff_team *first = NULL;
	unsigned count = 0;

	for (const struct poff_team *team = teams; team; team = team->next) {
		const bool leaves = team->go_on == team_leaves &&
		                    team->byes == team->channel.members - 1;

		first = leaves && !first ? team : first;
		count += leaves;
	}
	if (first && !psi_setting_bool(psi_setting_named("GASNET_QUIET")))
		psi_log("offload: %s has not given back %u of its trees; leave_test has not said "
		        "OK", first->device->provider->name, count);
}

bool
poff_teams_are_gone(void)
{
	return !teams;
}

/* -- all of them ------------------------------------------------------------------------------- */

/* Polls of waiters are many, and a yield comes after so many of them; so they look at teams where
 * something may be to be done, and else now and then: at what other processes of the host ask for,
 * and at devices that another team has found to break their contracts. */
enum { PASSES_PER_LOOK = 16 };

static bool may_have_work;      /* under the lock, as the teams */

void
poff_teams_changed(void)
{
	may_have_work = true;
}

static bool
team_has_work(const struct poff_team *team)
{
	bool has_begun = false;

	for (unsigned i = 0; i < POFF_STEPS; i++)
		has_begun = has_begun || team->steps[i].go_on;
	return has_begun || team->go_on || team->closing || team->channel.come ||
	       team->channel.going || (team->settled && team->waiting);
}

void
poff_teams_progress(void)
{
	static unsigned passes;

	if (!may_have_work && ++passes % PASSES_PER_LOOK)
		return;
	may_have_work = false;
	for (struct poff_team *team = teams, *next; team; team = next) {
		next = team->next;
		may_have_work = may_have_work || team_has_work(team);
		team_progress(team);
	}
}
