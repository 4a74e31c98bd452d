/*
 * A rest is the unsent part of a transfer of many pieces, or of an IMMEDIATE Long, when the
 * operation that began it returns.  Polls send it.
 */
#ifndef PREF_REST_H
#define PREF_REST_H

#include <stdbool.h>

/* The first member of a structure of its owner. */
struct pref_rest {
	/* Sends what there is room for.  True: all is sent, and advance has freed the rest.  One
	 * thread at a time calls it, under a lock.  It may only send and request room. */
	bool (*advance)(struct pref_rest *rest);
	struct pref_rest *next;
};

/* Are there so many rests that the next operation should return AGAIN?  Another thread may add some
 * before the caller does, so the bound is soft. */
bool pref_rests_are_many(void);
void pref_rest_add(struct pref_rest *rest);

/* A progress function: sends what there is room for, of all rests. */
void pref_rest_advance(void);

#endif
