#include "tools/conduits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/tools/introspect.h"

enum { COLUMN = 6, LINE = 96, NETWORKS = 4, NAME_BYTES = 16 };

static const uint32_t sizes[] = { 2, 16, 128, 1024, 8192, 65535 };

struct network {
	char name[NAME_BYTES];
	struct psi_peer_memory memory;
};

struct table {
	uint32_t ranks;         /* 0: sizes[] */
	bool csv;
	struct network networks[NETWORKS];
	unsigned count;
};

/* -- what each finds --------------------------------------------------------------------------- */

/* Prints text in lines, which end behind words; `at' letters of the first are printed already. */
static void
text_print(const char *text, size_t at)
{
	while (*text) {
		const size_t len = strcspn(text, " ");

		if (at > COLUMN && at + 1 + len > LINE) {
			printf("\n%*s", COLUMN, "");
			at = COLUMN;
		}
		at += (size_t)printf("%s%.*s", at > COLUMN ? " " : "", (int)len, text);
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

static void
conduit_print(const struct psi_fact *fact)
{
	size_t at = (size_t)printf("%-*s", COLUMN, fact->name);

	if (strcmp(fact->value, "yes") != 0)
		at += (size_t)printf(strcmp(fact->origin, "build") == 0 ? "not built:"
		                                                        : "cannot be used here:");
	text_print(fact->note, at);
}

static void
network_add(struct table *table, const struct psi_fact *fact)
{
	struct network network;

	if (table->count == NETWORKS || strcmp(fact->value, "yes") != 0 ||
	    !psi_introspect_peer_memory(fact->note, &network.memory))
		return;
	snprintf(network.name, sizeof network.name, "%s", fact->name);
	table->networks[table->count++] = network;
}

static void
fact_take(const struct psi_fact *fact, void *context)
{
	struct table *table = context;

	if (strcmp(fact->group, "conduit") != 0)
		return;
	network_add(table, fact);
	if (!table->csv)
		conduit_print(fact);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* A rank talks to `peers' of the others. */
static uint64_t
bytes_with(const struct psi_peer_memory *memory, uint32_t ranks, uint32_t peers)
{
	return memory->peer_bytes * ranks +
	       memory->connected_bytes * (peers < ranks ? peers : ranks - 1);
}

static void
bytes_print(const struct table *table, uint64_t bytes, bool is_known)
{
	if (table->csv && is_known)
		printf(",%" PRIu64, bytes);
	else if (table->csv)
		putchar(',');
	else if (is_known)
		printf(" %12.1f", (double)bytes / 1024);
	else
		printf(" %12s", "-");
}

/* What connections take where the conduit does not say is not known. */
static void
memory_print(const struct table *table, const struct network *network, uint32_t ranks)
{
	enum { FEW = 16 };
	const struct psi_peer_memory *memory = &network->memory;

	if (table->csv)
		printf("%s,%" PRIu32, network->name, ranks);
	else
		printf("%-*s %8" PRIu32, COLUMN, network->name, ranks);
	bytes_print(table, bytes_with(memory, ranks, 0), true);
	bytes_print(table, bytes_with(memory, ranks, FEW), memory->connected_bytes > 0);
	bytes_print(table, bytes_with(memory, ranks, ranks), memory->connected_bytes > 0);
	putchar('\n');
}

static void
network_print(const struct table *table, const struct network *network)
{
	if (table->ranks) {
		memory_print(table, network, table->ranks);
		return;
	}
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		memory_print(table, network, sizes[i]);
}

static void
table_print(const struct table *table)
{
	if (table->csv)
		puts("conduit,ranks,start_bytes,talking_to_16_bytes,talking_to_all_bytes");
	else if (table->count)
		printf("\nMemory of a process for the ranks of its job, in KiB, beside buffers, "
		       "which do not grow with them:\n\n%-*s %8s %12s %12s %12s\n", COLUMN, "",
		       "ranks", "at start", "talks to 16", "talks to all");
	for (unsigned i = 0; i < table->count; i++)
		network_print(table, &table->networks[i]);
}

void
conduits_tell(uint32_t ranks, bool csv)
{
	struct table table = { .ranks = ranks, .csv = csv };

	psi_introspect(ranks ? ranks : 1, fact_take, &table);
	table_print(&table);
}
