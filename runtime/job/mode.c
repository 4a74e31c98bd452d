/*
 * The small object of a conduit and thread mode: compiled once for each, and the only
 * definition of the symbols by which client objects ask for it. Launchers and
 * link wrappers read the strings in the executable file; each begins and ends
 * with a dollar of its own, so that nothing between two of them counts.
 */
#include "gasnetex.h"

#include "gasnet_tools.h"

const char PSI_LINK_CHECK[] = "GASNET_" PSI_MODE_NAME;
const char PSI_LINK_HEADERS[] = "Penstock " PSI_RELEASE;
const char psi_mode_object[] = "GASNET_" PSI_MODE_NAME;
/* The network that the program uses unless PST_CONDUIT names another (runtime/conduit/plugin.c). */
const char psi_mode_conduit[] = GASNET_CONDUIT_NAME_STR;

#define IDENT(name, text) PSI_RETAIN static const char ident_##name[] = "$GASNet" text " $"

#if defined(__clang__)
#define COMPILER_ID "Clang/" __clang_version__
#else
#define COMPILER_ID "GNU/" __VERSION__
#endif

IDENT(conduit, "ConduitName: " GASNET_CONDUIT_NAME_STR);
IDENT(fork, "FORKSpawner: 1");
#if !defined(GASNET_CONDUIT_SMP)
IDENT(ssh, "SSHSpawner: 1");
IDENT(mpi, "MPISpawner: 1");
IDENT(pmi, "PMISpawner: 1");
#endif
#if defined(GASNET_CONDUIT_IBV)
IDENT(multirail, "IbvMultirail: 1");
#endif
IDENT(thread_model, "ThreadModel: GASNET_" PSI_MODE_NAME);
IDENT(segment, "Segment: GASNET_SEGMENT_FAST");
IDENT(config, "Config: (libgasnet.a) " GASNET_CONFIG_STRING);
IDENT(tools_config, "ToolsConfig: " GASNETT_CONFIG_STRING);
IDENT(tools_thread_model, "ToolsThreadModel: " PSI_STRING(GASNETT_THREAD_MODEL));
IDENT(api, "APIVersion: 1");
IDENT(ex_api, "EXAPIVersion: " PSI_STRING(GEX_SPEC_VERSION_MAJOR) "." PSI_STRING(
		      GEX_SPEC_VERSION_MINOR));
IDENT(core_name, "CoreLibraryName: " GASNET_CORE_NAME_STR);
IDENT(core_version, "CoreLibraryVersion: " GASNET_CORE_VERSION_STR);
IDENT(extended_name, "ExtendedLibraryName: " GASNET_EXTENDED_NAME_STR);
IDENT(extended_version, "ExtendedLibraryVersion: " GASNET_EXTENDED_VERSION_STR);
IDENT(system_tuple, "SystemTuple: " PSI_CONFIG_SYSTEM_TUPLE);
IDENT(compiler, "CompilerID: " COMPILER_ID);
IDENT(timestamp, "BuildTimestamp: " PSI_STRING(PSI_BUILD_TIMESTAMP));
IDENT(pshm, "PSHM: memfd");

/* The linker drops the section, so nothing may point into it; AddressSanitizer of clang would. */
#if defined(__clang__)
#define UNGUARDED __attribute__((no_sanitize_address))
#else
#define UNGUARDED
#endif

/*
 * Text that the linker prints when an object of another mode asks for its
 * symbol and finds this object instead; the undefined symbol itself then
 * fails the link.
 */
#define WARNING(name, symbol, text)                                                              \
	PSI_RETAIN UNGUARDED __attribute__((section(".gnu.warning." PSI_STRING(symbol))))        \
	static const char mismatch_##name[] = text
#define MISMATCH(name, mode, lib)                                                                \
	WARNING(name, PSI_LINK_CHECK_##mode,                                                     \
		"an object compiled with GASNET_" #mode                                          \
		" meets a library for GASNET_" PSI_MODE_NAME "; link the one named " lib)

#if PSI_CONFIG_DEBUG
WARNING(kind, PSI_LINK_OPTIMISED,
	"an object compiled with the headers of an optimised Penstock " PSI_RELEASE
	" meets a library configured with --enable-debug; compile and link with one installation");
#else
WARNING(kind, PSI_LINK_DEBUG,
	"an object compiled with the headers of a Penstock " PSI_RELEASE
	" configured with --enable-debug meets an optimised library; compile and link with one "
	"installation");
#endif

#if PSI_MODE != PSI_MODE_SEQ
MISMATCH(seq, SEQ, "seq");
#endif
#if PSI_MODE != PSI_MODE_PARSYNC
MISMATCH(parsync, PARSYNC, "parsync");
#endif
#if PSI_MODE != PSI_MODE_PAR
MISMATCH(par, PAR, "par");
#endif
