#include "bootstrap/pboot_descend.h"

#include "runtime/util/deny.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, READ_BYTES = 4096 };

/* What getdents64 gives; readdir would allocate memory, and a parked thread may hold its lock. */
struct entry {
	uint64_t ino;
	int64_t next;
	uint16_t len_bytes;
	uint8_t type;
	char name[];
};

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

int
pboot_process_catches(pid_t pid, int sig)
{
	static const char name[] = "SigCgt:";
	char path[64], text[READ_BYTES];
	const char *found;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	found = strstr(text, name);
	return found ? (int)(strtoull(found + sizeof name - 1, NULL, 16) >> (sig - 1) & 1) : -1;
}

int
pboot_process_open(pid_t pid)
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
	int pidfd = pboot_process_open(pid);
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
visit_numbers(int fd, pboot_visitor *visit, void *arg)
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

void
pboot_each_entry(int directory, pboot_entry_visitor *visit, void *arg)
{
	union {
		struct entry align;
		char bytes[READ_BYTES];
	} room;
	long got, at;

	while ((got = syscall(SYS_getdents64, directory, room.bytes, sizeof room.bytes)) > 0) {
		for (at = 0; at < got;) {
			const struct entry *entry = (const void *)(room.bytes + at);

			visit(entry->name, arg);
			at += entry->len_bytes;
		}
	}
}

struct number_visit {
	pboot_visitor *visit;
	void *arg;
};

static void
visit_if_number(const char *name, void *arg)
{
	const struct number_visit *number = arg;

	if (isdigit((unsigned char)*name))
		number->visit((pid_t)strtol(name, NULL, 10), number->arg);
}

void
pboot_each_number(const char *directory, pboot_visitor *visit, void *arg)
{
	struct number_visit number = { visit, arg };
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	pboot_each_entry(fd, visit_if_number, &number);
	close(fd);
}

struct parent_search {
	pid_t parent;
	pboot_visitor *visit;
	void *arg;
};

static void
visit_if_child(pid_t pid, void *arg)
{
	const struct parent_search *search = arg;
	pid_t found;
	char state;

	if (process_stat(pid, &found, &state) && found == search->parent)
		search->visit(pid, search->arg);
}

struct task_search {
	pid_t process;
	bool listed;
	pboot_visitor *visit;
	void *arg;
};

static void
visit_task_children(pid_t task, void *arg)
{
	struct task_search *search = arg;
	char path[96];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)search->process, (int)task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	search->listed = true;
	visit_numbers(fd, search->visit, search->arg);
	close(fd);
}

/* Kernels without the children file: every process is asked for its parent. */
static void
visit_children(pid_t parent, pboot_visitor *visit, void *arg)
{
	struct task_search tasks = { parent, false, visit, arg };
	struct parent_search all = { parent, visit, arg };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
	pboot_each_number(path, visit_task_children, &tasks);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)parent);
	if (!tasks.listed && access(path, R_OK) == 0)
		pboot_each_number("/proc", visit_if_child, &all);
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

size_t
pboot_tree_signal(pid_t pid, pid_t parent, int sig)
{
	struct walk top = { sig, 0, parent, 0, NULL };

	signal_tree(pid, &top);
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

struct mark_search {
	const char *mark;
	int sig;
	size_t found;
};

static void
signal_if_marked(pid_t pid, void *arg)
{
	struct mark_search *search = arg;
	pid_t parent;
	char state;

	if (pid != getpid() && carries_mark(pid, search->mark) &&
	    process_stat(pid, &parent, &state) && state != 'Z')
		search->found += kill(pid, search->sig) == 0;
}

size_t
pboot_marked_signal(int sig, const char *mark)
{
	struct mark_search search = { mark, sig, 0 };

	pboot_each_number("/proc", signal_if_marked, &search);
	return search.found;
}
