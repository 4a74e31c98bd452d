/* The settings as a document; docs/settings.md is its output. */
#include "runtime/tools/introspect.h"

#include <string.h>

#include "runtime/settings/settings.h"
#include "runtime/settings/settings_known.h"

enum { ACCEPTS_BYTES = 256, LINE_BYTES = 100 };

/* A cell of a table; a bar would end it. */
static void
put_cell(FILE *out, const char *text)
{
	fputs("| ", out);
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc(' ', out);
}

static void
put_default(FILE *out, const struct psi_setting *row)
{
	if (!row->default_text || !*row->default_text)
		fputs("| unset ", out);
	else if (row->unit && strcmp(row->default_text, "0") != 0)
		fprintf(out, "| `%s` %s ", row->default_text, row->unit);
	else
		fprintf(out, "| `%s` ", row->default_text);
}

/* A table whose rows are all for tests has no heading either. */
static void
put_table(FILE *out, const struct psi_setting_table *table)
{
	char accepts[ACCEPTS_BYTES];
	size_t i, shown = 0;

	for (i = 0; i < table->count; i++) {
		const struct psi_setting *row = &table->rows[i];

		if (psi_setting_is_for_tests(row))
			continue;
		if (!shown++)
			fprintf(out, "## %s\n\n| Variable | Default | Value | Meaning |\n"
			        "|---|---|---|---|\n", table->title);
		fprintf(out, "| `%s` ", row->name);
		put_default(out, row);
		put_cell(out, psi_setting_accepts(row, accepts, sizeof accepts));
		put_cell(out, row->help);
		fputs("|\n", out);
	}
	if (shown)
		fputs("\n", out);
}

static void
put_foreign(FILE *out)
{
	size_t column = 0, i;
	const char *name;

	fputs("## Accepted without effect\n\n"
	      "Settings of other conduits, and those that tune what works differently here; `*` "
	      "stands\n"
	      "for any text.\n\n", out);
	for (i = 0; (name = psi_settings_foreign_name(i)) != NULL; i++) {
		if (strncmp(name, "PST_", 4) == 0)
			continue;
		if (column + strlen(name) + 3 > LINE_BYTES) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s`%s`", column ? " " : "", name);
	}
	fputc('\n', out);
}

void
psi_introspect_settings_doc(FILE *out)
{
	size_t t;

	fputs("# Settings\n\n"
	      "Written by `penstock-info --settings-md` from the tables in the sources.\n\n"
	      "A setting is a variable of the environment in which a job is started, the same for "
	      "all\n"
	      "ranks. An empty one counts as unset. A value that cannot be parsed ends the program "
	      "with\n"
	      "one line and status 2. A `PST_` or `GASNET_` name that is no setting but near one "
	      "is\n"
	      "warned about by rank 0. `penstock-info` prints all values in force and where they "
	      "come\n"
	      "from, `GASNET_VERBOSEENV=1` those that a job reads.\n\n", out);
	for (t = 0; psi_settings_lists[t]; t++)
		put_table(out, psi_settings_lists[t]);
	put_foreign(out);
}
