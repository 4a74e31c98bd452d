#include "runtime/util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

size_t
psi_log_format(char line[PSI_LOG_BYTES], const char *format, va_list args)
{
	const size_t room = PSI_LOG_BYTES - 1;
	int saved = errno;
	int len = snprintf(line, room, "%s: ", speaker);
	int more = vsnprintf(line + len, room - (size_t)len, format, args);

	if (more > 0)
		len += more;
	if (len > PSI_LOG_BYTES - 2)
		len = PSI_LOG_BYTES - 2;
	line[len++] = '\n';
	errno = saved;
	return (size_t)len;
}

static void PSI_PRINTF(1, 0)
log_line(const char *format, va_list args)
{
	char line[PSI_LOG_BYTES];
	int saved = errno;

	write_whole(line, psi_log_format(line, format, args));
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
