/* Fills the card of this process. */
#include "bootstrap/engine/pboot_card.h"

#include "bootstrap/share/pboot_settings.h"
#include "penstock.h"
#include "runtime/util/hostname.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a */
static uint64_t
hash_add(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	while (len-- > 0)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

/* Adds the kernel's number of this boot, or the host's name if that cannot be read. */
static uint64_t
hash_add_boot(uint64_t hash)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	const char *host = psi_hostname();
	char text[64];
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text);

	if (fd >= 0)
		close(fd);
	return got > 0 ? hash_add(hash, text, (size_t)got) : hash_add(hash, host, strlen(host));
}

/*
 * A number that is equal on ranks that can share memory.  Such ranks run under one kernel, and have
 * the same name spaces for processes, for sockets by name and for System V segments.  Mounts do not
 * count, since files are handed over as descriptors; so ranks in containers of their own that share
 * these three name spaces are on one host.
 */
static uint64_t
host_id(void)
{
	static const char *const spaces[] = { "/proc/self/ns/pid", "/proc/self/ns/net",
					      "/proc/self/ns/ipc" };
	const char *part = getenv("PST_TEST_HOST");	/* one machine plays several */
	uint64_t hash = hash_add_boot(UINT64_C(0xcbf29ce484222325));
	struct stat info;
	size_t i;

	for (i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (stat(spaces[i], &info) == 0)
			hash = hash_add(hash, &info.st_ino, sizeof info.st_ino);
	return part ? hash_add(hash, part, strlen(part)) : hash;
}

/* The offset of what follows the `len' bytes of a note's part, which are rounded up. */
static size_t
note_round(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* Adds what the linker has computed of the program's contents, if it stands in these notes. */
static uint64_t
hash_add_build_id(uint64_t hash, const unsigned char *notes, size_t size)
{
	ElfW(Nhdr) note;

	for (size_t at = 0; at + sizeof note <= size; ) {
		memcpy(&note, notes + at, sizeof note);
		at += sizeof note + note_round(note.n_namesz);
		if (at > size || note.n_descsz > size - at)
			break;
		if (note.n_type == NT_GNU_BUILD_ID)
			hash = hash_add(hash, notes + at, note.n_descsz);
		at += note_round(note.n_descsz);
	}
	return hash;
}

/* The first object is the program itself. */
static int
program_look(struct dl_phdr_info *info, size_t size, void *hash_p)
{
	uint64_t *hash = hash_p;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			*hash = hash_add_build_id(*hash,
			    (const unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
			    info->dlpi_phdr[i].p_memsz);
	return 1;
}

/* Equal where the program is; 0 if its linker has left no number in it, or any program will do. */
static uint64_t
program_id(void)
{
	uint64_t hash = 0;

	if (!pboot_settings_programs_may_differ())
		dl_iterate_phdr(program_look, &hash);
	return hash;
}

static uint64_t
settings_limit_ns(void)
{
	char fault[PBOOT_FAULT_BYTES];

	return pboot_settings_fault(fault) ? 0 : pboot_settings_host_limit_ns();
}

void
pboot_card_fill(struct pboot_card *card_out)
{
	memset(card_out, 0, sizeof *card_out);
	card_out->version = PBOOT_WIRE_VERSION;
	snprintf(card_out->release, sizeof card_out->release, "%s", pst_version());
	card_out->pid = getpid();
	card_out->messages = pboot_wire_file(STDERR_FILENO);
	card_out->host_id = host_id();
	card_out->program = program_id();
	card_out->limit_ns = settings_limit_ns();
	snprintf(card_out->host, sizeof card_out->host, "%s", psi_hostname());
}
