/*
 * What a folder of the library needs at start and end.  Start-up walks one list of these records
 * (runtime/job/modules.c), so that no lower folder calls a higher one by name.  Any member may be
 * NULL.
 */
#ifndef PSI_MODULE_H
#define PSI_MODULE_H

#include "gasnetex.h"

struct psi_conduit_ops;
struct psi_thread;

struct psi_module {
	const char *name;
	/* Operations for conduits that lack them, made of those that they have; of one module
	 * alone. */
	const struct psi_conduit_ops *operations;
	/* During init, when the conduit is open. */
	void (*open)(void);
	/* After open: the library's own handlers, of the first endpoint; others get copies. */
	void (*register_handlers)(gex_EP_t ep);
	/* As psi_progress_add. */
	void (*progress)(void);
	/* The calling thread makes its first call; it ends. */
	void (*thread_begins)(struct psi_thread *thread);
	void (*thread_ends)(struct psi_thread *thread);
	/* This member of a team ends, by that call; ends the job if another one still needs it. */
	void (*team_ends)(gex_TM_t tm, const char *call);
	/* The job ends well, by that call. */
	void (*close)(const char *call);
};

#endif
