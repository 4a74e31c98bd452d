/*
 * Programs that do what a client may not, one act per job, and check what the library says: a line
 * that names rank, call, fault and remedy.  Started with the word --table such a program prints its
 * acts as rows of docs/misuse.md.
 */
#ifndef PT_MISUSE_H
#define PT_MISUSE_H

#include "tests/lib/pt_spawn.h"

/* Where an act is noticed. */
enum pt_misuse_when {
	PT_ALWAYS,  /* in every build */
	PT_REFUSED, /* the same, by a line and a code that the call returns */
	PT_CHECKED, /* with PST_CHECK=1 */
	PT_TOLD,    /* the same, by a line at the end of a job that ends well */
	PT_THREADS, /* the same, by programs of several threads */
	PT_LOCKS,   /* the same, where locks are more than nothing: not in SEQ, but in a debug
	             * build */
	PT_BROKEN_LOCKS, /* as PT_LOCKS, but ThreadSanitizer tells of them first */
	PT_DEBUG,   /* the same, in a debug build alone */
	PT_FAULT,   /* as PT_CHECKED, but the processor does; the sanitizers tell of it first */
};

struct pt_misuse {
	const char *name;
	enum pt_misuse_when when;
	gex_Rank_t ranks;
	void (*body)(void);  /* runs in rank 0, the others serve */
	const char *act;     /* for the table */
	const char *message; /* "fault; remedy"; * stands for text that varies */
	int bare;            /* the body starts the library itself, in every rank */
};

/* A call that every case of a set is tried with. */
struct pt_misuse_call {
	const char *name;
	void (*call)(void);
	const char *told_as; /* what messages name it, if not name */
};

struct pt_misuse_set {
	const struct pt_misuse *cases;
	size_t count;
	gex_AM_Entry_t *handlers;
	size_t handler_count;
	/* If there are any, each case is run with each: its body calls pt_misuse_call, and its
	 * message is what stands behind the call's name. */
	const struct pt_misuse_call *calls;
	size_t call_count;
};

/* In a job: the one of the set's calls that it is about. */
extern void (*pt_misuse_call)(void);

/* The program's.  Its main is the library's (pt_misuse_main.c), unless it has one of its own. */
extern const struct pt_misuse_set pt_misuse_acts;

/* The exit status of such a program. */
int pt_misuse_main(int argc, char **argv, const struct pt_misuse_set *set);

/* Run one case and fail unless it is told as it should be. */
void pt_misuse_run(const struct pt_misuse *act);
/* Runs fn(arg) in another thread, and joins it. */
void pt_misuse_in_thread(void *(*fn)(void *), void *arg);
/* Sends an empty request to this rank, and polls until its handler has run for ever. */
void pt_misuse_ask(gex_AM_Index_t handler);

#endif
