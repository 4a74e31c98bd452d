/*
 * The hub (hub.c, which is included in front of this) with one function that breaks its contract,
 * as PST_OFFLOAD_HUB_EVIL says.  It does so at member 1, but for queries, from the fifth call of a
 * process on.
 */
#undef pst_offload_entry

#include <errno.h>
#include <time.h>

enum { CALLS_GOOD = 4 };

static const pst_off_host_t *host;
static unsigned calls_begun, queries;

static int
evil_is(const char *name)
{
	const char *evil = host->setting("hub", "evil");

	return evil != NULL && strcmp(evil, name) == 0;
}

static int
has_come(const pst_off_tree_t *tree)
{
	return tree->me == 1 && calls_begun > CALLS_GOOD;
}

static void
rest(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

static int
evil_open(const pst_off_host_t *its_host, pst_off_dev_t **dev_out, pst_off_attr_t *attr_out,
          const char **why_out)
{
	host = its_host;
	if (hub_open(its_host, dev_out, attr_out, why_out) != PST_OFF_OK)
		return PST_OFF_NO;
	attr_out->timeout_ns = 200 * 1000 * 1000;
	if (evil_is("endless"))
		attr_out->timeout_ns = UINT64_MAX;
	if (evil_is("no_device")) {
		hub_close(*dev_out);
		*dev_out = NULL;
	}
	return PST_OFF_OK;
}

static int
evil_query(pst_off_dev_t *dev, const pst_off_attr_t *agreed, const pst_off_op_t *op,
           uint64_t *cost_ns_out, const char **why_out)
{
	const int result = hub_query(dev, agreed, op, cost_ns_out, why_out);

	queries++;
	if (evil_is("liar"))            /* it takes all that there is */
		return PST_OFF_OK;
	if (evil_is("odd_query"))
		return 77;
	if (evil_is("impure"))
		*cost_ns_out += queries;
	if (evil_is("dear"))            /* four of them are none */
		*cost_ns_out = UINT64_C(1) << 62;
	return result;
}

static int
evil_join_start(pst_off_dev_t *dev, const pst_off_group_t *group, pst_off_tree_t **tree_out,
                const char **why_out)
{
	if (group->me == 1 && evil_is("refuses")) {
		*why_out = "not with these";
		return PST_OFF_NO;
	}
	if (group->me == 1 && evil_is("no_tree"))
		return PST_OFF_OK;
	return hub_join_start(dev, group, tree_out, why_out);
}

static int
evil_leave_test(pst_off_tree_t *tree)
{
	return tree->me == 1 && evil_is("stays") ? PST_OFF_AGAIN : hub_leave_test(tree);
}

static int
evil_start(pst_off_tree_t *tree, const pst_off_call_t *call, pst_off_req_t **req_out)
{
	calls_begun++;
	if (has_come(tree)) {
		if (evil_is("slow"))
			rest(60);
		if (evil_is("again"))
			return PST_OFF_AGAIN;
		if (evil_is("no_request"))
			return PST_OFF_OK;
		if (evil_is("odd_start"))
			return 77;
		if (evil_is("same") && tree->under_way > 0) {
			*req_out = &tree->request[0];
			return PST_OFF_OK;
		}
	}
	return hub_start(tree, call, req_out);
}

/* A request that ends without the others, or does not. */
static int
evil_test(pst_off_req_t *request, pst_off_result_t *result_out)
{
	static const pst_off_range_t range = { 1 << 20, 1 << 20 };
	const pst_off_call_t call = request->call;
	pst_off_tree_t *tree = request->tree;
	int result;

	memset(result_out, 0, sizeof *result_out);
	if (!has_come(tree))
		return hub_test(request, result_out);
	if (evil_is("late"))
		return request->cancelled ? request_end(request, PST_OFF_CANCELLED) : PST_OFF_AGAIN;
	if (evil_is("after_cancel")) {
		if (!request->cancelled)
			return PST_OFF_AGAIN;
		memset(call.dst, 0x5a, result_bytes(&call, tree->members));
		return request_end(request, PST_OFF_OK);
	}
	if (evil_is("never"))
		return PST_OFF_AGAIN;
	while (evil_is("blocks"))
		rest(1000);
	if (evil_is("fails"))
		return request_end(request, PST_OFF_FAIL);
	if (evil_is("cancelled"))
		return request_end(request, PST_OFF_CANCELLED);
	if (evil_is("odd_test"))
		return request_end(request, 77);
	if (evil_is("missing")) {
		result_out->missing_count = 1;
		result_out->missing = &range;
		return request_end(request, PST_OFF_MISSING);
	}
	result = evil_is("early") && request_write(request) ? request_end(request, PST_OFF_OK)
	                                                    : hub_test(request, result_out);
	if (result == PST_OFF_OK && evil_is("beyond"))
		memset((char *)call.dst + result_bytes(&call, tree->members), 0x5a, 8);
	return result;
}

static int
evil_wait_fd(pst_off_dev_t *dev)
{
	(void)dev;
	return evil_is("bad_fd") ? 9999 : -1;
}

const pst_off_provider_t *
pst_offload_entry(uint32_t abi_major)
{
	static pst_off_provider_t evil;

	evil = *hub_entry(abi_major);
	evil.open = evil_open;
	evil.query = evil_query;
	evil.join_start = evil_join_start;
	evil.leave_test = evil_leave_test;
	evil.start = evil_start;
	evil.test = evil_test;
	evil.wait_fd = evil_wait_fd;
	return &evil;
}
