/* Ranks that are threads, in programs for PAR; elsewhere there are none. */
#ifndef PT_RANKS_H
#define PT_RANKS_H

/* If the setting asks for them, they run main, and the job ends with them. */
void pt_ranks_start(int *argc, char ***argv);
/* The calling thread ends, if it is one. */
void pt_ranks_leave(int status);

#endif
