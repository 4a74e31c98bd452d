/* Finds the names of a job's hosts: the user gives them, or the batch system of this allocation
 * does. */
#include "bootstrap/ssh/pboot_ssh_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 16 << 20 };

typedef bool add_fn(struct pboot_ssh_hosts *hosts, const char *text,
    char why_out[PBOOT_SSH_WHY_BYTES]);

/* The first that is set counts. */
static const struct source {
	const char *variable;
	bool is_file;
	add_fn *add;
} sources[] = {
	{ "GASNET_SSH_NODEFILE", true, pboot_ssh_hosts_add_lines },
	{ "GASNET_SSH_SERVERS", false, pboot_ssh_hosts_add_words },
	{ "GASNET_NODEFILE", true, pboot_ssh_hosts_add_lines },
	{ "PBS_NODEFILE", true, pboot_ssh_hosts_add_lines },
	{ "LSB_DJOB_HOSTFILE", true, pboot_ssh_hosts_add_lines },
	{ "LSB_HOSTS", false, pboot_ssh_hosts_add_words },
	{ "PE_HOSTFILE", true, pboot_ssh_hosts_add_lines },	/* SGE */
	{ "SLURM_JOB_NODELIST", false, pboot_ssh_hosts_add_ranges },
	{ "SLURM_NODELIST", false, pboot_ssh_hosts_add_ranges },
};

/* Returns the text of a file, malloced; NULL with errno set. */
static char *
file_read(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(FILE_MAX_BYTES + 1) : NULL;
	size_t len;

	if (text) {
		len = fread(text, 1, FILE_MAX_BYTES, file);
		text[len] = '\0';
		if (ferror(file)) {
			free(text);
			text = NULL;
		}
	}
	if (file)
		fclose(file);
	return text;
}

static bool
source_add(const struct source *source, struct pboot_ssh_hosts *hosts, const char *value,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	char why[PBOOT_SSH_WHY_BYTES];
	char *text = source->is_file ? file_read(value) : strdup(value);
	bool added;

	if (!text) {
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "%s=%.200s: %s", source->variable, value,
		    strerror(errno));
		return false;
	}
	added = source->add(hosts, text, why);
	free(text);
	if (!added)
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "%s: %.400s", source->variable, why);
	else if (hosts->count == 0)
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "%s=%.200s names no host",
		    source->variable, value);
	return added && hosts->count > 0;
}

static bool
hosts_find_given(struct pboot_ssh_hosts *hosts, const char *given,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	char why[PBOOT_SSH_WHY_BYTES];

	if (!pboot_ssh_hosts_add_words(hosts, given, why)) {
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "--hosts: %.400s", why);
		return false;
	}
	if (hosts->count == 0)
		snprintf(why_out, PBOOT_SSH_WHY_BYTES, "--hosts names no host");
	return hosts->count > 0;
}

/* A variable that is empty counts as unset. */
static const struct source *
source_find(void)
{
	const char *value;
	size_t i;

	for (i = 0; i < sizeof sources / sizeof *sources; i++) {
		value = getenv(sources[i].variable);
		if (value && *value)
			return &sources[i];
	}
	return NULL;
}

const char *
pboot_ssh_hosts_variable(void)
{
	const struct source *source = source_find();

	return source ? source->variable : NULL;
}

bool
pboot_ssh_hosts_find(struct pboot_ssh_hosts *hosts, const char *given,
    char why_out[PBOOT_SSH_WHY_BYTES])
{
	const char *keep = getenv("GASNET_SSH_KEEPDUP");
	const struct source *source = source_find();

	*hosts = (struct pboot_ssh_hosts) {
		.keep_twins = keep && *keep && strchr("1yY", *keep),
	};
	if (given)
		return hosts_find_given(hosts, given, why_out);
	if (source)
		return source_add(source, hosts, getenv(source->variable), why_out);
	snprintf(why_out, PBOOT_SSH_WHY_BYTES, "no hosts are named: set GASNET_SSH_SERVERS="
	    "\"a b\", give penstock-run --hosts a,b, or start within an allocation of a batch "
	    "system");
	return false;
}
