#include "offload/introspect.h"

#include "offload/offload.h"

#include <stdio.h>
#include <string.h>

static const struct {
	uint64_t bit;
	const char *name;
} ops[] = {
	{ PST_OFF_BARRIER, "barrier" }, { PST_OFF_BCAST, "bcast" }, { PST_OFF_REDUCE, "reduce" },
	{ PST_OFF_ALLREDUCE, "allreduce" }, { PST_OFF_REDUCE_SCATTER, "reduce_scatter" },
	{ PST_OFF_GATHER_ALL, "gather_all" },
};

/* What the device offers, as text. */
static void
offer_text(const pst_off_attr_t *attr, char *text, size_t bytes)
{
	static const char *const members[] = {
		[PST_OFF_PER_LEADER] = "one rank of each host", [PST_OFF_PER_RANK] = "all ranks",
		[PST_OFF_ONE_HOST] = "the ranks of a host",
	};
	size_t len = 0;

	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
		if (attr->ops & ops[i].bit && len < bytes)
			len += (size_t)snprintf(text + len, bytes - len, "%s%s", len ? ", " : "",
			                        ops[i].name);
	if (len < bytes)
		snprintf(text + len, bytes - len, "; up to %llu bytes, %u trees of %s",
		         (unsigned long long)attr->max_payload_bytes, attr->max_trees,
		         members[attr->scope]);
}

static void
provider_tell(const struct poff_provider *provider,
              void (*tell)(const struct poff_fact *fact, void *arg), void *arg)
{
	struct poff_device device = { .provider = provider };
	struct poff_fact fact = {
		.name = provider->name[0] ? provider->name : "-", .from = provider->from,
		.taken = provider->taken, .why = provider->why,
	};
	char text[200];

	if (fact.taken && poff_device_open(&device)) {
		offer_text(&device.attr, text, sizeof text);
		fact.why = text;
		tell(&fact, arg);
		provider->calls.close(device.dev);
		return;
	}
	if (fact.taken) {
		fact.taken = false;
		fact.why = device.why;
	}
	tell(&fact, arg);
}

void
poff_introspect(void (*tell)(const struct poff_fact *fact, void *arg), void *arg)
{
	const struct poff_provider *providers;
	const unsigned count = poff_providers(&providers);

	for (unsigned i = 0; i < count; i++)
		provider_tell(&providers[i], tell, arg);
}
