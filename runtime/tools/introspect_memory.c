/*
 * Reports what a rank's memory is used for.  The kernel counts by mapping.  So each area of
 * the control arena first becomes a mapping of its own, by advice that has no other effect here.
 */
#include "runtime/tools/introspect.h"

#include "runtime/process/process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One mapping, while its lines are read. */
struct mapping {
	uintptr_t from;
	uint64_t bytes, pss_bytes;
	bool shared, writable;
};

struct areas {
	struct psi_memory_area *at;
	size_t count, room;
};

const char *
psi_memory_name(enum psi_memory_kind kind)
{
	static const char *const names[PSI_MEMORY_KINDS] = {
		[PSI_MEMORY_CONTROL] = "control",
		[PSI_MEMORY_QUEUES] = "queues",
		[PSI_MEMORY_BUFFERS] = "buffers",
		[PSI_MEMORY_SEGMENTS] = "segments",
		[PSI_MEMORY_PRIVATE] = "private",
	};

	return names[kind];
}

static void
memory_add(struct areas *areas, struct psi_memory_area area)
{
	if (areas->count == areas->room) {
		areas->room = areas->room * 2 + 64;
		areas->at = realloc(areas->at, areas->room * sizeof *areas->at);
		if (!areas->at)
			psi_fatal("no memory for a list of %zu areas", areas->room);
	}
	areas->at[areas->count++] = area;
}

static void
list_areas(struct areas *areas)
{
	struct psi_memory_area area;

	for (unsigned i = 0; psi.ops->memory_area(psi.conduit, i, &area); i++)
		memory_add(areas, area);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		const struct pst_peer *peer = &psi.peers[rank];

		if (peer->size_bytes)
			memory_add(areas, (struct psi_memory_area){
				.kind = PSI_MEMORY_SEGMENTS,
				.base = (void *)(peer->base + peer->offset),
				.len_bytes = peer->size_bytes,
			});
	}
}

/* Neighbours of another kind get other advice; nothing is read ahead in shared memory, and a core
 * of this process would lack the queues. */
static void
memory_separate(const struct areas *areas)
{
	for (size_t i = 0; i < areas->count; i++) {
		const struct psi_memory_area *area = &areas->at[i];

		if (area->kind == PSI_MEMORY_QUEUES)
			madvise(area->base, area->len_bytes, MADV_DONTDUMP);
		else if (area->kind == PSI_MEMORY_BUFFERS)
			madvise(area->base, area->len_bytes, MADV_RANDOM);
	}
}

static const struct psi_memory_area *
area_of(const struct areas *areas, uintptr_t at)
{
	for (size_t i = 0; i < areas->count; i++)
		if (at - (uintptr_t)areas->at[i].base < areas->at[i].len_bytes)
			return &areas->at[i];
	return NULL;
}

/* The last line of a mapping tells whether it would be in a core: what is not is address space that
 * is kept for later (PST_SHM=mmap). */
static void
memory_count(const struct areas *areas, const struct mapping *mapping, const char *flags,
      struct psi_memory_use *use)
{
	const struct psi_memory_area *area = area_of(areas, mapping->from);
	enum psi_memory_kind kind = area ? area->kind
	                            : mapping->shared ? PSI_MEMORY_CONTROL : PSI_MEMORY_PRIVATE;

	if (!mapping->writable)
		return;
	use[kind].pss_bytes += mapping->pss_bytes;
	if (area || !strstr(flags, " dd"))
		use[kind].mapped_bytes += mapping->bytes;
}

bool
psi_introspect_memory(struct psi_memory_use use_out[PSI_MEMORY_KINDS])
{
	FILE *file = fopen("/proc/self/smaps", "r");
	struct areas areas = { 0 };
	struct mapping mapping = { 0 };
	unsigned long from, to, kib;
	char line[512], perms[8];

	memset(use_out, 0, PSI_MEMORY_KINDS * sizeof *use_out);
	if (!file)
		return false;
	list_areas(&areas);
	memory_separate(&areas);
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) == 3)
			mapping = (struct mapping){
				.from = from, .bytes = to - from,
				.shared = perms[3] == 's', .writable = perms[1] == 'w',
			};
		else if (sscanf(line, "Pss: %lu kB", &kib) == 1)
			mapping.pss_bytes = (uint64_t)kib * 1024;
		else if (strncmp(line, "VmFlags:", 8) == 0)
			memory_count(&areas, &mapping, line, use_out);
	}
	fclose(file);
	free(areas.at);
	return true;
}
