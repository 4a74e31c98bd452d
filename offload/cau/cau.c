/* The table of the provider: device, attributes, query. */
#include "offload/cau/cau.h"

#include "coll/coll.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FANOUT = 6, CALL_MAX_NS = 20 * 1000 * 1000, TIMEOUT_NS = 1000 * 1000 * 1000 };

static const uint64_t integers = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64,
                      floats = GEX_DT_FLT | GEX_DT_DBL,
                      arithmetic = GEX_OP_ADD | GEX_OP_MIN | GEX_OP_MAX,
                      logical = GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;

/* -- settings ---------------------------------------------------------------------------------- */

/* False: the text is no number from least to most. */
static bool
setting_read(const pst_off_host_t *host, const char *key, uint64_t least, uint64_t most,
             uint64_t *value_out)
{
	const char *text = host->setting("cau", key);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return true;
	value = strtoull(text, &end, 10);
	if (*end || *text < '0' || *text > '9' || value < least || value > most)
		return false;
	*value_out = value;
	return true;
}

static const char *
settings_read(pst_off_dev_t *dev)
{
	const pst_off_host_t *host = dev->host;
	const char *faults = host->setting("cau", "FAULT"), *why = NULL;
	uint64_t fanout = FANOUT, trees = CAU_TREES, seed = 1;

	if (!setting_read(host, "HOP_NS", 0, 1000 * 1000 * 1000, &dev->hop_ns))
		return "HOP_NS is no number from 0 to 1000000000";
	if (!setting_read(host, "UNIT_NS", 0, 1000 * 1000 * 1000, &dev->unit_ns))
		return "UNIT_NS is no number from 0 to 1000000000";
	if (!setting_read(host, "TIMEOUT_NS", 1000, UINT64_MAX / 4, &dev->timeout_ns))
		return "TIMEOUT_NS is no number from 1000 on";
	if (!setting_read(host, "FANOUT", 2, CAU_FANOUT, &fanout))
		return "FANOUT is no number from 2 to 8";
	if (!setting_read(host, "TREES", 0, CAU_TREES, &trees))
		return "TREES is no number from 0 to 64";
	if (!setting_read(host, "SEED", 1, UINT64_MAX, &seed))
		return "SEED is no number from 1 on";
	dev->fanout = (uint32_t)fanout;
	dev->trees = (uint32_t)trees;
	dev->faults.random = seed;
	if (faults && !poff_cau_faults_read(&dev->faults, faults, &why))
		return why;
	return NULL;
}

/* -- the device -------------------------------------------------------------------------------- */

static int
device_open(const pst_off_host_t *host, pst_off_dev_t **dev_out, pst_off_attr_t *attr_out,
            const char **why_out)
{
	pst_off_dev_t *dev = calloc(1, sizeof *dev);

	if (!dev) {
		*why_out = "no memory";
		return PST_OFF_NO;
	}
	dev->host = host;
	dev->timeout_ns = TIMEOUT_NS;
	dev->one_host = poff_cau_unit_is_only_one();
	*why_out = settings_read(dev);
	if (*why_out) {
		free(dev);
		return PST_OFF_NO;
	}
	*attr_out = (pst_off_attr_t){
		.struct_bytes = sizeof *attr_out,
		.scope = dev->one_host ? PST_OFF_PER_RANK : PST_OFF_PER_LEADER,
		.ops = PST_OFF_BCAST | PST_OFF_REDUCE, .caps = PST_OFF_ANY_ROOT,
		.dtypes = integers | floats, .rops = arithmetic | logical,
		.max_payload_bytes = CAU_PAYLOAD, .align_bytes = 1, .max_inflight = CAU_INFLIGHT,
		.max_ahead = CAU_AHEAD, .max_trees = dev->trees, .max_fanout = CAU_FANOUT,
		.max_members = UINT32_MAX, .call_max_ns = CALL_MAX_NS, .cancel_max_ns = CALL_MAX_NS,
		.timeout_ns = dev->timeout_ns,
	};
	*dev_out = dev;
	return PST_OFF_OK;
}

static void
device_close(pst_off_dev_t *dev)
{
	free(dev);
}

/* Levels of the tree, each of a hop and of one packet after the other in the unit. */
static uint64_t
cost_of(const pst_off_dev_t *dev, uint32_t members)
{
	uint64_t levels = 0, width = 1;

	for (uint64_t below = 1; below < members; below += width) {
		width *= dev->fanout;
		levels++;
	}
	return levels * (dev->hop_ns + dev->fanout * dev->unit_ns);
}

static int
device_query(pst_off_dev_t *dev, const pst_off_attr_t *agreed, const pst_off_op_t *op,
             uint64_t *cost_ns_out, const char **why_out)
{
	const uint64_t rops = arithmetic | (op->dt & floats ? 0 : logical);

	(void)agreed;
	if (poff_cau_fault_happens(&dev->faults, CAU_REFUSE_QUERY, UINT32_MAX)) {
		*why_out = "a fault refuses it";
		return PST_OFF_NO;
	}
	if (op->nbytes > CAU_PAYLOAD) {
		*why_out = "more than 64 bytes";
		return PST_OFF_NO;
	}
	if (op->op == PST_OFF_REDUCE &&
	    (!(op->dt & (integers | floats)) || !(op->rop & rops))) {
		*why_out = "a type or operator that the unit does not have";
		return PST_OFF_NO;
	}
	*cost_ns_out = cost_of(dev, op->members);
	return PST_OFF_OK;
}

static int
device_progress(pst_off_dev_t *dev, unsigned budget)
{
	unsigned events = 0;

	for (pst_off_tree_t *tree = dev->first_tree; tree && events < budget; tree = tree->next)
		if (tree->joined)
			events += poff_cau_tree_progress(tree, budget - events);
	return (int)events;
}

static uint64_t
trees_held(const pst_off_dev_t *dev)
{
	uint64_t held = 0;

	for (const pst_off_tree_t *tree = dev->first_tree; tree; tree = tree->next)
		held += tree->takes_number;
	return held;
}

static size_t
device_counters(pst_off_dev_t *dev, pst_off_counter_t *counters_out, size_t max)
{
	const pst_off_counter_t counters[] = {
		{ "packets", dev->count.packets }, { "bytes", dev->count.bytes },
		{ "calls", dev->count.calls }, { "trees", dev->count.trees },
		{ "joins_refused", dev->count.refused }, { "dropped", dev->count.dropped },
		{ "damaged", dev->count.corrupt }, { "trees_held", trees_held(dev) },
	};
	const size_t count = sizeof counters / sizeof counters[0];

	for (size_t i = 0; i < count && i < max; i++)
		counters_out[i] = counters[i];
	return count;
}

static int
device_inject(pst_off_dev_t *dev, const char *fault)
{
	const char *why;

	return poff_cau_faults_read(&dev->faults, fault, &why) ? PST_OFF_OK : PST_OFF_NO;
}

const pst_off_provider_t poff_cau = {
	.struct_bytes = sizeof poff_cau, .abi_major = PST_OFF_ABI_MAJOR,
	.abi_minor = PST_OFF_ABI_MINOR, .name = "cau", .open = device_open, .close = device_close,
	.query = device_query, .join_start = poff_cau_join_start, .join_test = poff_cau_join_test,
	.leave_start = poff_cau_leave_start, .leave_test = poff_cau_leave_test,
	.start = poff_cau_start, .test = poff_cau_test, .cancel = poff_cau_cancel,
	.progress = device_progress, .counters = device_counters, .inject = device_inject,
};
