/*
 * Text for people that leaves in bounded time, whoever reads it: a pipe may be full and unread, a
 * named pipe without a reader, a terminal stopped.
 */
#ifndef PBOOT_PRINT_H
#define PBOOT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How long one waits for a reader.  Without limits that are set: PBOOT_PRINT_QUIET_NS, and a
 * minute in all.  Every wait in vain makes the next one shorter.
 */
#define PBOOT_PRINT_QUIET_NS ((uint64_t)2000 * 1000000)
/* The same at the end of a job that has failed. */
#define PBOOT_PRINT_FAILED_NS ((uint64_t)500 * 1000000)

struct pboot_print_limits {
	uint64_t quiet_ns;	/* with nothing taken */
	uint64_t until_ns;	/* a time of psi_now_ns; UINT64_MAX: none */
	int news;		/* when it is readable `told' is asked; -1: none */
	bool (*told)(void *context);	/* true: told to end, waits no more */
	void *context;
};

/* Sets the limits for all that this process prints from now on. */
void pboot_print_limit(const struct pboot_print_limits *limits);

/*
 * One line on standard error, "penstock: ...", cut at 1000 bytes; never waits.  A line that does
 * not fit now is kept, and written before the next one, or by pboot_say_flush.
 */
void pboot_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether lines are kept; writes those that fit now; waits for that within the limits. */
bool pboot_say_pending(void);
void pboot_say_flush(void);
void pboot_say_settle(void);

/* Drops kept lines.  A forked child calls it, since its parent prints them. */
void pboot_say_forget(void);

/* Somebody's wait for a reader of our output was in vain, so the next one may be short. */
void pboot_print_waited_in_vain(void);

#endif
