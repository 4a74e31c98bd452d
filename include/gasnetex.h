/*
 * gasnetex.h: the EX interface. Needs exactly one of GASNET_SEQ,
 * GASNET_PARSYNC and GASNET_PAR, and both include directories of the
 * installation, the conduit's second.
 */
#ifndef GASNETEX_H
#define GASNETEX_H

#include "gasnet_ex_system.h"

#include "gasnet_ex_mode.h"
#include "gasnet_ex_predict.h"
#include "gasnet_fwd.h"
#include "gasnet_portable_platform.h"

#include "gasnet_ex_am.h"
#include "gasnet_ex_barrier.h"
#include "gasnet_ex_core.h"
#include "gasnet_ex_event.h"
#include "gasnet_ex_hsl.h"
#include "gasnet_ex_rma.h"
#include "gasnet_ex_rma_nb.h"
#include "gasnet_ex_wait.h"

#endif
