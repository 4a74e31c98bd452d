/*
 * gasnet_ex_predict.h: which way a condition goes most of the time. gasnetex.h
 * brings it, and gasnet_tools.h.
 */
#ifndef GASNET_EX_PREDICT_H
#define GASNET_EX_PREDICT_H

#if defined(__has_builtin)
#define PSI_HAS_BUILTIN(name) __has_builtin(name)
#else
#define PSI_HAS_BUILTIN(name) 0
#endif

/* The value is zero when e is. */
#ifndef GASNETT_USE_BUILTIN_EXPECT
#define GASNETT_USE_BUILTIN_EXPECT PSI_HAS_BUILTIN(__builtin_expect)
#endif
#if GASNETT_USE_BUILTIN_EXPECT
#define GASNETT_PREDICT_TRUE(e)  __builtin_expect(!!(e), 1)
#define GASNETT_PREDICT_FALSE(e) __builtin_expect(!!(e), 0)
#else
#define GASNETT_PREDICT_TRUE(e)  (e)
#define GASNETT_PREDICT_FALSE(e) (e)
#endif

/* The only names without a prefix; a program may have its own. */
#ifndef if_pt
#define if_pt(condition) if (GASNETT_PREDICT_TRUE(condition))
#endif
#ifndef if_pf
#define if_pf(condition) if (GASNETT_PREDICT_FALSE(condition))
#endif

#endif
