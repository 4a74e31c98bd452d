#include "config.h"

#include "runtime/report/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/line.h"

/* -- objects --------------------------------------------------------------------------------- */

struct object {
	char path[256];
	const char *file;       /* to open: the link to the program's works when that was renamed,
	                         * too */
	uintptr_t offset;       /* of the code, as the object was linked */
};

#ifdef HAVE__DL_FIND_OBJECT
/* The one look-up of the dynamic linker that is safe in a signal handler. */
static bool
symbol_find_object(uintptr_t code, struct object *object_out)
{
	struct dl_find_object found;
	const char *name;

	if (_dl_find_object((void *)code, &found) != 0)
		return false;
	object_out->offset = code - found.dlfo_link_map->l_addr;
	name = found.dlfo_link_map->l_name;
	object_out->file = *name ? object_out->path : "/proc/self/exe";
	if (!*name)
		return readlink(object_out->file, object_out->path, sizeof object_out->path - 1) >
		       0;
	strncpy(object_out->path, name, sizeof object_out->path - 1);
	return true;
}
#else
static bool
symbol_find_object(uintptr_t code, struct object *object_out)
{
	(void)code, (void)object_out;
	return false;
}
#endif

/* -- functions ------------------------------------------------------------------------------- */

enum { SYMBOLS_AT_ONCE = 64 };

static bool
symbol_read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	return pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

/* Functions that the assembler knows no size of are passed over. */
static bool
symbol_covers(const ElfW(Sym) *symbol, uintptr_t offset)
{
	const unsigned type = symbol->st_info & 0xf;

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       offset >= symbol->st_value && offset - symbol->st_value < symbol->st_size;
}

static bool
symbol_find_in_table(int fd, const ElfW(Shdr) * table, uintptr_t offset, ElfW(Sym) * symbol_out)
{
	ElfW(Sym) some[SYMBOLS_AT_ONCE];
	uint64_t left = table->sh_size / sizeof *some, at = table->sh_offset;

	while (left) {
		const size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;

		if (!symbol_read_at(fd, some, count * sizeof *some, at))
			return false;
		for (size_t i = 0; i < count; i++) {
			if (symbol_covers(&some[i], offset)) {
				*symbol_out = some[i];
				return true;
			}
		}
		left -= count;
		at += count * sizeof *some;
	}
	return false;
}

/* Appends "name+0x12" from the first table of that type that has the function. */
static bool
symbol_tell_from(struct psi_line *line, int fd, const ElfW(Ehdr) * header, unsigned type,
                 uintptr_t offset)
{
	ElfW(Shdr) table, strings;
	ElfW(Sym) symbol;
	char name[128] = "";

	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (!symbol_read_at(fd, &table, sizeof table, header->e_shoff + i * sizeof table))
			return false;
		if (table.sh_type != type || !symbol_find_in_table(fd, &table, offset, &symbol))
			continue;
		if (!symbol_read_at(fd, &strings, sizeof strings,
		                    header->e_shoff + table.sh_link * sizeof strings) ||
		    pread(fd, name, sizeof name - 1, (off_t)(strings.sh_offset + symbol.st_name)) <=
		            0)
			return false;
		psi_line_text(line, name);
		psi_line_text(line, "+");
		psi_line_address(line, (void *)(offset - symbol.st_value));
		return true;
	}
	return false;
}

static bool
symbol_is_ours(const ElfW(Ehdr) * header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       header->e_shentsize == sizeof(ElfW(Shdr));
}

static bool
symbol_tell_function(struct psi_line *line, const struct object *object)
{
	const int fd = open(object->file, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) header;
	bool told = false;

	if (fd < 0)
		return false;
	if (symbol_read_at(fd, &header, sizeof header, 0) && symbol_is_ours(&header))
		told = symbol_tell_from(line, fd, &header, SHT_SYMTAB, object->offset) ||
		       symbol_tell_from(line, fd, &header, SHT_DYNSYM, object->offset);
	close(fd);
	return told;
}

void __attribute__((cold))
psi_symbol_describe(struct psi_line *line, uintptr_t code)
{
	struct object object = { .offset = 0 };
	const char *base;
	bool told;

	if (!symbol_find_object(code, &object)) {
		psi_line_text(line, "code at ");
		psi_line_address(line, (void *)code);
		return;
	}
	told = symbol_tell_function(line, &object);
	base = strrchr(object.path, '/');
	psi_line_text(line, told ? " (" : "");
	psi_line_text(line, base ? base + 1 : object.path);
	psi_line_text(line, "+");
	psi_line_address(line, (void *)object.offset);
	psi_line_text(line, told ? ")" : "");
}
