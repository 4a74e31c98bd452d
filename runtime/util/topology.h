/*
 * Which CPUs this process may use and how much of them, and whether ranks outnumber them.
 */
#ifndef PSI_TOPOLOGY_H
#define PSI_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSI_CPUS_MAX = 1024 };

/* CPUs by number; those beyond PSI_CPUS_MAX are left out. */
struct psi_cpus {
	uint64_t bits[PSI_CPUS_MAX / 64];
};

struct psi_topology {
	uint32_t host_cpus;	/* online on this host */
	uint32_t usable_cpus;	/* in `allowed' */
	uint64_t quota_milli;	/* CPU time the cgroup gives, thousandths of a CPU; 0: no limit */
	struct psi_cpus allowed;/* affinity of the calling thread */
};

/* Reads affinity and quota; root is "" but in tests. */
void psi_topology_read(const char *root, struct psi_topology *out);

uint32_t psi_cpus_count(const struct psi_cpus *cpus);
/* Returns how many CPUs are in at least one of these sets. */
uint32_t psi_cpus_count_all(const struct psi_cpus *sets, uint32_t count);

/* "0-3,7" or "3": true, and adds them to *out; false if the text is something else. */
bool psi_cpus_parse(const char *text, struct psi_cpus *out);

/* The same list of *cpus; returns buf. */
const char *psi_cpus_print(const struct psi_cpus *cpus, char *buf, size_t size);

/*
 * How many of the `ranks' ranks on this host have CPUs that meet those of rank `me', itself
 * included, and how many CPUs these have.  Where all ranks together outnumber the quota, all of
 * them and what `topology' may use.  sets[i] are the CPUs of rank i; NULL if all have those of
 * `topology'.
 */
uint32_t psi_topology_sharers(const struct psi_topology *topology, const struct psi_cpus *sets,
			      uint32_t ranks, uint32_t me, uint32_t *cpus_out);

/*
 * Must rank `me' of the `ranks' ranks on this host share its CPUs with others?  Yes if the ranks
 * whose CPUs meet its own outnumber all those CPUs, or if all ranks together outnumber the quota.
 * sets[i] are the CPUs of rank i; NULL if all have those of `topology'.
 */
bool psi_topology_crowded(const struct psi_topology *topology, const struct psi_cpus *sets,
			  uint32_t ranks, uint32_t me);

enum { PSI_NO_CACHE = PSI_CPUS_MAX };

/* The lowest CPU of those that share the last cache which all these CPUs have in common;
 * PSI_NO_CACHE: they have none. */
uint32_t psi_topology_cache(const char *root, const struct psi_cpus *cpus);

#endif
