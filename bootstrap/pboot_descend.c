#include "bootstrap/pboot_descend.h"

#include "runtime/util/deny.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, READ_BYTES = 4096 };

typedef void child_visitor(pid_t child, void *arg);

bool
pboot_subreaper(void)
{
	return !psi_denied("subreaper") && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* Parent and state of a process, from the text after its name, which may hold anything. */
static bool
process_stat(pid_t pid, pid_t *parent_out, char *state_out)
{
	char path[64], text[512];
	const char *after;
	ssize_t got;
	int fd, parent;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	after = strrchr(text, ')');
	if (!after || sscanf(after, ") %c %d", state_out, &parent) != 2)
		return false;
	*parent_out = parent;
	return true;
}

bool
pboot_process_lives(pid_t pid)
{
	pid_t parent;
	char state;

	if (!process_stat(pid, &parent, &state))
		return kill(pid, 0) == 0 && access("/proc/self/stat", R_OK) != 0;
	return state != 'Z' && state != 'X';
}

static int
open_process(pid_t pid)
{
#ifdef SYS_pidfd_open
	if (!psi_denied("pidfd"))
		return (int)syscall(SYS_pidfd_open, pid, 0);
#endif
	(void)pid;
	return -1;
}

static bool
signal_process(int pidfd, pid_t pid, int sig)
{
#ifdef SYS_pidfd_send_signal
	if (pidfd >= 0)
		return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
#endif
	(void)pidfd;
	return kill(pid, sig) == 0;
}

bool
pboot_child_signal(pid_t pid, pid_t parent, int sig)
{
	int pidfd = open_process(pid);
	pid_t found;
	char state;
	bool sent = false;

	if (process_stat(pid, &found, &state) && found == parent && state != 'Z')
		sent = signal_process(pidfd, pid, sig);
	if (pidfd >= 0)
		close(pidfd);
	return sent;
}

/* Numbers in a file, separated by blanks; a number may lie across two reads. */
static void
visit_numbers(int fd, child_visitor *visit, void *arg)
{
	char text[READ_BYTES];
	long number = -1;
	ssize_t got, i;

	while ((got = read(fd, text, sizeof text)) > 0) {
		for (i = 0; i < got; i++) {
			if (isdigit((unsigned char)text[i])) {
				number = (number < 0 ? 0 : number * 10) + (text[i] - '0');
			} else if (number >= 0) {
				visit((pid_t)number, arg);
				number = -1;
			}
		}
	}
	if (number >= 0)
		visit((pid_t)number, arg);
}

/* Kernels without the children file: every process is asked for its parent. */
static void
visit_by_parent(pid_t parent, child_visitor *visit, void *arg)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid, found;
	char state;

	while (proc && (entry = readdir(proc)) != NULL) {
		pid = (pid_t)atoi(entry->d_name);
		if (pid > 0 && process_stat(pid, &found, &state) && found == parent)
			visit(pid, arg);
	}
	if (proc)
		closedir(proc);
}

static void
visit_children(pid_t parent, child_visitor *visit, void *arg)
{
	char path[320];
	const struct dirent *entry;
	bool listed = false;
	DIR *tasks;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		listed = true;
		visit_numbers(fd, visit, arg);
		close(fd);
	}
	if (tasks)
		closedir(tasks);
	if (tasks && !listed)
		visit_by_parent(parent, visit, arg);
}

static void
note_child(pid_t child, void *arg)
{
	struct pboot_spared *spared = arg;

	if (spared->count < PBOOT_SPARED_MAX)
		spared->pids[spared->count++] = child;
}

void
pboot_children_note(struct pboot_spared *spared_out)
{
	spared_out->count = 0;
	visit_children(getpid(), note_child, spared_out);
}

struct walk {
	int sig;
	int depth;
	pid_t parent;
	size_t found;
	const struct pboot_spared *spared;
};

static bool
is_spared(const struct pboot_spared *spared, pid_t pid)
{
	size_t i;

	for (i = 0; spared && i < spared->count; i++)
		if (spared->pids[i] == pid)
			return true;
	return false;
}

/* Children first: once its parent is dead, a grandchild would be found one walk later. */
static void
signal_tree(pid_t child, void *arg)
{
	struct walk *up = arg;
	struct walk here = { up->sig, up->depth + 1, child, 0, up->spared };

	if (is_spared(up->spared, child))
		return;
	if (here.depth < DEPTH_MAX)
		visit_children(child, signal_tree, &here);
	up->found += here.found;
	up->found += pboot_child_signal(child, up->parent, up->sig);
}

size_t
pboot_descend_signal(int sig, const struct pboot_spared *spared)
{
	struct walk top = { sig, 0, getpid(), 0, spared };

	visit_children(top.parent, signal_tree, &top);
	return top.found;
}

/* Whether the environment that pid was started with holds the mark. */
static bool
carries_mark(pid_t pid, const char *mark)
{
	static char text[256 * 1024];
	char path[64];
	size_t fill = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (fill < sizeof text && (got = read(fd, text + fill, sizeof text - fill)) > 0)
		fill += (size_t)got;
	close(fd);
	return memmem(text, fill, mark, strlen(mark)) != NULL;
}

size_t
pboot_marked_signal(int sig, const char *mark)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t pid, parent;
	size_t found = 0;
	char state;

	while (proc && (entry = readdir(proc)) != NULL) {
		pid = (pid_t)atoi(entry->d_name);
		if (pid > 0 && pid != getpid() && carries_mark(pid, mark) &&
		    process_stat(pid, &parent, &state) && state != 'Z')
			found += kill(pid, sig) == 0;
	}
	if (proc)
		closedir(proc);
	return found;
}
