/* What threads that sleep for words lack; of semaphores see sem.h. */
#ifndef PSI_WANT_H
#define PSI_WANT_H

#include "gasnetex.h"

#include <stdbool.h>

/* Nobody waits yet.  In init, before there are segments. */
void psi_word_thresholds_open(void);

/* A thread of this process will sleep until that word of its memory is `value' or more, 0: until it
 * changes; and it sleeps no more, once for each want. */
void psi_word_threshold_set(const uint64_t *word, uint64_t value);
void psi_word_threshold_clear(const uint64_t *word);

/* Behind a signal and its fence: has the word, at `word' in its process and `there' in this one,
 * what somebody lacks? */
bool psi_word_threshold_met(gex_Rank_t rank, const uint64_t *word, const uint64_t *there);

#endif
