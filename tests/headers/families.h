/* What the two files that watch the headers' inline functions share. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include <gasnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define AS(type, x) (reinterpret_cast<type>(x))
#define TO(type, x) (static_cast<type>(x))
extern "C" {
#else
#define AS(type, x) ((type)(x))
#define TO(type, x) ((type)(x))
#endif

/* Stand for objects, and hold data. */
static char source[64], target[64];

extern int failures;
void check_at(int good, const char *what, const char *file, int line);
#define check(good, what, line) check_at(good, what, __FILE__, line)
#define CHECK(cond)             check((cond) ? 1 : 0, #cond, __LINE__)

/* inlines.c: waits, events, transfers, codes, pairs. */
void inlines(void);
/* atomics.c: operations of atomic domains. */
void atomics(void);

#ifdef __cplusplus
}
#endif
#endif
