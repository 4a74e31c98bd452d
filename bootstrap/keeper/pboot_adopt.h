/*
 * A keeper for ranks that an engine has started.  The lowest rank of a host forks it.  It serves
 * these ranks as a launcher's keeper does, with four differences.  It is not their parent: it
 * learns of their ends by a pidfd or by looking at intervals, and cannot know their status.  It has
 * no launcher and no guard: it watches the process that has started the lowest rank, which is
 * usually the engine's.  Ranks that have asked to end with a status other than 0 wait until it
 * releases them, since an engine may kill all others when the first one ends so.  If the job has
 * several hosts, it tells their keepers what happens here, and they tell it what happens there
 * (pboot_peers.h).
 */
#ifndef PBOOT_ADOPT_H
#define PBOOT_ADOPT_H

#include "bootstrap/overlay/pboot_overlay.h"
#include "bootstrap/share/pboot_job.h"

#include <stdint.h>
#include <sys/types.h>

/* What the keeper is told of a rank. */
struct pboot_adopted {
	uint32_t rank;		/* in the job */
	pid_t pid;
	int messages;		/* pboot_wire_file of its stderr */
	const char *agent;	/* the name at which its agent listens; empty: it has none */
};

struct pboot_adoption {
	uint32_t size;				/* ranks of this host */
	const struct pboot_adopted *ranks;	/* [size] */
	uint32_t job_size;
	const struct pboot_hosts *hosts;
	/* The network between the keepers, open, and all hosts; NULL: the job has one host. */
	struct pboot_overlay *net;
	const struct pboot_overlay_host *net_hosts;	/* [hosts->count] */
	pid_t parent;		/* process of the engine; 0: it cannot be watched */
	int listener;		/* socket at which ranks connect by this name */
	char name[PBOOT_NAME_BYTES];
	uint64_t limit_ns;	/* time that the job may run; 0: no limit */
};

/* Forks the keeper, which is no child of the caller's.  The listener stays open here.  Returns 0 or
 * an errno value. */
int pboot_adopt(const struct pboot_adoption *adoption);

#endif
