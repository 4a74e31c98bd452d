#include "runtime/tools/introspect_network.h"

#include "runtime/tools/introspect.h"

#include "runtime/conduit/plugin.h"
#include "runtime/settings/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char said[PSI_PLUGIN_LACK_BYTES];

static void __attribute__((format(printf, 1, 2)))
network_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof said, format, args);
	va_end(args);
}

static uint32_t
network_job_processes(void)
{
	return 1;
}

/* All that a conduit asks for before it connects. */
static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI, .size_bytes = sizeof(struct psi_services),
	.log = network_log, .setting = psi_setting_value_of,
	.job_processes = network_job_processes,
};

bool
psi_introspect_network(const char *name, char *text, size_t text_bytes)
{
	static const uint32_t host_index[1];
	static const uint8_t local[1] = { 1 };
	static uint64_t counts[PSI_COUNTERS];
	const struct psi_conduit_job job = {
		.places = 1, .host_places = 1, .host_index = host_index, .local = local,
		.counts = counts,
	};
	const struct psi_conduit_ops *ops = psi_plugin_open(name, said);
	struct psi_attributes attributes;
	struct psi_conduit *conduit;

	if (!ops || !ops->probe(&services, said, sizeof said) ||
	    ops->open(&services, &job, &attributes, &conduit) != PSI_OK) {
		snprintf(text, text_bytes, "%s", said);
		return false;
	}
	ops->describe(conduit, text, text_bytes);
	if (ops->drain)
		(void)ops->drain(conduit);      /* so that it leaves no files */
	return true;
}

/* The number that stands before the word; false: the word is not there. */
static bool
number_before(const char *text, const char *word, uint64_t *number_out)
{
	const char *at = strstr(text, word);

	while (at && at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (!at || *at < '0' || *at > '9')
		return false;
	*number_out = strtoull(at, NULL, 10);
	return true;
}

bool
psi_introspect_peer_memory(const char *note, struct psi_peer_memory *memory_out)
{
	struct psi_peer_memory memory = { 0 };

	if (!number_before(note, " bytes per peer", &memory.peer_bytes))
		return false;
	(void)number_before(note, " more when connected", &memory.connected_bytes);
	*memory_out = memory;
	return true;
}

bool
psi_introspect_plugins_of(const char *launcher, char *directory_out, size_t bytes)
{
	return psi_plugin_directory_of(launcher, directory_out, bytes);
}
