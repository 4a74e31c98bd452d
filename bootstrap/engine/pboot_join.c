#include "bootstrap/engine/pboot_join.h"

#include "bootstrap/engine/pboot_card.h"
#include "bootstrap/engine/pboot_join_net.h"
#include "bootstrap/keeper/pboot_adopt.h"
#include "bootstrap/share/pboot_settings.h"
#include "penstock.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ABORT_MS: how long a rank waits for the engine to end it, after another rank has asked for that.
 * READ_MS: how long the engine gets to read a printed line before it is asked to end the job: Hydra
 * drops what it has not read by then. */
enum { ABORT_MS = 5000, READ_MS = 200 };

struct join {
	const struct pboot_engine *engine;
	uint32_t rank, size;
	pid_t parent;	/* the process above this rank when it started */
	int listener;
	char name[PBOOT_NAME_BYTES];	/* of the listener */
	uint64_t limit_ns;		/* of the job's time, from the launcher */
	struct pboot_card *cards;	/* [size] */
	struct pboot_hosts hosts;
	uint32_t lowest;		/* rank of this host */
	struct pboot_join_net net;	/* for several hosts */
};

/* Asks the engine to end the job, and ends this process.  The caller has printed the reason. */
static void __attribute__((noreturn))
join_end(struct join *join, int status, const char *text)
{
	pboot_poll(NULL, 0, READ_MS);
	join->engine->abort(status, text);
	exit(status);
}

/* Does the same for a fault of this rank. */
static void __attribute__((noreturn))
join_abort(struct join *join)
{
	join_end(join, 1, "a rank could not join the job");
}

/* Does the same for a fault that all ranks see: one prints it and ends the job.  The others wait,
 * since an engine may kill that rank when one of them ends. */
static void PSI_PRINTF(4, 5) __attribute__((noreturn))
join_refuse(struct join *join, uint32_t speaker, int status, const char *format, ...)
{
	char text[PBOOT_FAULT_BYTES];
	va_list args;

	if (join->rank != speaker) {
		pboot_poll(NULL, 0, ABORT_MS);
		exit(status);
	}
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	psi_log("%s", text);
	join_end(join, status, text);
}

/* Listens before other ranks can know the name, so that their connections wait here for the
 * keeper. */
static void
join_listen(struct join *join)
{
	pboot_wire_name(join->name);
	join->listener = pboot_wire_listen(join->name);
	if (join->listener >= 0)
		return;
	psi_log("rank %u cannot listen on a socket: %s%s", join->rank, strerror(-join->listener),
	    psi_limit_hint(-join->listener));
	join_abort(join);
}

static void
join_put_card(struct join *join)
{
	struct pboot_card card;
	char text[PBOOT_CARD_ROOM];
	size_t len;

	pboot_card_fill(&card);
	memcpy(card.name, join->name, sizeof card.name);
	if (!pboot_engine_agent(card.agent))
		*card.agent = '\0';
	len = pboot_card_write(&card, text);
	if (!join->engine->put("card", text, len))
		join_abort(join);
}

static void
join_get_card(struct join *join, uint32_t rank)
{
	char text[PBOOT_CARD_ROOM];
	size_t len;

	if (!join->engine->get(rank, "card", text, sizeof text, &len))
		join_abort(join);
	if (pboot_card_read(text, len, &join->cards[rank]))
		return;
	psi_log("rank %u: what %s has stored for rank %u was not written by this library",
	    join->rank, join->engine->name, rank);
	join_abort(join);
}

/* Names rank 0 and the first rank whose library has another version. */
static void
join_check_versions(struct join *join)
{
	const struct pboot_card *first = &join->cards[0], *other;
	uint32_t rank;

	for (rank = 1; rank < join->size && join->cards[rank].version == first->version; rank++)
		;
	if (rank == join->size)
		return;
	other = &join->cards[rank];
	join_refuse(join, 0, 1,
	    "rank 0 has the library of Penstock %s, rank %u that of %s; they speak "
	    "job protocols %d and %d: link all ranks with one library", first->release, rank,
	    other->release, first->version, other->version);
}

/* Names rank 0 and the first rank of another host whose program is another one: an old copy there,
 * say. */
static void
join_check_programs(struct join *join)
{
	const struct pboot_card *first = &join->cards[0], *other;
	uint32_t rank;

	for (rank = 1; rank < join->size; rank++) {
		other = &join->cards[rank];
		if (other->host_id != first->host_id && other->program && first->program &&
		    other->program != first->program)
			join_refuse(join, 0, 1,
			    "rank %u on %s runs another program than rank 0 on %s: give all hosts "
			    "the same file, or set PST_PROGRAMS=any if they are to differ", rank,
			    other->host, first->host);
	}
}

/* Checks the settings that the keeper reads: under an engine there is no launcher that has done
 * it.  Hosts may have different settings, so the first rank with a bad one prints it. */
static void
join_check_settings(struct join *join)
{
	char fault[PBOOT_FAULT_BYTES] = "";
	uint32_t rank = 0;

	while (rank < join->size && join->cards[rank].limit_ns > 0)
		rank++;
	if (rank == join->size)
		return;
	pboot_settings_fault(fault);
	if (rank == 0)
		join_refuse(join, 0, 2, "%s", fault);
	join_refuse(join, rank, 2, "rank %u on %s: %s", rank, join->cards[rank].host, fault);
}

static void
join_find_hosts(struct join *join)
{
	struct pboot_hosts *hosts = &join->hosts;

	hosts->host_of = calloc(join->size, sizeof *hosts->host_of);
	if (!hosts->host_of) {
		psi_log("rank %u: no memory for the table of hosts", join->rank);
		join_abort(join);
	}
	hosts->count = pboot_card_hosts(join->cards, join->size, hosts->host_of);
	hosts->index = hosts->host_of[join->rank];
	while (hosts->host_of[join->lowest] != hosts->index)
		join->lowest++;
}

/* Prepares the network between the keepers, if the job has several hosts. */
static void
join_meet(struct join *join)
{
	char why[PBOOT_JOIN_WHY_BYTES];

	if (join->hosts.count == 1 ||
	    pboot_join_net_meet(join->engine, &join->hosts, join->cards, join->rank,
	                        pboot_card_period_ns(join->cards, join->size), &join->net, why))
		return;
	if (*why)
		psi_log("%s", why);
	join_abort(join);
}

static void
join_exchange(struct join *join)
{
	uint32_t rank;

	join->cards = calloc(join->size, sizeof *join->cards);
	if (!join->cards) {
		psi_log("rank %u: no memory for %u ranks", join->rank, join->size);
		join_abort(join);
	}
	join_put_card(join);
	if (join->rank == 0 && !pboot_join_net_offer(join->engine))
		join_abort(join);
	if (!join->engine->fence())
		join_abort(join);
	for (rank = 0; rank < join->size; rank++)
		join_get_card(join, rank);
	join_check_versions(join);
	join_check_settings(join);
	join_check_programs(join);
	join_find_hosts(join);
}

/* Ranks of this host, in the order of their numbers; [local_size], malloced. */
static struct pboot_adopted *
join_list_local(const struct join *join, uint32_t local_size)
{
	struct pboot_adopted *ranks = calloc(local_size, sizeof *ranks);
	uint32_t rank, at = 0;

	for (rank = 0; ranks && rank < join->size; rank++)
		if (join->hosts.host_of[rank] == join->hosts.index)
			ranks[at++] = (struct pboot_adopted) {
				.rank = rank,
				.pid = join->cards[rank].pid,
				.messages = join->cards[rank].messages,
				.agent = join->cards[rank].agent,
			};
	return ranks;
}

static void
join_start_keeper(struct join *join, uint32_t local_size)
{
	struct pboot_adopted *ranks = join_list_local(join, local_size);
	struct pboot_adoption adoption = {
		.size = local_size,
		.ranks = ranks,
		.job_size = join->size,
		.hosts = &join->hosts,
		.net = join->net.net,
		.net_hosts = join->net.hosts,
		.parent = join->parent > 1 ? join->parent : 0, /* 1 adopts orphans */
		.listener = join->listener,
		.limit_ns = join->limit_ns,
	};
	int err = ENOMEM;

	memcpy(adoption.name, join->name, sizeof adoption.name);
	if (ranks)
		err = pboot_adopt(&adoption);
	free(ranks);
	pboot_join_net_free(&join->net, join->hosts.count);
	if (!err)
		return;
	psi_log("rank %u cannot start the job's keeper: %s%s", join->rank, strerror(err),
	    psi_limit_hint(err));
	exit(1);
}

/* How many of the ranks below `below' are on this host. */
static uint32_t
join_count_local(const struct join *join, uint32_t below)
{
	uint32_t rank, count = 0;

	for (rank = 0; rank < below; rank++)
		count += join->hosts.host_of[rank] == join->hosts.index;
	return count;
}

static void
join_fill_startup(const struct join *join, struct pboot_startup *startup_out)
{
	uint32_t local_size = join_count_local(join, join->size), i;

	*startup_out = (struct pboot_startup) {
		.rank = join->rank,
		.size = join->size,
		.local_rank = join_count_local(join, join->rank),
		.local_size = local_size,
		.control = -1,
		.launcher = join->parent,
		.files = calloc(PBOOT_FILES(local_size), sizeof *startup_out->files),
	};
	if (!startup_out->files) {
		psi_log("rank %u: no memory for %u ranks", join->rank, join->size);
		exit(1);
	}
	for (i = 0; i < PBOOT_FILES(local_size); i++)
		startup_out->files[i].fd = -1;
	memcpy(startup_out->name, join->cards[join->lowest].name, sizeof startup_out->name);
}

/*
 * The rank leaves the engine before the job runs, since the keeper does everything that the engine
 * could do for the job: it notices the end of each rank, and ends the others.  If the rank kept the
 * connection, its signal handlers would have to use it; and an engine that sees it close kills all
 * ranks, before they have done what the exit rules give them time for.
 */
void
pboot_join(const struct pboot_engine *engine, struct pboot_startup *startup_out,
    struct pboot_hosts *hosts_out)
{
	struct join join = { .engine = engine, .parent = getppid(), .listener = -1 };

	join.limit_ns = pboot_engine_limit_ns();
	if (!engine->open(&join.rank, &join.size))
		join_abort(&join);
	join_listen(&join);
	join_exchange(&join);
	join_meet(&join);
	engine->finalize();
	join_fill_startup(&join, startup_out);
	if (join.rank == join.lowest)
		join_start_keeper(&join, startup_out->local_size);
	close(join.listener);
	*hosts_out = join.hosts;
	free(join.cards);
}
