#include "config.h"

#include "runtime/tools/introspect.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "gasnet_tools.h"
#include "penstock.h"
#include "runtime/conduit/conduits.h"
#include "runtime/report/reports.h"
#include "runtime/segment/memlimits.h"
#include "runtime/settings/settings.h"
#include "runtime/tools/introspect_features.h"
#include "runtime/tools/introspect_network.h"
#include "runtime/tools/mk.h"
#include "runtime/tools/ticks.h"
#include "runtime/util/deny.h"
#include "runtime/util/topology.h"

enum { VALUE_BYTES = 1024 };

/* The caller's callback, and the group that is being reported. */
struct listener {
	psi_fact_fn *tell;
	void *context;
	const char *group;
};

static void
introspect_tell(const struct listener *to, const char *name, const char *value, const char *origin,
     const char *note)
{
	const struct psi_fact fact = { to->group, name, value, origin, note };

	to->tell(&fact, to->context);
}

static void
tell_version(struct listener *to)
{
	char text[VALUE_BYTES];

	to->group = "version";
	introspect_tell(to, "penstock", pst_version(), "build", "");
	snprintf(text, sizeof text, "%d.%d.%d", GASNETT_RELEASE_VERSION_MAJOR,
		 GASNETT_RELEASE_VERSION_MINOR, GASNETT_RELEASE_VERSION_PATCH);
	introspect_tell(to, "interface", text, "build", "release whose interface programs find "
	                                                "here");
	introspect_tell(to, "system", GASNETT_SYSTEM_TUPLE, "build", "");
	introspect_tell(to, "compiler", PLATFORM_COMPILER_IDSTR, "build", "");
	introspect_tell(to, "checks", PST_DEBUG ? "on" : "off", "build", "assertions inside the "
	                                                                 "library");
	introspect_tell(to, "sanitizers", PST_SANITIZER_LIST, "build", "");
}

/* configure says "yes", or "no (why)". */
static void
tell_conduit(const struct listener *to, const char *name, const char *configured, const char *what)
{
	const char *reason = strchr(configured, '(');   /* no (reason), which may have others */
	const bool built = !reason;
	char note[VALUE_BYTES];

	if (built)
		snprintf(note, sizeof note, "%s", what);
	else
		snprintf(note, sizeof note, "%s; %.*s", what, (int)strlen(reason) - 2, reason + 1);
	introspect_tell(to, name, built ? "yes" : "no", "build", note);
}

/* A plug-in that was built may be elsewhere, or lack what it needs on this host. */
static void
tell_plugin(const struct listener *to, const char *name, const char *configured, const char *what)
{
	char note[VALUE_BYTES];
	bool opens;

	if (strcmp(configured, "yes") != 0) {
		tell_conduit(to, name, configured, what);
		return;
	}
	opens = psi_introspect_network(name, note, sizeof note);
	introspect_tell(to, name, opens ? "yes" : "no", "plug-in", note);
}

static void
tell_conduits(struct listener *to)
{
	to->group = "conduit";
	tell_conduit(to, "smp", PST_CONDUIT_SMP, "ranks on one host, by shared memory");
	tell_plugin(to, "ibv", PST_CONDUIT_IBV, "InfiniBand and RoCE, by libibverbs");
	tell_plugin(to, "ofi", PST_CONDUIT_OFI, "many networks, by libfabric");
}

static void
tell_setting(const struct listener *to, const struct psi_setting *row)
{
	enum psi_setting_origin origin;
	const char *value = psi_setting_value(row, &origin);
	char text[VALUE_BYTES];

	if (psi_setting_is_for_tests(row))
		return;
	if (value && row->unit && !value[strspn(value, "0123456789.")]) {
		snprintf(text, sizeof text, "%s %s", value, row->unit);
		value = text;
	}
	introspect_tell(to, row->name, value ? value : "",
	                origin == PSI_ORIGIN_DEFAULT ? "default" : "environment", row->help);
}

static void
tell_settings(struct listener *to)
{
	size_t t, i;

	to->group = "setting";
	for (t = 0; psi_settings_lists[t]; t++) {
		for (i = 0; i < psi_settings_lists[t]->count; i++)
			tell_setting(to, &psi_settings_lists[t]->rows[i]);
	}
}

static void
tell_bytes(const struct listener *to, const char *name, uint64_t bytes, const char *origin,
	   const char *note)
{
	char text[VALUE_BYTES];

	if (bytes == UINT64_MAX)
		snprintf(text, sizeof text, "none");
	else if (bytes >= UINT64_C(1) << 20)
		snprintf(text, sizeof text, "%" PRIu64 " (%.1f MB)", bytes,
		         (double)bytes / 1048576);
	else
		snprintf(text, sizeof text, "%" PRIu64, bytes);
	introspect_tell(to, name, text, origin, note);
}

static uint64_t
locked_bytes(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
	               ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static void
tell_limits(struct listener *to, uint32_t ranks)
{
	struct psi_segment_case job = {
		.store_bytes = UINT64_MAX, .ranks = ranks, .mapped_ranks = ranks,
		.page_bytes = GASNETT_PAGESIZE,
	};
	const char *bound, *conduit = "smp"; /* of one host */
	const uint64_t queue_bytes = psi_conduit_queue_bytes(conduit, ranks) / ranks;
	char note[VALUE_BYTES];

	to->group = "limit";
	psi_host_memory_read("", &job.host);
	psi_segment_case_beside(&job, queue_bytes);
	if (queue_bytes == 0)
		introspect_tell(to, "queues", "none", conduit, "that many ranks are too many for "
		                                               "one host");
	else
		tell_bytes(to, "queues", queue_bytes, conduit,
			   "for each rank at most; taken when first used");
	tell_bytes(to, "memory", job.host.physical, "/proc/meminfo", "of the host");
	tell_bytes(to, "cgroup memory", job.host.cgroup, "cgroup", "least on the way up");
	tell_bytes(to, "address space", job.host.address_space, "RLIMIT_AS", "what is left of it");
	tell_bytes(to, "file size", job.host.file_size, "RLIMIT_FSIZE", "");
	tell_bytes(to, "locked memory", locked_bytes(), "RLIMIT_MEMLOCK",
	           "of a process; conduit ibv locks buffers and segments");
	psi_segment_most(&job, &bound);
	snprintf(note, sizeof note, "of each of %" PRIu32 " ranks at most; bounded by %s", ranks,
	         bound);
	tell_bytes(to, "segment", psi_memlimits_segment(&job, NULL, 0), "GASNET_MAX_SEGSIZE", note);
}

static void
tell_count(const struct listener *to, const char *name, uint64_t count, const char *origin,
	   const char *note)
{
	char text[VALUE_BYTES];

	snprintf(text, sizeof text, "%" PRIu64, count);
	introspect_tell(to, name, text, origin, note);
}

static void
tell_topology(struct listener *to, uint32_t ranks)
{
	struct psi_topology topology;
	char text[VALUE_BYTES], note[VALUE_BYTES];
	bool crowded;

	to->group = "topology";
	psi_topology_read("", &topology);
	crowded = psi_topology_crowded(&topology, NULL, ranks, 0);
	tell_count(to, "CPUs", topology.host_cpus, "/sys", "of the host");
	tell_count(to, "usable CPUs", topology.usable_cpus, "affinity",
		   psi_cpus_print(&topology.allowed, note, sizeof note));
	if (topology.quota_milli)
		snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64 " CPUs",
			 topology.quota_milli / 1000, topology.quota_milli % 1000);
	else
		snprintf(text, sizeof text, "none");
	introspect_tell(to, "quota", text, "cgroup", "CPU time");
	snprintf(note, sizeof note, "%" PRIu32 " ranks %s", ranks,
		 crowded ? "share CPUs, and yield while they wait" : "have a CPU each");
	introspect_tell(to, "crowded", crowded ? "yes" : "no", "CPUs and quota", note);
}

/* Describes gasnett_ticks_now. */
static void
tell_clock(struct listener *to)
{
	char text[VALUE_BYTES];
	double hz = psi_ticks_hz();
	bool counter = psi_ticks_from == PSI_TICKS_COUNTER;

	to->group = "clock";
	introspect_tell(to, "source", counter ? "processor" : "system", "processor and kernel",
	     counter ? "a counter of steady rate, which the kernel trusts"
		     : "CLOCK_MONOTONIC: the processor's counter is not steady, or not trusted");
	snprintf(text, sizeof text, "%.0f Hz", hz);
	introspect_tell(to, "rate", text, counter ? "GASNET_TSC_RATE" : "system",
	                "of gasnett_ticks_now");
}

/* error_out gets an errno value, or 0 if there is none to tell. */
static bool
introspect_works(const struct psi_feature *feature, int *error_out)
{
	bool there;

	errno = 0;
	there = feature->works();
	*error_out = there ? 0 : errno;
	return there;
}

static void __attribute__((cold))
tell_features(struct listener *to)
{
	const struct psi_feature *feature;
	char note[VALUE_BYTES];
	int error = 0;

	to->group = "feature";
	for (feature = psi_features; feature->name; feature++) {
		bool denied = psi_denied(feature->name),
		     there = !denied && introspect_works(feature, &error);

		snprintf(note, sizeof note, "%s; instead: %s%s%s", feature->purpose,
		         feature->fallback, error ? "; the kernel says: " : "",
		         error ? strerror(error) : "");
		introspect_tell(to, feature->name, there ? "available" : "not available",
		     denied ? "PST_TEST_DENY" : "kernel", there ? feature->purpose : note);
	}
}

static void
tell_memory_kinds(struct listener *to)
{
	const struct psi_mk_class *class;
	char note[VALUE_BYTES];

	to->group = "memory kind";
	for (class = psi_mk_classes; class->name; class++) {
		snprintf(note, sizeof note, "%s%s%s", class->what, class->lack ? "; " : "",
		         class->lack ? class->lack : "");
		introspect_tell(to, class->name, class->lack ? "not available" : "available",
		                "build", note);
	}
}

static void
tell_counters(struct listener *to)
{
	const struct pst_counter *counter;

	to->group = "counter";
	for (unsigned i = 0; (counter = pst_counter_at(i)) != NULL; i++)
		introspect_tell(to, counter->name, counter->unit, counter->group, counter->help);
}

void
psi_introspect(uint32_t ranks, psi_fact_fn *each, void *context)
{
	struct listener to = { each, context, "" };

	psi_settings_check();
	tell_version(&to);
	tell_conduits(&to);
	tell_settings(&to);
	tell_limits(&to, ranks);
	tell_topology(&to, ranks);
	tell_clock(&to);
	tell_features(&to);
	tell_memory_kinds(&to);
	tell_counters(&to);
}

void
psi_introspect_jobs(void)
{
	psi_reports_open();
}
