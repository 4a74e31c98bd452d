#include "bootstrap/share/pboot_sysv.h"

#include "bootstrap/share/pboot_clean.h"
#include "bootstrap/share/pboot_descend.h"
#include "runtime/util/clock.h"

#include <errno.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK = 0x5053, TRIES = 1000, OWN_MODE = 0600, LOOKED_AT = 4096 };

static key_t
key_random(void)
{
	uint16_t bits;

	if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
		bits = (uint16_t)(psi_now_ns() / 64 + (uint64_t)getpid());
	return (key_t)((uint32_t)MARK << 16 | bits);
}

void *
pboot_sysv_make(size_t len_bytes, int *id_out)
{
	int id = -1, tries = 0, err;
	void *base;

	do {
		id = shmget(key_random(), len_bytes,
		    IPC_CREAT | IPC_EXCL | SHM_NORESERVE | OWN_MODE);
	} while (id < 0 && errno == EEXIST && ++tries < TRIES);
	if (id < 0)
		return NULL;
	base = pboot_sysv_map(id);
	err = errno;
	shmctl(id, IPC_RMID, NULL);
	errno = err;
	*id_out = id;
	return base;
}

void *
pboot_sysv_map(int id)
{
	void *base = shmat(id, NULL, 0);

	return (intptr_t)base == -1 ? NULL : base;
}

/* Is the beginning of the segment all zero?  Ours are marked for removal before anything is written
 * to them. */
static bool
segment_is_blank(int id)
{
	const unsigned char *bytes = shmat(id, NULL, SHM_RDONLY);
	size_t i;

	if ((intptr_t)bytes == -1)
		return false;
	for (i = 0; i < LOOKED_AT; i++)
		if (bytes[i])
			break;
	shmdt(bytes);
	return i == LOOKED_AT;
}

static void
segment_clean(struct pboot_clean *clean, int id, const struct shmid_ds *info)
{
	unsigned key = (unsigned)info->shm_perm.__key;

	if (key >> 16 != MARK)
		return;
	if (info->shm_perm.uid != geteuid() || info->shm_perm.cuid != geteuid())
		pboot_clean_kept(clean, "SysV segment %d (key 0x%x) belongs to user %u", id, key,
		    (unsigned)info->shm_perm.uid);
	else if (info->shm_nattch > 0)
		pboot_clean_kept(clean, "SysV segment %d (key 0x%x) is in use", id, key);
	else if (info->shm_cpid == 0 || pboot_process_lives(info->shm_cpid))
		pboot_clean_kept(clean, "SysV segment %d (key 0x%x): its maker, process %d, lives",
		    id, key, (int)info->shm_cpid);
	else if ((info->shm_perm.mode & 0777) != OWN_MODE || info->shm_segsz < LOOKED_AT ||
	    !segment_is_blank(id))
		pboot_clean_kept(clean, "SysV segment %d (key 0x%x) holds another program's data",
		    id, key);
	else if (shmctl(id, IPC_RMID, NULL) == 0)
		pboot_clean_removed(clean, "SysV segment %d (key 0x%x), %zu bytes", id, key,
		    (size_t)info->shm_segsz);
}

void
pboot_sysv_clean(struct pboot_clean *clean)
{
	struct shm_info info;
	struct shmid_ds segment;
	int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info), at, id;

	for (at = 0; at <= last && info.used_ids > 0; at++) {
		id = shmctl(at, SHM_STAT, &segment);
		if (id >= 0)
			segment_clean(clean, id, &segment);
	}
}
