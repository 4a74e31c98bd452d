#include "bootstrap/share/pboot_descend.h"

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
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, READ_BYTES = 4096, NUMBER_MAX = 4194304 };

/* An entry as getdents64 returns it.  readdir is not used: it allocates memory, and a parked thread
 * may hold the allocator's lock. */
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

/* Returns the number that /proc gives this process, perhaps of another PID name space; 0 without
 * /proc. */
static pid_t
self_listed(void)
{
	char text[32] = "";

	return readlink("/proc/self", text, sizeof text - 1) > 0 ? atoi(text) : 0;
}

static bool
numbers_are_own(void)
{
	return self_listed() == getpid();
}

/* Reads the parent and state of a process.  They follow the last ')', since the name may hold any
 * characters. */
static bool
stat_read(int directory, const char *path, pid_t *parent_out, char *state_out)
{
	char text[512];
	const char *after;
	ssize_t got;
	int fd, parent;

	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
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

static bool
process_stat(pid_t pid, pid_t *parent_out, char *state_out)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return stat_read(AT_FDCWD, path, parent_out, state_out);
}

/* When no descriptor is left to read a file with: a zombie has no program. */
bool
pboot_process_lives(pid_t pid)
{
	char path[64], state;
	pid_t parent;

	if (!numbers_are_own())
		return kill(pid, 0) == 0;
	errno = 0;
	if (process_stat(pid, &parent, &state))
		return state != 'Z' && state != 'X';
	if (errno != EMFILE && errno != ENFILE)
		return false;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return readlink(path, &state, 1) >= 0 || errno != ENOENT;
}

/* Returns what follows a field's name in a process's status file, inside text; NULL if there is no
 * such field. */
static const char *
status_field(pid_t listed, const char *name, char text[READ_BYTES])
{
	char path[64];
	const char *found;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)listed);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	got = read(fd, text, READ_BYTES - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	found = strstr(text, name);
	return found ? found + strlen(name) : NULL;
}

int
pboot_process_has(pid_t pid, const char *set, int sig)
{
	char text[READ_BYTES];
	const char *found = numbers_are_own() ? status_field(pid, set, text) : NULL;

	return found ? (int)(strtoull(found, NULL, 16) >> (sig - 1) & 1) : -1;
}

/* A process has one number for each PID name space, from that of /proc inwards.  Returns the number
 * at index `at', or 0, and writes how many there are. */
static pid_t
number_at(pid_t listed, int at, int *count_out)
{
	char text[READ_BYTES], *end;
	const char *from = status_field(listed, "NSpid:", text);
	pid_t number, found = 0;

	for (*count_out = 0; from; from = end, ++*count_out) {
		while (*from == ' ' || *from == '\t')
			from++;
		number = (pid_t)strtol(from, &end, 10);
		if (end == from)
			break;
		found = *count_out == at ? number : found;
	}
	return found;
}

pid_t
pboot_own_number(pid_t listed)
{
	pid_t self = self_listed();
	int own_count, count;

	if (self == getpid())
		return listed;
	number_at(self, 0, &own_count);
	return number_at(listed, own_count - 1, &count);
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

/* An open directory of /proc stands for its process, also when the number is used again. */
static bool
process_signal(int directory, pid_t listed, int sig)
{
	pid_t pid;

#ifdef SYS_pidfd_send_signal
	if (!psi_denied("pidfd") && syscall(SYS_pidfd_send_signal, directory, sig, NULL, 0) == 0)
		return true;
#endif
	(void)directory;
	pid = pboot_own_number(listed);
	return pid > 0 && kill(pid, sig) == 0;
}

bool
pboot_child_signal(pid_t listed, pid_t parent, int sig)
{
	char path[64];
	pid_t found;
	char state;
	int directory;
	bool sent = false;

	snprintf(path, sizeof path, "/proc/%d", (int)listed);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return false;
	if (stat_read(directory, "stat", &found, &state) && found == parent && state != 'Z')
		sent = process_signal(directory, listed, sig);
	close(directory);
	return sent;
}

/* Calls visit for each number in a file.  Blanks separate numbers; two reads may split one. */
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

/* Where the kernel has no `children' file, the parent of every process is looked up. */
void
pboot_children_visit(pid_t parent, pboot_visitor *visit, void *arg)
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
spared_add(pid_t child, void *arg)
{
	struct pboot_spared *spared = arg;

	if (spared->count < PBOOT_SPARED_MAX)
		spared->pids[spared->count++] = pboot_own_number(child);
}

static bool
children_exist(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void
pboot_children_note(struct pboot_spared *spared_out)
{
	pid_t self = self_listed();

	*spared_out = (struct pboot_spared) { .unknown = self == 0 && children_exist() };
	if (self)
		pboot_children_visit(self, spared_add, spared_out);
}

struct walk {
	int sig;
	int depth;
	pid_t parent;
	size_t found;
	const struct pboot_spared *spared;
};

static bool
spared_has(const struct pboot_spared *spared, pid_t pid)
{
	size_t i;

	for (i = 0; spared && i < spared->count; i++)
		if (spared->pids[i] == pid)
			return true;
	return false;
}

/* Signals descendants before the child: when a parent is dead, its children are found only by the
 * next walk. */
static void
tree_signal(pid_t child, void *arg)
{
	struct walk *up = arg;
	struct walk here = { up->sig, up->depth + 1, child, 0, up->spared };

	if (up->spared && up->spared->count > 0 && spared_has(up->spared, pboot_own_number(child)))
		return;
	if (here.depth < DEPTH_MAX)
		pboot_children_visit(child, tree_signal, &here);
	up->found += here.found;
	up->found += pboot_child_signal(child, up->parent, up->sig);
}

/* Returns the number that a new process gets now; 0 if none can be made.  fork is not used: it
 * would run the client's atfork handlers and take locks. */
static pid_t
number_newest(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0 ? pid : 0;
}

/* Does the walk without /proc.  A process that can be waited for is a child; when it is dead, its
 * children become ours.  They all have higher numbers than this process, unless the numbers have
 * wrapped. */
static size_t
children_signal(int sig, const struct pboot_spared *spared)
{
	pid_t last, pid;
	size_t found = 0;
	siginfo_t info;

	if ((spared && spared->unknown) || !children_exist())
		return 0;
	last = number_newest();
	pid = last > getpid() ? getpid() + 1 : 2;
	last = last > getpid() ? last : NUMBER_MAX;
	for (; pid <= last; pid++) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid == 0 && !spared_has(spared, pid))
			found += kill(pid, sig) == 0;
	}
	return found;
}

size_t
pboot_descend_signal(int sig, const struct pboot_spared *spared)
{
	struct walk top = { sig, 0, self_listed(), 0, spared };

	if (top.parent == 0)
		return children_signal(sig, spared);
	pboot_children_visit(top.parent, tree_signal, &top);
	return top.found;
}

size_t
pboot_tree_signal(pid_t pid, pid_t parent, int sig)
{
	struct walk top = { sig, 0, parent, 0, NULL };

	tree_signal(pid, &top);
	return top.found;
}

/* Was the mark in the environment with which pid was started? */
static bool
process_carries_mark(pid_t pid, const char *mark)
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
process_signal_marked(pid_t pid, void *arg)
{
	struct mark_search *search = arg;
	pid_t parent;
	char state;

	if (pid != getpid() && process_carries_mark(pid, search->mark) &&
	    process_stat(pid, &parent, &state) && state != 'Z')
		search->found += kill(pid, search->sig) == 0;
}

size_t
pboot_marked_signal(int sig, const char *mark)
{
	struct mark_search search = { mark, sig, 0 };

	pboot_each_number("/proc", process_signal_marked, &search);
	return search.found;
}
