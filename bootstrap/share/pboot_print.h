/*
 * Prints text for people in bounded time, whatever the reader does.  A pipe may be full and unread,
 * a named pipe may have no reader, a terminal may be stopped.
 */
#ifndef PBOOT_PRINT_H
#define PBOOT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long printing waits for a reader: PBOOT_PRINT_QUIET_NS each time unless pboot_print_limit
 * sets another time, and a minute in all.  If a reader takes nothing, the next wait is shorter. */
#define PBOOT_PRINT_QUIET_NS ((uint64_t)2000 * 1000000)
/* This is the time at the end of a job that has failed. */
#define PBOOT_PRINT_FAILED_NS ((uint64_t)500 * 1000000)

struct pboot_print_limits {
	uint64_t quiet_ns;	/* longest time in which the reader takes nothing */
	uint64_t until_ns;	/* a time of psi_now_ns; UINT64_MAX: no limit */
	int wake_fd;		/* readable: is_told_to_end is called; -1: none */
	bool (*is_told_to_end)(void *context);	/* true: stop waiting */
	void *context;
};

/* Sets the limits for everything that this process prints from now on. */
void pboot_print_limit(const struct pboot_print_limits *limits);

/*
 * Prints one line on standard error, "penstock: ...", cut at 1000 bytes, without waiting.  A line
 * for which there is no room now is kept, and written before the next one or by pboot_say_flush.
 */
void pboot_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* pending: are lines kept?  flush: writes the lines for which there is room now.  settle: the same,
 * but waits for room within the limits. */
bool pboot_say_pending(void);
void pboot_say_flush(void);
void pboot_say_settle(void);

/* Drops kept lines.  A forked child calls it, since its parent prints them. */
void pboot_say_forget(void);

/* A reader took nothing: the next wait for a reader is a quarter as long. */
void pboot_print_shorten_waits(void);

#endif
