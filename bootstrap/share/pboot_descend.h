/*
 * Finding and ending processes that descend from this one.  As a subreaper this process inherits
 * the children of descendants that end, so repeated walks find all; without that feature, programs
 * are also found by the job's random name in the environment they were started with.
 *
 * A /proc of an outer name space of processes serves as well, though its numbers are others: a walk goes
 * by these, and signals go through the directories of /proc.  Without any /proc the children of this
 * process are found by asking for each number, which a subreaper can do until it has none.
 */
#ifndef PBOOT_DESCEND_H
#define PBOOT_DESCEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PBOOT_SPARED_MAX = 64 };

/* Processes to leave alone, and what descends from them. */
struct pboot_spared {
	bool unknown;		/* there are more, of which nobody knows the numbers */
	size_t count;
	pid_t pids[PBOOT_SPARED_MAX];
};

typedef void pboot_visitor(pid_t number, void *arg);

typedef void pboot_entry_visitor(const char *name, void *arg);

/* Calls visit for each entry of an open directory, `.' and `..' included; allocates nothing. */
void pboot_each_entry(int directory, pboot_entry_visitor *visit, void *arg);

/* Calls visit for each entry of a directory of /proc whose name is a number.  Like all of this file
 * but the text of messages, it allocates nothing. */
void pboot_each_number(const char *directory, pboot_visitor *visit, void *arg);

/* Makes this process a subreaper; false where there is no such thing. */
bool pboot_subreaper(void);

/* The children that this process has now. */
void pboot_children_note(struct pboot_spared *spared_out);

/* Sends sig to all descendants, but the spared; returns how many living ones were found. */
size_t pboot_descend_signal(int sig, const struct pboot_spared *spared);

/* The same to one process, if its parent is still `parent', and to its descendants before it. */
size_t pboot_tree_signal(pid_t pid, pid_t parent, int sig);

/* Sends sig to processes of this user that were started with NAME=value in their environment. */
size_t pboot_marked_signal(int sig, const char *mark);

/* Sends sig to pid if its parent is still `parent', free of the race with a reused number where the
 * kernel has pidfd. */
bool pboot_child_signal(pid_t pid, pid_t parent, int sig);

/* A descriptor that polls readable once the process has ended, close-on-exec; -1 where the kernel has
 * none. */
int pboot_process_open(pid_t pid);

/* Whether one of a process's sets of signals has this one: 1, 0, or -1 where that cannot be known.  The
 * set of blocked ones is that of its first thread. */
#define PBOOT_CAUGHT	"SigCgt:"
#define PBOOT_IGNORED	"SigIgn:"
#define PBOOT_BLOCKED	"SigBlk:"
#define PBOOT_PENDING	"ShdPnd:"
int pboot_process_has(pid_t pid, const char *set, int sig);

/* The number in this process's name space of a process or thread with this number in /proc, which may be
 * another name space's; 0 if it has none here. */
pid_t pboot_own_number(pid_t listed);

/* Whether a process that is no child of ours lives (zombies do not). */
bool pboot_process_lives(pid_t pid);

#endif
