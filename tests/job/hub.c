/*
 * A provider for tests, made from penstock_offload.h alone: a page of memory that the members of a
 * tree share, into whose slots each writes its operand. It does all operations of offload on all
 * types, with several calls under way, and is of the scope that PST_OFFLOAD_HUB_SCOPE says.
 *
 * Other settings: OPS, its operations as bits; PAYLOAD; INFLIGHT; AHEAD; MEM=1, memory has to be
 * registered; DIE, so many calls of member 1 end well; DONE=n, then the next fails when n others
 * have done it, which the rest do not; WHY=1, then it does not even start, and it logs why;
 * JOIN=hang, joins do not end; FD=1, members wake each other by a socket; ROOTS=0, member 0 alone
 * may be the root; WRONG=1, member 1 gets wrong results of calls with blocks; COST, that of
 * a call in ns.
 */
#include "hub_page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUESTS = 8 };

struct card {
	uint64_t number;
	int pid;
};

struct pst_off_dev_s {
	const pst_off_host_t *host;
	uint64_t calls, most_under_way, trees, other_roots, registered, allreduces, barriers;
	uint64_t woken, long_calls, gathers, scatters;
	int die, done, hangs, socket, wrong;
};

struct pst_off_req_s {
	pst_off_tree_t *tree;
	pst_off_call_t call;
	int used, cancelled, written;
};

struct pst_off_tree_s {
	pst_off_dev_t *dev;
	uint32_t members, me;
	uint64_t key, under_way;
	struct page *page;
	struct card cards[MEMBERS];
	const pst_off_group_t *group;
	pst_off_req_t request[REQUESTS];
};

static uint64_t
hub_number(const pst_off_host_t *host, const char *key, uint64_t otherwise)
{
	const char *text = host->setting("hub", key);

	return text != NULL ? strtoull(text, NULL, 0) : otherwise;
}

/* -- the device -------------------------------------------------------------------------------- */

static int
socket_open(void)
{
	struct sockaddr_un address;
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	address_of((int)getpid(), &address);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
hub_open(const pst_off_host_t *host, pst_off_dev_t **dev_out, pst_off_attr_t *attr_out,
         const char **why_out)
{
	pst_off_dev_t *dev = calloc(1, sizeof *dev);
	const char *join = host->setting("hub", "join");

	(void)why_out;
	dev->host = host;
	dev->wrong = (int)hub_number(host, "wrong", 0);
	dev->done = (int)hub_number(host, "done", 0);
	dev->die = (int)hub_number(host, "die", 0);
	dev->hangs = join != NULL && strcmp(join, "hang") == 0;
	dev->socket = hub_number(host, "fd", 0) ? socket_open() : -1;
	memset(attr_out, 0, sizeof *attr_out);
	attr_out->struct_bytes = sizeof *attr_out;
	attr_out->scope = (uint32_t)hub_number(host, "scope", PST_OFF_PER_LEADER);
	attr_out->ops = hub_number(host, "ops", PST_OFF_BARRIER | PST_OFF_BCAST | PST_OFF_REDUCE |
	                                        PST_OFF_ALLREDUCE | PST_OFF_REDUCE_SCATTER |
	                                        PST_OFF_GATHER_ALL);
	attr_out->caps = hub_number(host, "roots", 1) ? PST_OFF_ANY_ROOT : 0;
	if (hub_number(host, "mem", 0))
		attr_out->caps |= PST_OFF_NEEDS_MEM;
	attr_out->dtypes = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT |
	                   GEX_DT_DBL;
	attr_out->rops = NUMBERS | GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;
	attr_out->max_payload_bytes = hub_number(host, "payload", 256);
	attr_out->max_inflight = (uint32_t)hub_number(host, "inflight", 1);
	attr_out->max_ahead = (uint32_t)hub_number(host, "ahead", SLOTS / 2);
	attr_out->max_trees = 1000;
	attr_out->max_fanout = MEMBERS;
	attr_out->max_members = MEMBERS;
	attr_out->call_max_ns = 50 * 1000 * 1000;
	attr_out->cancel_max_ns = 100 * 1000;
	attr_out->timeout_ns = 2000 * 1000 * 1000ull;
	*dev_out = dev;
	return PST_OFF_OK;
}

static void
hub_close(pst_off_dev_t *dev)
{
	if (dev->socket >= 0)
		close(dev->socket);
	free(dev);
}

static int
hub_query(pst_off_dev_t *dev, const pst_off_attr_t *agreed, const pst_off_op_t *op,
          uint64_t *cost_ns_out, const char **why_out)
{
	if (!(agreed->ops & op->op) || payload_bytes(op) > agreed->max_payload_bytes ||
	    (op->op & REDUCTIONS && !type_is_served(op->dt, op->rop))) {
		*why_out = "not of the hub";
		return PST_OFF_NO;
	}
	*cost_ns_out = hub_number(dev->host, "cost", 100);
	return PST_OFF_OK;
}

/* -- trees ------------------------------------------------------------------------------------- */

static void
page_name(const pst_off_tree_t *tree, char *name, size_t bytes)
{
	snprintf(name, bytes, "/hub-%u-%llx-%llx", (unsigned)getuid(),
	         (unsigned long long)tree->cards[0].number, (unsigned long long)tree->key);
}

static int
hub_join_start(pst_off_dev_t *dev, const pst_off_group_t *group, pst_off_tree_t **tree_out,
               const char **why_out)
{
	pst_off_tree_t *tree = calloc(1, sizeof *tree);
	const struct card card = { dev->host->now_ns(), (int)getpid() };

	tree->dev = dev;
	tree->members = group->members;
	tree->me = group->me;
	tree->key = group->key;
	tree->group = group;
	if (group->oob_start(group->oob, &card, sizeof card, tree->cards) != PST_OFF_OK) {
		free(tree);
		*why_out = "the members cannot talk";
		return PST_OFF_NO;
	}
	dev->trees++;
	*tree_out = tree;
	return PST_OFF_OK;
}

static void
tree_free(pst_off_tree_t *tree)
{
	if (tree->page != NULL)
		munmap(tree->page, sizeof *tree->page);
	tree->dev->trees--;
	free(tree);
}

static int
hub_join_test(pst_off_tree_t *tree, const char **why_out)
{
	const int result = tree->group->oob_test(tree->group->oob);
	char name[96];
	int fd;

	if (result == PST_OFF_AGAIN || (result == PST_OFF_OK && tree->dev->hangs))
		return PST_OFF_AGAIN;
	page_name(tree, name, sizeof name);
	fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	if (result == PST_OFF_OK && fd >= 0 && ftruncate(fd, sizeof *tree->page) == 0)
		tree->page = mmap(NULL, sizeof *tree->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		                  0);
	if (fd >= 0)
		close(fd);
	if (tree->page == MAP_FAILED || tree->page == NULL) {
		tree->page = NULL;
		tree_free(tree);
		*why_out = "no page";
		return PST_OFF_NO;
	}
	return PST_OFF_OK;
}

static int
hub_leave_start(pst_off_tree_t *tree, int peers_lost)
{
	(void)tree;
	(void)peers_lost;
	return PST_OFF_OK;
}

static int
hub_leave_test(pst_off_tree_t *tree)
{
	char name[96];

	page_name(tree, name, sizeof name);
	if (tree->page != NULL)
		shm_unlink(name);
	tree_free(tree);
	return PST_OFF_OK;
}

/* -- memory ------------------------------------------------------------------------------------ */

static int
hub_mem_register(pst_off_dev_t *dev, void *addr, size_t nbytes, pst_off_mem_t **mem_out)
{
	*mem_out = malloc(sizeof **mem_out);
	(*mem_out)->addr = addr;
	(*mem_out)->nbytes = nbytes;
	dev->registered++;
	return PST_OFF_OK;
}

static void
hub_mem_release(pst_off_dev_t *dev, pst_off_mem_t *mem)
{
	free(mem);
	dev->registered--;
}

/* -- calls ------------------------------------------------------------------------------------- */

static void
others_wake(pst_off_tree_t *tree)
{
	struct sockaddr_un address;
	uint32_t i;

	for (i = 0; tree->dev->socket >= 0 && i < tree->members; i++)
		if (i != tree->me) {
			address_of(tree->cards[i].pid, &address);
			(void)!sendto(tree->dev->socket, "", 1, 0, (struct sockaddr *)&address,
			              sizeof address);
		}
}

static struct slot *
slot_of(const pst_off_req_t *request)
{
	return &request->tree->page->slot[request->call.seq % SLOTS];
}

/* The operand goes into the slot when all have done with it. */
static int
request_write(pst_off_req_t *request)
{
	struct slot *slot = slot_of(request);
	const pst_off_call_t *call = &request->call;
	const uint32_t me = request->tree->me;
	uint32_t i;

	if (request->written)
		return 1;
	for (i = 0; i < request->tree->members && call->seq >= SLOTS; i++)
		if (atomic_load(&slot->done[i]) < call->seq + 1 - SLOTS)
			return 0;
	if (call->op != PST_OFF_BCAST || call->root == me)
		memcpy(slot->payload[me], call->src, operand_bytes(call, request->tree->members));
	atomic_store(&slot->filled[me], call->seq + 1);
	others_wake(request->tree);
	return request->written = 1;
}

/* It has begun one call too many. */
static int
member_is_dying(const pst_off_tree_t *tree)
{
	return tree->dev->die && tree->me == 1 && tree->dev->calls > (uint64_t)tree->dev->die;
}

static int
hub_start(pst_off_tree_t *tree, const pst_off_call_t *call, pst_off_req_t **req_out)
{
	pst_off_req_t *request = NULL;
	pst_off_dev_t *dev = tree->dev;
	int i;

	if (call->nbytes && hub_number(dev->host, "mem", 0) &&
	    (!is_in(call->src, operand_bytes(call, tree->members), call->src_mem) ||
	     !is_in(call->dst, result_bytes(call, tree->members), call->dst_mem))) {
		dev->host->log(0, "hub", "memory is not registered");
		return PST_OFF_FAIL;
	}
	if (dev->die && tree->me == 1 && hub_number(dev->host, "why", 0) &&
	    dev->calls >= (uint64_t)dev->die) {
		dev->host->log(0, "hub", "the wheel has come off");
		return PST_OFF_FAIL;
	}
	for (i = 0; i < REQUESTS && request == NULL; i++)
		if (!tree->request[i].used)
			request = &tree->request[i];
	if (request == NULL)
		return PST_OFF_AGAIN;
	request->tree = tree;
	request->call = *call;
	request->used = 1;
	request->cancelled = request->written = 0;
	dev->calls++;
	dev->allreduces += call->op == PST_OFF_ALLREDUCE;
	dev->barriers += call->op == PST_OFF_BARRIER;
	dev->gathers += call->op == PST_OFF_GATHER_ALL;
	dev->scatters += call->op == PST_OFF_REDUCE_SCATTER;
	dev->other_roots += call->root != 0;
	dev->long_calls += call->nbytes > 4096;
	if (++tree->under_way > dev->most_under_way)
		dev->most_under_way = tree->under_way;
	if (dev->done && member_is_dying(tree) && !atomic_load(&tree->page->dying))
		atomic_store(&tree->page->dying, call->seq + 1);
	(void)request_write(request);
	*req_out = request;
	return PST_OFF_OK;
}

static int
request_end(pst_off_req_t *request, int result)
{
	request->used = 0;
	request->tree->under_way--;
	return result;
}

/* True: all that it needs is there. */
static int
request_is_ready(const pst_off_req_t *request)
{
	const pst_off_call_t *call = &request->call;
	const int all = call->op == PST_OFF_REDUCE ? call->root == request->tree->me
	                                           : call->op != PST_OFF_BCAST;
	uint32_t i;

	for (i = 0; i < request->tree->members; i++)
		if ((all || (call->op == PST_OFF_BCAST && i == call->root)) &&
		    atomic_load(&slot_of(request)->filled[i]) < call->seq + 1)
			return 0;
	return 1;
}

/* Of a call from the one on with which member 1 fails: has the member to do it before that? */
static int
does_before(const pst_off_req_t *request, uint32_t member)
{
	return member != 1 && member - (member > 1) < (uint32_t)request->tree->dev->done;
}

static int
others_have_done(const pst_off_req_t *request)
{
	uint32_t i;

	for (i = 0; i < request->tree->members; i++)
		if (does_before(request, i) &&
		    atomic_load(&slot_of(request)->done[i]) < request->call.seq + 1)
			return 0;
	return 1;
}

static int
is_held(const pst_off_req_t *request)
{
	const uint64_t dying = atomic_load(&request->tree->page->dying);

	return dying && request->call.seq + 1 >= dying && request->tree->me != 1 &&
	       !does_before(request, request->tree->me);
}

/* All operands are there; `own' is where this member's part of them begins. */
static void
result_write(const pst_off_req_t *request, size_t own)
{
	const pst_off_call_t *call = &request->call;
	const uint32_t members = request->tree->members;
	struct slot *slot = slot_of(request);
	uint32_t i;

	if (call->op == PST_OFF_GATHER_ALL) {
		for (i = 0; i < members; i++)
			memcpy((char *)call->dst + i * call->nbytes, slot->payload[i],
			       call->nbytes);
	} else {
		memcpy(call->dst, slot->payload[0] + own, call->nbytes);
		for (i = 1; i < members; i++)
			combine(slot->payload[i] + own, call->dst, call->nbytes, call->dt,
			        call->rop);
	}
	if (request->tree->dev->wrong && request->tree->me == 1 &&
	    call->op & (PST_OFF_GATHER_ALL | PST_OFF_REDUCE_SCATTER))
		((char *)call->dst)[result_bytes(call, members) - 1] ^= 1;
}

static int
hub_test(pst_off_req_t *request, pst_off_result_t *result_out)
{
	pst_off_tree_t *tree = request->tree;
	const pst_off_call_t *call = &request->call;
	struct slot *slot = slot_of(request);

	memset(result_out, 0, sizeof *result_out);
	if (request->cancelled)
		return request_end(request, PST_OFF_CANCELLED);
	if (member_is_dying(tree)) {
		if (tree->dev->done && (!request_write(request) || !others_have_done(request)))
			return PST_OFF_AGAIN;
		result_out->why = "the hub is worn out";
		return request_end(request, PST_OFF_FAIL);
	}
	if (!request_write(request) || !request_is_ready(request) || is_held(request))
		return PST_OFF_AGAIN;
	if (call->op == PST_OFF_BCAST)
		memcpy(call->dst, slot->payload[call->root], call->nbytes);
	else if (call->op == PST_OFF_REDUCE && call->root != tree->me)
		memset(call->dst, 0x5a, call->src == call->dst ? 0 : call->nbytes);
	else if (call->op != PST_OFF_BARRIER)
		result_write(request, call->op == PST_OFF_REDUCE_SCATTER ? tree->me * call->nbytes
		                                                         : 0);
	atomic_store(&slot->done[tree->me], call->seq + 1);
	others_wake(tree);
	return request_end(request, PST_OFF_OK);
}

static void
hub_cancel(pst_off_req_t *request)
{
	request->cancelled = 1;
}

static int
hub_progress(pst_off_dev_t *dev, unsigned budget)
{
	char byte;
	int events = 0;

	while (dev->socket >= 0 && (unsigned)events < budget && recv(dev->socket, &byte, 1, 0) >= 0)
		events++;
	dev->woken += (uint64_t)events;
	return events;
}

static int
hub_wait_fd(pst_off_dev_t *dev)
{
	return dev->socket;
}

static size_t
hub_counters(pst_off_dev_t *dev, pst_off_counter_t *counters_out, size_t max)
{
	const pst_off_counter_t counters[] = {
		{ "calls", dev->calls }, { "most_under_way", dev->most_under_way },
		{ "trees", dev->trees }, { "registered", dev->registered },
		{ "allreduces", dev->allreduces }, { "barriers", dev->barriers },
		{ "woken", dev->woken }, { "long_calls", dev->long_calls },
		{ "other_roots", dev->other_roots }, { "gathers", dev->gathers },
		{ "scatters", dev->scatters },
	};
	size_t i;

	for (i = 0; i < max && i < sizeof counters / sizeof counters[0]; i++)
		counters_out[i] = counters[i];
	return sizeof counters / sizeof counters[0];
}

const pst_off_provider_t *
pst_offload_entry(uint32_t abi_major)
{
	static const pst_off_provider_t hub = {
		.struct_bytes = sizeof hub, .abi_major = PST_OFF_ABI_MAJOR,
		.abi_minor = PST_OFF_ABI_MINOR, .name = "hub", .open = hub_open, .close = hub_close,
		.query = hub_query, .join_start = hub_join_start, .join_test = hub_join_test,
		.leave_start = hub_leave_start, .leave_test = hub_leave_test,
		.mem_register = hub_mem_register, .mem_release = hub_mem_release,
		.start = hub_start, .test = hub_test, .cancel = hub_cancel,
		.progress = hub_progress, .wait_fd = hub_wait_fd, .counters = hub_counters,
	};

	return abi_major == PST_OFF_ABI_MAJOR ? &hub : NULL;
}
