/*
 * What the interface promises about its constants, checked by the compiler
 * alone, C99 and C++11 alike: which are zero, which flags keep out of each
 * other's way, and that versions and limits work in the preprocessor.
 */
#include <gasnet.h>

#include <gasnet_tools.h>

/* gasnetex.h brings these in: inttypes, limits, stdlib, string. */
#if !defined(PRIuPTR) || !defined(INT_MAX) || !defined(EXIT_FAILURE)
#error "headers that clients rely on"
#endif
size_t length_of_copy(const char *text);
size_t
length_of_copy(const char *text)
{
	size_t length = strlen(text);

	free(malloc(length));
	return length;
}

#ifdef __cplusplus
#define ASSERT(name, cond) static_assert(cond, #name)
#else
#define ASSERT(name, cond) typedef char assert_##name[(cond) ? 1 : -1]
#endif

/* Bits of a call's flags have nothing in common when their sum is their union. */
#if (GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD |            \
     GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |         \
     GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |        \
     GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_AM_PREPARE_LEAST_CLIENT | \
     GEX_FLAG_AM_PREPARE_LEAST_ALLOC | GEX_FLAG_ENABLE_LEAF_LC | GEX_FLAG_AD_MY_RANK |      \
     GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ | GEX_FLAG_RANK_IS_JOBRANK) != \
	(GEX_FLAG_IMMEDIATE + GEX_FLAG_PEER_NEVER_SELF + GEX_FLAG_PEER_NEVER_NBRHD +         \
	 GEX_FLAG_SELF_SEG_UNKNOWN + GEX_FLAG_SELF_SEG_SOME + GEX_FLAG_SELF_SEG_BOUND +      \
	 GEX_FLAG_SELF_SEG_OFFSET + GEX_FLAG_PEER_SEG_UNKNOWN + GEX_FLAG_PEER_SEG_SOME +     \
	 GEX_FLAG_PEER_SEG_BOUND + GEX_FLAG_PEER_SEG_OFFSET +                                \
	 GEX_FLAG_AM_PREPARE_LEAST_CLIENT + GEX_FLAG_AM_PREPARE_LEAST_ALLOC +                \
	 GEX_FLAG_ENABLE_LEAF_LC + GEX_FLAG_AD_MY_RANK + GEX_FLAG_AD_MY_NBRHD +              \
	 GEX_FLAG_AD_REL + GEX_FLAG_AD_ACQ + GEX_FLAG_RANK_IS_JOBRANK)
#error "flags of communication calls"
#endif
#if (GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED |                 \
     GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH |                              \
     GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET | \
     GEX_FLAG_RANK_IS_JOBRANK) !=                                                          \
	(GEX_FLAG_TM_SCRATCH_SIZE_MIN + GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED +             \
	 GEX_FLAG_TM_GLOBAL_SCRATCH + GEX_FLAG_TM_LOCAL_SCRATCH +                          \
	 GEX_FLAG_TM_SYMMETRIC_SCRATCH + GEX_FLAG_TM_NO_SCRATCH +                          \
	 GEX_FLAG_SCRATCH_SEG_OFFSET + GEX_FLAG_RANK_IS_JOBRANK)
#error "flags of team calls"
#endif
#if (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST | \
     GEX_FLAG_AM_REPLY) != (GEX_FLAG_AM_SHORT + GEX_FLAG_AM_MEDIUM + GEX_FLAG_AM_LONG + \
			    GEX_FLAG_AM_REQUEST + GEX_FLAG_AM_REPLY)
#error "flags of handlers"
#endif
#if (GEX_FLAG_AD_FAVOR_MY_RANK & GEX_FLAG_AD_FAVOR_MY_NBRHD) || \
	(GEX_FLAG_AD_FAVOR_REMOTE & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD))
#error "flags of atomic domains"
#endif
#if (GEX_FLAG_USES_GASNET1 & GEX_FLAG_DEFER_THREADS) || !GEX_FLAG_USES_GASNET1
#error "flags of init"
#endif
#if GEX_FLAG_HINT_ACCEL_ALL != GEX_FLAG_HINT_ACCEL_AD + GEX_FLAG_HINT_ACCEL_COLL
#error "flags of endpoints"
#endif
#if (GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS | GEX_FLAG_HINT_ACCEL_ALL | \
     GEX_FLAG_AD_FAVOR_REMOTE | GEX_FLAG_AM_REQREP) >= (1u << 28)
#error "the top four bits belong to extensions"
#endif
#if (GASNET_BARRIERFLAG_UNNAMED & GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_BARRIERFLAG_ANONYMOUS
#error "UNNAMED holds the ANONYMOUS bit"
#endif

/* Codes are single bits. */
#define ONE_BIT(x) ((x) != 0 && ((x) & ((x) - 1)) == 0)
#if !ONE_BIT(GEX_DT_I32) || !ONE_BIT(GEX_DT_USER) || !ONE_BIT(GEX_OP_GET) || \
	!ONE_BIT(GEX_OP_USER_NC) || !ONE_BIT(GEX_OP_FCAS)
#error "codes are bits"
#endif
#if (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT | GEX_DT_DBL | GEX_DT_USER) != \
	(GEX_DT_I32 + GEX_DT_U32 + GEX_DT_I64 + GEX_DT_U64 + GEX_DT_FLT + GEX_DT_DBL + GEX_DT_USER)
#error "data types are distinct"
#endif
#define EACH_OP(glue)                                                                        \
	(GEX_OP_ADD glue GEX_OP_SUB glue GEX_OP_MULT glue GEX_OP_INC glue GEX_OP_DEC glue    \
	 GEX_OP_MIN glue GEX_OP_MAX glue GEX_OP_AND glue GEX_OP_OR glue GEX_OP_XOR glue      \
	 GEX_OP_SET glue GEX_OP_CAS glue GEX_OP_GET glue GEX_OP_USER glue GEX_OP_USER_NC glue \
	 GEX_OP_FADD glue GEX_OP_FSUB glue GEX_OP_FMULT glue GEX_OP_FINC glue GEX_OP_FDEC glue \
	 GEX_OP_FMIN glue GEX_OP_FMAX glue GEX_OP_FAND glue GEX_OP_FOR glue GEX_OP_FXOR glue \
	 GEX_OP_SWAP glue GEX_OP_FCAS)
#if EACH_OP(|) != EACH_OP(+)
#error "operation codes are distinct"
#endif

/* Clients have these numbers in tables of their own. */
#define FROM(bit, a, b, c, d, e, f, g, h, i, j)                                          \
	((a) == 1u << (bit) && (b) == 2u << (bit) && (c) == 4u << (bit) &&               \
	 (d) == 8u << (bit) && (e) == 16u << (bit) && (f) == 32u << (bit) &&             \
	 (g) == 64u << (bit) && (h) == 128u << (bit) && (i) == 256u << (bit) &&          \
	 (j) == 512u << (bit))
#if !FROM(0, GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR, GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_MIN, \
	  GEX_OP_MAX, GEX_OP_INC, GEX_OP_DEC) ||                                         \
	GEX_OP_SET != 1u << 10 || GEX_OP_CAS != 1u << 11
#error "codes of operations"
#endif
#if !FROM(15, GEX_OP_FAND, GEX_OP_FOR, GEX_OP_FXOR, GEX_OP_FADD, GEX_OP_FSUB, GEX_OP_FMULT, \
	  GEX_OP_FMIN, GEX_OP_FMAX, GEX_OP_FINC, GEX_OP_FDEC) ||                         \
	GEX_OP_SWAP != 1u << 25 || GEX_OP_FCAS != 1u << 26
#error "codes of fetching operations"
#endif
#if GEX_OP_GET != 1u << 27 || GEX_OP_USER != 1u << 30 || GEX_OP_USER_NC != 1u << 31
#error "codes of other operations"
#endif
#if GEX_DT_I32 != 1u || GEX_DT_U32 != 1u << 1 || GEX_DT_I64 != 1u << 2 || GEX_DT_U64 != 1u << 3 || \
	GEX_DT_FLT != 1u << 4 || GEX_DT_DBL != 1u << 5 || GEX_DT_USER != 1u << 6
#error "codes of types"
#endif

/* Versions and limits. */
#if GASNET_RELEASE_VERSION_MAJOR < 2025 || GEX_SPEC_VERSION_MINOR < 19 || GASNET_VERSION != 1
#error "versions"
#endif
#if GASNET_SUPPORTS_AM_CANCEL < 20240418L || GASNET_SUPPORTS_AM_COMMIT_V2 < 20240906L || \
	!GASNET_SUPPORTS_TI_SRCRANK || !GASNET_SUPPORTS_TI_EP
#error "features"
#endif
#if !GASNET_PAGESIZE || !GASNET_MAXNODES || GASNET_MAXEPS < 1 || GASNET_ALIGNED_SEGMENTS != 0 || \
	GEX_AM_INDEX_BASE > 128 ||                                                              \
	SIZEOF_GEX_RMA_VALUE_T != 8 || SIZEOF_GASNET_REGISTER_VALUE_T != 8 || SIZEOF_INT != 4
#error "limits"
#endif
#if defined(GASNET_PAR) ? !GASNET_HIDDEN_AM_CONCURRENCY_LEVEL || GASNET_RCV_THREAD != 1 \
			: GASNET_HIDDEN_AM_CONCURRENCY_LEVEL || defined(GASNET_RCV_THREAD)
#error "threads of the library"
#endif
#if GASNETT_PAGESIZE != GASNET_PAGESIZE || GASNETT_MAX_THREADS < 1 || !PLATFORM_ARCH_64 || \
	!PLATFORM_ARCH_LITTLE_ENDIAN || !HAVE_PTHREAD_H
#error "tools and platform"
#endif
#if defined(GASNET_DEBUG) + defined(GASNET_NDEBUG) != 1 || \
	defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
		defined(GASNET_SEGMENT_EVERYTHING) != 1
#error "exactly one of each"
#endif
#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "one thread mode stays defined"
#endif

/* Codes that are promised to be zero, distinct, or of a type. */
ASSERT(ok, GASNET_OK == 0);
ASSERT(errors, GASNET_ERR_NOT_INIT != GASNET_ERR_RESOURCE &&
	       GASNET_ERR_RESOURCE != GASNET_ERR_BAD_ARG &&
	       GASNET_ERR_BAD_ARG != GASNET_ERR_NOT_READY &&
	       GASNET_ERR_NOT_READY != GASNET_ERR_BARRIER_MISMATCH && GASNET_ERR_NOT_INIT != 0);
ASSERT(rank, GEX_RANK_INVALID > GASNET_MAXNODES);
ASSERT(value, sizeof(gex_RMA_Value_t) == SIZEOF_GEX_RMA_VALUE_T);
ASSERT(index, sizeof(gex_AM_Index_t) == 1 && sizeof(gex_AM_Arg_t) == 4);
ASSERT(memvec, offsetof(gex_Memvec_t, gex_len) == sizeof(void *));
ASSERT(unsigned_rank, GEX_RANK_INVALID > 0 && GEX_RANK_INVALID == UINT32_MAX);

/* Literals. */
extern const char literals[];
const char literals[] = GASNET_CONFIG_STRING
	"" GASNET_CONDUIT_NAME_STR "" GASNET_CORE_NAME_STR "" GASNET_CORE_VERSION_STR
	"" GASNET_EXTENDED_NAME_STR "" GASNET_EXTENDED_VERSION_STR GASNETT_SYSTEM_TUPLE
	"" GASNETT_CONFIG_STRING "" PLATFORM_COMPILER_VERSION_STR _STRINGIFY(GASNET_CONDUIT_NAME)
		_STRINGIFY(PLATFORM_COMPILER_FAMILYNAME) "%" PRIuSZ "%" PRIu64;

/* Positional initialisers, and zero-filled handles that name nothing. */
extern gex_AM_Entry_t entries[];
gex_AM_Entry_t entries[] = {{0, NULL, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, NULL}};
extern gex_EP_Location_t location;
gex_EP_Location_t location = {3, 0};
extern gex_HSL_t locks[2];
gex_HSL_t locks[2] = {GEX_HSL_INITIALIZER, GASNET_HSL_INITIALIZER};
extern gasnet_handle_t *handles;
static gex_Event_t events[2] = {GEX_EVENT_INVALID, GASNET_INVALID_HANDLE};
gasnet_handle_t *handles = events;
