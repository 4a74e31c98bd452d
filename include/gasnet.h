/* gasnet.h: the GASNet-1 interface, in terms of the EX one, and the tools. */
#ifndef _INCLUDED_GASNET_H
#define _INCLUDED_GASNET_H 1

#include "gasnetex.h"

#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNET_VERSION            GASNET_SPEC_VERSION_MAJOR

#include "gasnet_legacy_am.h"
#include "gasnet_legacy_core.h"
#include "gasnet_legacy_rma.h"
#include "gasnet_legacy_vis.h"

#include "gasnet_tools.h"

#endif
