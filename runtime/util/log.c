#include "runtime/util/log.h"

#include "runtime/util/nowait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t wait_ns = 2000 * (uint64_t)1000000;

/* Written once at init, by the thread that calls init. */
static char speaker[80] = "penstock";

void
psi_log_set_speaker(uint32_t rank, const char *host)
{
	snprintf(speaker, sizeof speaker, "penstock: rank %u (%s)", rank, host);
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

static bool PSI_PRINTF(2, 0)
log_line(uint64_t limit_ns, const char *format, va_list args)
{
	char line[PSI_LOG_BYTES];
	int saved = errno;
	size_t len = psi_log_format(line, format, args);
	bool written = psi_write_within(STDERR_FILENO, line, len, limit_ns);

	errno = saved;
	return written;
}

static bool PSI_PRINTF(2, 3)
log_text(uint64_t limit_ns, const char *format, ...)
{
	va_list args;
	bool written;

	va_start(args, format);
	written = log_line(limit_ns, format, args);
	va_end(args);
	return written;
}

bool
psi_log_last(const char *text)
{
	return log_text(PSI_LAST_WORD_NS, "%s", text);
}

void
psi_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(wait_ns, format, args);
	va_end(args);
}

void
psi_log_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(wait_ns, format, args);
	va_end(args);
	exit(2);
}
