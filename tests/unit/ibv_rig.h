/*
 * Ranks of a job in one process, each with an ibv conduit of its own, which talk through the mock
 * of libibverbs (ibv_mock.h).  Nothing happens but by the calls of the test, so each run is the
 * same; the clock stands still until the test moves it.  Programs wrap clock_gettime.
 */
#ifndef IBV_RIG_H
#define IBV_RIG_H

#include "ibv-conduit/pibv.h"
#include "tests/unit/ibv_mock.h"

enum {
	RIG_RANKS = MOCK_HOSTS, RIG_PORTS = 3, RIG_SAID_BYTES = 640, RIG_DONE = 20000,
	RIG_SIGNALS = 256, RIG_KEPT = 64, RIG_SECOND_NS = 1000000000,
	RIG_HELLO_NS = 20000000,        /* until a hello is sent again for the first time */
};

struct rig_rank;

/* What a port's messages come back to. */
struct rig_owner {
	struct rig_rank *rank;
	struct psi_port *port;
};

struct rig_rank {
	uint32_t place;
	struct psi_conduit *conduit;    /* NULL: not open */
	struct psi_port *port;          /* the first */
	struct rig_owner owners[RIG_PORTS];
	struct psi_attributes attributes;
	uint64_t count[PSI_COUNTERS];
	unsigned looks_again;
	/* Messages: how many, and the last, whose arguments are copied. */
	unsigned heard[PSI_NETWORKS];
	struct psi_arrival last;
	struct psi_port *last_port;
	int32_t args[PSI_MAX_ARGS];
	/* Called too, while the message is there; or NULL. */
	void (*deliver)(struct rig_rank *rank, struct psi_port *port,
	                const struct psi_arrival *arrival);
	uint64_t done[RIG_DONE];        /* cookies, in their order */
	unsigned done_count;
	uint64_t signals[RIG_SIGNALS];
	unsigned signal_count;
	bool refuses_signals;
	uint32_t knocker;               /* who knocks, or PSI_NO_PEER */
	unsigned knocks;                /* at this rank */
	/* What people were told: the last line, and how many. */
	char said[RIG_SAID_BYTES];
	unsigned lines;
	uint32_t lost;                  /* that `unreachable' told of */
	unsigned told_lost;
	char lost_why[RIG_SAID_BYTES];
};

extern struct rig_rank rig_ranks[RIG_RANKS];
extern struct psi_conduit *rig_kept[RIG_KEPT];  /* of jobs before */
extern uint32_t rig_places;
extern bool rig_threaded;               /* conduits open for several threads */
extern const struct psi_services rig_services;

/* The calls that follow, by this thread, are that rank's. */
struct rig_rank *rig_as(uint32_t place);

/* A setting of one rank, or of all (PSI_NO_PEER); before it opens. */
void rig_set(uint32_t place, const char *name, const char *value);

/* A job of that many ranks, each on a host of its own; the fabric is new if `fresh' is set. */
void rig_job(uint32_t places, bool fresh);
int rig_open(uint32_t place);
/* Connects all; each rank's result. */
void rig_connect(int *results_out);
/* All of it, and all goes well. */
void rig_start(uint32_t places);
/* A further port of a rank. */
struct psi_port *rig_port(uint32_t place, unsigned index);

/* One poll, of both networks. */
unsigned rig_turn(uint32_t place);
/* Polls all ranks until none has anything to do. */
void rig_settle(void);
/* Moves the clock. */
void rig_pass_ns(uint64_t ns);
/* Two ranks talk once, so that they are connected. */
void rig_meet(uint32_t a, uint32_t b);
bool rig_are_connected(uint32_t a, uint32_t b);
/* Polls, and moves the clock, until they are. */
void rig_wait_connected(uint32_t a, uint32_t b);
/* What is sent first arrives as soon as the two are connected: a Short with argument 42. */
void rig_talk(uint32_t from, uint32_t to);
/* Each rank to each other. */
void rig_talk_all(void);
/* One of the datagrams that are held arrives; each third is lost.  The number says which. */
void rig_datagram_goes(uint64_t random);
/* No rank has told people anything. */
void rig_no_lines(void);

/* Sends a Short or Medium with that many arguments: seed, seed + 1 and so on. */
int rig_send(uint32_t from, uint32_t to, unsigned network, unsigned nargs, const void *payload,
             size_t len_bytes, int32_t seed);
/* Makes memory of a rank a segment. */
struct psi_segment_name rig_bind(uint32_t place, void *base, size_t len_bytes);
/* A transfer from or to a peer's segment. */
struct psi_transfer rig_transfer(uint32_t peer, struct psi_segment_name name, uint64_t offset,
                                 void *here, size_t len_bytes, uint64_t cookie);
int rig_put(uint32_t from, struct psi_transfer transfer);
int rig_get(uint32_t from, struct psi_transfer transfer);
/* How often a cookie has completed. */
unsigned rig_done_count(uint32_t place, uint64_t cookie);

struct pibv_connection *rig_connection(uint32_t from, uint32_t to);
/* Send buffers that nobody waits for are given back, and no other is taken. */
void rig_buffers_come_back(uint32_t from, uint32_t to);

void rig_fill(unsigned char *bytes, size_t len_bytes, uint32_t seed);
bool rig_is_filled(const unsigned char *bytes, size_t len_bytes, uint32_t seed);

#endif
