/*
 * Ranges of memory, as the bootstrap makes them and hands them out on one host.
 */
#include "tests/job/steps_ranges.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Would a program that the rank starts inherit a file of memory? */
static bool
memory_is_inherited(void)
{
	char path[64], what[128];
	ssize_t len;
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		len = readlink(path, what, sizeof what - 1);
		what[len > 0 ? len : 0] = '\0';
		if (strstr(what, "(deleted)") && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			return true;
	}
	return false;
}

/* Reads what each rank of this host has left in its own memory. */
static const char *
others_check(const struct pboot_job *job, const uint64_t *keys, size_t len)
{
	uint32_t rank, local = 0;
	const uint32_t *seen;

	for (rank = 0; rank < job->size; rank++) {
		if (job->host_of[rank] != job->host_index)
			continue;
		seen = pboot_range_map(1 + local++, keys[rank], len);
		if (!seen)
			return "no memory of another";
		if (seen[1024] != rank + 1 || seen[0] != 0)
			return "another's memory";
	}
	return local == job->local_size ? NULL : "another number of ranks on this host";
}

/* Every rank makes two ranges, and reads those of its host. */
static const char *
own_check(const struct pboot_job *job, uint64_t *keys, size_t len)
{
	uint64_t mine = 0, key = 0;
	uint32_t *own = pboot_range_make(1 + job->local_rank, len, &mine);

	if (!own || !pboot_range_make(1 + job->local_rank, 1, &key) || key == mine)
		return "no memory of its own";
	own[1024] = job->rank + 1;
	pboot_exchange(&mine, sizeof mine, keys);
	return others_check(job, keys, len);
}

static uint32_t
lowest_rank_here(const struct pboot_job *job)
{
	uint32_t rank = 0;

	while (job->host_of[rank] != job->host_index)
		rank++;
	return rank;
}

/* The lowest rank of a host makes a range of the arena, which all of the host see. */
static const char *
arena_check(const struct pboot_job *job, uint64_t *keys, size_t len)
{
	uint32_t local, *arena = NULL;
	uint64_t mine = 0;

	if (job->local_rank == 0 && !(arena = pboot_range_make(0, len, &mine)))
		return "no arena";
	if (memory_is_inherited())
		return "a memory file is not close-on-exec";
	pboot_close_inherited();
	pboot_exchange(&mine, sizeof mine, keys);
	if (job->local_rank != 0 &&
	    !(arena = pboot_range_map(0, keys[lowest_rank_here(job)], len)))
		return "no arena of the host";
	arena[job->local_rank] = job->rank + 1;
	pboot_barrier();
	for (local = 0; local < job->local_size; local++)
		if (arena[local] == 0)
			return "the arena";
	return NULL;
}

const char *
steps_ranges_check(const struct pboot_job *job)
{
	const size_t len = 3 * 4096;
	uint64_t *keys = calloc(job->size, sizeof *keys);
	const char *wrong = keys ? own_check(job, keys, len) : "no memory";

	if (!wrong)
		wrong = arena_check(job, keys, len);
	free(keys);
	if (!wrong)
		pboot_barrier();
	return wrong;
}
