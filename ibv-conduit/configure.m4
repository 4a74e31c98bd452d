# InfiniBand and RoCE: libibverbs of rdma-core 30 or newer, and shared libraries, since the conduit is a
# plug-in.
AS_IF([test "x$enable_shared" != xyes],
	[pst_conduit_reason='it is a plug-in, and --disable-shared was given'],
	[AC_CHECK_HEADER([infiniband/verbs.h], [
		AC_MSG_CHECKING([for libibverbs of rdma-core 30 or newer])
		pst_saved_libs=$LIBS
		LIBS="$LIBS -libverbs"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <infiniband/verbs.h>
]], [[struct ibv_gid_entry entry;
return ibv_query_gid_table(0, &entry, 1, 0) != 0;]])], [pst_conduit_have=yes],
			[pst_conduit_reason='libibverbs of rdma-core 30 or newer was not found (Debian: libibverbs-dev)'])
		AC_MSG_RESULT([$pst_conduit_have])
		AC_CHECK_FUNCS([ibv_is_fork_initialized])       # rdma-core 35
		LIBS=$pst_saved_libs],
		[pst_conduit_reason='infiniband/verbs.h was not found (Debian: libibverbs-dev)'])])
