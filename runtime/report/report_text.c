/* Texts for reports: lists of ranks. */
#include "runtime/report/report.h"

#include <stdarg.h>
#include <stdio.h>

void
psi_text_add(struct psi_text *text, const char *format, ...)
{
	const size_t room = sizeof text->at - text->len;
	va_list args;
	int more;

	va_start(args, format);
	more = vsnprintf(text->at + text->len, room, format, args);
	va_end(args);
	if (more > 0)
		text->len += (size_t)more < room ? (size_t)more : room - 1;
}

void
psi_text_endpoint(struct psi_text *text, unsigned index)
{
	if (index)
		psi_text_add(text, "endpoint %u of ", index);
}

void
psi_text_ranks(struct psi_text *text, const uint32_t *ranks, uint32_t count)
{
	const char *separator = count == 1 ? "rank " : "ranks ";
	unsigned ranges = 0;

	for (uint32_t i = 0, last; i < count; i = last + 1) {
		if (ranges++ == PSI_REPORT_RANGES) {
			psi_text_add(text, " and more");
			return;
		}
		for (last = i; last + 1 < count && ranks[last + 1] == ranks[last] + 1;)
			last++;
		psi_text_add(text, "%s%u", separator, ranks[i]);
		if (last > i)
			psi_text_add(text, "%s%u", last > i + 1 ? "-" : ", ", ranks[last]);
		separator = ", ";
	}
}
