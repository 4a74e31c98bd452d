/* The command line. */
#ifndef PERF_OPTIONS_H
#define PERF_OPTIONS_H

#include <stddef.h>

/* How collectives synchronise their ranks (penstock_coll.h). */
enum perf_sync { PERF_SYNC_DEFAULT, PERF_SYNC_NO, PERF_SYNC_MY, PERF_SYNC_ALL };

enum {
	PERF_LIST = 64,
	PERF_MAX_BYTES = 4 << 20, /* of one transfer */
};

struct perf_options {
	double secs; /* per figure */
	int csv, progress, help;
	const char *kinds;           /* comma separated; NULL: all */
	size_t sizes[PERF_LIST + 1]; /* up to a 0; none: the subcommand's own */
	unsigned ranks[PERF_LIST];
	unsigned rank_count;
	enum perf_sync sync_in, sync_out;
	const char *launcher;
	char error[128]; /* empty: the command line is good */
};

void perf_options_parse(struct perf_options *options_out, int argc, char **argv);
int perf_options_want(const struct perf_options *options, const char *kind);
int perf_list_has(const char *list, const char *word, size_t len);

#endif
