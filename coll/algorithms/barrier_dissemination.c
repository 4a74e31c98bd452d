/*
 * Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
 * Cost: log_k n steps of latency; each member sends k - 1 messages in each.
 * Wins: a larger radix where a message's latency is many times its overhead.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

const struct pcoll_builder pcoll_build_barrier_dissemination = {
	.operation = PCOLL_BARRIER, .name = "dissemination",
	.summary = "each tells those k^i above it, in log_k n rounds", .has_radix = true,
	.build = pcoll_add_barrier,
};
