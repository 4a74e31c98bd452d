/*
 * gasnet_tools_annotate.h: what a program tells the compiler about its code.
 * Each hint is used where the compiler has it, and is nothing elsewhere.
 *
 * A program overrules a choice by defining GASNETT_USE_<name> as 0 or 1 (that
 * of RESTRICT as a keyword or nothing) before it includes this file.
 */
#ifndef GASNET_TOOLS_ANNOTATE_H
#define GASNET_TOOLS_ANNOTATE_H

#include "gasnet_ex_port.h"
#include "gasnet_ex_predict.h"

#if defined(__has_attribute)
#define PSI_HAS_ATTRIBUTE(name) __has_attribute(name)
#else
#define PSI_HAS_ATTRIBUTE(name) 0
#endif

/* Inlining. INLINE(f) and NEVER_INLINE(f, definition) go before a definition. */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
#define GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE PSI_HAS_ATTRIBUTE(__always_inline__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
#define GASNETT_INLINE(function) static inline __attribute__((__always_inline__))
#else
#define GASNETT_INLINE(function) static inline
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
#define GASNETT_USE_GCC_ATTRIBUTE_NOINLINE PSI_HAS_ATTRIBUTE(__noinline__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
#define GASNETT_NEVER_INLINE(function, definition) __attribute__((__noinline__)) definition
#else
#define GASNETT_NEVER_INLINE(function, definition) definition
#endif

/* Properties of a function, after its declaration; the forms in P are for other compilers. */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_NORETURN
#define GASNETT_USE_GCC_ATTRIBUTE_NORETURN PSI_HAS_ATTRIBUTE(__noreturn__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_NORETURN
#define GASNETT_NORETURN __attribute__((__noreturn__))
#else
#define GASNETT_NORETURN
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_MALLOC
#define GASNETT_USE_GCC_ATTRIBUTE_MALLOC PSI_HAS_ATTRIBUTE(__malloc__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_MALLOC
#define GASNETT_MALLOC __attribute__((__malloc__))
#else
#define GASNETT_MALLOC
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_PURE
#define GASNETT_USE_GCC_ATTRIBUTE_PURE PSI_HAS_ATTRIBUTE(__pure__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_PURE
#define GASNETT_PURE __attribute__((__pure__))
#else
#define GASNETT_PURE
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_CONST
#define GASNETT_USE_GCC_ATTRIBUTE_CONST PSI_HAS_ATTRIBUTE(__const__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_CONST
#define GASNETT_CONST __attribute__((__const__))
#else
#define GASNETT_CONST
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_HOT
#define GASNETT_USE_GCC_ATTRIBUTE_HOT PSI_HAS_ATTRIBUTE(__hot__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_HOT
#define GASNETT_HOT __attribute__((__hot__))
#else
#define GASNETT_HOT
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_COLD
#define GASNETT_USE_GCC_ATTRIBUTE_COLD PSI_HAS_ATTRIBUTE(__cold__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_COLD
#define GASNETT_COLD __attribute__((__cold__))
#else
#define GASNETT_COLD
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
#define GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED PSI_HAS_ATTRIBUTE(__deprecated__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#else
#define GASNETT_DEPRECATED
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
#define GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT PSI_HAS_ATTRIBUTE(__warn_unused_result__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#else
#define GASNETT_WARN_UNUSED_RESULT
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_USED
#define GASNETT_USE_GCC_ATTRIBUTE_USED PSI_HAS_ATTRIBUTE(__used__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_USED
#define GASNETT_USED __attribute__((__used__))
#else
#define GASNETT_USED
#endif
#define GASNETT_NORETURNP(function)
#define GASNETT_MALLOCP(function)
#define GASNETT_PUREP(function)
#define GASNETT_CONSTP(function)

/*
 * A function, or a pointer to one, that takes a format as its fmtarg-th
 * argument and what the format names from the firstvararg-th on.
 */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT PSI_HAS_ATTRIBUTE(__format__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#define GASNETT_FORMAT_PRINTF(function, fmtarg, firstvararg, declarator) \
	__attribute__((__format__(__printf__, fmtarg, firstvararg))) declarator
#else
#define GASNETT_FORMAT_PRINTF(function, fmtarg, firstvararg, declarator) declarator
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT
#define PSI_PRINTF_FORMAT(fmtarg, firstvararg) \
	__attribute__((__format__(__printf__, fmtarg, firstvararg)))
#else
#define PSI_PRINTF_FORMAT(fmtarg, firstvararg)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
#define GASNETT_FORMAT_PRINTF_FUNCPTR(pointer, fmtarg, firstvararg, declarator) \
	declarator __attribute__((__format__(__printf__, fmtarg, firstvararg)))
#else
#define GASNETT_FORMAT_PRINTF_FUNCPTR(pointer, fmtarg, firstvararg, declarator) declarator
#endif

/* Types whose objects may be accessed through any other type. */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS
#define GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS PSI_HAS_ATTRIBUTE(__may_alias__)
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS
#define PSI_MAY_ALIAS __attribute__((__may_alias__))
#else
#define PSI_MAY_ALIAS
#endif

/* A case that goes on into the next; no semicolon follows. */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
#define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH PSI_HAS_ATTRIBUTE(__fallthrough__)
#endif
#ifndef GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH
#define GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH 0
#endif
#ifndef GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH
#define GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH 0
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#elif GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH
#define GASNETT_FALLTHROUGH [[fallthrough]];
#elif GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH
#define GASNETT_FALLTHROUGH [[clang::fallthrough]];
#else
#define GASNETT_FALLTHROUGH
#endif

#ifndef GASNETT_USE_RESTRICT
#if defined(__GNUC__)
#define GASNETT_USE_RESTRICT __restrict__
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define GASNETT_USE_RESTRICT restrict
#else
#define GASNETT_USE_RESTRICT
#endif
#endif
#define GASNETT_RESTRICT GASNETT_USE_RESTRICT
#ifndef GASNETT_USE_RESTRICT_ON_TYPEDEFS
#define GASNETT_USE_RESTRICT_ON_TYPEDEFS 1
#endif

/* 1 if the compiler knows the value of e, else 0; e is not evaluated. */
#ifndef GASNETT_USE_BUILTIN_CONSTANT_P
#define GASNETT_USE_BUILTIN_CONSTANT_P PSI_HAS_BUILTIN(__builtin_constant_p)
#endif
#if GASNETT_USE_BUILTIN_CONSTANT_P
#define gasnett_constant_p(e) __builtin_constant_p(e)
#else
#define gasnett_constant_p(e) 0
#endif

/*
 * A place that is never reached, and a condition that always holds. A debug
 * library ends the process with the position if that was wrong; otherwise
 * anything may happen then. The condition may be evaluated once or not.
 */
#ifndef GASNETT_USE_BUILTIN_UNREACHABLE
#define GASNETT_USE_BUILTIN_UNREACHABLE PSI_HAS_BUILTIN(__builtin_unreachable)
#endif
#ifndef GASNETT_USE_BUILTIN_ASSUME
#define GASNETT_USE_BUILTIN_ASSUME PSI_HAS_BUILTIN(__builtin_assume)
#endif
#ifndef GASNETT_USE_ASSUME
#define GASNETT_USE_ASSUME 1
#endif
PSI_BEGIN_DECLS
PSI_API void psi_assumed_wrongly(const char *what, const char *file, int line) GASNETT_NORETURN;
PSI_END_DECLS
#if PSI_CONFIG_DEBUG
#define gasnett_unreachable() psi_assumed_wrongly("this place is reached", __FILE__, __LINE__)
#define gasnett_assume(condition) \
	((condition) ? (void)0 : psi_assumed_wrongly(#condition, __FILE__, __LINE__))
#else
#if GASNETT_USE_BUILTIN_UNREACHABLE
#define gasnett_unreachable() __builtin_unreachable()
#else
#define gasnett_unreachable() ((void)0)
#endif
#if !GASNETT_USE_ASSUME
#define gasnett_assume(condition) ((void)0)
#elif GASNETT_USE_BUILTIN_ASSUME
#define gasnett_assume(condition) __builtin_assume(condition)
#else
#define gasnett_assume(condition) ((condition) ? (void)0 : gasnett_unreachable())
#endif
#endif

/* For the other headers. */
#ifndef GASNETT_USE_BUILTIN_PREFETCH
#define GASNETT_USE_BUILTIN_PREFETCH PSI_HAS_BUILTIN(__builtin_prefetch)
#endif
#ifndef GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
#if defined(__GNUC__)
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1
#else
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 0
#endif
#endif
#ifndef GASNETT_USE_CTYPE_WRAPPERS
#define GASNETT_USE_CTYPE_WRAPPERS 0
#endif

/* C linkage, in C nothing. */
#ifdef __cplusplus
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_EXTERNC       extern "C"
#define GASNETT_END_EXTERNC   }
#else
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_EXTERNC extern
#define GASNETT_END_EXTERNC
#endif

#define GASNETT_CURRENT_FUNCTION __func__

/* Evaluate each argument once and discard it; an expression. */
#define GASNETT_UNUSED_ARGS1(a)       ((void)(a))
#define GASNETT_UNUSED_ARGS2(a, b)    ((void)(a), (void)(b))
#define GASNETT_UNUSED_ARGS3(a, b, c) ((void)(a), (void)(b), (void)(c))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) \
	(GASNETT_UNUSED_ARGS2(a, b), GASNETT_UNUSED_ARGS2(c, d))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) \
	(GASNETT_UNUSED_ARGS3(a, b, c), GASNETT_UNUSED_ARGS2(d, e))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) \
	(GASNETT_UNUSED_ARGS3(a, b, c), GASNETT_UNUSED_ARGS3(d, e, f))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) \
	(GASNETT_UNUSED_ARGS4(a, b, c, d), GASNETT_UNUSED_ARGS3(e, f, g))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) \
	(GASNETT_UNUSED_ARGS4(a, b, c, d), GASNETT_UNUSED_ARGS4(e, f, g, h))

/* Text in the executable file, found there by ident(1); at global scope. */
#define GASNETT_IDENT(name, text) PSI_RETAIN static const char name[] = text

#endif
