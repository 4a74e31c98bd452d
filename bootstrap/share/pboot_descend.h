/*
 * Finds and signals processes that descend from this one.  As a subreaper this process inherits the
 * children of descendants that end, so repeated walks find all.  If the kernel has no subreapers,
 * programs are also found by the job's random name in the environment with which they were started.
 *
 * /proc may show an outer PID name space, in which processes have other numbers.  A walk uses the
 * numbers of /proc, and signals go through the directories of /proc.  Without /proc this process
 * asks the kernel for each number whether it is a child.  A subreaper can repeat that until it has
 * no children.
 */
#ifndef PBOOT_DESCEND_H
#define PBOOT_DESCEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PBOOT_SPARED_MAX = 64 };

/* Processes that are left alone, with all that descends from them. */
struct pboot_spared {
	bool unknown;		/* there are more, and their numbers are not known */
	size_t count;
	pid_t pids[PBOOT_SPARED_MAX];
};

typedef void pboot_visitor(pid_t number, void *arg);

typedef void pboot_entry_visitor(const char *name, void *arg);

/* Calls visit for each entry of an open directory, `.' and `..' included; allocates nothing. */
void pboot_each_entry(int directory, pboot_entry_visitor *visit, void *arg);

/* Calls visit for each entry of a directory of /proc whose name is a number.  No function of this
 * file allocates memory. */
void pboot_each_number(const char *directory, pboot_visitor *visit, void *arg);

/* Calls visit for each child of a process, by the numbers of /proc. */
void pboot_children_visit(pid_t parent, pboot_visitor *visit, void *arg);

/* Makes this process a subreaper; returns false if the kernel has none. */
bool pboot_subreaper(void);

/* Writes the children that this process has now. */
void pboot_children_note(struct pboot_spared *spared_out);

/* Sends sig to all descendants except the spared ones.  Returns how many living ones it found. */
size_t pboot_descend_signal(int sig, const struct pboot_spared *spared);

/* Sends sig to one process, if its parent is still `parent', and before that to its descendants.
 * Returns how many living ones it found. */
size_t pboot_tree_signal(pid_t pid, pid_t parent, int sig);

/* Sends sig to processes of this user that were started with NAME=value in their environment. */
size_t pboot_marked_signal(int sig, const char *mark);

/* Sends sig to pid if its parent is still `parent'.  If the kernel has pidfd, the signal cannot
 * reach another process that has got the same number. */
bool pboot_child_signal(pid_t pid, pid_t parent, int sig);

/* Returns a descriptor that becomes readable when the process has ended, close-on-exec; -1 if the
 * kernel has no pidfd. */
int pboot_process_open(pid_t pid);

/* Is sig in this set of signals of a process?  Returns 1 or 0, or -1 if that cannot be found out.
 * The sets are these four; PBOOT_BLOCKED is that of the process's first thread. */
#define PBOOT_CAUGHT	"SigCgt:"
#define PBOOT_IGNORED	"SigIgn:"
#define PBOOT_BLOCKED	"SigBlk:"
#define PBOOT_PENDING	"ShdPnd:"
int pboot_process_has(pid_t pid, const char *set, int sig);

/* Translates the number that /proc gives a process or thread into the number in this process's PID
 * name space; 0 if it has none there. */
pid_t pboot_own_number(pid_t listed);

/* Does a process live that is not our child?  A zombie does not. */
bool pboot_process_lives(pid_t pid);

#endif
