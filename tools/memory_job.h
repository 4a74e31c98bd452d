/* A job that is started only to measure its memory. */
#ifndef TOOLS_MEMORY_JOB_H
#define TOOLS_MEMORY_JOB_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Becomes a job of that many ranks and does not return.  Rank 0 prints, for each part of memory,
 * how much a rank has mapped, and its proportional share (Pss) of the pages that are there: after
 * attach, and after all ranks have exchanged the largest Mediums with all.  It prints the average
 * over the ranks, and the largest share.
 */
void memory_job(uint32_t ranks, bool csv) __attribute__((noreturn));

#endif
