/*
 * startup: from start to finish of a job that does nothing, through the launcher,
 * by number of ranks.  This program runs itself as that job.
 */
#include "perf_commands.h"
#include "perf_report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[4096], beside[4096 + 32];
static const char *launcher;
static int failed; /* a job did not end well; said once */

/* The launcher beside this program, else that of PATH. */
static const char *
find_launcher(const struct perf_options *options)
{
	char *slash = strrchr(self, '/');

	if (options->launcher != NULL)
		return options->launcher;
	snprintf(beside, sizeof beside, "%.*s/penstock-run", (int)(slash - self), self);
	return access(beside, X_OK) == 0 ? beside : "penstock-run";
}

static int
run_job(unsigned ranks)
{
	char n[16], run[4096 + 32];
	char *argv[] = { run, (char[]){ "-n" }, n, self, (char[]){ "empty" }, NULL };
	posix_spawn_file_actions_t actions;
	int error, status = -1;
	pid_t pid;

	snprintf(n, sizeof n, "%u", ranks);
	snprintf(run, sizeof run, "%s", launcher);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	error = posix_spawnp(&pid, run, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0) {
		fprintf(stderr, "penstock-perf: %s: %s\n", run, strerror(error));
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		fprintf(stderr, "penstock-perf: %s -n %u: the job failed\n", run, ranks);
	return status;
}

static double
batch_jobs(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	while (count-- > 0 && !failed)
		failed = run_job(point->ranks) != 0;
	return perf_now_ns() - start;
}

int
perf_startup(const struct perf_options *options)
{
	static const struct perf_style style = { "ms", 1e6, NULL, NULL };
	static const unsigned usual[] = { 1, 2, 4, 8, 16, 32 };
	const unsigned *ranks = options->rank_count > 0 ? options->ranks : usual;
	unsigned i,
		n = options->rank_count > 0 ? options->rank_count : sizeof usual / sizeof *usual;
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

	if (len <= 0 || strchr(self, '/') == NULL) {
		fprintf(stderr, "penstock-perf: /proc/self/exe: %s\n", strerror(errno));
		return 1;
	}
	launcher = find_launcher(options);
	perf_report_begin("startup", &style, options, n);
	for (i = 0; i < n && !failed; i++) {
		struct perf_point point = { .bench = "startup", .kind = "job", .ranks = ranks[i] };

		perf_report_now("job", 0);
		perf_sample(&point, batch_jobs, options->secs, 1);
		if (!failed)
			perf_report_add(&point);
	}
	perf_report_end();
	return failed;
}
