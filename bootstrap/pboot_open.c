/* pboot_open: finds out how this process was started.  It becomes a rank, or a launcher that does
 * not return. */
#include "bootstrap/engine/pboot_join.h"
#include "bootstrap/launcher/pboot_launch.h"
#include "bootstrap/rank/pboot_rank.h"

#include "runtime/util/log.h"
#include "runtime/util/settings_parse.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of ranks, 1 to PBOOT_RANKS_MAX; 0 if the text is no such number. */
static uint32_t
ranks_parse(const char *text)
{
	int64_t value;

	if (!psi_parse_int(text, &value) || value < 1 || value > PBOOT_RANKS_MAX)
		return 0;
	return (uint32_t)value;
}

static bool
warnings_are_off(void)
{
	const char *quiet = getenv("GASNET_QUIET");

	return quiet && *quiet && strchr("1yY", *quiet);
}

static void
open_direct(const char *text)
{
	struct pboot_plan plan = { .size = ranks_parse(text) };
	const struct pboot_engine *engine = pboot_engine_find();
	int status;

	if (engine && !warnings_are_off())
		psi_log("warning: GASNET_PSHM_NODES=%s starts a job of this process alone; "
		    "without it the processes that %s has started would be one job", text,
		    engine->name);
	if (plan.size == 0)
		psi_log_refuse("GASNET_PSHM_NODES=%s: expected a whole number from 1 to %d", text,
		    PBOOT_RANKS_MAX);
	fflush(NULL);
	status = pboot_launch(&plan, &pboot_self.startup);
	if (status >= 0)
		_exit(status);
	pboot_self.direct = true;
	if (pboot_self.startup.rank != 0)
		__fpurge(stdin);
}

static int
open_alone(void)
{
	struct pboot_startup *startup = &pboot_self.startup;
	uint32_t i;

	if (!warnings_are_off())
		psi_log("warning: a job of one rank; penstock-run -n N or GASNET_PSHM_NODES=N "
		    "starts more");
	pboot_self.alone = true;
	pboot_self.direct = true;
	*startup = (struct pboot_startup) { .size = 1, .local_size = 1, .control = -1 };
	startup->files = calloc(PBOOT_FILES_ALL(startup->size), sizeof *startup->files);
	if (!startup->files)
		return ENOMEM;
	for (i = 0; i < PBOOT_FILES_ALL(startup->size); i++)
		startup->files[i].fd = -1;
	return 0;
}

static void
open_by_engine(const struct pboot_engine *engine, struct pboot_hosts *hosts_out)
{
	pboot_self.engine = engine->name;
	pboot_join(engine, &pboot_self.startup, hosts_out);
}

/* The launcher may run in a step of an engine's, of which its own ranks are none, nor what they
 * start. */
static void
open_by_launcher(void)
{
	pboot_startup_from_environment(&pboot_self.startup);
	pboot_engine_forget();
}

static int
open_by_start(struct pboot_hosts *hosts_out)
{
	const char *ranks = getenv("GASNET_PSHM_NODES");
	const struct pboot_engine *engine;

	if (getenv("PST_JOB_CONTROL"))
		open_by_launcher();
	else if (ranks && *ranks)
		open_direct(ranks);
	else if ((engine = pboot_engine_find()) != NULL)
		open_by_engine(engine, hosts_out);
	else
		return open_alone();
	return 0;
}

static int
keeper_connect(void)
{
	int err = pboot_control_open();

	if (!err && pboot_self.engine)
		err = pboot_memory_learn();
	if (!err)
		return 0;
	if (err == EPIPE || err == ECONNRESET)
		pboot_end_without_keeper();
	psi_log("rank %u cannot reach the job's keeper: %s", pboot_self.startup.rank,
	        strerror(err));
	exit(1);
}

int
pboot_open(struct pboot_job *job_out)
{
	struct pboot_hosts hosts = { .count = 1 };
	int err = open_by_start(&hosts);

	if (err)
		return err;
	pboot_self.pid = getpid();
	if (!pboot_self.alone)
		keeper_connect();
	err = pboot_exchange_open(&hosts);
	if (err)
		return err;
	if (!hosts.host_of)
		hosts.host_of = calloc(pboot_self.startup.size, sizeof *hosts.host_of);
	if (!hosts.host_of) {
		psi_log("no memory for the table of hosts");
		return ENOMEM;
	}
	*job_out = (struct pboot_job) {
		.rank = pboot_self.startup.rank,
		.size = pboot_self.startup.size,
		.host_count = hosts.count,
		.host_index = hosts.index,
		.host_of = hosts.host_of,
		.local_rank = pboot_self.startup.local_rank,
		.local_size = pboot_self.startup.local_size,
		.direct = pboot_self.direct,
	};
	return 0;
}

static const char *
memory_handover_name(const struct pboot_startup *startup)
{
	switch (startup->memory.kind) {
	case PBOOT_SHM_SYSV:
		return "identifiers";
	case PBOOT_SHM_MMAP:
		return "fork";
	default:
		return startup->inherited ? "inheritance" : "socket";
	}
}

void
pboot_dump(FILE *out)
{
	const struct pboot_rank *self = &pboot_self;

	fprintf(out, "started by: %s\n", self->alone ? "itself, alone" :
	    self->direct ? "itself (GASNET_PSHM_NODES)" :
	    self->engine ? self->engine : "penstock-run");
	fprintf(out, "rank %u of %u, pid %d\n", self->startup.rank, self->startup.size,
	        (int)self->pid);
	if (self->startup.local_size != self->startup.size)
		fprintf(out, "number %u of the %u ranks on this host\n",
		    self->startup.local_rank, self->startup.local_size);
	if (self->startup.file_kind)
		fprintf(out, "shared files: %s\n", self->startup.file_kind);
	if (self->alone)
		return;
	fprintf(out, "memory by: %s; %u files fetched from the keeper, %u of them because an "
	    "inherited descriptor was lost\n", memory_handover_name(&self->startup),
	    self->fetched, self->missing);
	fprintf(out, "control socket: %s\n", self->reconnected ? "opened by name" : "inherited");
	fprintf(out, "signal of the keeper's death: %d\n", self->death_signal);
}
