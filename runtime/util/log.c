#include "runtime/util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

/* Written once at init, by the thread that calls init. */
static char speaker[80] = "penstock";

void
psi_log_set_speaker(uint32_t rank, const char *host)
{
	snprintf(speaker, sizeof speaker, "penstock: rank %u (%s)", rank, host);
}

static void
write_whole(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = write(STDERR_FILENO, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		len -= (size_t)done;
	}
}

static void PSI_PRINTF(1, 0)
log_line(const char *format, va_list args)
{
	char line[LINE_BYTES];
	int saved = errno;
	int len = snprintf(line, sizeof line - 1, "%s: ", speaker);
	int more = vsnprintf(line + len, sizeof line - 1 - (size_t)len, format, args);

	if (more > 0)
		len += more;
	if (len > LINE_BYTES - 2)
		len = LINE_BYTES - 2;
	line[len++] = '\n';
	write_whole(line, (size_t)len);
	errno = saved;
}

void
psi_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

void
psi_log_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
	exit(2);
}
