/* A job whose only purpose is that its memory is looked at. */
#ifndef TOOLS_MEMORY_JOB_H
#define TOOLS_MEMORY_JOB_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Becomes a job of that many ranks and does not return.  Rank 0 prints, for each part of memory,
 * what a rank has mapped, and its proportional share of what is there: after attach, and after all
 * ranks have exchanged largest Mediums with all.  Average over the ranks, and the largest.
 */
void memory_job(uint32_t ranks, bool csv) __attribute__((noreturn));

#endif
