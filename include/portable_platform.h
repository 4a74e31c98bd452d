/* portable_platform.h: the other name of gasnet_portable_platform.h. */
#ifndef GASNET_PORTABLE_PLATFORM_ALIAS_H
#define GASNET_PORTABLE_PLATFORM_ALIAS_H

#include "gasnet_portable_platform.h"

#endif
