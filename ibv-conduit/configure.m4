# InfiniBand and RoCE through libibverbs. This release carries the smp conduit only, so the answer is no; the
# probe says whether the host has what the conduit's sources, which come later, will be built with.
AC_CHECK_HEADER([infiniband/verbs.h],
	[pst_conduit_reason='this release carries the smp conduit only; infiniband/verbs.h was found'],
	[pst_conduit_reason='this release carries the smp conduit only; infiniband/verbs.h was not found'])
