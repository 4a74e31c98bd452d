/*
 * hold PID: stops a process as a debugger does, so that no signal continues it, and says "held".
 * Ends when that process was killed.  Status 77 if the system does not allow that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

int
main(int argc, char **argv)
{
	const pid_t pid = argc == 2 ? (pid_t)atoi(argv[1]) : 0;
	int status;

	if (pid <= 0 || ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, NULL, __WALL) < 0) {
		perror("hold");
		return 77;
	}
	puts("held");
	fflush(stdout);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		;
	return 0;
}
