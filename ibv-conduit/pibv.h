/*
 * The ibv conduit: active messages, puts and gets by reliable connections of InfiniBand and RoCE.
 *
 * A process has one device context, one shared receive queue in which the messages of all peers
 * arrive, one completion queue, and one reliable connection to each process that it has talked to
 * (pibv_connection.c).  Connections are made by datagrams on first use (pibv_hello.c).
 *
 * Work.  Each connection has a ring with one entry for each work request that its send queue has.
 * Most requests ask for no completion.  The completion of one says that all before it on the same
 * connection are done, so it retires their entries too (pibv_work.c).
 *
 * Rails.  Where the job uses several ports, the first carries all messages, and puts and gets but
 * large ones, which all ports share (pibv_stripe.c).  A connection has a queue pair for each rail.
 *
 * Flow control.  A process may have `credits' requests on their way to each place.  The place owes
 * it one credit for each request whose handler it starts, and pays with its next message to that
 * process, or with a message of its own once it owes half.  Replies need no credit: each answers a
 * request, which had one.  So what a process keeps for a port that nobody polls is bounded.  Where
 * many senders empty the receive queue, the device makes them try again (RNR), without end.
 *
 * A reply that finds no room, and a put or get that does not, wait in the backlog of their
 * connection, which nothing overtakes (pibv_backlog.c).
 *
 * Locks.  In PAR one lock, the guard, protects all that is not said to be constant or atomic.  No
 * handler runs under it, and no cookie completes.
 */
#ifndef PIBV_H
#define PIBV_H

#include "ibv-conduit/pibv_objects.h"

/* What a work request's number says: in its two highest bits whose it is, in the others which. */
enum { PIBV_OF_SEND, PIBV_OF_RECEIVE, PIBV_OF_HELLO_RECEIVE, PIBV_OF_HELLO_SEND };

static inline uint64_t
pibv_wr_id(unsigned whose, unsigned rail, uint32_t process, uint32_t number)
{
	return (uint64_t)whose << 62 | (uint64_t)rail << 60 | (uint64_t)process << 32 | number;
}

static inline unsigned pibv_wr_whose(uint64_t id) { return (unsigned)(id >> 62); }
static inline unsigned pibv_wr_rail(uint64_t id) { return id >> 60 & (PIBV_RAILS - 1); }
static inline uint32_t pibv_wr_process(uint64_t id) { return id >> 32 & 0xfffffff; }
static inline uint32_t pibv_wr_number(uint64_t id) { return (uint32_t)id; }

/* The connection that a request of the send queues was for. */
static inline struct pibv_connection *
pibv_wr_connection(const struct psi_conduit *conduit, uint64_t id)
{
	struct pibv_connection *first = conduit->connections[pibv_wr_process(id)];

	return pibv_wr_rail(id) ? first->rails[pibv_wr_rail(id)] : first;
}

static inline const struct pibv_device *
pibv_device_of(const struct psi_conduit *conduit, unsigned rail)
{
	return &conduit->devices[conduit->rails[rail].device_index];
}

static inline void
pibv_count(struct psi_conduit *conduit, enum psi_counter which)
{
	psi_count(conduit->counts ? conduit->counts : conduit->services->counts(), which);
}

/* -- pibv_device.c: which device, port and address ------------------------------------------- */

bool pibv_probe(const struct psi_services *services, char *reason, size_t reason_bytes);
/* Opens the device with the best port that is no rail of the conduit, which may be NULL.  The
 * rail's device_index is the caller's to set.  False after the text of what is missing. */
bool pibv_device_open(const struct psi_services *services, const struct psi_conduit *conduit,
                      struct pibv_device *device_out, struct pibv_rail *rail_out, char *lack,
                      size_t lack_bytes);
/* Closes what of it is open. */
void pibv_device_close(struct pibv_device *device);

/* -- pibv_address.c ---------------------------------------------------------------------------- */

/* Does a filter of ports, hca[:port,port]+hca..., name this one? */
bool pibv_filter_takes(const char *filter, const char *device, unsigned port);
/* The entry of a port's table of addresses to use; NULL: there is none. */
const struct ibv_gid_entry *pibv_gid_choose(const struct ibv_gid_entry *entries, size_t count);
enum pibv_gid_kind pibv_gid_kind_of(const struct ibv_gid_entry *entry);
const char *pibv_gid_kind_name(unsigned kind);
/* Do addresses of these kinds reach each other? */
bool pibv_gid_kinds_meet(unsigned a, unsigned b);
/* How a port reaches a peer's. */
struct ibv_ah_attr pibv_address_of(const struct pibv_rail *rail,
                                   const struct pibv_port_card *peer);

/* -- pibv_open.c ------------------------------------------------------------------------------- */

int pibv_open(const struct psi_services *services, const struct psi_conduit_job *job,
              struct psi_attributes *attributes_out, struct psi_conduit **conduit_out);
int pibv_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
                   struct psi_port **port_out);
/* Reading from it does not wait any more; 0, or -1. */
int pibv_fd_unblock(int fd);
void pibv_describe(struct psi_conduit *conduit, char *text, size_t text_bytes);

/* -- pibv_limits.c: sizes and counts, by settings and by what the device has ------------------- */

void pibv_limits_choose(struct psi_conduit *conduit);
/* Entries of the completion queue; bounds requests that ask for a completion by what it holds. */
int pibv_limits_cq_entries(struct psi_conduit *conduit);
/* Lowers the limits that all rails share to what a further rail's device can do. */
void pibv_limits_share(struct psi_conduit *conduit, const struct pibv_rail *rail);
/* The number of a setting that the runtime has checked; `fallback' if it is unset. */
uint64_t pibv_setting(const struct psi_services *services, const char *name, uint64_t fallback);
/* The largest packet of a rail, as an enum ibv_mtu; and in bytes. */
uint8_t pibv_mtu_of(const struct psi_conduit *conduit, unsigned rail);
static inline unsigned pibv_mtu_bytes(uint8_t mtu) { return 128u << mtu; }

/* -- pibv_memory.c: receive buffers and send buffers ------------------------------------------- */

/* OK, or FAILED after one line. */
int pibv_memory_open(struct psi_conduit *conduit);
void pibv_memory_close(struct psi_conduit *conduit);
/* Registers memory with a device; NULL after errno was set, which the second tells in one line. */
struct ibv_mr *pibv_register_quietly(struct psi_conduit *conduit, unsigned device, void *base,
                                     size_t len_bytes, unsigned access);
struct ibv_mr *pibv_register(struct psi_conduit *conduit, unsigned device, void *base,
                             size_t len_bytes, unsigned access);
/* Posts those that are free; where the device refuses, the job ends, after one line. */
void pibv_receives_post(struct psi_conduit *conduit);
static inline char *
pibv_receive_bytes(const struct psi_conduit *conduit, uint32_t index)
{
	return conduit->receives.bytes + index * conduit->message_bytes;
}
/* A send buffer for that connection; NULL: there is none, or it has its share.  The caller holds
 * the guard. */
struct pibv_buffer *pibv_buffer_take(struct psi_conduit *conduit,
                                     struct pibv_connection *connection);
void pibv_buffer_give(struct psi_conduit *conduit, struct pibv_buffer *buffer);

/* -- pibv_rails.c: ports beyond the first ----------------------------------------------------- */

/* As many as settings ask for and the host has; OK, or FAILED after one line. */
int pibv_rails_open(struct psi_conduit *conduit);

/* -- pibv_connect.c ---------------------------------------------------------------------------- */

int pibv_connect(struct psi_conduit *conduit);

/* -- pibv_hello.c: datagrams by which connections are made ------------------------------------- */

/* OK, or FAILED after one line; needs the completion queue. */
int pibv_hello_open(struct psi_conduit *conduit);
void pibv_hello_close(struct psi_conduit *conduit);
/* What this side of a connection says of itself. */
struct pibv_hello pibv_hello_of(const struct psi_conduit *conduit,
                                const struct pibv_connection *connection);
/* Begins to connect.  The caller holds the guard. */
void pibv_hello_start(struct psi_conduit *conduit, struct pibv_connection *connection);
/* Sends again what may have been lost, once it is time. */
void pibv_hello_advance(struct psi_conduit *conduit);
/* The device did not find the way to a peer, with that errno: is that tried again?  After some time
 * the peer is lost. */
bool pibv_hello_may_pass(struct psi_conduit *conduit, uint32_t process, int code);
/* A datagram came, or had left.  The caller holds the guard. */
void pibv_hello_arrived(struct psi_conduit *conduit, const struct ibv_wc *wc);
void pibv_hello_left(struct psi_conduit *conduit, const struct ibv_wc *wc);

/* -- pibv_knock.c: paths on which no datagram arrives ------------------------------------------ */

/* Looks whether one has turned out to be such, which ends the job; in each poll that has time for
 * it, and before a sleep.  Of the time since the last look, most_ns count at most.  The caller
 * holds the guard, here and below. */
void pibv_knock_look(struct psi_conduit *conduit, uint64_t most_ns);
/* A hello has come from there, so that path is not dead. */
void pibv_knock_hello_came(struct psi_conduit *conduit, uint32_t process);

/* -- pibv_connection.c ------------------------------------------------------------------------- */

/* How much goes inline, by what the device takes. */
void pibv_inline_choose(struct psi_conduit *conduit);
/* Begins to connect to a process; NULL: it cannot.  The caller holds the guard. */
struct pibv_connection *pibv_connection_begin(struct psi_conduit *conduit, uint32_t process);
/* Makes one, without a hello; NULL after one line. */
struct pibv_connection *pibv_connection_make(struct psi_conduit *conduit, uint32_t process);
/* The connection and those of its rails have become that. */
void pibv_connection_done(struct pibv_connection *connection);
/* The peer's side is known: this one receives, and may send.  False after one line, or where it is
 * tried again with the next hello. */
bool pibv_connection_ready(struct psi_conduit *conduit, struct pibv_connection *connection,
                           const struct pibv_hello *peer);
void pibv_connections_close(struct psi_conduit *conduit);
/* Those of all places with that index; NULL: no memory. */
uint16_t *pibv_spent_make(struct psi_conduit *conduit, uint32_t index);

/* -- pibv_work.c: the send queue of a connection ----------------------------------------------- */

/* Posts a chain of requests, with a work for each, or NULL.  There is room.  False: the
 * device refuses it, and the connection is broken.  The caller holds the guard, here and below. */
bool pibv_work_post(struct psi_conduit *conduit, struct pibv_connection *connection,
                    struct ibv_send_wr *first, const struct pibv_work *const *works);
/* The device has refused a request: it has no memory for it, or an error came before.  False. */
bool pibv_work_refused(struct psi_conduit *conduit, struct pibv_connection *connection, int code);
/* Asks for the completion of all that somebody waits for (now: although one poll has been made
 * since it was posted, or none); of all that there is. */
void pibv_work_flush_wanted(struct psi_conduit *conduit, bool now);
void pibv_work_flush_all(struct psi_conduit *conduit);
/* All up to that number is done. */
void pibv_work_retire(struct psi_conduit *conduit, struct pibv_connection *connection,
                      uint32_t number, struct pibv_done *done);
/* Is there something in a send queue of a peer that is not lost? */
bool pibv_work_pending(const struct psi_conduit *conduit);

/* -- pibv_stripe.c: puts and gets that the rails share ----------------------------------------- */

/* Starts one, if it is large enough and there is memory; false: it goes by the first rail.  The
 * caller holds the guard, here and below. */
bool pibv_stripes_start(struct psi_conduit *conduit, struct pibv_connection *connection,
                        const struct pibv_move *move);
/* The local key of the transfer's memory on the rail of a connection. */
uint32_t pibv_stripe_key(const struct psi_conduit *conduit, const struct pibv_stripe *stripe,
                         const struct pibv_connection *connection);
/* One has ended; the transfer with the last. */
void pibv_stripe_finish(struct psi_conduit *conduit, struct pibv_stripe *stripe,
                        struct pibv_done *done);
/* Something has ended on a further rail. */
void pibv_rail_moved(struct pibv_connection *connection);
/* Breaks rails on which nothing has ended for much longer than the device tries. */
void pibv_stripes_watch(struct psi_conduit *conduit);
/* The rail of a connection has failed: what it had goes by the first. */
void pibv_rail_break(struct psi_conduit *conduit, struct pibv_connection *connection,
                     const char *why);

/* -- pibv_piece.c: memory of this process in work requests ------------------------------------- */

struct pibv_piece {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pibv_work work;
	bool read;                      /* the source may change once it is posted */
};
/* Makes the request for the next piece of a transfer, which the caller then posts or drops, at that
 * address, so that the request may point into it.  False: no memory or buffer now. */
bool pibv_piece_make(struct psi_conduit *conduit, struct pibv_connection *connection,
                     struct pibv_move *move, struct pibv_piece *piece);
void pibv_piece_drop(struct psi_conduit *conduit, struct pibv_piece *piece);
/* Does the memory of all of a put have a key?  What lies in no segment is registered for it. */
bool pibv_move_has_key(struct psi_conduit *conduit, struct pibv_move *move);

/* -- pibv_am.c: messages ----------------------------------------------------------------------- */

size_t pibv_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs);
int pibv_am_send(struct psi_port *port, const struct psi_am *am);
int pibv_am_long(struct psi_port *port, struct psi_long *message);
/* The bytes that one call puts together; the caller holds the guard, here and below. */
struct pibv_message {
	struct pibv_header header;
	const int32_t *args;
	const struct pibv_tail *tail;   /* NULL where the category has none */
	const void *payload;
};
/* Sends a message on a connection, in one chain behind a piece of a put, unless that is NULL; the
 * caller has found room for both before it posted the pieces before that.  AGAIN: no room or
 * buffer, and nothing was posted.  FATAL: the connection is broken. */
int pibv_message_send(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const struct pibv_message *message, struct pibv_piece *before);
/* A signal that was packed, with bytes that the receiver copies to its memory, or behind a put. */
struct pibv_message pibv_message_of_signal(const struct psi_port *port, uint32_t peer,
                                           const struct pibv_tail *tail, const void *payload,
                                           size_t len_bytes);
/* Pays what the port owes to a process. */
void pibv_pay(struct psi_port *port, uint32_t process);
/* Sends a reply that has waited; results as above. */
int pibv_message_resend(struct psi_conduit *conduit, struct pibv_connection *connection,
                        const char *message, size_t len_bytes);

/* -- pibv_rma.c: puts and gets ----------------------------------------------------------------- */

int pibv_put(struct psi_port *port, const struct psi_transfer *transfer);
int pibv_get(struct psi_port *port, const struct psi_transfer *transfer);
int pibv_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                    const struct psi_signal_operation *signal);
/* Posts what has room of a transfer, piece by piece; OK: all of it.  AGAIN: some is left.  FATAL:
 * its peer is lost.  *read_out: its read_cookie has completed.  The caller holds the guard. */
int pibv_move_advance(struct psi_conduit *conduit, struct pibv_connection *connection,
                      struct pibv_move *move, uint64_t *read_out);

/* Does a message go behind writes at all?  Not where segments are in small parts. */
bool pibv_puts_longs(const struct psi_conduit *conduit);
/* May a message go behind the writes of so many bytes to there, with room for all at once? */
bool pibv_writes_fit(const struct psi_conduit *conduit, const struct psi_remote *remote,
                     size_t len_bytes);
/* Posts all pieces of a put but the last, which the caller posts with the message behind it.  There
 * is room.  AGAIN: nothing was posted.  FATAL: the connection is broken. */
int pibv_writes_begin(struct psi_conduit *conduit, struct pibv_connection *connection,
                      struct pibv_move *move, struct pibv_piece *last);

/* -- pibv_atomic.c ----------------------------------------------------------------------------- */

bool pibv_has_atomics(const struct psi_conduit *conduit);
/* What peers may do to a segment, or by a connection. */
unsigned pibv_access_of(const struct psi_conduit *conduit, bool is_first);
int pibv_device_atomic(struct psi_port *port, const struct psi_device_atomic *operation);

/* -- pibv_segment.c: memory of this process that peers reach ----------------------------------- */

int pibv_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                      struct psi_segment_name *name_out,
                      struct psi_registration **registration_out);
void pibv_segment_release(struct psi_conduit *conduit, struct psi_registration *registration);
/* The local key of memory in a segment of this process; false if it is in none.  *len_io is cut to
 * what has that key.  The caller holds the guard. */
bool pibv_segment_key(const struct psi_conduit *conduit, unsigned device, const void *base,
                      size_t *len_io, uint32_t *key_out);
void pibv_segments_close(struct psi_conduit *conduit);

/* -- pibv_parts.c: segments in parts ----------------------------------------------------------- */

/* How many parts a segment of that many bytes, 1 or more, has. */
static inline size_t
pibv_parts_of(const struct psi_conduit *conduit, size_t len_bytes)
{
	return (len_bytes - 1) / conduit->part_bytes + 1;
}
/* Has such a table room for the parts of a segment of that many bytes?  False after one line. */
bool pibv_parts_fit(const struct psi_conduit *conduit, size_t len_bytes);
/* Makes the table of a registration's keys, and its name.  False after one line. */
bool pibv_parts_publish(struct psi_conduit *conduit, struct psi_registration *registration,
                        struct psi_segment_name *name_out);
bool pibv_name_has_parts(struct psi_segment_name name);
/* Address and key, by the rail of a connection, of memory of its peer; *len_io is cut to what has
 * that key.  False: not yet, since the peer's table is on its way.  The caller holds the guard. */
bool pibv_remote_find(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const struct psi_remote *remote, size_t *len_io, uint64_t *address_out,
                      uint32_t *key_out);
void pibv_tables_free(struct psi_conduit *conduit);

/* -- pibv_backlog.c: what waits for room ------------------------------------------------------- */

/* Room for a reply of that length, to be composed there; NULL: as many wait as there are credits,
 * or there is no memory.  The caller holds the guard, here and below. */
char *pibv_backlog_reply(struct psi_conduit *conduit, struct pibv_connection *connection,
                         size_t len_bytes);
/* AGAIN: too many wait, or there is no memory. */
int pibv_backlog_move(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const struct pibv_move *move);
/* Does what has room now. */
void pibv_backlog_advance(struct psi_conduit *conduit, struct pibv_done *done);
void pibv_backlog_free(struct pibv_connection *connection);

/* -- pibv_status.c: peers that are lost, and why ----------------------------------------------- */

/* How long the device tries until it gives a peer up. */
double pibv_tried_s(const struct psi_conduit *conduit);
/* Nothing goes on, and a line has said why.  The next poll ends the job. */
void pibv_lose(struct psi_conduit *conduit);
/* A message or transfer was lost; the caller holds the guard. */
void pibv_connection_break(struct psi_conduit *conduit, struct pibv_connection *connection,
                           const char *why);
/* The same, by the completion that says so. */
void pibv_completion_failed(struct psi_conduit *conduit, const struct ibv_wc *wc);
/* A message has come twice, or one before it has not come: the job ends. */
void pibv_message_is_out_of_turn(struct psi_conduit *conduit, const struct pibv_header *header);
/* Reads what the device tells of itself and its ports. */
void pibv_events_read(struct psi_conduit *conduit);
/* A peer was lost: ends the job if that is some time ago; without the guard. */
void pibv_tell_lost(struct psi_conduit *conduit);

/* -- pibv_deliver.c ---------------------------------------------------------------------------- */

/* Runs the handler of a message, or applies a signal; without the guard. */
void pibv_message_deliver(struct psi_port *port, char *message);
/* Delivers messages that are kept; returns how many. */
unsigned pibv_deliver_kept(struct psi_port *port, unsigned networks, unsigned budget);
/* Sends the payments that found no room.  The caller holds the guard. */
void pibv_payments_retry(struct psi_port *port);

/* -- pibv_progress.c, pibv_sleep.c ------------------------------------------------------------- */

unsigned pibv_poll(struct psi_port *port, unsigned networks, unsigned budget);
/* Reads completions, if all that were read have been taken; false if there are none. */
bool pibv_completions_read(struct psi_conduit *conduit);
/* One step without a port: messages are kept, and nobody is told of cookies.  The caller holds the
 * guard. */
void pibv_progress_alone(struct psi_conduit *conduit);
int pibv_drain(struct psi_conduit *conduit);
int pibv_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out);
int pibv_wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out);

/* The one symbol that the plug-in shows. */
extern const struct psi_conduit_ops pibv_ops __attribute__((visibility("default")));

#include "ibv-conduit/pibv_inline.h"

#endif
