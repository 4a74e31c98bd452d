/* Reads what a launched rank knows of its job from the environment, where the keeper wrote it. */
#include "bootstrap/rank/pboot_rank.h"

#include "penstock.h"
#include "runtime/util/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noreturn))
startup_refuse(const char *name)
{
	psi_log("%s is not what penstock-run sets it to; start the program by penstock-run, or "
	    "unset this variable", name);
	exit(1);
}

static const char *
startup_variable(const char *name)
{
	const char *text = getenv(name);

	if (!text)
		startup_refuse(name);
	return text;
}

static uint32_t
startup_number(const char *name, uint32_t least, uint32_t most)
{
	const char *text = startup_variable(name);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || value < least || value > most)
		startup_refuse(name);
	return (uint32_t)value;
}

/*
 * The number before the first colon of PST_JOB_CONTROL is the version of the job protocol.  It and
 * PST_JOB_RELEASE mean the same in every version; everything else depends on the version.  Rank 0
 * prints the message for all.
 */
static void
startup_check_version(void)
{
	const char *release = getenv("PST_JOB_RELEASE"), *rank = getenv("PST_JOB_RANK");
	char *end;
	long version = strtol(startup_variable("PST_JOB_CONTROL"), &end, 10);

	if (*end != ':')
		startup_refuse("PST_JOB_CONTROL");
	if (version == PBOOT_WIRE_VERSION)
		return;
	if (!rank || strcmp(rank, "0") == 0)
		psi_log("this program's library is Penstock %s, the launcher that started it "
		    "Penstock %s; they speak job protocols %d and %ld: start it by the launcher "
		    "of %s, or link it with the library of the launcher", pst_version(),
		    release ? release : "of an unknown release", PBOOT_WIRE_VERSION, version,
		    pst_version());
	exit(1);
}

static void
startup_take_control(struct pboot_startup *startup)
{
	unsigned long long ino;
	char name[PBOOT_NAME_BYTES + 1];
	int version, launcher;

	if (sscanf(startup_variable("PST_JOB_CONTROL"), "%d:%d:%llu:%d:%33[0-9a-f]", &version,
	    &startup->control, &ino, &launcher, name) != 5 ||
	    strlen(name) != PBOOT_NAME_BYTES - 1)
		startup_refuse("PST_JOB_CONTROL");
	startup->control_ino = ino;
	startup->launcher = launcher;
	memcpy(startup->name, name, PBOOT_NAME_BYTES);
}

/* PST_JOB_FILES: "kind/id/dev:fd.ino,fd.ino,...", where id is the SysV segment of the exchange
 * area.  Nothing follows the colon if descriptors are not inherited. */
static void
startup_take_files(struct pboot_startup *startup)
{
	uint32_t count = PBOOT_FILES(startup->size), i;
	const char *text = startup_variable("PST_JOB_FILES");
	unsigned long long dev, ino;
	char kind[8];
	int used = 0, fd;

	startup->files = calloc(count, sizeof *startup->files);
	if (!startup->files ||
	    sscanf(text, "%7[a-z]/%d/%llx:%n", kind, &startup->memory.exchange_id, &dev, &used) !=
	            3 ||
	    used == 0 || pboot_shm_find(kind) < 0)
		startup_refuse("PST_JOB_FILES");
	startup->memory.kind = (enum pboot_shm)pboot_shm_find(kind);
	for (i = 0; i < count; i++)
		startup->files[i].fd = -1;
	text += used;
	startup->inherited = *text != '\0';
	for (i = 0; startup->inherited && i < count; i++) {
		used = 0;
		if (sscanf(text, "%d.%llu,%n", &fd, &ino, &used) != 2 || used == 0)
			startup_refuse("PST_JOB_FILES");
		startup->files[i] = (struct pboot_file) { fd, dev, ino };
		if (pboot_shmfile_is(&startup->files[i]))
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		text += used;
	}
}

void
pboot_startup_from_environment(struct pboot_startup *startup_out)
{
	memset(startup_out, 0, sizeof *startup_out);
	startup_check_version();
	startup_out->size = startup_number("PST_JOB_SIZE", 1, PBOOT_RANKS_MAX);
	startup_out->rank = startup_number("PST_JOB_RANK", 0, startup_out->size - 1);
	startup_out->local_size = startup_out->size;
	startup_out->local_rank = startup_out->rank;
	startup_take_control(startup_out);
	startup_take_files(startup_out);
	startup_out->file_kind = strdup(startup_variable("PST_JOB_PLACE"));
	unsetenv("PST_JOB_PLACE");
	unsetenv("PST_JOB_CONTROL");
	unsetenv("PST_JOB_FILES");
	unsetenv("PST_JOB_RELEASE");
}
