/*
 * gasnet_tools_conduit.h: the part of gasnet_tools.h that programs of a
 * conduit get in addition, for test programs mostly.
 */
#ifndef GASNET_TOOLS_CONDUIT_H
#define GASNET_TOOLS_CONDUIT_H

#include "gasnet_ex_am.h"
#include "gasnet_ex_core.h"
#include "gasnet_ex_rma.h"
#include "gasnet_ex_types.h"

#include <string.h>

/* Copies of a few bytes. */
#define GASNETT_FAST_ALIGNED_MEMCPY(d, s, n)   ((void)memcpy((d), (s), (n)))
#define GASNETT_FAST_UNALIGNED_MEMCPY(d, s, n) ((void)memcpy((d), (s), (n)))

/* Stores the low nbytes bytes of a register-sized value at dst. */
#define GASNETT_VALUE_ASSIGN(dst, value, nbytes) psi_value_assign((dst), (value), (nbytes))

/* Returns, from the function it stands in, the value of nbytes bytes at src. */
#define GASNETT_VALUE_RETURN(src, nbytes)               \
	do {                                            \
		return psi_value_of((src), (nbytes));   \
	} while (0)

PSI_BEGIN_DECLS

PSI_INLINE void
psi_value_assign(void *dst, gex_RMA_Value_t value, size_t nbytes)
{
	memcpy(dst, psi_rma_value_bytes(&value, nbytes), nbytes);
}

PSI_INLINE gex_RMA_Value_t
psi_value_of(const void *src, size_t nbytes)
{
	gex_RMA_Value_t value = 0;

	memcpy(psi_rma_value_bytes(&value, nbytes), src, nbytes);
	return value;
}

/* size bytes of memory, zero, at a page; MAP_FAILED if there are none, as mmap. munmap gives it
 * back. */
PSI_API void *gasnett_mmap(uintptr_t size);

/*
 * The library's own checks of clock, atomics, locks and messages, for each of
 * which sections, NULL for all, names a letter: t, a, l, m. Collective over
 * team, after attach; messages need the handlers registered, and go to the
 * rank peer of the team: Mediums whose contents are drawn from seed, and, where
 * peer_segment is not NULL, Longs into the first 64 bytes that it names of the
 * peer's bound segment. Those have the same contents from all ranks, so peers
 * need not be distinct. segment, which names one's own, is not used. threads is
 * the most that run at a time, where threads may call. Returns the failures,
 * each of which is printed.
 */
PSI_API int gasnett_run_diagnostics(int iterations, int threads, const char *sections,
                                    gex_TM_t team, void *segment, gex_Rank_t peer,
                                    void *peer_segment, unsigned int seed);
PSI_API void gasnett_diagnostic_gethandlers(gex_AM_Entry_t **table_out, int *count_out);

/*
 * Arguments of transfers as text, for people, written into buf, of at least as
 * many bytes as the bufsz companion says. Lists are returned as buf; a whole
 * transfer, whose peer is rank of tm, returns how many bytes it moves.
 */
PSI_API size_t gasnett_format_memveclist_bufsz(size_t count);
PSI_API char *gasnett_format_memveclist(char *buf, size_t count, const gex_Memvec_t *vectors);
PSI_API size_t gasnett_format_addrlist_bufsz(size_t count);
PSI_API char *gasnett_format_addrlist(char *buf, size_t count, void *const addrs[], size_t len);
PSI_API size_t gasnett_format_strides_bufsz(size_t count);
PSI_API void gasnett_format_strides(char *buf, size_t count, const ptrdiff_t *strides);
PSI_API size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount);
PSI_API size_t gasnett_format_putvgetv(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                                       gex_Memvec_t const dstlist[], size_t srccount,
                                       gex_Memvec_t const srclist[]);
PSI_API size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount);
PSI_API size_t gasnett_format_putigeti(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                                       void *const dstlist[], size_t dstlen, size_t srccount,
                                       void *const srclist[], size_t srclen);
PSI_API size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
PSI_API size_t gasnett_format_putsgets(char *buf, void *unused, gex_TM_t tm, gex_Rank_t rank,
                                       void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr,
                                       const ptrdiff_t srcstrides[], size_t elemsz,
                                       const size_t count[], size_t stridelevels);

/* A code, or several, as their names joined by "|"; with buf NULL only the bytes that takes. */
PSI_API size_t gasnett_format_dt(char *buf, gex_DT_t dt);
PSI_API size_t gasnett_format_op(char *buf, gex_OP_t op);
PSI_API size_t gasnett_format_ti(char *buf, gex_TI_t ti);

PSI_END_DECLS

#endif
