/* The seat of a launched rank, as the keeper wrote it into the environment. */
#include "bootstrap/rank/pboot_rank.h"

#include "penstock.h"
#include "runtime/util/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noreturn))
refuse(const char *name)
{
	psi_log("%s is not what penstock-run sets; start the program by penstock-run, or without "
	    "it", name);
	exit(1);
}

static const char *
variable(const char *name)
{
	const char *text = getenv(name);

	if (!text)
		refuse(name);
	return text;
}

static uint32_t
number_of(const char *name, uint32_t least, uint32_t most)
{
	const char *text = variable(name);
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end != '\0' || value < least || value > most)
		refuse(name);
	return (uint32_t)value;
}

/*
 * The number before the first colon of PST_JOB_CONTROL, and PST_JOB_RELEASE, mean the same in every
 * version; all else follows the number.  The first rank speaks for all.
 */
static void
check_version(void)
{
	const char *release = getenv("PST_JOB_RELEASE"), *rank = getenv("PST_JOB_RANK");
	char *end;
	long version = strtol(variable("PST_JOB_CONTROL"), &end, 10);

	if (*end != ':')
		refuse("PST_JOB_CONTROL");
	if (version == PBOOT_WIRE_VERSION)
		return;
	if (!rank || strcmp(rank, "0") == 0)
		psi_log("this program's library is Penstock %s, the launcher that started it Penstock %s; "
		    "they speak job protocols %d and %ld: start it by the launcher of %s, or link it "
		    "again with the library of the other", pst_version(),
		    release ? release : "of an unknown release", PBOOT_WIRE_VERSION, version,
		    pst_version());
	exit(1);
}

static void
take_control(struct pboot_seat *seat)
{
	unsigned long long ino;
	char name[PBOOT_NAME_BYTES + 1];
	int version, launcher;

	if (sscanf(variable("PST_JOB_CONTROL"), "%d:%d:%llu:%d:%33[0-9a-f]", &version,
	    &seat->control, &ino, &launcher, name) != 5 ||
	    strlen(name) != PBOOT_NAME_BYTES - 1)
		refuse("PST_JOB_CONTROL");
	seat->control_ino = ino;
	seat->launcher = launcher;
	memcpy(seat->name, name, PBOOT_NAME_BYTES);
}

/* "kind/board/dev:fd.ino,fd.ino,...", or nothing after the colon. */
static void
take_files(struct pboot_seat *seat)
{
	uint32_t count = PBOOT_FILES(seat->size), i;
	const char *text = variable("PST_JOB_FILES");
	unsigned long long dev, ino;
	char kind[8];
	int used = 0, fd;

	seat->files = calloc(count, sizeof *seat->files);
	if (!seat->files ||
	    sscanf(text, "%7[a-z]/%d/%llx:%n", kind, &seat->store.board_id, &dev, &used) != 3 ||
	    used == 0 || pboot_shm_find(kind) < 0)
		refuse("PST_JOB_FILES");
	seat->store.kind = (enum pboot_shm)pboot_shm_find(kind);
	for (i = 0; i < count; i++)
		seat->files[i].fd = -1;
	text += used;
	seat->inherited = *text != '\0';
	for (i = 0; seat->inherited && i < count; i++) {
		used = 0;
		if (sscanf(text, "%d.%llu,%n", &fd, &ino, &used) != 2 || used == 0)
			refuse("PST_JOB_FILES");
		seat->files[i] = (struct pboot_file) { fd, dev, ino };
		if (pboot_shmfile_is(&seat->files[i]))
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		text += used;
	}
}

void
pboot_seat_from_environment(struct pboot_seat *seat_out)
{
	memset(seat_out, 0, sizeof *seat_out);
	check_version();
	seat_out->size = number_of("PST_JOB_SIZE", 1, PBOOT_RANKS_MAX);
	seat_out->rank = number_of("PST_JOB_RANK", 0, seat_out->size - 1);
	take_control(seat_out);
	take_files(seat_out);
	seat_out->file_kind = strdup(variable("PST_JOB_PLACE"));
	unsetenv("PST_JOB_PLACE");
	unsetenv("PST_JOB_CONTROL");
	unsetenv("PST_JOB_FILES");
	unsetenv("PST_JOB_RELEASE");
}
