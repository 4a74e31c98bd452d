#include "runtime/util/copy.h"

#include "runtime/util/copy_stream.h"
#include "runtime/util/copy_vectors.h"

enum {
	/* memcpy of glibc 2.36 falls to 3.5 GB/s on some CPUs where dst is so many bytes past src,
	 * modulo a page, from the size on at which it uses string moves. */
	SLOW_PAST_BYTES = 8, SLOW_FROM_BYTES = 2048,
	PAGE_BYTES = 4096,
};

static void
copy_plain(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes)
		memcpy(dst, src, len_bytes);
}

PSI_COPY_WIDE static void
vectors(void *dst, const void *src, size_t len_bytes)
{
	psi_copy_vectors(dst, src, len_bytes);
}

PSI_COPY_WIDE static void
owning(void *dst, const void *src, size_t len_bytes)
{
	psi_copy_owning_vectors(dst, src, len_bytes);
}

static bool
copy_always(void)
{
	return true;
}

const struct psi_copy_way psi_copy_ways[PSI_COPY_KINDS] = {
	[PSI_COPY_PLAIN] = { "plain", copy_plain, copy_always },
	[PSI_COPY_VECTORS] = { "vectors", vectors, psi_copy_can_vectors },
	[PSI_COPY_OWNING] = { "owning", owning, psi_copy_can_vectors },
	[PSI_COPY_LOOP] = { "loop", psi_copy_loop, psi_copy_can_stream },
	[PSI_COPY_STRING] = { "string", psi_copy_string, psi_copy_can_string },
	[PSI_COPY_STREAM] = { "stream", psi_copy_stream, psi_copy_can_stream },
	[PSI_COPY_STREAM_WIDE] = { "stream_wide", psi_copy_stream_wide, psi_copy_can_stream_wide },
};

static bool
copy_memcpy_is_slow(const void *dst, const void *src)
{
	return ((uintptr_t)dst - (uintptr_t)src - 1) % PAGE_BYTES < SLOW_PAST_BYTES;
}

enum psi_copy_kind
psi_copy_choose(const void *dst, const void *src, size_t len_bytes, bool far)
{
	const bool stream = psi_copy_can_stream() &&
	                    len_bytes >= (far ? PSI_COPY_STREAM_FAR_BYTES : PSI_COPY_STREAM_BYTES);

	if (stream)
		return psi_copy_can_stream_wide() ? PSI_COPY_STREAM_WIDE : PSI_COPY_STREAM;
	if (len_bytes < PSI_COPY_VECTORS_BYTES && psi_copy_can_vectors())
		return PSI_COPY_VECTORS;
	if (len_bytes < SLOW_FROM_BYTES || !psi_copy_can_stream())
		return PSI_COPY_PLAIN;
	if (copy_memcpy_is_slow(dst, src))
		return psi_copy_can_vectors() ? PSI_COPY_VECTORS : PSI_COPY_LOOP;
	return len_bytes >= PSI_COPY_STRING_BYTES && psi_copy_can_string() ? PSI_COPY_STRING
	                                                                   : PSI_COPY_PLAIN;
}

static void __attribute__((noinline))
by_choice(void *dst, const void *src, size_t len_bytes)
{
	psi_copy_ways[psi_copy_choose(dst, src, len_bytes, false)].copy(dst, src, len_bytes);
}

/* Most are small. */
PSI_COPY_WIDE static void
with_vectors(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes < PSI_COPY_VECTORS_BYTES)
		psi_copy_vectors(dst, src, len_bytes);
	else
		by_choice(dst, src, len_bytes);
}

static void
copy_without_vectors(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes < SLOW_FROM_BYTES)
		copy_plain(dst, src, len_bytes);
	else
		by_choice(dst, src, len_bytes);
}

psi_copy_fn *
psi_copy_of_this_cpu(void)
{
	return psi_copy_can_vectors() ? with_vectors : copy_without_vectors;
}

void
psi_copy(void *dst, const void *src, size_t len_bytes)
{
	psi_copy_of_this_cpu()(dst, src, len_bytes);
}

void
psi_copy_owning(void *dst, const void *src, size_t len_bytes)
{
	if (psi_copy_can_vectors() && len_bytes < PSI_COPY_STREAM_BYTES)
		owning(dst, src, len_bytes);
	else
		psi_copy(dst, src, len_bytes);
}

void
psi_copy_far(void *dst, const void *src, size_t len_bytes)
{
	psi_copy_ways[psi_copy_choose(dst, src, len_bytes, true)].copy(dst, src, len_bytes);
}
