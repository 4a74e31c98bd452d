/*
 * The small object of each thread mode: compiled once per mode with PSI_MODE_SEQ, PSI_MODE_PARSYNC
 * or PSI_MODE_PAR defined, and put into the archive of that mode only.
 */
#if defined(PSI_MODE_SEQ)
#define PSI_MODE_NAME "SEQ"
#elif defined(PSI_MODE_PARSYNC)
#define PSI_MODE_NAME "PARSYNC"
#elif defined(PSI_MODE_PAR)
#define PSI_MODE_NAME "PAR"
#else
#error "one of PSI_MODE_SEQ, PSI_MODE_PARSYNC and PSI_MODE_PAR must be defined"
#endif

__attribute__((used, retain)) static const char psi_mode_string[] =
	"$GASNetThreadModel: GASNET_" PSI_MODE_NAME " $";
