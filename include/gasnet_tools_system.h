/* gasnet_tools_system.h: what machine and installation this is, and small helps. */
#ifndef GASNET_TOOLS_SYSTEM_H
#define GASNET_TOOLS_SYSTEM_H

#include "gasnet_ex_port.h"
#include "gasnet_portable_platform.h"
#include "gasnet_tools_annotate.h"

#define GASNETT_SYSTEM_TUPLE     PSI_CONFIG_SYSTEM_TUPLE
#define GASNETT_CONFIGURE_ARGS   PSI_CONFIG_ARGS
#define GASNETT_PAGESIZE         4096
#define GASNETT_PAGESHIFT        12
#define GASNETT_CACHE_LINE_BYTES 64

/* The compiler of the library; MISMATCH when this one is another. */
#define GASNETT_PLATFORM_COMPILER_FAMILYID PSI_CONFIG_COMPILER_FAMILYID
#define GASNETT_PLATFORM_COMPILER_ID       PSI_CONFIG_COMPILER_ID
#define GASNETT_PLATFORM_COMPILER_VERSION  PSI_CONFIG_COMPILER_VERSION
#define GASNETT_PLATFORM_COMPILER_IDSTR    PSI_CONFIG_COMPILER_IDSTR
#if PLATFORM_COMPILER_FAMILYID != PSI_CONFIG_COMPILER_FAMILYID || \
	PLATFORM_COMPILER_VERSION != PSI_CONFIG_COMPILER_VERSION
#define GASNETT_CONFIGURE_MISMATCH 1
#endif

PSI_BEGIN_DECLS

/* Text of the library's, valid for ever. The path is "" when it is not known. */
PSI_API const char *gasnett_gethostname(void);
PSI_API const char *gasnett_exe_name(void);

/* CPUs of the host that are on line; 0 when that is not known. */
PSI_API int gasnett_cpu_count(void);

/* Bytes of memory of the host; 0 when that is not known, unless failureIsFatal. */
PSI_API uint64_t gasnett_getPhysMemSz(int failureIsFatal);

/* Text for people: why this build is slower than it could be; "" if it is not. */
PSI_API const char *gasnett_performance_warning_str(void);

/* Release of the interface, as text and as a number that grows. */
PSI_API const char *gasnett_release_version_str(void);
PSI_API uint64_t gasnett_release_version(void);

PSI_INLINE int
gasnett_isLittleEndian(void)
{
#if defined(PLATFORM_ARCH_LITTLE_ENDIAN)
	return 1;
#else
	return 0;
#endif
}

/*
 * Deprecated. Binds the calling thread to the CPU of that number, counted
 * among those it may use and from the start again; 0, or non-zero if it stays.
 */
#define GASNETT_SET_AFFINITY_SUPPORT 1
PSI_API int gasnett_set_affinity(int rank);

/*
 * Raises a soft limit (RLIMIT_...) to the hard one unless GASNET_MAXIMIZE_<lim_desc>
 * says no; the plural does so for those that matter to a runtime. Non-zero if
 * the limit is now at its most.
 */
PSI_API int gasnett_maximize_rlimit(int res, const char *lim_desc);
PSI_API int gasnett_maximize_rlimits(void);

/* Of numbytes bytes; the same text has the same sum on all machines of one byte order. */
PSI_API uint64_t gasnett_checksum(const void *p, int numbytes);

/* How many bytes are zero; the last copies as it counts. */
PSI_API size_t gasnett_count0s(const void *p, size_t numbytes);
PSI_API size_t gasnett_count0s_copy(void *GASNETT_RESTRICT dst, const void *GASNETT_RESTRICT src,
                                    size_t numbytes);

/*
 * A byte that is not zero gets its top bit: set there already, or carried
 * there from the lower seven. The bits that are left over are multiplied into
 * the top byte, which adds them up.
 */
PSI_INLINE int
gasnett_count0s_uint64_t(uint64_t x)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), ones = UINT64_C(0x0101010101010101);
	uint64_t zero = ~(((x & low) + low) | x | low);

	return PSI_STATIC_CAST(int, ((zero >> 7) * ones) >> 56);
}

PSI_INLINE int
gasnett_count0s_uint32_t(uint32_t x)
{
	return gasnett_count0s_uint64_t(UINT64_C(0xffffffff00000000) | x);
}

PSI_INLINE int
gasnett_count0s_uintptr_t(uintptr_t x)
{
#if defined(PLATFORM_ARCH_64)
	return gasnett_count0s_uint64_t(x);
#else
	return gasnett_count0s_uint32_t(x);
#endif
}

PSI_END_DECLS

#endif
