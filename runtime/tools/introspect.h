/*
 * What the library knows about itself and this host, as flat records for tools to print.  Needs no
 * job.  Strings live until the callback returns.
 */
#ifndef PSI_INTROSPECT_H
#define PSI_INTROSPECT_H

#include "runtime/conduit/memory_kinds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct psi_fact {
	const char
		*group; /* "version", "conduit", "setting", "limit", "topology", "clock", "feature",
				 * "memory kind", "counter" */
	const char *name;
	const char *value;
	const char *origin;	/* where the value comes from */
	const char *note;	/* what it means, or ""; one line */
};

typedef void psi_fact_fn(const struct psi_fact *fact, void *context);

/*
 * All facts, group by group, for a job of that many ranks on this host.  A setting that cannot be
 * parsed ends the process with one line and status 2.
 */
void psi_introspect(uint32_t ranks, psi_fact_fn *tell, void *context);

/* What a process keeps for each rank of the job that it reaches by a network. */
struct psi_peer_memory {
	uint64_t peer_bytes;            /* from the start on */
	uint64_t connected_bytes;       /* more, once the two have talked; 0: nothing, or unknown */
};

/* Reads that from the note of a fact of group "conduit"; false: the note does not say. */
bool psi_introspect_peer_memory(const char *note, struct psi_peer_memory *memory_out);

/*
 * Before a launcher starts a job: its keeper then reports what ranks do when one has waited for
 * long, when the time is over and when it is asked to.
 */
void psi_introspect_jobs(void);

/* The directory of plug-ins that belongs to the launcher of this path, also if both were moved.
 * False: the text does not fit. */
bool psi_introspect_plugins_of(const char *launcher, char *directory_out, size_t bytes);

/* The settings as a document, in Markdown; the same everywhere, whatever the environment. */
void psi_introspect_settings_doc(FILE *out);

const char *psi_memory_name(enum psi_memory_kind kind);

struct psi_memory_use {
	uint64_t mapped_bytes;
	uint64_t pss_bytes;	/* pages that are there, each divided by the processes that have
	                         * it */
};

/* The memory of this rank now.  The job is open.  False if the kernel does not tell. */
bool psi_introspect_memory(struct psi_memory_use use_out[PSI_MEMORY_KINDS]);

#endif
