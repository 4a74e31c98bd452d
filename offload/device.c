/* Devices of this process, and the services that they get. */
#include "offload/offload.h"

#include "runtime/process/process.h"
#include "runtime/settings/settings.h"

#include "runtime/util/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct poff_device devices[POFF_PROVIDERS];
static unsigned device_count;
static uint32_t agreed = UINT32_MAX;    /* UINT32_MAX: not asked yet; else devices all ranks have */

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
	if (attr->caps & PST_OFF_NEEDS_MEM && (!calls->mem_register || !calls->mem_release))
		return "it needs memory registered, and lacks mem_register or mem_release";
	if (attr->scope != PST_OFF_PER_LEADER)
		return "its members are not one rank of each host, which is what is served yet";
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
	if (psi.open)
		poff_watch_start();
	if (calls->open(&host, &device->dev, &device->attr, &why) != PST_OFF_OK) {
		device->dev = NULL;
		device->why = why ? why : "it does not open";
	} else {
		device->why = attributes_check(device);
	}
	if (device->dev && device->why) {
		calls->close(device->dev);
		device->dev = NULL;
	}
	return device->dev != NULL;
}

void
poff_devices_close(void)
{
	for (unsigned i = 0; i < device_count; i++) {
		if (devices[i].dev)
			devices[i].provider->calls.close(devices[i].dev);
		devices[i].dev = NULL;
	}
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

/* Called once in init, by all ranks. */
void
poff_devices_agree(void)
{
	uint32_t own, *all;

	devices_list();
	own = devices_sum();
	all = calloc(psi.boot.size, sizeof *all);
	if (!all)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	pboot_exchange(&own, sizeof own, all);
	agreed = device_count;
	for (gex_Rank_t rank = 0; rank < psi.boot.size; rank++)
		if (all[rank] != own)
			agreed = 0;
	if (!agreed && device_count && psi_settings_warns())
		psi_log("offload: ranks have different providers, so none is used; install the "
		        "same on all hosts");
	free(all);
}

struct poff_device *
poff_device_at(unsigned at)
{
	return agreed != UINT32_MAX && at < agreed ? &devices[at] : NULL;
}
