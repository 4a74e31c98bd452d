/* Devices of this process, and the services that they get. */
#include "offload/offload.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_ALIGN = 64 };
static const uint64_t LONGEST_NS = UINT64_C(3600000000000);

static struct poff_device devices[POFF_PROVIDERS];
static unsigned device_count;
static uint64_t payload_of[POFF_PROVIDERS];     /* of all ranks, at least; 0: it is not used */
static uint64_t ops_of[POFF_PROVIDERS];         /* of all ranks */

/* -- services ---------------------------------------------------------------------------------- */

static uint64_t
host_now_ns(void)
{
	return psi_now_ns();
}

static const char *
host_setting(const char *provider, const char *key)
{
	char name[2 * POFF_NAME_BYTES + 64];
	size_t len = (size_t)snprintf(name, sizeof name, "PST_OFFLOAD_%s_%s", provider, key);

	if (len >= sizeof name)
		return NULL;
	for (char *at = name; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	return getenv(name);
}

static void
host_log(int level, const char *provider, const char *text)
{
	poff_call_said(text);
	if (level < 2 || psi_settings_verbose())
		psi_log("offload: %s: %s", provider, text);
}

static const pst_off_host_t host = {
	.struct_bytes = sizeof host, .now_ns = host_now_ns, .setting = host_setting,
	.log = host_log,
};

/* -- opening ----------------------------------------------------------------------------------- */

/* What the table of attributes lacks or contradicts; NULL: nothing. */
static const char *
attributes_check(const struct poff_device *device)
{
	const pst_off_attr_t *attr = &device->attr;
	const pst_off_provider_t *calls = &device->provider->calls;

	if (attr->struct_bytes < sizeof *attr)
		return "its attributes are too short: set struct_bytes to their size";
	if (!attr->max_payload_bytes)
		return "its max_payload_bytes is 0";
	if (!attr->max_inflight)
		return "its max_inflight is 0";
	if (!attr->max_members)
		return "its max_members is 0";
	if (!attr->timeout_ns)
		return "its timeout_ns is 0, which all calls would last longer than";
	if (attr->timeout_ns > LONGEST_NS || attr->cancel_max_ns > LONGEST_NS)
		return "its timeout_ns or cancel_max_ns is more than an hour";
	if (attr->caps & PST_OFF_NEEDS_MEM && (!calls->mem_register || !calls->mem_release))
		return "it needs memory registered, and lacks mem_register or mem_release";
	if (attr->scope < PST_OFF_PER_LEADER || attr->scope > PST_OFF_ONE_HOST)
		return "its scope is none of PST_OFF_PER_LEADER, PER_RANK and ONE_HOST";
	if (attr->align_bytes > BUFFER_ALIGN || attr->align_bytes & (attr->align_bytes - 1))
		return "its align_bytes is no power of two up to 64";
	return NULL;
}

bool
poff_device_open(struct poff_device *device)
{
	const pst_off_provider_t *calls = &device->provider->calls;
	const char *why = NULL;

	if (device->looked)
		return device->dev != NULL;
	device->looked = true;
	if (calls->open(&host, &device->dev, &device->attr, &why) != PST_OFF_OK) {
		device->dev = NULL;
		device->why = why ? why : "it does not open";
	} else {
		device->why = device->dev ? attributes_check(device)
		                          : "its open says OK, and gives no device";
	}
	if (device->dev && device->why) {
		calls->close(device->dev);
		device->dev = NULL;
	}
	return device->dev != NULL;
}

static void
device_close(struct poff_device *device)
{
	if (device->dev)
		device->provider->calls.close(device->dev);
	device->dev = NULL;
}

void
poff_devices_close(void)
{
	for (unsigned i = 0; i < device_count; i++)
		device_close(&devices[i]);
}

void
poff_devices_stats(void)
{
	for (unsigned i = 0; i < device_count; i++)
		poff_stats_device(&devices[i]);
}

unsigned
poff_devices_progress(void)
{
	enum { BUDGET = 16 };
	unsigned events = 0;

	for (unsigned i = 0; i < device_count; i++)
		if (devices[i].dev)
			events += poff_call_progress(&devices[i], BUDGET);
	return events;
}

int
poff_device_fd(struct poff_device *device)
{
	return device->provider->calls.wait_fd ? poff_call_wait_fd(device) : -1;
}

/* -- of the job -------------------------------------------------------------------------------- */

/* FNV-1a of the names and ABIs, in their order. */
static uint32_t
devices_sum(void)
{
	uint32_t sum = 2166136261u;

	for (unsigned i = 0; i < device_count; i++)
		for (const char *at = devices[i].provider->name; *at; at++)
			sum = (sum ^ (unsigned char)*at) * 16777619u;
	return sum ^ device_count;
}

static void
devices_list(void)
{
	const struct poff_provider *providers;
	const unsigned count = poff_providers(&providers);

	for (unsigned i = 0; i < count; i++)
		if (providers[i].taken)
			devices[device_count++].provider = &providers[i];
		else if (!providers[i].unwanted && psi_settings_warns())
			psi_log("offload: %s is left out: %s", providers[i].from, providers[i].why);
}

/* What a rank knows of its devices, for all others. */
struct card {
	uint32_t sum;
	struct {
		uint32_t scope;         /* 0: it does not open */
		uint64_t payload, ops;
	} of[POFF_PROVIDERS];
};

static void
card_fill(struct card *card)
{
	*card = (struct card){ .sum = devices_sum() };
	for (unsigned i = 0; i < device_count; i++) {
		if (!poff_device_open(&devices[i]))
			continue;
		card->of[i].scope = devices[i].attr.scope;
		card->of[i].payload = devices[i].attr.max_payload_bytes;
		card->of[i].ops = devices[i].attr.ops;
	}
}

/* Of a device that opens on some ranks, from their cards.  False: they say that it has two
 * scopes. */
static bool
device_sum_up(unsigned at, const struct card *cards)
{
	struct poff_device *device = &devices[at];

	payload_of[at] = ops_of[at] = UINT64_MAX;
	device->scope = 0;
	for (gex_Rank_t rank = 0; rank < psi.boot.size; rank++) {
		if (!cards[rank].of[at].scope)
			continue;
		if (device->scope && device->scope != cards[rank].of[at].scope)
			return false;
		device->scope = cards[rank].of[at].scope;
		ops_of[at] &= cards[rank].of[at].ops;
		if (cards[rank].of[at].payload < payload_of[at])
			payload_of[at] = cards[rank].of[at].payload;
	}
	return true;
}

static unsigned
scope_bit(uint32_t scope)
{
	switch (scope) {
	case PST_OFF_PER_LEADER: return PCOLL_SCOPE_LEADERS;
	case PST_OFF_PER_RANK: return PCOLL_SCOPE_RANKS;
	case PST_OFF_ONE_HOST: return PCOLL_SCOPE_HOST;
	default: return 0;
	}
}

/* The first says whether ranks are members for themselves, or in two levels.  One that opens
 * nowhere stays, as one of the first one's, so that teams count what it declines. */
static const char *
device_use(struct poff_device *device, unsigned *scopes)
{
	const bool ranks = *scopes & PCOLL_SCOPE_RANKS;

	if (!device->scope)
		device->scope = ranks ? PST_OFF_PER_RANK : PST_OFF_PER_LEADER;
	if (*scopes && ranks != (device->scope == PST_OFF_PER_RANK))
		return "its scope does not go with that of the providers before it";
	if (device->scope == PST_OFF_PER_LEADER && !psi.networked)
		return NULL;
	device->used = true;
	*scopes |= scope_bit(device->scope);
	return NULL;
}

/* The first rank on which it does not open says so, for all. */
static void
device_tell_closed(unsigned at, const struct card *cards)
{
	gex_Rank_t rank = 0;

	while (rank < psi.boot.size && cards[rank].of[at].scope)
		rank++;
	if (rank == psi.boot.rank && !psi_setting_bool(psi_setting_named("GASNET_QUIET")))
		psi_log("offload: %s does not open: %s", devices[at].provider->name,
		        devices[at].why);
}

static unsigned
devices_use(const struct card *cards)
{
	unsigned scopes = 0;

	for (unsigned i = 0; i < device_count; i++) {
		device_tell_closed(i, cards);
		const char *why = device_sum_up(i, cards)
			                  ? device_use(&devices[i], &scopes)
			                  : "ranks have it with different scopes";

		if (why && psi_settings_warns())
			psi_log("offload: %s is left out: %s", devices[i].provider->name, why);
		if (!devices[i].used) {
			payload_of[i] = 0;
			device_close(&devices[i]);
		}
	}
	return scopes;
}

/* Called once in init, by all ranks. */
unsigned
poff_devices_agree(void)
{
	struct card own, *all = calloc(psi.boot.size, sizeof *all);
	bool alike = true;
	unsigned scopes = 0;

	if (!all)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	devices_list();
	card_fill(&own);
	pboot_exchange(&own, sizeof own, all);
	for (gex_Rank_t rank = 0; rank < psi.boot.size; rank++)
		alike = alike && all[rank].sum == own.sum;
	if (alike)
		scopes = devices_use(all);
	else if (device_count && psi_settings_warns())
		psi_log("offload: ranks have different providers, so none is used; install the "
		        "same on all hosts");
	if (!alike)
		poff_devices_close();
	free(all);
	return scopes;
}

uint64_t
poff_devices_payload(uint64_t ops)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < device_count; i++)
		if ((ops_of[i] & ops) && payload_of[i] > most)
			most = payload_of[i];
	return most;
}

struct poff_device *
poff_device_at(uint32_t scope, unsigned at)
{
	for (unsigned i = 0; i < device_count; i++)
		if (devices[i].used && devices[i].scope == scope && !at--)
			return &devices[i];
	return NULL;
}
