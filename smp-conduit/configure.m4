# Shared memory inside one host: Linux, with address-free 64-bit atomics.
AC_MSG_CHECKING([for Linux with lock-free 64-bit atomics])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <stdatomic.h>
#if !defined(__linux__) || ATOMIC_LLONG_LOCK_FREE != 2
#error no
#endif
]])], [pst_conduit_have=yes], [pst_conduit_reason='it needs Linux and lock-free 64-bit atomics'])
AC_MSG_RESULT([$pst_conduit_have])
