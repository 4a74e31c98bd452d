#include "bootstrap/engine/pboot_join_net.h"

#include "bootstrap/share/pboot_settings.h"
#include "penstock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool
pboot_join_net_offer(const struct pboot_engine *engine)
{
	uint8_t secret[PBOOT_SHAKE_SECRET_BYTES];

	if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret) {
		pboot_say("cannot get random numbers from the kernel for the job's secret");
		return false;
	}
	return engine->put("secret", secret, sizeof secret);
}

/* An address of the host from which the engine has started this process, so that keepers use the
 * same network; NULL if it is not known. */
static const char *
net_toward(char text[PBOOT_ADDRESS_BYTES])
{
	static const char *const variables[] = { "SLURM_LAUNCH_NODE_IPADDR", "SSH_CONNECTION" };
	const char *value;
	size_t i;

	for (i = 0; i < sizeof variables / sizeof *variables; i++) {
		value = getenv(variables[i]);
		if (!value || !*value)
			continue;
		snprintf(text, PBOOT_ADDRESS_BYTES, "%.*s", (int)strcspn(value, " "), value);
		return text;
	}
	return NULL;
}

/* Opens the overlay and puts its address. */
static bool
net_open(const struct pboot_engine *engine, const struct pboot_hosts *hosts, const char *host,
    uint64_t period_ns, struct pboot_join_net *net, char why_out[PBOOT_JOIN_WHY_BYTES])
{
	struct pboot_overlay_options options = {
		.self = hosts->index,
		.host_count = hosts->count,
		.version = pst_version(),
		.iface = getenv("PST_NET_IFACE"),
		.limit_ns = pboot_settings_host_limit_ns(),
		.period_ns = period_ns,
	};
	char toward[PBOOT_ADDRESS_BYTES], why[PBOOT_OVERLAY_WHY_BYTES];
	const char *address;
	size_t len;

	pboot_settings_net_ports(&options.first_port, &options.last_port);
	options.toward = net_toward(toward);
	if (!engine->get(0, "secret", options.secret, sizeof options.secret, &len) ||
	    len != sizeof options.secret)
		return false;
	net->net = pboot_overlay_open(&options, why);
	if (!net->net) {
		snprintf(why_out, PBOOT_JOIN_WHY_BYTES, "host %s: %s", host, why);
		return false;
	}
	address = pboot_overlay_address(net->net);
	return engine->put("address", address, strlen(address));
}

/* Learns name and address of the host whose lowest rank is `rank'. */
static bool
net_learn_host(const struct pboot_engine *engine, const struct pboot_card *card, uint32_t rank,
    struct pboot_overlay_host *host_out)
{
	char text[PBOOT_ADDRESS_BYTES];
	size_t len;

	if (!engine->get(rank, "address", text, sizeof text - 1, &len))
		return false;
	host_out->address = strndup(text, len);
	host_out->name = strdup(card->host);
	return host_out->address && host_out->name;
}

static bool
net_learn_hosts(const struct pboot_engine *engine, const struct pboot_hosts *hosts,
    const struct pboot_card *cards, struct pboot_join_net *net)
{
	uint32_t found = 0, rank;

	net->hosts = calloc(hosts->count, sizeof *net->hosts);
	for (rank = 0; net->hosts && found < hosts->count; rank++)
		if (hosts->host_of[rank] == found &&
		    !net_learn_host(engine, &cards[rank], rank, &net->hosts[found++]))
			return false;
	return net->hosts != NULL;
}

bool
pboot_join_net_meet(const struct pboot_engine *engine, const struct pboot_hosts *hosts,
    const struct pboot_card *cards, uint32_t rank, uint64_t period_ns,
    struct pboot_join_net *net_out, char why_out[PBOOT_JOIN_WHY_BYTES])
{
	uint32_t lowest = 0;

	*net_out = (struct pboot_join_net) { 0 };
	*why_out = '\0';
	while (hosts->host_of[lowest] != hosts->index)
		lowest++;
	if (rank == lowest &&
	    !net_open(engine, hosts, cards[rank].host, period_ns, net_out, why_out))
		return false;
	if (!engine->fence())
		return false;
	return rank != lowest || net_learn_hosts(engine, hosts, cards, net_out);
}

void
pboot_join_net_free(struct pboot_join_net *net, uint32_t host_count)
{
	uint32_t host;

	if (net->net)
		pboot_overlay_free(net->net);
	for (host = 0; net->hosts && host < host_count; host++) {
		free((char *)(uintptr_t)net->hosts[host].address);
		free((char *)(uintptr_t)net->hosts[host].name);
	}
	free(net->hosts);
	*net = (struct pboot_join_net) { 0 };
}
