/* Thresholds of threads that sleep for words.  Those for semaphores are in sem.h. */
#ifndef PSI_THRESHOLD_H
#define PSI_THRESHOLD_H

#include "gasnetex.h"

#include <stdbool.h>

/* Called in init, before there are segments.  No thread waits yet. */
void psi_word_thresholds_open(void);

/* set: tells posters that a thread of this process is about to sleep until that word of its memory
 * is `value' or more; 0: until it changes.  clear: that its sleep is over; called once for each
 * set. */
void psi_word_threshold_set(const uint64_t *word, uint64_t value);
void psi_word_threshold_clear(const uint64_t *word);

/* Has the word reached the threshold of a waiter?  It is at `word' in its owner's process and at
 * `there' in this one.  Called after a signal and its fence. */
bool psi_word_threshold_met(gex_Rank_t rank, const uint64_t *word, const uint64_t *there);

#endif
