#include "bootstrap/share/pboot_clean.h"

#include "bootstrap/share/pboot_shmfile.h"
#include "bootstrap/share/pboot_sysv.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_BYTES = 512 };

static void __attribute__((format(printf, 3, 0)))
clean_report(const struct pboot_clean *clean, bool removed, const char *format, va_list args)
{
	char text[TEXT_BYTES];

	if (!clean->each)
		return;
	vsnprintf(text, sizeof text, format, args);
	clean->each(removed, text, clean->context);
}

void
pboot_clean_removed(struct pboot_clean *clean, const char *format, ...)
{
	va_list args;

	clean->removed++;
	va_start(args, format);
	clean_report(clean, true, format, args);
	va_end(args);
}

void
pboot_clean_kept(struct pboot_clean *clean, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	clean_report(clean, false, format, args);
	va_end(args);
}

unsigned
pboot_clean(pboot_clean_fn *each, void *context)
{
	struct pboot_clean clean = { .each = each, .context = context };

	pboot_shmfile_clean(&clean);
	pboot_sysv_clean(&clean);
	return clean.removed;
}
