/* Constants, versions, error texts, switches and hints of the core interface. */
#include <gasnet.h>

#include "tests/lib/pt.h"

#if GASNET_RELEASE_VERSION_MAJOR < 2025 || GASNET_RELEASE_VERSION_MINOR < 0 ||                     \
	GASNET_RELEASE_VERSION_PATCH < 0
#error release version
#endif
#if GEX_SPEC_VERSION_MAJOR != 0 || GEX_SPEC_VERSION_MINOR < 19
#error EX specification version
#endif
#if GASNET_SPEC_VERSION_MAJOR != 1 || GASNET_SPEC_VERSION_MINOR < 8 ||                             \
	GASNET_VERSION != GASNET_SPEC_VERSION_MAJOR
#error GASNet-1 specification version
#endif
#if GASNET_SUPPORTS_AM_CANCEL < 20240418L || GASNET_SUPPORTS_AM_COMMIT_V2 < 20240906L
#error negotiated payload extensions
#endif
#if !GASNET_SUPPORTS_TI_SRCRANK || !GASNET_SUPPORTS_TI_EP
#error mandatory token queries
#endif
#if GASNET_ALIGNED_SEGMENTS != 0 && GASNET_ALIGNED_SEGMENTS != 1
#error aligned segments
#endif
#if !GASNET_CONDUIT_SMP || !GASNET_SMP_CONDUIT
#error conduit name
#endif
#if defined(GASNET_DEBUG) + defined(GASNET_NDEBUG) != 1
#error debug setting
#endif
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) +                                 \
		defined(GASNET_SEGMENT_EVERYTHING) !=                                              \
	1
#error segment mode
#endif
#if GASNET_PAGESIZE < 512 || GASNET_PAGESIZE & (GASNET_PAGESIZE - 1) || GASNET_MAXNODES < 2 ||     \
	GASNET_MAXEPS < 1
#error sizes
#endif
#if SIZEOF_GEX_RMA_VALUE_T != SIZEOF_GASNET_REGISTER_VALUE_T || SIZEOF_GEX_RMA_VALUE_T < 4
#error value type
#endif
#if GASNET_HIDDEN_AM_CONCURRENCY_LEVEL < 0 || (GASNET_NULL_ARGV_OK != 0 && GASNET_NULL_ARGV_OK != 1)
#error start-up and concurrency macros
#endif
#if GEX_AM_INDEX_BASE > 128
#error handler indices
#endif

static void
disjoint(const gex_Flags_t *flags, size_t count)
{
	gex_Flags_t all = 0;

	for (size_t i = 0; i < count; i++) {
		PT_CHECK(flags[i] != 0);
		PT_EQ(all & flags[i], 0);
		all |= flags[i];
	}
}

static void
check_flags(void)
{
	static const gex_Flags_t init[] = { GEX_FLAG_USES_GASNET1, GEX_FLAG_DEFER_THREADS };
	static const gex_Flags_t hints[] = { GEX_FLAG_HINT_ACCEL_AD, GEX_FLAG_HINT_ACCEL_COLL };
	static const gex_Flags_t rma[] = { GEX_FLAG_IMMEDIATE, GEX_FLAG_PEER_NEVER_SELF,
		                           GEX_FLAG_PEER_NEVER_NBRHD, GEX_FLAG_SELF_SEG_OFFSET,
		                           GEX_FLAG_PEER_SEG_OFFSET };
	static const gex_Flags_t am[] = { GEX_FLAG_IMMEDIATE, GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
		                          GEX_FLAG_AM_PREPARE_LEAST_ALLOC };
	static const gex_Flags_t entry[] = { GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM,
		                             GEX_FLAG_AM_LONG, GEX_FLAG_AM_REQUEST,
		                             GEX_FLAG_AM_REPLY };
	static const gex_Flags_t tokens[] = { GEX_TI_SRCRANK, GEX_TI_EP, GEX_TI_ENTRY,
		                              GEX_TI_IS_REQ, GEX_TI_IS_LONG };
	static const gex_Flags_t caps[] = { GEX_EP_CAPABILITY_RMA, GEX_EP_CAPABILITY_AM,
		                            GEX_EP_CAPABILITY_VIS, GEX_EP_CAPABILITY_COLL,
		                            GEX_EP_CAPABILITY_AD };

	disjoint(init, PT_COUNT(init));
	disjoint(hints, PT_COUNT(hints));
	disjoint(rma, PT_COUNT(rma));
	disjoint(am, PT_COUNT(am));
	disjoint(entry, PT_COUNT(entry));
	disjoint(tokens, PT_COUNT(tokens));
	disjoint(caps, PT_COUNT(caps));
	PT_EQ(GEX_FLAG_HINT_ACCEL_ALL, GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL);
	PT_EQ(GEX_FLAG_AM_MEDLONG, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG);
	PT_EQ(GEX_FLAG_AM_REQREP, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY);
	PT_EQ(GEX_EP_CAPABILITY_ALL, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM |
	                                     GEX_EP_CAPABILITY_VIS | GEX_EP_CAPABILITY_COLL |
	                                     GEX_EP_CAPABILITY_AD);
}

/* A variable, so that nothing is decided while compiling. */
static void
check_invalid_values(void)
{
	gex_Event_t zero_event;
	gex_Rank_t none = GEX_RANK_INVALID;

	memset(&zero_event, 0, sizeof(zero_event));
	PT_CHECK(zero_event == GEX_EVENT_INVALID);
	PT_CHECK(GEX_EVENT_NO_OP != GEX_EVENT_INVALID);
	PT_CHECK(GEX_EVENT_NOW != GEX_EVENT_DEFER && GEX_EVENT_NOW != GEX_EVENT_GROUP);
	PT_CHECK(GEX_EVENT_DEFER != GEX_EVENT_GROUP);
	PT_CHECK(GEX_EVENT_NOW != NULL && GEX_EVENT_DEFER != NULL && GEX_EVENT_GROUP != NULL);
	PT_CHECK(none >= pt.size && none > GASNET_MAXNODES - 1);
	PT_CHECK((gex_Rank_t)-1 > 0 && (gex_EP_Index_t)-1 > 0);
	PT_CHECK(!GEX_CLIENT_INVALID && !GEX_EP_INVALID && !GEX_SEGMENT_INVALID && !GEX_TM_INVALID);
	PT_CHECK(!GEX_MK_INVALID && !GEX_AM_SRCDESC_NO_OP && GEX_MK_HOST);
	PT_EQ(sizeof(gex_AM_Arg_t), 4);
	PT_EQ(sizeof(gex_AM_Index_t), 1);
	PT_EQ(sizeof(gex_RMA_Value_t), SIZEOF_GEX_RMA_VALUE_T);
}

static void
check_errors(void)
{
	static const struct {
		int code;
		const char *name;
	} errors[] = {
		{ GASNET_OK, "GASNET_OK" },
		{ GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT" },
		{ GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE" },
		{ GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG" },
		{ GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY" },
		{ GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH" },
	};
	static const int unknown[] = { -1, 1, 77777, -2147483647 - 1, 2147483647 };

	PT_EQ(GASNET_OK, 0);
	for (size_t i = 0; i < PT_COUNT(errors); i++) {
		PT_STR(gasnet_ErrorName(errors[i].code), errors[i].name);
		PT_CHECK(gasnet_ErrorDesc(errors[i].code) != NULL);
		PT_LE(3, strlen(gasnet_ErrorDesc(errors[i].code)));
		for (size_t j = 0; j < i; j++) {
			PT_CHECK(errors[i].code != errors[j].code);
			PT_CHECK(strcmp(gasnet_ErrorDesc(errors[i].code),
			                gasnet_ErrorDesc(errors[j].code)) != 0);
		}
	}
	for (size_t i = 0; i < PT_COUNT(unknown); i++) {
		PT_CHECK(gasnet_ErrorName(unknown[i]) != NULL && *gasnet_ErrorName(unknown[i]));
		PT_CHECK(gasnet_ErrorDesc(unknown[i]) != NULL && *gasnet_ErrorDesc(unknown[i]));
		for (size_t j = 0; j < PT_COUNT(errors); j++)
			PT_CHECK(strcmp(gasnet_ErrorName(unknown[i]), errors[j].name) != 0);
	}
}

static void
check_switches(void)
{
	PT_EQ(gex_System_GetVerboseErrors(), 1);
	gex_System_SetVerboseErrors(0);
	PT_EQ(gex_System_GetVerboseErrors(), 0);
	PT_EQ(gasnet_set_waitmode(12345), GASNET_ERR_BAD_ARG);
	PT_EQ(gasnet_set_waitmode(-1), GASNET_ERR_BAD_ARG);
	gex_System_SetVerboseErrors(1);
	PT_EQ(gex_System_GetVerboseErrors(), 1);
	PT_OK(gasnet_set_waitmode(GASNET_WAIT_SPIN));
	pt_barrier();
	PT_OK(gasnet_set_waitmode(GASNET_WAIT_BLOCK));
	pt_barrier();
	PT_OK(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK));
	pt_barrier();
	PT_CHECK(GASNET_WAIT_SPIN != GASNET_WAIT_BLOCK &&
	         GASNET_WAIT_BLOCK != GASNET_WAIT_SPINBLOCK &&
	         GASNET_WAIT_SPIN != GASNET_WAIT_SPINBLOCK);
}

static void
check_threads(void)
{
#ifdef GASNET_SEQ
	PT_EQ(gex_System_QueryMaxThreads(), 1);
#else
	PT_LE(1, gex_System_QueryMaxThreads());
#endif
	PT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), 0);   /* GASNET_RCV_THREAD is unset */
}

static void *
with_hint(gasnet_threadinfo_t info)
{
	GASNET_POST_THREADINFO(info);
	return info;
}

static void
check_hints(void)
{
	GASNET_BEGIN_FUNCTION();
	gasnet_threadinfo_t info = GASNET_GET_THREADINFO();

	PT_PTR(with_hint(info), info);
	gasnet_hold_interrupts();
	PT_EQ(gasnet_mynode(), pt.rank);
	gasnet_resume_interrupts();
	PT_OK(gasnet_AMPoll());
}

static void
check_environment(void)
{
	PT_STR(gasnet_getenv("PT_KNOWN"), "known value");
	PT_CHECK(gasnet_getenv("PT_SURELY_NOT_SET") == NULL);
	PT_CHECK(strstr(GASNET_CONFIG_STRING, "SMP") != NULL);
	PT_STR(GASNET_CONDUIT_NAME_STR, "SMP");
	PT_CHECK(*GASNET_CORE_NAME_STR && *GASNET_CORE_VERSION_STR);
	PT_CHECK(*GASNET_EXTENDED_NAME_STR && *GASNET_EXTENDED_VERSION_STR);
}

int
main(int argc, char **argv)
{
	setenv("PT_KNOWN", "known value", 1);
	/* texts are there before the job is */
	pt_prepare(argv);
	check_errors();
	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	pt_attach(NULL, 0, 1);
	check_flags();
	check_invalid_values();
	check_errors();
	check_switches();
	check_threads();
	check_hints();
	check_environment();
	pt_finish();
}
