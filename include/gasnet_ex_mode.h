/*
 * gasnet_ex_mode.h: thread mode, versions, and the macros by which a client
 * asks what this installation can do; the link check; the build record.
 */
#ifndef GASNET_EX_MODE_H
#define GASNET_EX_MODE_H

#include "gasnet_ex_port.h"

/* Thread mode. The library's own sources serve all three. */
#ifndef PSI_BUILDING_LIBRARY
#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
/* What follows is compiled for PAR, so that this is all that the compiler has to say. */
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR before the first GASNet header"
#undef GASNET_SEQ
#undef GASNET_PARSYNC
#undef GASNET_PAR
#define GASNET_PAR 1
#endif
#endif

#define PSI_MODE_SEQ     1
#define PSI_MODE_PARSYNC 2
#define PSI_MODE_PAR     3

#if defined(GASNET_SEQ)
#undef GASNET_SEQ
#define GASNET_SEQ 1
#define PSI_MODE   PSI_MODE_SEQ
#define PSI_MODE_NAME "SEQ"
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#define PSI_MODE       PSI_MODE_PARSYNC
#define PSI_MODE_NAME  "PARSYNC"
#elif defined(GASNET_PAR)
#undef GASNET_PAR
#define GASNET_PAR 1
#define PSI_MODE   PSI_MODE_PAR
#define PSI_MODE_NAME "PAR"
#endif

/* GASNET_RELEASE_VERSION_* is in gasnet_config.h. */
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19

/* Build of the library. */
#undef GASNET_DEBUG
#undef GASNET_NDEBUG
#if PSI_CONFIG_DEBUG
#define GASNET_DEBUG     1
#define PSI_CONFIG_CHECK "debug"
#else
#define GASNET_NDEBUG    1
#define PSI_CONFIG_CHECK "nodebug"
#endif
#define GASNET_SEGMENT_FAST     1
#define GASNET_ALIGNED_SEGMENTS 0
#define GASNET_PSHM             1
#define GASNET_NULL_ARGV_OK     1

/* Limits. */
#define GASNET_PAGESIZE                    4096
#define GASNET_MAXNODES                    65535
#define GASNET_MAXEPS                      128

/* In PAR the user may start the library's receive thread, which runs handlers. */
#ifdef GASNET_PAR
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 1
#define GASNET_RCV_THREAD                  1
#else
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0
#endif

/* Optional parts. */
#define GASNET_HAVE_MK_CLASS_HOST           1
#define GASNET_SUPPORTS_TI_SRCRANK          1
#define GASNET_SUPPORTS_TI_EP               1
#define GASNET_SUPPORTS_TI_ENTRY            1
#define GASNET_SUPPORTS_TI_IS_REQ           1
#define GASNET_SUPPORTS_TI_IS_LONG          1
#define GASNET_SUPPORTS_AM_CANCEL           20240418L
#define GASNET_SUPPORTS_AM_COMMIT_V2        20240906L
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM   1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM   1

/* Layout of what the inline functions share with the library, which refuses programs of another. */
#define PSI_INLINE_ABI 1

#ifndef PSI_BUILDING_LIBRARY

#ifdef __has_include
#if !__has_include("gasnet_conduit.h")
#error "give the compiler the conduit's directory too: -IPREFIX/include/smp-conduit"
#endif
#endif
#include "gasnet_conduit.h"

/* Equal text means that objects fit each other and the library. */
#define GASNET_CONFIG_STRING                                                   \
	"RELEASE=" PSI_STRING(GASNET_RELEASE_VERSION_MAJOR) "."                \
	PSI_STRING(GASNET_RELEASE_VERSION_MINOR) "."                           \
	PSI_STRING(GASNET_RELEASE_VERSION_PATCH)                               \
	",SPEC=" PSI_STRING(GEX_SPEC_VERSION_MAJOR) "."                        \
	PSI_STRING(GEX_SPEC_VERSION_MINOR)                                     \
	",CONDUIT=" GASNET_CONDUIT_NAME_STR                                    \
	"(" GASNET_CORE_NAME_STR "-" GASNET_CORE_VERSION_STR                   \
	"/" GASNET_EXTENDED_NAME_STR "-" GASNET_EXTENDED_VERSION_STR ")"       \
	",THREADMODEL=" PSI_MODE_NAME ",SEGMENT=FAST,PTR=64bit"                \
	",CACHE_LINE_BYTES=64,noalign,pshm," PSI_CONFIG_CHECK                  \
	",notrace,nostats,nodebugmalloc,nosrclines"                            \
	",PENSTOCK=" PSI_STRING(PSI_CONFIG_VERSION_MAJOR) "."                  \
	PSI_STRING(PSI_CONFIG_VERSION_MINOR)

/*
 * Link check. Each client object refers to the symbol of its thread mode,
 * which only the library of that mode defines, so that the linker's complaint
 * about anything else explains itself. psi_mode_object is common to all
 * modes: it brings the mode's object in when the names do not match, and
 * collides when objects of two modes each find their library.
 */
#define PSI_LINK_CHECK_SEQ \
	penstock_link_check__object_compiled_with_GASNET_SEQ__link_the_library_named_seq
#define PSI_LINK_CHECK_PARSYNC \
	penstock_link_check__object_compiled_with_GASNET_PARSYNC__link_the_library_named_parsync
#define PSI_LINK_CHECK_PAR \
	penstock_link_check__object_compiled_with_GASNET_PAR__link_the_library_named_par

#if PSI_MODE == PSI_MODE_SEQ
#define PSI_LINK_CHECK PSI_LINK_CHECK_SEQ
#elif PSI_MODE == PSI_MODE_PARSYNC
#define PSI_LINK_CHECK PSI_LINK_CHECK_PARSYNC
#else
#define PSI_LINK_CHECK PSI_LINK_CHECK_PAR
#endif

/* The same for release and kind of the headers. */
#define PSI_LINK_BUILD_(kind, major, minor)                                                        \
	penstock_link_check__object_compiled_with##kind##_headers_of_##major##_##minor##__compile_it_with_those_of_the_library
#define PSI_LINK_BUILD(kind, major, minor) PSI_LINK_BUILD_(kind, major, minor)
#define PSI_LINK_DEBUG \
	PSI_LINK_BUILD(_debug, PSI_CONFIG_VERSION_MAJOR, PSI_CONFIG_VERSION_MINOR)
#define PSI_LINK_OPTIMISED \
	PSI_LINK_BUILD(_optimised, PSI_CONFIG_VERSION_MAJOR, PSI_CONFIG_VERSION_MINOR)
#if PSI_CONFIG_DEBUG
#define PSI_LINK_HEADERS PSI_LINK_DEBUG
#else
#define PSI_LINK_HEADERS PSI_LINK_OPTIMISED
#endif

PSI_BEGIN_DECLS
PSI_API const char PSI_LINK_CHECK[];
PSI_API const char PSI_LINK_HEADERS[];
PSI_API const char psi_mode_object[];
PSI_API const char psi_mode_conduit[];
PSI_END_DECLS

#ifndef PSI_BUILDING_MODE
PSI_RETAIN static const char *const psi_link_refs[] = {PSI_LINK_CHECK, PSI_LINK_HEADERS,
							   psi_mode_object};
#endif

#endif /* PSI_BUILDING_LIBRARY */

/* "0.1": objects and libraries of one such number fit each other. */
#define PSI_RELEASE PSI_STRING(PSI_CONFIG_VERSION_MAJOR) "." PSI_STRING(PSI_CONFIG_VERSION_MINOR)

/* What a client object says about itself when it starts the library. New
 * fields come last, since libraries of other releases read the first ones. */
struct psi_client_build {
	uint32_t size_bytes;
	uint32_t thread_mode; /* PSI_MODE_ */
	uint32_t is_debug;    /* 1 when the client was compiled without NDEBUG */
	uint32_t inline_abi;
	const char *config;
	const char *conduit;
};

#ifdef NDEBUG
#define PSI_CLIENT_DEBUG 0
#else
#define PSI_CLIENT_DEBUG 1
#endif

#define PSI_CLIENT_BUILD                                                            \
	{                                                                           \
		sizeof(struct psi_client_build), PSI_MODE, PSI_CLIENT_DEBUG,        \
			PSI_INLINE_ABI, GASNET_CONFIG_STRING, GASNET_CONDUIT_NAME_STR \
	}

#endif
