#include "bootstrap/engine/pboot_engine.h"

#include "bootstrap/engine/pboot_pmi1.h"
#include "runtime/util/log.h"
#include "runtime/util/settings_parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct pboot_engine *const engines[] = { &pboot_engine_pmix, &pboot_engine_pmi1 };

/* The environment variable by which a rank's children know that this namespace is not theirs. */
#define USED "PST_JOB_NAMESPACE"

#define LIMIT "PST_JOB_TIMEOUT"

bool
pboot_engine_has_namespace(void)
{
	const char *space = getenv("PMIX_NAMESPACE"), *used = getenv(USED);

	return space && *space && !(used && strcmp(used, space) == 0);
}

void
pboot_engine_forget(void)
{
	const char *space = getenv("PMIX_NAMESPACE");

	unsetenv("PMI_FD");
	unsetenv("PMI_PORT");
	unsetenv("PST_JOB_AGENT");
	unsetenv(LIMIT);
	if (space)
		setenv(USED, space, 1);
}

/* PST_JOB_AGENT is "name/inode": the agent's name, and the inode of the socket that it has given to
 * this rank as PMI_FD.  A process manager that a rank has started gives its own ranks another
 * socket, so they are not taken for the agent's. */
bool
pboot_engine_agent(char name_out[PBOOT_NAME_BYTES])
{
	const char *agent = getenv("PST_JOB_AGENT"), *text = getenv("PMI_FD");
	struct stat info;
	int64_t fd, inode;

	if (!agent || strlen(agent) < PBOOT_NAME_BYTES || agent[PBOOT_NAME_BYTES - 1] != '/' ||
	    !psi_parse_int(agent + PBOOT_NAME_BYTES, &inode) || !text ||
	    !psi_parse_int(text, &fd) || fd < 0 || fd > INT32_MAX ||
	    fstat((int)fd, &info) < 0 || info.st_ino != (ino_t)inode)
		return false;
	memcpy(name_out, agent, PBOOT_NAME_BYTES - 1);
	name_out[PBOOT_NAME_BYTES - 1] = '\0';
	return true;
}

uint64_t
pboot_engine_limit_ns(void)
{
	const char *text = getenv(LIMIT);
	int64_t limit_ns;

	return text && psi_parse_int(text, &limit_ns) && limit_ns > 0 ? (uint64_t)limit_ns : 0;
}

/* A process manager may have been started within a step of another, whose variables remain: Hydra
 * in a shell that srun has started, say.  An inherited socket is that of the inner one, since
 * process managers that speak PMIx pass no such descriptor on. */
const struct pboot_engine *
pboot_engine_find(void)
{
	size_t i;

	if (pboot_pmi1_is_inherited())
		return &pboot_engine_pmi1;
	for (i = 0; i < sizeof engines / sizeof *engines; i++)
		if (engines[i]->probe())
			return engines[i];
	return NULL;
}

void
pboot_engine_hint(uint32_t rank, uint32_t size)
{
	psi_log("rank %u of %u has waited for %d s until all ranks have started; is the program on "
	    "all hosts of the job? The job ends after PST_START_LIMIT", rank, size,
	    PBOOT_ENGINE_HINT_S);
}
