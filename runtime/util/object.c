#include "runtime/util/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>

bool
psi_program_is_static(void)
{
	const char *at = (const char *)getauxval(AT_PHDR);
	const size_t count = getauxval(AT_PHNUM);

	for (size_t i = 0; at && i < count; i++) {
		const ElfW(Phdr) *header = (const void *)(at + i * getauxval(AT_PHENT));

		if (header->p_type == PT_INTERP)
			return false;
	}
	return true;
}

void *
psi_object_open(const char *path)
{
	struct sigaction before[NSIG], after;
	void *object;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &before[sig]) < 0)
			before[sig].sa_handler = SIG_ERR;
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (sig = 1; sig < NSIG; sig++)
		if (before[sig].sa_handler != SIG_ERR && sigaction(sig, NULL, &after) == 0 &&
		    after.sa_handler != before[sig].sa_handler)
			sigaction(sig, &before[sig], NULL);
	return object;
}
