#include "config.h"

#include "runtime/version.h"

const char *
pst_version(void)
{
	return PACKAGE_VERSION;
}
