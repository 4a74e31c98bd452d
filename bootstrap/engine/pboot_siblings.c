#include "bootstrap/engine/pboot_siblings.h"

#include "bootstrap/engine/pboot_engine.h"
#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/clock.h"
#include "runtime/util/log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* LOOK_MS: the time between two looks at the watched rank.  LOOKS: so many must find it ended,
 * while the fence is not over: a rank that has passed the fence may end before others hear of
 * it. */
enum { LOOK_MS = 200, LOOKS = 5, DEPTH = 16, VALUE_ROOM = 256 };
/* Ranks are counted at this look.  Slurm has made the processes of all ranks of a host before the
 * first one begins its program; another engine makes one after the other. */
enum { COUNT_AT_LOOK = 6, COUNT_AT_LOOK_LATE = 50 };

static struct {
	const char *rank_name, *job_name;
	pid_t engine;		/* 0: not known */
	pid_t watched;		/* 0: none */
	uint32_t expected;	/* ranks of this host; 0: not known */
} siblings;

/* -- processes --------------------------------------------------------------------------------- */

/* Finds NAME=value in the environment with which a process was started. */
static bool
environment_find(pid_t pid, const char *name, char value_out[VALUE_ROOM])
{
	const size_t name_len = strlen(name);
	char path[64], *entry = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	while (file && !found && getdelim(&entry, &room, '\0', file) > 0)
		if (strncmp(entry, name, name_len) == 0 && entry[name_len] == '=') {
			snprintf(value_out, VALUE_ROOM, "%s", entry + name_len + 1);
			found = true;
		}
	if (file)
		fclose(file);
	free(entry);
	return found;
}

static bool
environment_agrees(pid_t pid, const char *name)
{
	const char *own = getenv(name);
	char value[VALUE_ROOM];

	return own && environment_find(pid, name, value) && strcmp(own, value) == 0;
}

/* Is this process the rank, or one that has started it? */
static bool
process_is_own(pid_t pid)
{
	return environment_agrees(pid, siblings.rank_name) &&
	    (!siblings.job_name || environment_agrees(pid, siblings.job_name));
}

enum kind { NO_RANK, A_RANK, UNKNOWN };

/* Is it another rank of the job, or one that has not begun its program yet?  Before that it may be
 * another user's process, which cannot be looked at. */
static enum kind
process_kind(pid_t pid, pid_t engine)
{
	char value[VALUE_ROOM], path[64], its[PATH_MAX], engines[PATH_MAX];
	ssize_t len, engines_len;

	if (environment_find(pid, siblings.rank_name, value))
		return strcmp(value, getenv(siblings.rank_name)) != 0 &&
		    (!siblings.job_name || environment_agrees(pid, siblings.job_name))
		    ? A_RANK : NO_RANK;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	len = readlink(path, its, sizeof its);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)engine);
	engines_len = readlink(path, engines, sizeof engines);
	if (len <= 0 || engines_len <= 0)
		return UNKNOWN;
	return len == engines_len && memcmp(its, engines, (size_t)len) == 0 ? A_RANK : NO_RANK;
}

static pid_t
process_parent(pid_t pid)
{
	char path[64], text[512];
	const char *end;
	int parent = 0;
	size_t got;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	got = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[got] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* -- the ring ---------------------------------------------------------------------------------- */

struct ring {
	pid_t self, engine;
	pid_t next, first;	/* the next rank after self, the first of all; 0: none yet */
	bool has_self;
	uint32_t count;		/* ring_count: ranks, this one too */
};

static void
ring_add(pid_t pid, void *arg)
{
	struct ring *ring = arg;
	pid_t *place = pid > ring->self ? &ring->next : &ring->first;

	if (pid == ring->self)
		ring->has_self = true;
	else if ((*place == 0 || pid < *place) && process_kind(pid, ring->engine) == A_RANK)
		*place = pid;
}

static void
ring_count(pid_t pid, void *arg)
{
	struct ring *ring = arg;

	ring->count += pid == ring->self ||
	    (pboot_process_lives(pid) && process_kind(pid, ring->engine) != NO_RANK);
}

/* The engine may have started a shell, which has started this rank. */
static bool
ring_find_self(struct ring *ring)
{
	unsigned depth;

	ring->self = getpid();
	for (depth = 0; depth < DEPTH; depth++) {
		ring->engine = process_parent(ring->self);
		if (ring->engine <= 1 || !process_is_own(ring->engine))
			return ring->engine > 1;
		ring->self = ring->engine;
	}
	return false;
}

void
pboot_siblings_open(const char *rank_name, const char *job_name)
{
	struct ring ring = { .next = 0 };

	siblings.rank_name = rank_name;
	siblings.job_name = job_name;
	siblings.watched = siblings.engine = 0;
	if (!getenv(rank_name) || (job_name && !getenv(job_name)) || !process_is_own(getpid()) ||
	    !ring_find_self(&ring))
		return;
	pboot_children_visit(ring.engine, ring_add, &ring);
	if (!ring.has_self)
		return;
	siblings.engine = ring.engine;
	siblings.watched = ring.next ? ring.next : ring.first;
}

void
pboot_siblings_expect(uint32_t count)
{
	siblings.expected = count;
}

uint32_t
pboot_siblings_of_slurm(const char *ranks_of_hosts, const char *host)
{
	const char *at = ranks_of_hosts;
	unsigned long number = host ? strtoul(host, NULL, 10) : 0;

	while (at && host) {
		char *end;
		const unsigned long ranks = strtoul(at, &end, 10);
		unsigned long hosts = 1;

		if (strncmp(end, "(x", 2) == 0) {
			hosts = strtoul(end + 2, &end, 10);
			if (*end++ != ')')
				break;
		}
		if (number < hosts)
			return ranks <= PBOOT_RANKS_MAX ? (uint32_t)ranks : 0;
		number -= hosts;
		at = *end == ',' ? end + 1 : NULL;
	}
	return 0;
}

/* -- the wait ---------------------------------------------------------------------------------- */

bool
pboot_siblings_engine_is(const char *name)
{
	char path[64], its[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)siblings.engine);
	file = siblings.engine ? fopen(path, "re") : NULL;
	if (file && !fgets(its, sizeof its, file))
		*its = '\0';
	if (file)
		fclose(file);
	return strncmp(its, name, strlen(name)) == 0;
}

/* Counts when it is time.  Are there fewer ranks than there should be? */
static bool
ranks_are_missing(unsigned look)
{
	struct ring ring = { .next = 0 };

	if (!siblings.expected || (look != COUNT_AT_LOOK && look != COUNT_AT_LOOK_LATE) ||
	    (look == COUNT_AT_LOOK && !pboot_siblings_engine_is("slurmstepd")) ||
	    !ring_find_self(&ring) || ring.engine != siblings.engine)
		return false;
	pboot_children_visit(ring.engine, ring_count, &ring);
	return ring.count < siblings.expected;
}

bool
pboot_siblings_await(bool (*over)(int limit_ms), uint32_t rank, uint32_t size)
{
	const uint64_t began_ns = psi_now_ns(), limit_ns = pboot_settings_start_limit_ns();
	unsigned ended = 0, look;
	bool hinted = false;

	for (look = 0; !over(LOOK_MS); look++) {
		const uint64_t waited_ns = psi_now_ns() - began_ns;

		if (!hinted && waited_ns >= PBOOT_ENGINE_HINT_S * PBOOT_SECOND_NS) {
			pboot_engine_hint(rank, size);
			hinted = true;
		}
		if (limit_ns > 0 && waited_ns >= limit_ns) {
			psi_log("rank %u of %u: not all ranks have started within %.0f s "
			        "(PST_START_LIMIT); the job ends", rank, size,
			        (double)limit_ns / (double)PBOOT_SECOND_NS);
			return false;
		}
		ended += siblings.watched && !pboot_process_lives(siblings.watched);
		if (ended == LOOKS || ranks_are_missing(look)) {
			psi_log("rank %u of %u: another rank of this host has ended before all "
			        "ranks have started; the job ends", rank, size);
			return false;
		}
	}
	return true;
}
