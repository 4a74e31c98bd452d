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

static uint32_t
text_count_in(uint32_t size, bool (*in)(const void *, uint32_t), const void *context)
{
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < size; rank++)
		count += in(context, rank);
	return count;
}

void
psi_text_ranks(struct psi_text *text, uint32_t size, bool (*in)(const void *, uint32_t),
               const void *context)
{
	const char *separator = text_count_in(size, in, context) == 1 ? "rank " : "ranks ";
	unsigned ranges = 0;

	for (uint32_t rank = 0, last; rank < size; rank = last + 1) {
		last = rank;
		if (!in(context, rank))
			continue;
		if (ranges++ == PSI_REPORT_RANGES) {
			psi_text_add(text, " and more");
			return;
		}
		while (last + 1 < size && in(context, last + 1))
			last++;
		psi_text_add(text, "%s%u", separator, rank);
		if (last > rank)
			psi_text_add(text, "%s%u", last > rank + 1 ? "-" : ", ", last);
		separator = ", ";
	}
}
