/*
 * Ranks that are threads: teams of several endpoints per process, made and ended as one
 * (penstock_threads.h says what a client sees).
 */
#ifndef PSI_THREADS_H
#define PSI_THREADS_H

#include "runtime/psi.h"

#include "penstock_threads.h"

/* What one process has of such a team. */
struct psi_thread_team {
	gex_TM_t parent;
	unsigned count;                 /* ranks here */
	gex_EP_t *eps;                  /* [count] */
	gex_TM_t *tms;                  /* [count] */
	struct psi_thread_team *next;
};

/* 0 stands for the setting; 0 if there are not so many endpoints. */
unsigned psi_threads_count(int ranks_here);
/* The CPU that thread i of so many starts on; -1: any. */
int psi_threads_cpu(unsigned index, unsigned count);

#endif
