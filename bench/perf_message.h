/* Active messages there and back, and streams of them. */
#ifndef PERF_MESSAGE_H
#define PERF_MESSAGE_H

#include "perf_job.h"

extern const struct perf_module perf_message_module;
size_t perf_most_medium(void);
size_t perf_most_long(void);
void perf_short(size_t bytes); /* there and back */
void perf_medium(size_t bytes);
void perf_long(size_t bytes);

/* Streams: at most a window under way; each returns when all have arrived. */
void perf_stream_short(gex_Rank_t rank, unsigned count);
void perf_stream_medium(gex_Rank_t rank, unsigned count, size_t bytes);
void perf_stream_long(gex_Rank_t rank, unsigned count, size_t bytes);
extern volatile unsigned perf_stream_received;

/* A program that writes a payload and reads one, a byte per cache line. */
void perf_dirty(char *buf, size_t bytes);
void perf_consume(const void *buf, size_t bytes);

#endif
