/*
 * gasnet_tools_threadkey.h: a pointer for each thread, NULL at first.
 *
 *     GASNETT_THREADKEY_DEFINE(mine);     once, at global scope
 *     GASNETT_THREADKEY_DECLARE(mine);    in other files
 *     gasnett_threadkey_set(mine, p);     any thread, any time
 */
#ifndef GASNET_TOOLS_THREADKEY_H
#define GASNET_TOOLS_THREADKEY_H

#include "gasnet_ex_port.h"

#if defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_PARSYNC)
#define PSI_THREADKEY_STORAGE
#else
#define PSI_THREADKEY_STORAGE __thread
#endif

#define PSI_THREADKEY(key) PSI_PASTE(psi_threadkey_, key)

#define GASNETT_THREADKEY_DECLARE(key) extern PSI_THREADKEY_STORAGE void *PSI_THREADKEY(key)
#ifdef __cplusplus
#define GASNETT_THREADKEY_DEFINE(key) \
	extern PSI_THREADKEY_STORAGE void *PSI_THREADKEY(key); \
	PSI_THREADKEY_STORAGE void *PSI_THREADKEY(key) = 0
#else
#define GASNETT_THREADKEY_DEFINE(key) PSI_THREADKEY_STORAGE void *PSI_THREADKEY(key) = 0
#endif

#define gasnett_threadkey_get(key)        (PSI_THREADKEY(key))
#define gasnett_threadkey_set(key, value) ((void)(PSI_THREADKEY(key) = (value)))

/* Nothing needs to be made ready, so these cost and do the same. */
#define gasnett_threadkey_init(key)              ((void)0)
#define gasnett_threadkey_get_noinit(key)        gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

/* Never called. Programs for threads take its address, so the name is fixed. */
#if !defined(GASNETT_THREAD_SINGLE)
PSI_BEGIN_DECLS
PSI_INLINE void
_gasneti_threadkey_init(void *key)
{
	(void)key;
}
PSI_END_DECLS
#endif

#endif
