/* The control arena: ranges of the first shared file, which the host's first rank makes and all
 * ranks of the host map. */
#include "runtime/segment/shmem.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The key of a range that the first rank of a host made, or the error; it sends it to all. */
struct made {
	uint64_t key, len_bytes;
	int error;
};

enum { RANGES_MAX = 8 };

static struct {
	void *base;
	uint64_t key;
	size_t len_bytes;
} ranges[RANGES_MAX];
static unsigned range_count;

/* One line is said for the job, and that is all there is to say. */
static void __attribute__((noreturn))
end_without(size_t len_bytes, int error, bool say)
{
	char lack[PBOOT_ERROR_TEXT_BYTES];

	if (say)
		psi_log("cannot map %zu bytes of shared memory for the message queues: %s",
		        len_bytes, pboot_range_error_text(error, lack));
	pboot_note_cause("", true);
	pboot_leave(1);
}

/* The most only where nothing but the host's memory bounds it: a file system of its own size counts
 * pages that nobody touches. */
static void *
endpoint_make_range(size_t most_bytes, size_t least_bytes, struct made *made)
{
	void *base = NULL;

	made->len_bytes = most_bytes;
	if (most_bytes > least_bytes && pboot_range_limit() == UINT64_MAX)
		base = pboot_range_make(0, most_bytes, &made->key);
	if (!base) {
		made->len_bytes = least_bytes;
		base = pboot_range_make(0, least_bytes, &made->key);
	}
	made->error = base ? 0 : errno;
	return base;
}

/* The first rank that could not make its host's range; their number if none. */
static uint32_t
ranks_first_without(const struct made *all)
{
	uint32_t rank = 0;

	while (rank < psi.boot.size && !all[rank].error)
		rank++;
	return rank;
}

void *
psi_host_memory(size_t most_bytes, size_t least_bytes, size_t *len_out)
{
	struct made *all = calloc(psi.boot.size, sizeof *all), mine = { 0 };
	void *base = NULL;
	uint32_t failed;

	if (!all)
		psi_fatal("no memory for the exchange of %u ranks", psi.boot.size);
	if (psi.boot.rank == psi.host_ranks[0])
		base = endpoint_make_range(most_bytes, least_bytes, &mine);
	pboot_exchange(&mine, sizeof mine, all);
	failed = ranks_first_without(all);
	if (failed < psi.boot.size)
		end_without(least_bytes, all[failed].error, psi.boot.rank == failed);
	mine = all[psi.host_ranks[0]];
	free(all);
	if (!base)
		base = pboot_range_map(0, mine.key, mine.len_bytes);
	if (!base)
		end_without(mine.len_bytes, errno, true);
	if (range_count < RANGES_MAX) {
		ranges[range_count].base = base;
		ranges[range_count].key = mine.key;
		ranges[range_count++].len_bytes = mine.len_bytes;
	}
	*len_out = mine.len_bytes;
	return base;
}

void *
psi_host_memory_made(unsigned number, uint64_t *key_out, size_t *len_out)
{
	if (number >= range_count)
		return NULL;
	*key_out = ranges[number].key;
	*len_out = ranges[number].len_bytes;
	return ranges[number].base;
}

/* Few of its pages are ever used, so it takes none of the pool of huge ones. */
static void *
endpoint_make_further(struct psi_further *further, uint32_t place, size_t len_bytes)
{
	void *base =
		pboot_range_make_sparse(psi_file_of(psi.boot.rank), len_bytes, &further->queue_key);
	char lack[PBOOT_ERROR_TEXT_BYTES];

	if (!base)
		psi_log("endpoint %u: cannot map %zu bytes of shared memory for the message "
		        "queues: %s",
		        place / psi.boot.size, len_bytes, pboot_range_error_text(errno, lack));
	further->queue_bytes = len_bytes;
	return base;
}

void *
psi_endpoint_memory(uint32_t place, size_t len_bytes)
{
	struct psi_further *further = psi_further_at(place);
	const unsigned file = psi_file_of(psi_jobrank_of(place));
	const bool own = psi_jobrank_of(place) == psi.boot.rank;
	void *base;

	if (own)
		base = endpoint_make_further(further, place, len_bytes);
	else if (psi_further_is_open(further))
		base = pboot_range_map(file, further->queue_key, len_bytes);
	else
		return NULL;
	/* Little of it is ever touched, so large pages would waste memory. */
	if (base)
		madvise(base, len_bytes, MADV_NOHUGEPAGE);
	if (base && own)
		atomic_store_explicit(
			&further->opened, 1,
			memory_order_release); /* E1: release, to E2 in psi_further_is_open */
	return base;
}
