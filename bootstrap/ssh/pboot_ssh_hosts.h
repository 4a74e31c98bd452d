/* Lists of hosts, as users and batch systems write them, and how ranks are distributed over them.
 * Pure functions, except that pboot_ssh_hosts_find reads files and variables. */
#ifndef PBOOT_SSH_HOSTS_H
#define PBOOT_SSH_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PBOOT_SSH_NAME_MAX = 255, PBOOT_SSH_WHY_BYTES = 512 };

struct pboot_ssh_hosts {
	char **names;		/* [count], malloced; each may be given to ssh */
	uint32_t count, room;
	bool keep_twins;	/* a host may be there twice */
};

void pboot_ssh_hosts_free(struct pboot_ssh_hosts *hosts);

/*
 * Adds the hosts of a text.  Returns false, with one line in why_out, if the text is faulty.
 *
 *     words: names between commas, blanks and ends of lines; `#' begins a comment
 *     lines: the first word of each line (of a machine file that has more in its lines)
 *     ranges: as Slurm writes them, n[1-3,07],m2
 */
bool pboot_ssh_hosts_add_words(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES]);
bool pboot_ssh_hosts_add_lines(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES]);
bool pboot_ssh_hosts_add_ranges(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES]);

/* pboot_ssh_hosts_find.c: finds the hosts that the user names.  If `given' is NULL, it takes those
 * of the first variable of the list in docs/launch.md that is set.  It is a fault too if there is
 * no host. */
bool pboot_ssh_hosts_find(struct pboot_ssh_hosts *hosts, const char *given,
    char why_out[PBOOT_SSH_WHY_BYTES]);
/* This variable; NULL: none is set. */
const char *pboot_ssh_hosts_variable(void);

/* Returns how many ranks a host has, and writes the first.  The ranks are divided into blocks in
 * the order of the hosts; the first blocks have one more. */
uint32_t pboot_ssh_place(uint32_t size, uint32_t host_count, uint32_t host, uint32_t *first_out);

#endif
