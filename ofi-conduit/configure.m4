# The networks that libfabric drives: its headers and library of release 1.14 or newer, and shared
# libraries, since the conduit is a plug-in.
AS_IF([test "x$enable_shared" != xyes],
	[pst_conduit_reason='it is a plug-in, and --disable-shared was given'],
	[AC_CHECK_HEADER([rdma/fabric.h], [
		AC_MSG_CHECKING([for libfabric 1.14 or newer])
		pst_saved_libs=$LIBS
		LIBS="$LIBS -lfabric"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#if FI_MAJOR_VERSION * 1000 + FI_MINOR_VERSION < 1014
#error no
#endif
]], [[return fi_version() == 0;]])], [pst_conduit_have=yes],
			[pst_conduit_reason='libfabric 1.14 or newer was not found (Debian: libfabric-dev)'])
		LIBS=$pst_saved_libs
		AC_MSG_RESULT([$pst_conduit_have])],
		[pst_conduit_reason='rdma/fabric.h was not found (Debian: libfabric-dev)'])])
