/*
 * The small object of a tools library: compiled for each thread mode, and the only definition of
 * the symbol by which objects of that mode ask for it.  Link wrappers read the strings.
 */
#include "gasnet_tools.h"

const char GASNETT_LINKCONFIG_IDIOTCHECK[] = "GASNETT_" PSI_STRING(GASNETT_THREAD_MODEL);

GASNETT_IDENT(ident_config, "$GASNetToolsConfig: " GASNETT_CONFIG_STRING " $");
GASNETT_IDENT(ident_thread_model,
              "$GASNetToolsThreadModel: " PSI_STRING(GASNETT_THREAD_MODEL) " $");
GASNETT_IDENT(ident_tuple, "$GASNetSystemTuple: " GASNETT_SYSTEM_TUPLE " $");
