/* gasnet_ex_wait.h: polling, waiting for a condition, and hints about both. */
#ifndef GASNET_EX_WAIT_H
#define GASNET_EX_WAIT_H

#include "gasnet_ex_mode.h"
#include "gasnet_ex_types.h"

#define GASNET_WAIT_SPIN      0
#define GASNET_WAIT_BLOCK     1
#define GASNET_WAIT_SPINBLOCK 2

/* One wait in progress; the library alone knows what the fields mean. */
struct psi_wait {
	const char *where;
	uint32_t phase;
	uint32_t seq;
	uint64_t spins;
	uint64_t since;
	uint16_t cpu, yields;
	uint32_t turns;
	uint64_t first;
	const void *reason;
};

#define PSI_WAIT_INIT(where)                 \
	{                                    \
		(where), 0, 0, 0, 0, 0, 0, 0, 0, NULL \
	}

PSI_BEGIN_DECLS

PSI_API int gasnet_AMPoll(void);
PSI_API int gasnet_set_waitmode(int wait_mode);

/* One step of a wait: polls, and after some steps yields, then sleeps.  The caller looks and calls
 * again. */
PSI_API void psi_wait_step(struct psi_wait *wait);
PSI_API void psi_wait_end(struct psi_wait *wait);

PSI_END_DECLS

/*
 * The condition is variadic so that it may hold a comma outside parentheses.
 * The closing fence lets the caller read what a handler, perhaps on another
 * thread, wrote before it made the condition true.
 */
#define GASNET_BLOCKUNTIL(...)                                       \
	PSI_BLOCKUNTIL_(PSI_PASTE(psi_wait_on_line_, __LINE__), \
			__FILE__ ":" PSI_STRING(__LINE__), (__VA_ARGS__))
#define PSI_BLOCKUNTIL_(wait, where, cond)                       \
	do {                                                     \
		if (!cond) {                                     \
			struct psi_wait wait = PSI_WAIT_INIT(where); \
			do {                                     \
				psi_wait_step(&wait);            \
			} while (!cond);                         \
			psi_wait_end(&wait);                     \
		}                                                \
		psi_acquire_fence();                             \
	} while (0)

/*
 * Hints that cost a client nothing here. With or without a semicolon behind
 * it, each may stand ahead of the declarations of a block.
 */
typedef void *gasnet_threadinfo_t;

#define GASNET_GET_THREADINFO()      _GEX_NULL(gasnet_threadinfo_t)
#define GASNET_POST_THREADINFO(info) (void)(info);
#define GASNET_BEGIN_FUNCTION()

#endif
