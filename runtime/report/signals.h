/*
 * What a rank does when a signal would end it: say so in one line, print a stack trace or wait for
 * a debugger if asked to, and then end by that signal, so that its status is 128 + n.
 *
 * Only signals with the default action are taken, and none of GASNET_NO_CATCH_SIGNAL; a handler
 * that the client sets, earlier or later, stays.
 */
#ifndef PSI_SIGNALS_H
#define PSI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

struct psi_line;

/* Hooks that add what other modules know.  Each is called in a signal handler, and may be NULL. */
struct psi_signals_hooks {
	bool (*segment_covers)(const void *address);	/* inside some segment that is mapped
	                                                 * here */
	/* Adds to a line about a fault there, or at an address that is not known if NULL. */
	void (*tell_given)(struct psi_line *line, const void *address);
	/* Keeps details for the keeper's last message.  Returns false if there is no keeper to
	 * print them. */
	bool (*note_cause)(const char *text, bool printed);
	void (*leave)(int code);			/* ends this rank; does not return */
};

/*
 * Takes the signals.  Once, at init, when rank and host are known.
 */
void psi_signals_open(uint32_t rank, const char *host, const struct psi_signals_hooks *hooks);

/*
 * Gives the calling thread an alternate stack, so that an overflow of its stack is told too; and
 * takes it away, at the thread's end.  NULL, which may be given back, if it has one, or none is
 * wanted.
 */
void *psi_signals_stack_open(void);
void psi_signals_stack_close(void *stack);

/* The error has been printed; the signal that ends this process now says no more.  Any thread. */
void psi_signals_told(void);

/* Back to the default where the handler is still ours.  For tests and for children. */
void psi_signals_close(void);

#endif
