/* penstock.h: version of this library, as opposed to the interface level. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include "gasnet_ex_port.h"

#define PENSTOCK_VERSION_MAJOR  PSI_CONFIG_VERSION_MAJOR
#define PENSTOCK_VERSION_MINOR  PSI_CONFIG_VERSION_MINOR
#define PENSTOCK_VERSION_PATCH  PSI_CONFIG_VERSION_PATCH
#define PENSTOCK_VERSION_STRING       \
	PSI_STRING(PENSTOCK_VERSION_MAJOR) "." \
	PSI_STRING(PENSTOCK_VERSION_MINOR) "." \
	PSI_STRING(PENSTOCK_VERSION_PATCH)

PSI_BEGIN_DECLS

/* Version of the library that runs, which may be newer than this header. */
PSI_API const char *pst_version(void);

PSI_END_DECLS

#endif
