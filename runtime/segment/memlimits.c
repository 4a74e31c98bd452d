#include "runtime/segment/memlimits.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "runtime/process/shared.h"
#include "runtime/settings/settings.h"
#include "runtime/util/settings_parse.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/util/log.h"

/* The part of an address space limit that is left to the client's heap, stacks and libraries. */
#define ADDRESS_RESERVE (UINT64_C(16) << 20)

#define SEGSIZE_SYNTAX \
	"a size such as 512MB, or a part of the host's memory such as 0.85, then /P (per " \
	"process) or /H (per host); not 0, and below 16777216TB"

static const struct psi_setting memory_rows[] = {
	{ .name = "GASNET_MAX_SEGSIZE", .kind = PSI_SETTING_TEXT, .default_text = "0.85/H",
	  .check = psi_segsize_accepted, .accepts = SEGSIZE_SYNTAX,
	  .help = "largest segment: size[/P|/H], absolute or as a part of the host's memory; "
		  "/P (or nothing) for each process, /H for all processes of a host with their "
		  "queues" },
	{ .name = "GASNET_SUPERNODE_MAXSIZE", .kind = PSI_SETTING_INT, .default_text = "0",
	  .unit = "ranks", .min = 0, .max = 65535,
	  .help = "largest group of ranks that share memory; 0: as many as the host has" },
};

const struct psi_setting_table psi_settings_memory = PSI_SETTING_TABLE("Memory", memory_rows);

/* "0.85", ".5" and "3/8" are parts of memory; "64", "64KB" and "1.5GB" are sizes. */
static bool
memory_parse_amount(const char *text, struct psi_segsize *out)
{
	bool bare = text[strspn(text, "0123456789./")] == '\0';

	out->relative = bare && strpbrk(text, "./") != NULL;
	if (out->relative)
		return psi_parse_fraction(text, &out->fraction) && out->fraction > 0 &&
		       out->fraction <= 1;
	return psi_parse_size(text, 1, &out->bytes) && out->bytes > 0;
}

bool
psi_segsize_parse(const char *text, struct psi_segsize *out)
{
	struct psi_segsize size = { .per_host = false };
	size_t len = strlen(text);
	char amount[64];

	if (len >= sizeof amount)
		return false;
	memcpy(amount, text, len + 1);
	if (len > 2 && (strcasecmp(amount + len - 2, "/H") == 0 ||
			strcasecmp(amount + len - 2, "/P") == 0)) {
		size.per_host = (amount[len - 1] | 0x20) == 'h';
		amount[len - 2] = '\0';
	}
	if (!memory_parse_amount(amount, &size))
		return false;
	*out = size;
	return true;
}

bool
psi_segsize_accepted(const char *text)
{
	struct psi_segsize size;

	return psi_segsize_parse(text, &size);
}

static uint64_t
memory_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
memory_less(uint64_t from, uint64_t take)
{
	return from > take ? from - take : 0;
}

/* A rank's part of something all ranks of the host share, without its internal memory. */
static uint64_t
memory_share(const struct psi_segment_case *job, uint64_t bytes)
{
	return memory_less(bytes / job->ranks, job->internal_bytes);
}

void
psi_segment_case_beside(struct psi_segment_case *job, uint64_t queue_bytes)
{
	job->internal_bytes = queue_bytes + PSI_CELL_ROOMS_BYTES;
	job->file_bytes = PSI_CELL_TEAMS * PSI_CELL_ROOMS_BYTES;
}

/* A segment has three quarters of its file at least, however small that may be. */
static uint64_t
memory_in_file(const struct psi_segment_case *job)
{
	const uint64_t most = job->host.file_size;

	return most == UINT64_MAX ? most : most - memory_least(job->file_bytes, most / 4);
}

uint64_t
psi_segment_most(const struct psi_segment_case *job, const char **bound_out)
{
	const struct {
		uint64_t bytes;
		const char *name;
	} bounds[] = {
		{ memory_share(job, job->host.physical), "the host's memory divided by its ranks" },
		{ memory_share(job, job->host.cgroup),
		  "the cgroup's memory limit divided by its ranks" },
		{ memory_share(job, job->store_bytes), "the place for shared memory" },
		{ memory_in_file(job), "RLIMIT_FSIZE" },
		{ job->host.address_space == UINT64_MAX
		          ? UINT64_MAX
		          : memory_less(job->host.address_space, ADDRESS_RESERVE) /
		                    job->mapped_ranks,
		  "RLIMIT_AS" },
	};
	size_t i, at = 0;

	for (i = 1; i < sizeof bounds / sizeof *bounds; i++) {
		if (bounds[i].bytes < bounds[at].bytes)
			at = i;
	}
	*bound_out = bounds[at].name;
	return bounds[at].bytes;
}

static uint64_t
memory_asked_bytes(const struct psi_segsize *asked, const struct psi_segment_case *job)
{
	const uint64_t host_bytes = memory_least(job->host.physical, job->host.cgroup);
	uint64_t bytes = asked->bytes;

	if (asked->relative)
		bytes = (uint64_t)((long double)asked->fraction * (long double)host_bytes);
	return asked->per_host ? memory_share(job, bytes) : bytes;
}

static uint64_t
memory_whole_pages(uint64_t bytes, uint64_t page)
{
	return bytes < page ? page : bytes - bytes % page;
}

void
psi_segment_limit(const struct psi_segsize *asked, const struct psi_segment_case *job,
		  struct psi_segment_limit *out)
{
	const char *bound;
	uint64_t most = memory_whole_pages(psi_segment_most(job, &bound), job->page_bytes);

	out->asked_bytes = memory_whole_pages(memory_asked_bytes(asked, job), job->page_bytes);
	out->bytes = memory_least(out->asked_bytes, most);
	out->clipped_by = out->bytes < out->asked_bytes ? bound : NULL;
}

/* The requested size, and the name of its setting. */
static void
memory_asked_for(const char *client_text, uint64_t client_bytes, struct psi_segsize *out,
                 const char **name_out)
{
	const struct psi_setting *row = &memory_rows[0];
	const char *text = psi_setting_text(row);	/* ends the process if it is wrong */

	*name_out = row->name;
	if (!psi_setting_given(row)) {
		if (client_text && *client_text) {
			*name_out = "gasnet_max_segsize_str";
			text = client_text;
		} else if (client_bytes) {
			*name_out = "gasnet_max_segsize";
			*out = (struct psi_segsize){ .bytes = client_bytes };
			return;
		}
	}
	if (!psi_segsize_parse(text, out))
		psi_settings_refuse(*name_out, text, SEGSIZE_SYNTAX);
}

uint64_t
psi_memlimits_segment(const struct psi_segment_case *job, const char *client_text,
		      uint64_t client_bytes)
{
	struct psi_segment_limit limit;
	struct psi_segsize asked;
	const char *name;

	memory_asked_for(client_text, client_bytes, &asked, &name);
	psi_segment_limit(&asked, job, &limit);
	if (limit.clipped_by && psi_settings_warns() &&
	    (psi_setting_given(&memory_rows[0]) || client_text || client_bytes))
		psi_log("warning: %s: segments of %llu bytes were asked for, this host gives %llu "
			"to each rank (%s)", name, (unsigned long long)limit.asked_bytes,
			(unsigned long long)limit.bytes, limit.clipped_by);
	return limit.bytes;
}
