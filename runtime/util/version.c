#include "config.h"

#include "penstock.h"

const char *
pst_version(void)
{
	return PACKAGE_VERSION;
}
