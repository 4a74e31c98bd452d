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

	for (uint32_t i = 0; i < size; i++)
		count += in(context, i);
	return count;
}

/* Is the next rank of the host the next one of the job too? */
static bool
text_has_next(const struct pboot_view *view, uint32_t i)
{
	return i + 1 < view->size && view->ranks[i + 1].rank == view->ranks[i].rank + 1;
}

void
psi_text_ranks(struct psi_text *text, const struct pboot_view *view,
               bool (*in)(const void *, uint32_t), const void *context)
{
	const char *separator = text_count_in(view->size, in, context) == 1 ? "rank " : "ranks ";
	unsigned ranges = 0;

	for (uint32_t i = 0, last; i < view->size; i = last + 1) {
		last = i;
		if (!in(context, i))
			continue;
		if (ranges++ == PSI_REPORT_RANGES) {
			psi_text_add(text, " and more");
			return;
		}
		while (text_has_next(view, last) && in(context, last + 1))
			last++;
		psi_text_add(text, "%s%u", separator, view->ranks[i].rank);
		if (last > i)
			psi_text_add(text, "%s%u", last > i + 1 ? "-" : ", ",
			             view->ranks[last].rank);
		separator = ", ";
	}
}
