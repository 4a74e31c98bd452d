# the networks that libfabric drives. This release carries the smp conduit only, so the answer is no; the
# probe says whether the host has what the conduit's sources, which come later, will be built with.
AC_CHECK_HEADER([rdma/fabric.h],
	[pst_conduit_reason='this release carries the smp conduit only; rdma/fabric.h was found'],
	[pst_conduit_reason='this release carries the smp conduit only; rdma/fabric.h was not found'])
