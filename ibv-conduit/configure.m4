# InfiniBand and RoCE through libibverbs. The conduit comes in a later release, so the answer is no; the
# probe says whether the host has what the conduit's sources, which come later, will be built with.
AC_CHECK_HEADER([infiniband/verbs.h],
	[pst_conduit_reason='comes in a later release; infiniband/verbs.h was found'],
	[pst_conduit_reason='comes in a later release; infiniband/verbs.h was not found'])
