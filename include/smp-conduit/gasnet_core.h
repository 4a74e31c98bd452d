/*
 * gasnet_core.h for smp. Build systems of programs look for a file of this name
 * to see whether a conduit is there; a program includes gasnetex.h.
 */
#ifndef GASNET_CORE_H
#define GASNET_CORE_H

#include "gasnetex.h"

#endif
