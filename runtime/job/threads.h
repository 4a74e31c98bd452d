/*
 * Ranks that are threads: teams of several endpoints per process, made and ended as one
 * (penstock_threads.h says what a client sees).
 */
#ifndef PSI_THREADS_H
#define PSI_THREADS_H

#include "penstock_threads.h"

#include <stdbool.h>

/* The members of such a team in one process. */
struct psi_thread_team {
	gex_TM_t parent;
	unsigned count;                 /* ranks here */
	gex_EP_t *eps;                  /* [count] */
	gex_TM_t *tms;                  /* [count] */
	struct psi_thread_team *next;
};

/* pst_team_create_threads; held: of endpoints that their threads alone serve, and let go when they
 * have come (pollset.h). */
int psi_threads_create(gex_TM_t parent, int ranks_here, size_t segment_bytes, gex_AM_Entry_t *table,
                       size_t numentries, gex_EP_t *eps_out, gex_TM_t *tms_out, gex_Flags_t flags,
                       bool held);

/* 0 stands for the setting; 0 if there are not so many endpoints. */
unsigned psi_threads_count(int ranks_here);
/* The CPU on which thread i of `count' threads starts; -1: any. */
int psi_threads_cpu(unsigned index, unsigned count);

#endif
