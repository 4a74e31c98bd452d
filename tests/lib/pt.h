/*
 * Harness of the multi-rank test programs.
 *
 * A program calls pt_start once, checks with the PT_ macros and ends with
 * pt_finish.  A failed check prints rank, place and values on stderr and ends
 * the job with status 1; a program that outlives its deadline says in which
 * phase it was and ends with 124.  Nothing here uses more than the public
 * interface, and the file is valid C11 and C++11.
 */
#ifndef PT_H
#define PT_H

#include <gasnetex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GASNET_SEQ)
#define PT_MODE "seq"
#elif defined(GASNET_PARSYNC)
#define PT_MODE "parsync"
#else
#define PT_MODE "par"
#endif

/* Is this AddressSanitizer's build? */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PT_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PT_ASAN 1
#endif

/*
 * ThreadSanitizer sees one process, and misses the order that messages to another and back make
 * between threads of this one.  The library says where a Long has landed, in the sender's mapping;
 * the sender says where it may write there again.  A handler that has read a Long says so before it
 * replies.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PT_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define PT_TSAN 1
#endif
#ifdef PT_TSAN
void __tsan_acquire(void *memory);
void __tsan_release(void *memory);
#define PT_HAD_AGAIN(memory)  __tsan_acquire(memory)
#define PT_GIVEN_BACK(memory) __tsan_release(memory)
#else
#define PT_HAD_AGAIN(memory)  ((void)(memory))
#define PT_GIVEN_BACK(memory) ((void)(memory))
#endif

enum pt_level { PT_QUICK, PT_FULL, PT_LONG };

struct pt_peer {
	char *owner; /* base of the segment at its owner */
	char *local; /* base of the caller's mapping of it, or NULL */
	size_t size_bytes;
};

/*
 * Ranks may be threads: where PST_RANKS_PER_PROCESS is above 1, pt_init in a program for PAR starts
 * them, and each runs the program's main once more, as one rank of a team over all.  A program for
 * that ends with pt_finish, names others by pt.tm and pt.rank, and has PT_OWN before what a rank
 * has for itself: a handler runs in the thread of the rank that the message is for.
 */
#ifdef GASNET_PAR
#define PT_OWN __thread
#else
#define PT_OWN
#endif

/* Written by pt_init and pt_attach, read-only afterwards. */
struct pt_job {
	const char *name; /* of the program, without directories */
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	gex_Segment_t segment;
	gex_Rank_t rank, size;
	char *base; /* own segment */
	size_t segment_bytes;
	struct pt_peer *peers; /* by rank */
	gex_EP_Location_t *where; /* by rank */
	enum pt_level level;   /* CHECK_LEVEL */
	uint64_t seed;         /* PT_SEED, else a fixed number */
	double slack;          /* PT_SLACK, multiplies time limits; 1 by default */
};
extern struct pt_job pt_process;        /* of the process, and of threads that are no ranks */
#ifdef GASNET_PAR
extern PT_OWN struct pt_job *pt_own;
#define pt (*(pt_own ? pt_own : &pt_process))
#else
#define pt pt_process
#endif

/* Start-up: settings and deadline; client; segment, handlers and peers. */
void pt_prepare(char **argv);
void pt_init(int *argc, char ***argv, gex_Flags_t flags);
void pt_attach(gex_AM_Entry_t *table, size_t count, size_t segment_bytes);
void pt_start(int *argc, char ***argv, gex_AM_Entry_t *table, size_t count, size_t segment_bytes);
/* For programs that create the client themselves: adopts its objects. */
void pt_adopt(gex_Client_t client, gex_EP_t ep, gex_TM_t tm);
void pt_find_peers(void);

/* Is the calling rank a thread?  Legacy calls and job ranks mean processes. */
int pt_is_thread(void);
/* The rank, of all, that a member of another team is. */
gex_Rank_t pt_rank_in(gex_TM_t tm, gex_Rank_t rank);
/* A pair team by which this rank reaches another rank's endpoint.  The job rank in it is
 * pt.where[rank].gex_rank. */
gex_TM_t pt_pair(gex_Rank_t rank);

/* Barrier, then the end of the job with status 0; fails when nothing was checked. */
void pt_finish(void) __attribute__((noreturn));
/* Leave aloud with status 77. */
void pt_skip(const char *reason) __attribute__((noreturn));

void pt_barrier(void);
/* What the program is doing, for the message at the deadline. */
void pt_phase(const char *text);
/* A counter by its name, of a rank or PST_COUNTERS_OWN. */
uint64_t pt_counter(uint32_t rank, const char *name);
/* The caller's part of a split, which it joins. */
gex_TM_t pt_split(gex_TM_t parent, int color, int key);
/* quick at level quick, full otherwise */
unsigned long pt_scale(unsigned long quick, unsigned long full);
uint64_t pt_now_ns(void);
double pt_cpu_seconds(void);
void pt_sleep_ms(unsigned ms);
/* Compute without a library call. */
void pt_spin_ms(unsigned ms);

/* Deterministic random numbers; every stream number gives its own sequence. */
struct pt_rng {
	uint64_t state;
};
struct pt_rng pt_rng_make(uint64_t stream);
uint64_t pt_rand(struct pt_rng *rng);
/* 0 <= result < bound */
uint64_t pt_rand_below(struct pt_rng *rng, uint64_t bound);

/* Memory patterns: byte i of pattern key. */
unsigned char pt_byte(uint64_t key, size_t i);
void pt_fill(void *buf, size_t nbytes, uint64_t key);

/* Run fn(index, arg) in count threads and join them. */
void pt_threads(unsigned count, void (*fn)(unsigned index, void *arg), void *arg);

/* Is that rank of the job on this rank's host? */
int pt_on_this_host(gex_Rank_t jobrank);

/*
 * Words by which ranks tell each other something while they look: 4 bytes at an offset of a
 * segment. Where it is mapped they are written and read as atomics, which a rank that makes no call
 * sees as well, and which are no race between threads; else by put and get.
 */
void pt_word_put(gex_Rank_t rank, size_t offset, uint32_t value);
uint32_t pt_word_get(gex_Rank_t rank, size_t offset);

/* The checks behind the macros. */
void pt_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void pt_check(int good, const char *file, int line, const char *text);
void pt_check_eq(long long got, long long want, const char *file, int line, const char *text);
void pt_check_le(unsigned long long small, unsigned long long large, const char *file, int line,
                 const char *text);
void pt_check_ptr(const void *got, const void *want, const char *file, int line, const char *text);
void pt_check_str(const char *got, const char *want, const char *file, int line, const char *text);
void pt_check_mem(const void *buf, size_t nbytes, uint64_t key, const char *file, int line,
                  const char *text);
void pt_check_near(double got, double limit, const char *file, int line, const char *text);

#define PT_CHECK(cond) pt_check(!!(cond), __FILE__, __LINE__, #cond)
#define PT_EQ(got, want)                                                                           \
	pt_check_eq((long long)(got), (long long)(want), __FILE__, __LINE__, #got " == " #want)
#define PT_LE(small, large)                                                                        \
	pt_check_le((unsigned long long)(small), (unsigned long long)(large), __FILE__, __LINE__,  \
	            #small " <= " #large)
#define PT_PTR(got, want)                                                                          \
	pt_check_ptr((const void *)(got), (const void *)(want), __FILE__, __LINE__,                \
	             #got " == " #want)
#define PT_STR(got, want) pt_check_str((got), (want), __FILE__, __LINE__, #got " == " #want)
#define PT_MEM(buf, nbytes, key)                                                                   \
	pt_check_mem((buf), (nbytes), (uint64_t)(key), __FILE__, __LINE__, #buf)
/* A measured quantity under a limit, which PT_SLACK widens. */
#define PT_UNDER(got, limit)                                                                       \
	pt_check_near((double)(got), (double)(limit), __FILE__, __LINE__, #got " < " #limit)
#define PT_OK(call)  PT_EQ(call, GASNET_OK)
#define PT_FAIL(...) pt_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Counters that handlers bump and others read, in any thread. */
typedef volatile int pt_count;
#define PT_INC(counter)        __atomic_add_fetch(&(counter), 1, __ATOMIC_ACQ_REL)
#define PT_GET(counter)        __atomic_load_n(&(counter), __ATOMIC_ACQUIRE)
#define PT_SET(counter, value) __atomic_store_n(&(counter), (value), __ATOMIC_RELEASE)

#define PT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A handler table entry. */
#define PT_HANDLER(index, fn, flags, nargs)                                                        \
	{                                                                                          \
		(index), (gex_AM_Fn_t)(fn), (flags), (nargs), NULL, #fn                            \
	}
#define PT_REQ_SHORT  (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT)
#define PT_REQ_MEDIUM (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM)
#define PT_REQ_LONG   (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG)
#define PT_REP_SHORT  (GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT)
#define PT_REP_MEDIUM (GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM)
#define PT_REP_LONG   (GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG)

/* Sender of the message whose handler runs. */
gex_Rank_t pt_source(gex_Token_t token);

#ifdef __cplusplus
}
#endif
#endif
