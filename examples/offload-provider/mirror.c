/*
 * A provider of collectives, made from penstock_offload.h alone: "hardware" that mirrors what one
 * member writes to all others. It is a page of memory that the members share, so they have to be on
 * one machine, as parts of a host that GASNET_SUPERNODE_MAXSIZE makes. It serves broadcasts of up
 * to 256 bytes.
 *
 *     cc -shared -fPIC -I PREFIX/include mirror.c -o plugins/mirror.so
 *     PST_OFFLOAD=mirror PST_OFFLOAD_PATH=plugins penstock-run ...
 *
 * How it works. The page has a slot for each of the last calls. The root writes payload and number
 * into the slot of its call; the others wait for the number, copy, and count themselves. The root
 * takes a slot again when all have counted themselves.
 */
#include <penstock_offload.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 16, PAYLOAD = 256, HOST_TEXT = 64 };

struct slot {
	_Atomic uint64_t filled;        /* number of the call + 1 */
	_Atomic uint32_t readers;       /* that have copied it */
	unsigned char payload[PAYLOAD];
};

struct page {
	struct slot slot[SLOTS];
};

/* What members tell each other when they join: their machine, and a name for the page. */
struct card {
	char host[HOST_TEXT];
	uint64_t number;
};

struct pst_off_dev_s {
	const pst_off_host_t *host;
	uint64_t calls;
};

struct pst_off_req_s {
	pst_off_tree_t *tree;
	pst_off_call_t call;
	int used, cancelled;
};

struct pst_off_tree_s {
	pst_off_dev_t *dev;
	uint32_t members, me;
	struct page *page;
	struct card *cards;             /* of all members, by the allgather */
	const pst_off_group_t *group;   /* until the join has ended */
	pst_off_req_t request;          /* one at a time */
};

/* -- the device -------------------------------------------------------------------------------- */

static int
mirror_open(const pst_off_host_t *host, pst_off_dev_t **dev_out, pst_off_attr_t *attr_out,
            const char **why_out)
{
	pst_off_dev_t *dev = calloc(1, sizeof *dev);

	if (dev == NULL) {
		*why_out = "no memory";
		return PST_OFF_NO;
	}
	dev->host = host;
	memset(attr_out, 0, sizeof *attr_out);
	attr_out->struct_bytes = sizeof *attr_out;
	attr_out->scope = PST_OFF_PER_LEADER;
	attr_out->ops = PST_OFF_BCAST;
	attr_out->caps = PST_OFF_ANY_ROOT;
	attr_out->max_payload_bytes = PAYLOAD;
	attr_out->max_inflight = 1;
	attr_out->max_ahead = SLOTS / 2;
	attr_out->max_trees = 1000;
	attr_out->max_fanout = 1000;
	attr_out->max_members = 1000;
	attr_out->call_max_ns = 20 * 1000 * 1000;
	attr_out->cancel_max_ns = 100 * 1000;
	attr_out->timeout_ns = 1000 * 1000 * 1000;
	*dev_out = dev;
	return PST_OFF_OK;
}

static void
mirror_close(pst_off_dev_t *dev)
{
	free(dev);
}

static int
mirror_query(pst_off_dev_t *dev, const pst_off_attr_t *agreed, const pst_off_op_t *op,
             uint64_t *cost_ns_out, const char **why_out)
{
	(void)dev;
	(void)agreed;
	if (op->op != PST_OFF_BCAST || op->nbytes > PAYLOAD) {
		*why_out = "not a broadcast of up to 256 bytes";
		return PST_OFF_NO;
	}
	*cost_ns_out = 500;
	return PST_OFF_OK;
}

/* -- joining: all members say on which machine they are, then open one page -------------------- */

static void
page_name(const pst_off_tree_t *tree, char *name, size_t bytes)
{
	snprintf(name, bytes, "/mirror-%u-%llx", (unsigned)getuid(),
	         (unsigned long long)tree->cards[0].number);
}

static void
tree_free(pst_off_tree_t *tree)
{
	if (tree->page != NULL)
		munmap(tree->page, sizeof *tree->page);
	free(tree->cards);
	free(tree);
}

static int
mirror_join_start(pst_off_dev_t *dev, const pst_off_group_t *group, pst_off_tree_t **tree_out,
                  const char **why_out)
{
	pst_off_tree_t *tree = calloc(1, sizeof *tree);
	struct card card = { .number = dev->host->now_ns() ^ group->key };
	FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "r");

	if (boot != NULL) {
		if (fgets(card.host, sizeof card.host, boot) == NULL)
			card.host[0] = '\0';
		fclose(boot);
	}
	if (tree != NULL)
		tree->cards = calloc(group->members, sizeof *tree->cards);
	if (tree == NULL || tree->cards == NULL) {
		free(tree);
		*why_out = "no memory";
		return PST_OFF_NO;
	}
	tree->dev = dev;
	tree->members = group->members;
	tree->me = group->me;
	tree->group = group;
	if (group->oob_start(group->oob, &card, sizeof card, tree->cards) != PST_OFF_OK) {
		tree_free(tree);
		*why_out = "the members cannot talk";
		return PST_OFF_NO;
	}
	*tree_out = tree;
	return PST_OFF_OK;
}

static struct page *
page_open(const pst_off_tree_t *tree)
{
	char name[64];
	void *page = MAP_FAILED;
	int fd;

	page_name(tree, name, sizeof name);
	fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return NULL;
	if (ftruncate(fd, sizeof(struct page)) == 0)
		page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static int
mirror_join_test(pst_off_tree_t *tree, const char **why_out)
{
	const int result = tree->group->oob_test(tree->group->oob);
	uint32_t i;

	if (result == PST_OFF_AGAIN)
		return PST_OFF_AGAIN;
	for (i = 0; i < tree->members; i++)
		if (result != PST_OFF_OK ||
		    memcmp(tree->cards[i].host, tree->cards[0].host, HOST_TEXT) != 0) {
			tree_free(tree);
			*why_out = "the members are on several machines";
			return PST_OFF_NO;
		}
	tree->page = page_open(tree);
	if (tree->page == NULL) {
		tree_free(tree);
		*why_out = "no shared memory";
		return PST_OFF_NO;
	}
	return PST_OFF_OK;
}

static int
mirror_leave_start(pst_off_tree_t *tree, int peers_lost)
{
	(void)tree;
	(void)peers_lost;
	return PST_OFF_OK;
}

static int
mirror_leave_test(pst_off_tree_t *tree)
{
	char name[64];

	page_name(tree, name, sizeof name);
	if (tree->page != NULL)         /* else the join was cancelled */
		shm_unlink(name);
	tree_free(tree);
	return PST_OFF_OK;
}

/* -- calls ------------------------------------------------------------------------------------- */

static int
mirror_start(pst_off_tree_t *tree, const pst_off_call_t *call, pst_off_req_t **req_out)
{
	pst_off_req_t *request = &tree->request;

	if (request->used)
		return PST_OFF_AGAIN;
	request->tree = tree;
	request->call = *call;
	request->used = 1;
	request->cancelled = 0;
	tree->dev->calls++;
	*req_out = request;
	return PST_OFF_OK;
}

/* True: it is done. */
static int
root_write(struct slot *slot, const pst_off_call_t *call, uint32_t members)
{
	const uint64_t before = atomic_load(&slot->filled);

	if (before != 0 && atomic_load(&slot->readers) != members - 1)
		return 0;       /* someone still reads the call before it in this slot */
	memcpy(slot->payload, call->src, call->nbytes);
	atomic_store(&slot->readers, 0);
	atomic_store(&slot->filled, call->seq + 1);
	return 1;
}

static int
other_read(struct slot *slot, const pst_off_call_t *call)
{
	if (atomic_load(&slot->filled) != call->seq + 1)
		return 0;
	memcpy(call->dst, slot->payload, call->nbytes);
	atomic_fetch_add(&slot->readers, 1);
	return 1;
}

static int
mirror_test(pst_off_req_t *request, pst_off_result_t *result_out)
{
	pst_off_tree_t *tree = request->tree;
	const pst_off_call_t *call = &request->call;
	struct slot *slot = &tree->page->slot[call->seq % SLOTS];

	memset(result_out, 0, sizeof *result_out);
	if (request->cancelled) {
		request->used = 0;
		return PST_OFF_CANCELLED;
	}
	if (call->root == tree->me ? !root_write(slot, call, tree->members)
	                           : !other_read(slot, call))
		return PST_OFF_AGAIN;
	request->used = 0;
	return PST_OFF_OK;
}

static void
mirror_cancel(pst_off_req_t *request)
{
	request->cancelled = 1;
}

static int
mirror_progress(pst_off_dev_t *dev, unsigned budget)
{
	(void)dev;
	(void)budget;
	return 0;       /* all is done in test */
}

static size_t
mirror_counters(pst_off_dev_t *dev, pst_off_counter_t *counters_out, size_t max)
{
	if (max > 0) {
		counters_out[0].name = "calls";
		counters_out[0].value = dev->calls;
	}
	return 1;
}

const pst_off_provider_t *
pst_offload_entry(uint32_t abi_major)
{
	static const pst_off_provider_t mirror = {
		.struct_bytes = sizeof mirror, .abi_major = PST_OFF_ABI_MAJOR,
		.abi_minor = PST_OFF_ABI_MINOR, .name = "mirror", .open = mirror_open,
		.close = mirror_close, .query = mirror_query, .join_start = mirror_join_start,
		.join_test = mirror_join_test, .leave_start = mirror_leave_start,
		.leave_test = mirror_leave_test, .start = mirror_start, .test = mirror_test,
		.cancel = mirror_cancel, .progress = mirror_progress,
		.counters = mirror_counters,
	};

	return abi_major == PST_OFF_ABI_MAJOR ? &mirror : NULL;
}
