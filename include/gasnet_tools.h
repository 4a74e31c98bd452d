/*
 * gasnet_tools.h: portable help for programs of a conduit, and for others.
 *
 * In a program that uses a conduit it brings in gasnetex.h, and the conduit's
 * library holds all of it. Otherwise it stands alone, before other headers,
 * and libgasnet_tools-par or -seq is linked. Unless a comment says otherwise,
 * everything may be called from any thread, before init, and in handlers.
 */
#ifndef GASNET_TOOLS_H
#define GASNET_TOOLS_H

#include "gasnet_ex_port.h"
#include "gasnet_portable_platform.h"
#include "portable_inttypes.h"

/* Which threads may call; given by the conduit's mode, or chosen by the program. */
#if defined(PSI_BUILDING_LIBRARY)
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#elif defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR)
#include "gasnetex.h"
#if defined(GASNETT_LITE_MODE)
#error "GASNETT_LITE_MODE cannot be combined with GASNET_SEQ, GASNET_PAR or GASNET_PARSYNC"
#endif
#if defined(GASNET_PAR)
#if defined(GASNETT_THREAD_SINGLE)
#error "GASNETT_THREAD_SINGLE contradicts GASNET_PAR"
#endif
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#else
#if defined(GASNETT_THREAD_SAFE)
#error "GASNETT_THREAD_SAFE needs GASNET_PAR"
#endif
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#endif
#elif defined(GASNETT_THREAD_SAFE) + defined(GASNETT_THREAD_SINGLE) + defined(GASNETT_LITE_MODE) > 1
#error "define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE and GASNETT_LITE_MODE"
#elif !defined(GASNETT_THREAD_SAFE) && !defined(GASNETT_THREAD_SINGLE) && \
	!defined(GASNETT_LITE_MODE)
#if defined(_REENTRANT) || defined(_THREAD_SAFE) || defined(_PTHREAD_H)
#define GASNETT_THREAD_SAFE 1
#else
#define GASNETT_THREAD_SINGLE 1
#endif
#endif

#if defined(GASNETT_LITE_MODE)
#define GASNETT_THREAD_MODEL LITE
#elif defined(GASNETT_THREAD_SAFE)
#define GASNETT_THREAD_MODEL PAR
#else
#define GASNETT_THREAD_MODEL SEQ
#endif

#include "gasnet_tools_annotate.h"
#include "gasnet_tools_time.h"
#if !defined(GASNETT_LITE_MODE)
#include "gasnet_tools_atomic.h"
#include "gasnet_tools_debug.h"
#include "gasnet_tools_env.h"
#include "gasnet_tools_lock.h"
#include "gasnet_tools_system.h"
#include "gasnet_tools_threadkey.h"
#include "gasnet_tools_trace.h"
#if defined(GASNETEX_H)
#include "gasnet_tools_conduit.h"
#endif
#endif

/* Versions: the level of compatibility, of gasnet_config.h, and that of the tools text. */
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH
#define GASNETT_SPEC_VERSION_MAJOR    1
#define GASNETT_SPEC_VERSION_MINOR    20

#if defined(GASNETT_THREAD_SINGLE)
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 65535
#endif

/* How this header was configured, as text; equal text means that objects fit each other. */
#if defined(PLATFORM_ARCH_64)
#define GASNETT_PTR_CONFIG 64bit
#else
#define GASNETT_PTR_CONFIG 32bit
#endif
#if PSI_CONFIG_DEBUG
#define GASNETT_DEBUG_CONFIG   debug
#define PSI_TOOLS_DEBUG_STRING "debug"
#define PSI_TOOLS_CHECK_DEBUG  __debug
#else
#define GASNETT_DEBUG_CONFIG   nodebug
#define PSI_TOOLS_DEBUG_STRING "nodebug"
#define PSI_TOOLS_CHECK_DEBUG  __nodebug
#endif
#if defined(PLATFORM_ARCH_X86_64) || defined(PLATFORM_ARCH_AARCH64)
#define GASNETT_TIMER_CONFIG timers_native
#else
#define GASNETT_TIMER_CONFIG timers_os
#endif
#define GASNETT_MEMBAR_CONFIG membars_native
#define GASNETT_CONFIG_STRING                                                           \
	"RELEASE=" PSI_STRING(GASNETT_RELEASE_VERSION_MAJOR) "."                        \
	PSI_STRING(GASNETT_RELEASE_VERSION_MINOR) "."                                   \
	PSI_STRING(GASNETT_RELEASE_VERSION_PATCH)                                       \
	",SPEC=" PSI_STRING(GASNETT_SPEC_VERSION_MAJOR) "."                             \
	PSI_STRING(GASNETT_SPEC_VERSION_MINOR)                                          \
	",THREADMODEL=" PSI_STRING(GASNETT_THREAD_MODEL)                                \
	",PTR=" PSI_STRING(GASNETT_PTR_CONFIG) "," PSI_TOOLS_DEBUG_STRING     \
	"," PSI_STRING(GASNETT_TIMER_CONFIG) "," PSI_STRING(GASNETT_MEMBAR_CONFIG)      \
	",atomics_native,atomic32_native,atomic64_native"

/*
 * Link check of programs without a conduit: each object refers to a symbol that
 * only the tools library of its mode, debug setting and release defines. That of
 * a conduit's library is in gasnet_ex_mode.h.
 */
#define PSI_TOOLS_CHECK_(mode, debug, major, minor) \
	penstock_tools_check__object_compiled_with_##mode##debug##_##major##_##minor
#define PSI_TOOLS_CHECK(mode, debug, major, minor) PSI_TOOLS_CHECK_(mode, debug, major, minor)
#if defined(GASNETT_THREAD_SAFE)
#define PSI_TOOLS_CHECK_MODE GASNETT_THREAD_SAFE__link_gasnet_tools_par
#else
#define PSI_TOOLS_CHECK_MODE GASNETT_THREAD_SINGLE__link_gasnet_tools_seq
#endif
#if defined(PSI_LINK_CHECK)
#define GASNETT_LINKCONFIG_IDIOTCHECK PSI_LINK_CHECK
#elif !defined(GASNETT_LITE_MODE) && !defined(PSI_BUILDING_LIBRARY)
#define GASNETT_LINKCONFIG_IDIOTCHECK                                  \
	PSI_TOOLS_CHECK(PSI_TOOLS_CHECK_MODE, PSI_TOOLS_CHECK_DEBUG,   \
	                GASNETT_RELEASE_VERSION_MAJOR, GASNETT_RELEASE_VERSION_MINOR)
PSI_BEGIN_DECLS
PSI_API const char GASNETT_LINKCONFIG_IDIOTCHECK[];
PSI_END_DECLS
#if !defined(PSI_BUILDING_MODE)
PSI_RETAIN static const char *const psi_tools_link_ref = GASNETT_LINKCONFIG_IDIOTCHECK;
#endif
#endif

#endif
