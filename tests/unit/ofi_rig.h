/*
 * Processes that open the ofi conduit and talk over the loopback interface, with services that need
 * no job.  A test forks them; each runs a function, and the first that fails or takes too long
 * fails the test.
 */
#ifndef OFI_RIG_H
#define OFI_RIG_H

#include "ofi-conduit/pofi.h"

#include <check.h>
#include <stdatomic.h>

enum { OFI_MAX_PLACES = 4, OFI_MAX_PORTS = 3, OFI_SAID_BYTES = 400 };

/* One process, as the function that it runs sees it. */
struct ofi_rank {
	uint32_t place, places;
	bool several_hosts;             /* set before ofi_open: all others are elsewhere */
	struct psi_conduit *conduit;
	struct psi_port *port;          /* the first; its owner is the rank */
	struct psi_attributes attributes;
	void (*deliver)(struct psi_port *port, const struct psi_arrival *arrival);
	void (*completed)(uint64_t cookie);
	bool (*signal_arrived)(uint64_t packed);
	uint64_t count[PSI_COUNTERS];
	_Atomic unsigned looks_again;   /* how often it was told that others should look */
	uint32_t lost;                  /* the place that the conduit called unreachable */
};

/* What this process is; a test's deliver finds it here. */
extern struct ofi_rank ofi_self;
/* The last line that the conduit said. */
extern char ofi_said[OFI_SAID_BYTES];
/* A word for each process, in memory that all share. */
extern _Atomic uint64_t *ofi_words;

typedef void ofi_body(void);

/* Runs body in that many processes; they have opened and connected the conduit where `connected'
 * says so. */
void ofi_run(uint32_t places, bool threaded, bool connected, ofi_body *body);
/* Sets what the service `setting' says of a name, in processes forked from now on. */
void ofi_set(const char *name, const char *value);

/* What pofi_open and pofi_connect return to this process. */
int ofi_open(bool threaded);
int ofi_connect(void);
/* A further port of this process, owned by itself. */
struct psi_port *ofi_port(unsigned index);

/* Has libfabric a provider of that name here? */
bool ofi_has_provider(const char *name);

/* Waits until all processes are here, and polls meanwhile; the second does not poll. */
void ofi_meet(void);
void ofi_meet_idle(void);
/* Sends, and polls those networks while there is no room. */
void ofi_send(struct psi_port *port, const struct psi_am *am, unsigned networks);
/* Polls until the condition holds. */
#define OFI_UNTIL(condition) \
	while (!(condition)) \
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS)
void ofi_turn(struct psi_port *port, unsigned networks);

/* Payloads that tell where they come from. */
void ofi_fill(unsigned char *bytes, size_t len_bytes, uint32_t seed);
bool ofi_is_filled(const unsigned char *bytes, size_t len_bytes, uint32_t seed);

#endif
