/*
 * The contract between the runtime and its conduits: two tables, one each way.
 *
 * A conduit offers a `struct psi_conduit_ops'.  At open the runtime hands it a `struct
 * psi_services', so a conduit has no undefined symbol of the runtime and works as a plug-in under a
 * statically linked program too.  Both tables begin with ABI number and size; a mismatch is refused
 * by name.
 * The runtime lays the conduit's operations over those of extended-ref, which transfers by
 * messages, and those over fillers (conduits.c), so the table that is called has no NULL.
 * Every operation has a caller and a provider in the tree (tests/unit/t_contract).
 *
 * Words.  A *port* is a conduit's side of one endpoint of this process.  Peers are named by
 * *place*: endpoint i of process r of n has place i * n + r, so that of a process's first is its
 * job rank.
 *
 * Rules for every operation.  It never polls and never ends the job: the runtime decides both.
 * Only open and connect wait for other processes.  It may be called by any thread in PAR, and by
 * one at a time otherwise (`threaded' in the job says which), except where its paragraph says less.
 */
#ifndef PSI_CONDUIT_H
#define PSI_CONDUIT_H

#include "runtime/conduit/counters.h"
#include "runtime/conduit/memory_kinds.h"
#include "runtime/conduit/pieces.h"
#include "runtime/util/message.h"
#include "runtime/util/queue_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PSI_CONDUIT_ABI = 21, PSI_TRANSPORT_BYTES = 16, PSI_DEVICE_FDS = 16,
	PSI_PORTS_MOST = 128,           /* of a process */
};

struct psi_conduit;             /* the conduit's own state */
struct psi_port;                /* its side of one endpoint */
struct psi_registration;        /* what it keeps of a segment of this process */

/* The job as the runtime knows it when it opens a conduit.  Read only; lives as long as the job. */
struct psi_conduit_job {
	/* First endpoints, one per process; others may come later. */
	uint32_t place, places;         /* of this process; of the job */
	uint32_t host_places;           /* of this host */
	const uint32_t *host_index;     /* [places]: index among those of its own host */
	const uint8_t *local;           /* [places]: 1 if it shares memory with this process */
	bool threaded;                  /* PAR */
	bool crowded;                   /* more ranks than CPUs on this host */
	/* [PSI_COUNTERS], of this process; the conduit adds to those of the groups `queue' and
	 * `wake'.  NULL where each thread has its own: the service of that name tells. */
	uint64_t *counts;
};

/* What a network calls a segment.  Its owner's conduit makes the name, segment tables carry it, and
 * the peers' conduits get it with each transfer.  A byte of the segment has the network's address
 * origin + offset: networks that count from 0 have origin 0, others the address at the owner. */
struct psi_segment_name {
	uint64_t key;                   /* PSI_NO_KEY: the network does not reach it */
	uint64_t origin;
};

#define PSI_NO_KEY UINT64_MAX

/* Memory of a peer: bytes of the segment that is bound to its endpoint. */
struct psi_remote {
	uint32_t peer;
	struct psi_segment_name name;   /* that the owner published with the segment */
	uint64_t offset;                /* from the segment's first byte */
};

/*
 * One transfer between memory of this process and that of a peer.
 *
 * A cookie names what completes.  The runtime makes it, and the provider hands it to the service
 * `completed', once, during a poll of any port or before the operation returns; AGAIN leaves it
 * with the caller.  To a conduit it is 64 bits without a meaning.  In fact each is a part of an
 * operation (runtime/op/op.h).  The reference, which lies above the runtime, relies on that: it
 * takes a further part of the same operation for each message beyond the first, sends parts in its
 * messages, and marks them done in the handlers of the answers.
 */
struct psi_transfer {
	struct psi_remote remote;
	void *owner;                    /* as of port_open; read by the reference alone */
	void *here;                     /* put: read; get: written; fill: NULL */
	size_t len_bytes;               /* more than 0 */
	uint64_t cookie;                /* put, fill: the peer has the bytes; get: they are here */
	uint64_t read_cookie;           /* put: `here' has been read; 0: nobody asks */
	uint8_t byte;                   /* of a fill */
	bool immediate;                 /* AGAIN where no part of it can begin at once */
	bool read_now;                  /* put: `here' is not read after the return */
	bool waited;                    /* the caller waits for one of the cookies at once */
};

/* A vector, indexed or strided transfer: byte n of one side goes to byte n of the other. */
struct psi_vis_operation {
	struct psi_remote remote;       /* the peer's segment: offset 0 */
	void *owner;                    /* as of port_open; read by the reference alone */
	/* Addresses of `there', its offset added, are offsets in the peer's segment. */
	const struct psi_side *there, *here;
	size_t len_bytes;               /* of each side, more than 0 */
	uint64_t cookie, read_cookie;   /* as those of a transfer */
	bool is_put;
	bool immediate;                 /* AGAIN where no part of it can begin at once */
};

/* One atomic operation on a word of a peer; its cookie as that of a transfer. */
struct psi_word_operation {
	struct psi_remote remote;
	void *owner;                    /* as of port_open; read by the reference alone */
	uint32_t type, op;              /* index of its bit in GEX_DT_; its bit of GEX_OP_ */
	uint64_t operand1, operand2;    /* bits, widened */
	void *result;                   /* of the type's width; written if the operation fetches */
	uint64_t cookie;                /* it is made, and the result is here */
	bool immediate;                 /* nobody waits after AGAIN */
};

/*
 * An atomic operation that a device makes on an aligned word of 64 bits: it adds, or compares and
 * swaps.  It is atomic with those that devices make alone, so the runtime asks for it in domains of
 * which no two members share memory, and then for all operations, those on the caller's own memory
 * too (runtime/atomic/domain.c).
 */
struct psi_device_atomic {
	struct psi_remote remote;
	bool is_swap;
	uint64_t add;                   /* is added; or, of a swap, */
	uint64_t compare, swap;         /* takes the place of what equals `compare' */
	uint64_t *result;               /* what was there before; NULL: nobody asks */
	uint64_t cookie;                /* it is made, and the result is here */
};

/* A signal to a peer: posts to a semaphore of its, or a change of a word. */
struct psi_signal_operation {
	struct psi_remote remote;       /* of the word; of a semaphore, peer alone counts */
	void *owner;                    /* as of port_open; read by the reference alone */
	uint32_t what, n;               /* pst_what and pst_n of pst_signal_t */
	uint64_t sem, value;            /* first word of the semaphore's reference; for the word */
	uint64_t cookie;                /* the peer has applied it; 0: nobody asks */
	/* All that the peer needs to apply it (signal_arrived), with one of PSI_SIGNAL_BITS set at
	 * least; 0: 64 bits do not hold it. */
	uint64_t packed;
};

/* A conduit may use numbers without these bits for itself, where signals travel. */
#define PSI_SIGNAL_BITS UINT64_C(0xff80)

/* A Long whose destination is not mapped here.  The caller keeps it between calls. */
struct psi_long {
	const struct psi_am *am;        /* with at least one byte of payload */
	struct psi_remote dest;
	void *owner;                    /* as of port_open; read by the reference alone */
	bool immediate;                 /* the caller does not come back after AGAIN */
	uint64_t state[2];              /* the provider's; both 0 in the first call */
};

/* Runtime to conduit.  All are callable from any thread and from within an operation, unless what
 * stands above one says less. */
struct psi_services {
	uint32_t abi, size_bytes;
	/* One line for people, printed whole. */
	void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/* A setting by name, as text; NULL if there is none of that name. */
	const char *(*setting)(const char *name);
	/* The name of the host of a process, for lines that name a process. */
	const char *(*host_name)(uint32_t process);
	/* How many processes the job has; 1 outside of a job.  `probe' may ask too. */
	uint32_t (*job_processes)(void);
	/* Zero-filled memory that all processes of this host share; every process of the host asks
	 * once, for the same sizes, and gets its own mapping of the same length, len_out:
	 * most_bytes where pages that nobody touches cost nothing, least_bytes elsewhere.  NULL if
	 * there is none. */
	void *(*host_memory)(size_t most_bytes, size_t least_bytes, size_t *len_out);
	/* The memory, zero-filled, that goes with an endpoint beyond the first of a process of this
	 * host.  Asked by its own process, once, makes it, and NULL has been told of in one line;
	 * by others later, maps it: NULL where there is none, or its process has not asked yet. */
	void *(*endpoint_memory)(uint32_t place, size_t len_bytes);
	/* Runs the handler of a message that arrived; `owner' is that of port_open.  May call
	 * am_send, am_claim, am_publish and am_cancel for one reply, and poll for replies while it
	 * waits. */
	void (*deliver)(void *owner, const struct psi_arrival *arrival);
	/* What the cookie stands for has completed; never inside a lock that an operation takes. */
	void (*completed)(uint64_t cookie);
	/* A put with signal has arrived, its bytes before the signal: applies what `packed' says.
	 * False: it names nothing here, so that a stranger has sent it.  In polls, without a
	 * lock. */
	bool (*signal_arrived)(uint64_t packed);
	/* A poll has changed what threads of this process may wait for, other than by delivering a
	 * message of the port that it polled: there is room, or a message is kept for another port.
	 * Those that sleep look again.  Without a lock. */
	void (*look_again)(void);
	/* memcpy that chooses its way by size, for lines that are in another CPU's cache; ordered
	 * before later release stores. */
	void (*copy_owning)(void *dst, const void *src, size_t len_bytes);
	/* The same, for what a CPU that shares no cache with this one will read. */
	void (*copy_far)(void *dst, const void *src, size_t len_bytes);
	/* Reading a side of a transfer (pieces.h).  open: a cursor that stands at the beginning,
	 * { 0, 0 }, or where another one, of an equal side, stood: its member `at'.  look: what
	 * comes next, without taking it, and from the middle of a piece its rest alone; false at
	 * the end.  take: the first count pieces of len bytes of what was shown; or, with count
	 * 1, the first len bytes of its first piece. */
	void (*cursor_open)(struct psi_cursor *cursor, const struct psi_side *side,
	                    struct psi_position at);
	bool (*cursor_look)(struct psi_cursor *cursor, struct psi_run *run_out);
	void (*cursor_take)(struct psi_cursor *cursor, size_t len, size_t count);
	/* Gives every process of the job the same answer: the smallest of all values.  Collective,
	 * at open and connect only. */
	uint32_t (*agree_least)(uint32_t value);
	/* Gathers len_bytes of every process of the job, the same everywhere and at most 4096,
	 * into all_out, in the order of places, on all of them.  Collective, at open and connect
	 * only. */
	void (*exchange)(const void *mine, size_t len_bytes, void *all_out);
	/* The descriptor on which this process sleeps if it does so outside of a conduit's `sleep'.
	 * It becomes readable by wake_asleep, called for this process, and stays so until it is
	 * read.  -1: there is none.  Not to be closed. */
	int (*wake_fd)(void);
	/* Makes that descriptor of a process of this host readable. */
	void (*wake_asleep)(uint32_t host_index);
	/* Descriptors to sleep on besides, PSI_DEVICE_FDS at most, which become readable when what
	 * polls drive above the conduits has work; and how long at most (0: no bound).  Asked
	 * directly before the sleep. */
	unsigned (*device_fds)(int *fds_out, uint64_t *most_ns_out);
	/* For a process that gets no answer from another.  knock tells that one so by another way
	 * than the network.  A knock may be lost, so it is repeated while there is no answer.
	 * knocker returns the process that has knocked last since the call before, or PSI_NO_PEER.
	 * It costs a look at a word.  Neither waits, and both may be called in a lock of the
	 * conduit. */
	void (*knock)(uint32_t process);
	uint32_t (*knocker)(void);
	/* The calling thread's counts, for a conduit whose job->counts is NULL; valid until the
	 * operation returns. */
	uint64_t *(*counts)(void);
	/* A message to that place was lost, for a reason in the network's words, and whoever
	 * watches the processes of the job has had the time to end it; PSI_NO_PEER: the network
	 * cannot go on, or lost a message and does not say whose.  Called by polls, without a
	 * lock; ends the job, since nobody could say what else is missing. */
	void (*unreachable)(uint32_t place, const char *why);
};

/* Memory that a conduit allocates and maps; it fills this in at open. */
struct psi_attributes {
	size_t max_medium_bytes, max_long_bytes;
	size_t shared_bytes;                    /* mapped for queues, all processes of the host */
	bool device_atomics;                    /* it has the operation device_atomic */
	bool puts_longs;                        /* am_long puts to memory that has a name */
	size_t named_least_bytes;               /* less is not worth a name for one Long alone */
	char transport[PSI_TRANSPORT_BYTES];    /* what messages go through: smp, tcp, ... */
};

/* Where an area of shared memory is mapped here, in whole pages, and what it is for. */
struct psi_memory_area {
	enum psi_memory_kind kind;
	void *base;
	size_t len_bytes;
};

/* Conduit to runtime. */
struct psi_conduit_ops {
	uint32_t abi, size_bytes;
	const char *name, *release;     /* of Penstock, with which it was built */

	/* -- identity and probe ---------------------------------------------------------------- */

	/* Can this conduit run here?  Before open, no state.  If not, writes why into reason. */
	bool (*probe)(const struct psi_services *services, char *reason, size_t reason_bytes);

	/* -- open, connect --------------------------------------------------------------------- */

	/* Takes resources that need no peer.  Once per process, by the thread that calls init.  On
	 * failure everything taken is given back, and the conduit has logged one line.  The pair
	 * leaves its first conduit open, since the job ends. */
	int (*open)(const struct psi_services *services, const struct psi_conduit_job *job,
	            struct psi_attributes *attributes_out, struct psi_conduit **conduit_out);
	/* One port per endpoint; owner comes back in deliver.  That of the first endpoint before
	 * connect, others any time after it, one call at a time; serial: one thread at a time will
	 * poll it and call am_send_alone.  Opened again by its owner, with the same promise, the
	 * port is the same.  OK, or FAILED behind one line, after which the job ends. */
	int (*port_open)(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
	                 struct psi_port **port_out);
	/* Collective over the job, after every process opened its ports: addresses are exchanged,
	 * the job's common choices made.  When it returns, messages may be sent.  OK, or FAILED
	 * behind one line, after which the job ends. */
	int (*connect)(struct psi_conduit *conduit);
	/* -- active messages ------------------------------------------------------------------- */

	/* Largest payload of a Medium to this peer; the same for both directions of a pair. */
	size_t (*am_max_medium)(struct psi_port *port, uint32_t peer, unsigned network,
	                        unsigned nargs);
	/* Sends.  OK: the payload has been read, the message will arrive.  AGAIN: no room, nothing
	 * sent.  Local completion is at return: the caller's memory is free. */
	int (*am_send)(struct psi_port *port, const struct psi_am *am);
	/* Sends a Short, or a Medium, without a descriptor: psi_am_tag has made `tag', and `args'
	 * has the number of arguments that the tag gives.  Results, here and in am_send_alone, as
	 * those of am_send. */
	int (*am_short)(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args);
	int (*am_medium)(struct psi_port *port, uint32_t peer, uint32_t tag, const int32_t *args,
	                 const void *payload, size_t len_bytes);
	/* The same by the one thread that uses a serial port, while others may be in am_send. */
	int (*am_send_alone)(struct psi_port *port, const struct psi_am *am);
	/* Takes a buffer of at least claim->least_bytes for a Medium to claim->peer.  The claim
	 * takes no slot of the queue, so an open claim delays no other message.  claim->alone
	 * says who calls: set, the one thread that may call am_send_alone; else any thread, as
	 * for am_send.  The caller of am_publish sets it anew, for the thread that publishes;
	 * in am_cancel it is as in am_claim.  OK; AGAIN; UNSUPPORTED: no buffers towards that
	 * peer, the caller composes in memory of its own and calls am_send. */
	int (*am_claim)(struct psi_port *port, struct psi_claim *claim);
	/* Sends the first am->len_bytes of a claimed buffer; am->payload is not read.  OK: the
	 * claim is gone.  AGAIN: no room, the claim is still open. */
	int (*am_publish)(struct psi_port *port, const struct psi_claim *claim,
	                  const struct psi_am *am);
	/* Gives a claimed buffer back unsent; always succeeds. */
	void (*am_cancel)(struct psi_port *port, const struct psi_claim *claim);

	/* -- memory of this process that peers reach ------------------------------------------- */

	/* Makes a segment known to the network, for put and get of all peers, before it is
	 * published; once for each segment, by any thread.  Its pages are mapped until it is
	 * released.  Takes the time that the network needs for its pages, and locks them in memory
	 * where the network wants that.  UNSUPPORTED: it has no name, and its peers' transfers go
	 * by messages.  FAILED after one line: the job ends. */
	int (*segment_bind)(struct psi_conduit *conduit, void *base, size_t len_bytes,
	                    struct psi_segment_name *name_out,
	                    struct psi_registration **registration_out);
	/* Takes that back, before the pages are given back.  No peer uses the name any more. */
	void (*segment_release)(struct psi_conduit *conduit, struct psi_registration *registration);

	/* -- memory of peers that is not mapped here ------------------------------------------- */

	/* These start a transfer, outside handlers.  OK: it has begun, and ends with its cookies.
	 * AGAIN: no part of it has begun; the caller polls and tries again, or gives it up.
	 * Without `immediate' a provider should keep what finds no room, as long as memory allows.
	 * The caller has checked that the remote bytes lie in the segment.  UNSUPPORTED: this one
	 * cannot be made here, such as where the segment has no name; nothing has begun, and the
	 * pair calls the reference (pair.c). */
	int (*put)(struct psi_port *port, const struct psi_transfer *transfer);
	int (*get)(struct psi_port *port, const struct psi_transfer *transfer);
	/* Each byte there becomes transfer->byte. */
	int (*fill)(struct psi_port *port, const struct psi_transfer *transfer);
	/* Starts a vector, indexed or strided transfer.  The descriptor and its sides live until
	 * the return, and a provider that needs a side for longer copies it (psi_side_copy);
	 * lists of addresses live until the cookie.  Results as those of put. */
	int (*vis)(struct psi_port *port, const struct psi_vis_operation *vis);
	/* Starts an atomic operation, which is atomic with those that the owner's processor makes.
	 * Results as those of put. */
	int (*atomic)(struct psi_port *port, const struct psi_word_operation *operation);
	/* Starts an atomic operation of the network's device, on memory of any process, this one
	 * included.  OK, or AGAIN. */
	int (*device_atomic)(struct psi_port *port, const struct psi_device_atomic *operation);
	/* Starts a signal, which the peer applies.  Any thread, also within a poll.  Results as
	 * those of put; never kept for later. */
	int (*signal)(struct psi_port *port, const struct psi_signal_operation *signal);
	/* Starts a put and a signal, which is applied when the peer has the bytes.  The signal's
	 * cookie stands for both.  The transfer has cookies only if it has no read_now, and then
	 * the signal has none.
	 * UNSUPPORTED: not so many bytes, or not such a signal; the pair calls the reference, and
	 * what that declines too the caller makes of a put and a signal behind it.  Else
	 * results as those of signal. */
	int (*put_signal)(struct psi_port *port, const struct psi_transfer *transfer,
	                  const struct psi_signal_operation *signal);
	/* As am_send, of a Long whose destination is not mapped here: its handler runs when the
	 * payload is there.  Also within handlers.  Without `immediate' AGAIN may say that a part
	 * of it has begun, which `state' tells the provider: the caller polls, for replies alone
	 * if the Long is one, and calls again with the same descriptor until OK.  With
	 * `immediate' AGAIN says that nothing has begun, and OK, as always, that the payload has
	 * been read: what finds no room is copied. */
	int (*am_long)(struct psi_port *port, struct psi_long *message);

	/* -- progress -------------------------------------------------------------------------- */

	/* Delivers at most about budget messages of the networks in the mask and advances
	 * everything else; returns how many it delivered.  One that delivered replies may leave
	 * requests to the next poll, which looks at them.  In PAR several threads may poll one
	 * port: one finds the work, the others return 0, so that 0 does not say that nothing is
	 * there; arm looks once more.  No lock is held while a handler runs. */
	unsigned (*poll)(struct psi_port *port, unsigned networks, unsigned budget);
	/* Moves on what was accepted and has not left this process; runs no handler.  Any thread,
	 * as the rank ends.  OK: all has left.  AGAIN: call again. */
	int (*drain)(struct psi_conduit *conduit);
	/* Sleeping takes three steps, so that nothing is lost between the last look and the sleep:
	 *   arm     says that this thread is about to sleep: OK with a ticket, or AGAIN when a
	 *           message is already there; then nobody need disarm.  room_peer is a place whose
	 *           queue was full, or PSI_NO_PEER: its owner wakes the first port when there is
	 *           room.
	 *   (the runtime now looks once more at whatever it waits for)
	 *   sleep   until somebody wakes after the ticket, or timeout_ns passed (0: no bound)
	 *   disarm  once for every successful arm, slept or not.
	 * These wake: the sender of any message, the owner of room that was requested, wake(),
	 * wake_host().  A network beside smp says by `arm' alone whether a message is there; the
	 * rest is smp's (pair.c). */
	int (*arm)(struct psi_port *port, unsigned networks, uint32_t room_peer,
	           uint32_t *ticket_out);
	void (*sleep)(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns);
	/* Called in place of `sleep' by a thread that sleeps on descriptors, of which one is that
	 * of the service wake_fd; by one thread of the process at a time.  Between begin and end a
	 * wake-up makes that descriptor readable.  AGAIN: the thread was woken after the ticket,
	 * and there is nothing to end.  UNSUPPORTED: this conduit does not wake by descriptors. */
	int (*fd_sleep_begin)(struct psi_port *port, uint32_t ticket);
	void (*fd_sleep_end)(struct psi_port *port);
	void (*disarm)(struct psi_port *port);
	/* Called by a thread that waits for several ports, or for room.  It arms the first port of
	 * the process (with no networks, if it does not poll that one), arms the others by this,
	 * sleeps on the first, and disarms them all.  A send to a port that is armed so wakes the
	 * first one too.  AGAIN: there is a message, and nothing was said. */
	int (*arm_more)(struct psi_port *port, unsigned networks);
	void (*disarm_more)(struct psi_port *port);
	/* A word of this process's memory where threads of the endpoint at place `peer' say that
	 * they sleep: bit 0.  A thread that writes memory at which a sleeper looks
	 * (PSI_PEERS_MEMORY) looks there, and calls wake_peer if it is set.  *fence_out: a fence
	 * must stand between the two; otherwise the sleeper makes all processes fence.  It is
	 * called after connect.  NULL: there is none. */
	const uint32_t *(*sleep_word)(struct psi_port *port, uint32_t peer, bool *fence_out);
	/* Wakes all threads that sleep on the endpoint at place `peer', a further one too.  Where
	 * it has no sleep word, this is called behind each change. */
	void (*wake_peer)(struct psi_port *port, uint32_t peer);
	/* Wakes all threads of this process that sleep, on any port; ordered after what the caller
	 * wrote before: a thread that armed later sees that. */
	void (*wake)(struct psi_port *port);
	/* The same for all processes of this host, this one included, as far as they sleep on their
	 * first port or watch others. */
	void (*wake_host)(struct psi_port *port);
	/* The owner of place `peer', whose queue was full, wakes this process when there is room,
	 * once.  Any thread, asleep or not; the caller tries once more, since room may have come
	 * meanwhile. */
	void (*request_room)(struct psi_port *port, uint32_t peer);

	/* For a network: a descriptor to sleep on now, which becomes readable when a poll would
	 * find something, and how long at most (0: no bound), since not all that a poll advances
	 * need make it readable.  Directly before the sleep.  AGAIN: a poll would find something.
	 * UNSUPPORTED: there is none, for good. */
	int (*wait_on)(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out);

	/* -- for people ------------------------------------------------------------------------ */

	/* One line: what this conduit uses and why; printed under GASNET_VERBOSEENV.  A network
	 * says in it what it keeps for each process of the job, as "58 bytes per peer", and what a
	 * connection adds, as "9000 more when connected": penstock-info reads these two. */
	void (*describe)(struct psi_conduit *conduit, char *text, size_t text_bytes);
	/* The queue of a network from one host index to another, or to a further endpoint of that
	 * one, read by any process that maps the memory, such as the keeper, at any moment: what
	 * changes meanwhile may not fit together.  False if that memory is not yet, or not of this
	 * conduit's making. */
	bool (*queue)(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
	              uint32_t receiver, struct psi_queue_state *state_out);
	/* Area number i of the memory that this conduit shares with its peers; false past the
	 * last. */
	bool (*memory_area)(struct psi_conduit *conduit, unsigned i,
	                    struct psi_memory_area *area_out);
	/* Bytes mapped for the queues of that many endpoints of one host, all together; the bound
	 * of what they can take, since pages are taken when first used.  Pure, needs no open.  0:
	 * that many endpoints are too many, or there are no queues. */
	size_t (*queue_bytes)(uint32_t endpoints);
};

#endif
