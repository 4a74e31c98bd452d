/*
 * An engine is a process manager of others that has started this program on one host or many:
 * MPICH's Hydra, Open MPI's mpirun, Slurm's srun.  It tells each rank its number, keeps small
 * values that ranks exchange before they can reach each other, and ends all ranks when one asks for
 * that.
 *
 * The interface is what all engines have in common.  One thread of a rank uses it, between open and
 * finalize, once in the life of the process.  A function that fails prints one line on stderr.
 */
#ifndef PBOOT_ENGINE_H
#define PBOOT_ENGINE_H

#include "bootstrap/share/pboot_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PBOOT_ENGINE_VALUE_MAX = 4096,	/* bytes of one value */
	PBOOT_ENGINE_KEY_MAX = 16,	/* bytes of a key; it is made of letters */
	PBOOT_ENGINE_HINT_S = 30,	/* a fence that takes longer is mentioned once */
};

struct pboot_engine {
	const char *name;

	/* Has an engine of this kind started the process?  Looks at the environment alone. */
	bool (*probe)(void);

	/* Connects.  *size_out is 1 to PBOOT_RANKS_MAX, *rank_out is below it.  If this fails, the
	 * process must not go on without an engine, since the engine counts it as a rank. */
	bool (*open)(uint32_t *rank_out, uint32_t *size_out);

	/*
	 * put stores a value of this rank under a key, fence waits for all ranks of the job, and
	 * get reads what any rank has put before the fence.  *len_out is at most room_bytes.  All
	 * ranks make the same calls of fence in the same order.  fence waits without limit, the
	 * others do not.
	 */
	bool (*put)(const char *key, const void *value, size_t len_bytes);
	bool (*fence)(void);
	bool (*get)(uint32_t rank, const char *key, void *value_out, size_t room_bytes,
	    size_t *len_out);

	/* Asks the engine to end all ranks of the job with this status, if there is a connection.
	 * It may be called after any call that failed, open included.  It prints nothing, and may
	 * return before the end comes; the caller then ends by itself. */
	void (*abort)(int status, const char *text);

	/* Ends the connection in good order, and calls pboot_engine_forget.  From now on the engine
	 * only waits for this process, and does not take its end for a failure unless its status is
	 * not 0. */
	void (*finalize)(void);
};

/* The engine that has started this process, or NULL if none has. */
const struct pboot_engine *pboot_engine_find(void);

/*
 * Makes probe of all engines return false from now on, also in programs that this process starts.
 * PMIX_NAMESPACE stays, since a client that uses MPI too needs it; another variable says that it
 * has been used.  has_namespace: is there a PMIX_NAMESPACE that has not been used?  It is PMIx's
 * probe.
 */
void pboot_engine_forget(void);
bool pboot_engine_has_namespace(void);

/* The name at which the agent listens that has started this rank (bootstrap/ssh).  Returns false if
 * no agent has.  The caller has not opened the engine yet. */
bool pboot_engine_agent(char name_out[PBOOT_NAME_BYTES]);

/* The time that the job may run, as penstock-run says in PST_JOB_TIMEOUT (tools/engine_run.c); 0:
 * there is no limit.  To be called before the engine is opened. */
uint64_t pboot_engine_limit_ns(void);

/* Prints that a fence has taken PBOOT_ENGINE_HINT_S so far. */
void pboot_engine_hint(uint32_t rank, uint32_t size);

extern const struct pboot_engine pboot_engine_pmi1, pboot_engine_pmix;

#endif
