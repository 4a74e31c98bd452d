/*
 * Rests: what is left of a transfer of many pieces, or of an IMMEDIATE Long, when the operation
 * that began it returns.  Polls go on with it.
 */
#ifndef PREF_REST_H
#define PREF_REST_H

#include <stdbool.h>

/* The first member of what its owner keeps. */
struct pref_rest {
	/* Sends what there is room for.  True: all is sent, and the rest is freed.  Called by one
	 * thread at a time, under a lock; it may send and request room, and nothing else. */
	bool (*advance)(struct pref_rest *rest);
	struct pref_rest *next;
};

/* Are there so many that the next operation should be told AGAIN?  Others may add rests before the
 * caller does, so the bound is soft. */
bool pref_rests_are_many(void);
void pref_rest_add(struct pref_rest *rest);

/* A progress function. */
void pref_rest_advance(void);

#endif
