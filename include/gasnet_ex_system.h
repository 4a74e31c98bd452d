/*
 * gasnet_ex_system.h: the system's headers that programs expect gasnetex.h to
 * bring along.
 */
#ifndef GASNET_EX_SYSTEM_H
#define GASNET_EX_SYSTEM_H

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * <sys/param.h> has macros of names that are common. One that the program has
 * defined by now stays as it is: it is put aside, and here PSI_OWN_<name> is
 * defined in its place.
 */
#ifdef MIN
#define PSI_OWN_MIN 1
#pragma push_macro("MIN")
#undef MIN
#endif
#ifdef MAX
#define PSI_OWN_MAX 1
#pragma push_macro("MAX")
#undef MAX
#endif
#ifdef setbit
#define PSI_OWN_setbit 1
#pragma push_macro("setbit")
#undef setbit
#endif
#ifdef clrbit
#define PSI_OWN_clrbit 1
#pragma push_macro("clrbit")
#undef clrbit
#endif
#ifdef isset
#define PSI_OWN_isset 1
#pragma push_macro("isset")
#undef isset
#endif
#ifdef isclr
#define PSI_OWN_isclr 1
#pragma push_macro("isclr")
#undef isclr
#endif
#ifdef howmany
#define PSI_OWN_howmany 1
#pragma push_macro("howmany")
#undef howmany
#endif
#ifdef roundup
#define PSI_OWN_roundup 1
#pragma push_macro("roundup")
#undef roundup
#endif
#ifdef powerof2
#define PSI_OWN_powerof2 1
#pragma push_macro("powerof2")
#undef powerof2
#endif

#include <sys/param.h>

#ifdef PSI_OWN_MIN
#pragma pop_macro("MIN")
#undef PSI_OWN_MIN
#endif
#ifdef PSI_OWN_MAX
#pragma pop_macro("MAX")
#undef PSI_OWN_MAX
#endif
#ifdef PSI_OWN_setbit
#pragma pop_macro("setbit")
#undef PSI_OWN_setbit
#endif
#ifdef PSI_OWN_clrbit
#pragma pop_macro("clrbit")
#undef PSI_OWN_clrbit
#endif
#ifdef PSI_OWN_isset
#pragma pop_macro("isset")
#undef PSI_OWN_isset
#endif
#ifdef PSI_OWN_isclr
#pragma pop_macro("isclr")
#undef PSI_OWN_isclr
#endif
#ifdef PSI_OWN_howmany
#pragma pop_macro("howmany")
#undef PSI_OWN_howmany
#endif
#ifdef PSI_OWN_roundup
#pragma pop_macro("roundup")
#undef PSI_OWN_roundup
#endif
#ifdef PSI_OWN_powerof2
#pragma pop_macro("powerof2")
#undef PSI_OWN_powerof2
#endif

#endif
