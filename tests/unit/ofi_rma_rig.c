#include "tests/unit/ofi_rma_rig.h"

#include <sys/mman.h>

unsigned char *rma_own;
struct rma_seen rma_seen;

/* What all know; before the processes are forked. */
static struct psi_segment_name *names;
static ofi_body *run_body;

static uint64_t cookies;
static unsigned done_count;
static bool is_done[RMA_COOKIES];

uint32_t
rma_other(void)
{
	return (ofi_self.place + 1) % ofi_self.places;
}

struct psi_segment_name
rma_name(uint32_t place)
{
	return names[place];
}

/* -- cookies ----------------------------------------------------------------------------------- */

uint64_t
rma_cookie(void)
{
	ck_assert_uint_lt(cookies + 1, RMA_COOKIES);
	return ++cookies;
}

bool
rma_is_done(uint64_t cookie)
{
	return is_done[cookie];
}

unsigned
rma_done_count(void)
{
	return done_count;
}

static void
completed(uint64_t cookie)
{
	ck_assert_uint_gt(cookie, 0);
	ck_assert_uint_le(cookie, cookies);
	ck_assert(!is_done[cookie]);
	is_done[cookie] = true;
	done_count++;
}

/* -- transfers --------------------------------------------------------------------------------- */

struct psi_transfer
rma_transfer(uint64_t offset, void *here, size_t len_bytes)
{
	const uint32_t peer = rma_other();

	return (struct psi_transfer){
		.remote = { .peer = peer, .name = names[peer], .offset = offset }, .here = here,
		.len_bytes = len_bytes, .cookie = rma_cookie(),
	};
}

void
rma_begin(rma_operation *operation, const struct psi_transfer *transfer)
{
	int result;

	while ((result = operation(ofi_self.port, transfer)) == PSI_AGAIN)
		ofi_turn(ofi_self.port, PSI_BOTH_NETWORKS);
	ck_assert_int_eq(result, PSI_OK);
}

static void
rma_whole(rma_operation *operation, uint64_t offset, void *here, size_t len_bytes)
{
	const struct psi_transfer transfer = rma_transfer(offset, here, len_bytes);

	rma_begin(operation, &transfer);
	OFI_UNTIL(rma_is_done(transfer.cookie));
}

void
rma_put(uint64_t offset, void *here, size_t len_bytes)
{
	rma_whole(pofi_ops.put, offset, here, len_bytes);
}

void
rma_get(uint64_t offset, void *here, size_t len_bytes)
{
	rma_whole(pofi_ops.get, offset, here, len_bytes);
}

/* -- watching ---------------------------------------------------------------------------------- */

static struct fi_ops_rma *rma_ops;
static struct fi_ops_msg *msg_ops;

static ssize_t
watched(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags,
        ssize_t (*really)(struct fid_ep *, const struct fi_msg_rma *, uint64_t))
{
	ssize_t result = rma_seen.result;

	if (!result)
		result = really(ep, msg, flags);
	rma_seen.context = msg->context;
	rma_seen.len_bytes = msg->msg_iov->iov_len;
	return result;
}

static ssize_t
writemsg_watched(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	const ssize_t result = watched(ep, msg, flags, rma_ops->writemsg);

	rma_seen.writes += result != -FI_EAGAIN;
	rma_seen.unsafe_writes += !(flags & (FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA));
	return result;
}

static ssize_t
readmsg_watched(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	const ssize_t result = watched(ep, msg, flags, rma_ops->readmsg);

	rma_seen.reads += result != -FI_EAGAIN;
	return result;
}

static ssize_t
send_watched(struct fid_ep *ep, const void *bytes, size_t len, void *desc, fi_addr_t address,
             void *context)
{
	rma_seen.sends++;
	return msg_ops->send(ep, bytes, len, desc, address, context);
}

static ssize_t
inject_watched(struct fid_ep *ep, const void *bytes, size_t len, fi_addr_t address)
{
	rma_seen.sends++;
	return msg_ops->inject(ep, bytes, len, address);
}

void
rma_watch(void)
{
	static struct fi_ops_rma rma_watching;
	static struct fi_ops_msg msg_watching;
	struct fid_ep *ep = ofi_self.conduit->ep;

	rma_ops = ep->rma;
	msg_ops = ep->msg;
	rma_watching = *rma_ops;
	msg_watching = *msg_ops;
	rma_watching.writemsg = writemsg_watched;
	rma_watching.readmsg = readmsg_watched;
	msg_watching.send = send_watched;
	msg_watching.inject = inject_watched;
	ep->rma = &rma_watching;
	ep->msg = &msg_watching;
}

/* -- running ----------------------------------------------------------------------------------- */

/* The segment is shared memory, as those of jobs are. */
static void
rank_begin(void)
{
	struct psi_registration *registration;

	ofi_self.completed = completed;
	rma_own = mmap(NULL, RMA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	ck_assert_ptr_ne(rma_own, MAP_FAILED);
	ck_assert_msg(pofi_ops.segment_bind(ofi_self.conduit, rma_own, RMA_SEGMENT_BYTES,
	                                    &names[ofi_self.place], &registration) == PSI_OK,
	              "%s", ofi_said);
	ofi_meet_idle();
	run_body();
}

void
rma_run(uint32_t places, bool threaded, ofi_body *body)
{
	names = mmap(NULL, OFI_MAX_PLACES * sizeof *names, PROT_READ | PROT_WRITE,
	             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(names, MAP_FAILED);
	run_body = body;
	ofi_run(places, threaded, true, rank_begin);
	munmap(names, OFI_MAX_PLACES * sizeof *names);
}
