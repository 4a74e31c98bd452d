/*
 * Settings: environment variables as rows of tables.  A row stands next to the code that uses it,
 * in a table listed once in settings_tables.c; penstock-info and docs/settings.md print all.
 *
 * Values are read from the process environment at each call, never kept: no job is needed, and what
 * gasnett_setenv changes is seen.  An unset or empty variable has the default.  A value that cannot
 * be parsed ends the process with one line and status 2; see psi_settings_check.
 *
 * Rows named PST_TEST_ are for the tests, which need a way that is not taken otherwise; users are
 * not shown them.
 *
 * Threads: getters may be called from any thread, while nobody changes the environment.
 */
#ifndef PSI_SETTINGS_H
#define PSI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum psi_setting_kind {
	PSI_SETTING_BOOL,   /* 1/y/yes, 0/n/no */
	PSI_SETTING_INT,    /* between min and max */
	PSI_SETTING_SIZE,   /* bytes, between min and max; unit "B", "KB", "MB" for a bare number */
	PSI_SETTING_TIME,   /* unit "s", "ms" or "us"; read in nanoseconds */
	PSI_SETTING_CHOICE, /* one of choices */
	PSI_SETTING_SET,    /* any of choices, comma separated */
	PSI_SETTING_TEXT,   /* anything that check, if there is one, lets pass */
};

struct psi_setting {
	const char *name;
	enum psi_setting_kind kind;
	const char *default_text;	/* as a user would type it; NULL: none, read as 0 or NULL */
	const char *unit;		/* unit of a number without one; NULL: none */
	const char *help;		/* one sentence, no full stop */
	const char *const *choices;	/* CHOICE and SET: NULL-terminated */
	int64_t min, max;		/* INT and SIZE; max 0 is no bound */
	bool (*check)(const char *text);/* TEXT: may be NULL */
	const char *accepts;		/* TEXT with a check: what the message says is accepted */
};

struct psi_setting_table {
	const char *title;		/* heading in print-outs */
	const struct psi_setting *rows;
	size_t count;
};

#define PSI_SETTING_TABLE(heading, array) { heading, array, sizeof(array) / sizeof((array)[0]) }

/* The row is for tests alone: no print-out has it. */
static inline bool
psi_setting_is_for_tests(const struct psi_setting *row)
{
	return strncmp(row->name, "PST_TEST_", 9) == 0;
}

/* All tables, NULL-terminated. */
extern const struct psi_setting_table *const psi_settings_lists[];

enum psi_setting_origin { PSI_ORIGIN_DEFAULT, PSI_ORIGIN_ENVIRONMENT };

/* The rows of all tables, counted from 0; NULL behind the last. */
const struct psi_setting *psi_setting_row(size_t number);
/* The row of that name, or NULL. */
const struct psi_setting *psi_setting_find(const char *name);

/* The row of that name; it is a mistake of the program if there is none, and ends it. */
const struct psi_setting *psi_setting_named(const char *name);

/* The text in force: of the environment, else the default; NULL if there is neither. */
const char *psi_setting_value(const struct psi_setting *row, enum psi_setting_origin *origin_out);
/* The same by name; NULL also if there is no such row.  Conduits get it as a service. */
const char *psi_setting_value_of(const char *name);

/* Getters by kind, which must be the row's. */
bool psi_setting_bool(const struct psi_setting *row);
int64_t psi_setting_int(const struct psi_setting *row);
uint64_t psi_setting_size(const struct psi_setting *row);
uint64_t psi_setting_ns(const struct psi_setting *row);
unsigned psi_setting_choice(const struct psi_setting *row);	/* place in choices */
uint64_t psi_setting_set(const struct psi_setting *row);	/* bit i: choices[i] */
const char *psi_setting_text(const struct psi_setting *row);	/* NULL: not set, no default */
bool psi_setting_given(const struct psi_setting *row);		/* set by the user */

/*
 * What the row accepts, in words, such as "one of inherit, socket" or "a whole number from 1 to 9";
 * for messages and documentation.  Returns buf.
 */
const char *psi_setting_accepts(const struct psi_setting *row, char *buf, size_t size);

/* True if text is a value the row accepts. */
bool psi_setting_accepted(const struct psi_setting *row, const char *text);

/*
 * Does this rank print messages about settings?  All ranks have the same environment, so one rank,
 * the speaker, prints for the job.  True until init sets it, before the rank reads settings.  A
 * silent rank that finds a bad value waits a second for the speaker, then ends with status 2 as
 * well.
 */
void psi_settings_speak(bool speak);

/* How a process ends that meets a bad value: leave does not return; exit unless told otherwise. */
void psi_settings_leave_by(void (*leave)(int status));

/* Warnings are for this process to print: it speaks, and GASNET_QUIET is off. */
bool psi_settings_warns(void);

/*
 * Ends the process as a bad value of a setting does; for values that come from elsewhere, name
 * being "" if no variable held them.
 */
void psi_settings_refuse(const char *name, const char *text, const char *accepts)
	__attribute__((noreturn));

/* Settings are to be printed as they are read, and by this process. */
bool psi_settings_verbose(void);

/* Prints how a variable was read, if GASNET_VERBOSEENV is set.  text may be NULL. */
void psi_settings_print(const char *name, const char *text, enum psi_setting_origin origin);

/*
 * Called at the start of a job.  Ends the process if a value cannot be parsed.  If
 * GASNET_VERBOSEENV is set, reports the values that the user gave; other values are reported when
 * they are read.
 */
void psi_settings_check(void);

/*
 * Warns, if that is for this process, of PST_ and GASNET_ variables in the environment that no
 * table knows: of any PST_ name, and of GASNET_ names that are near a real one.  Does so once.
 */
void psi_settings_warn_unknown(void);

/*
 * The real name nearest to an unknown one, or NULL if the name is known or nothing is near.
 * *known_out tells the two apart.
 */
const char *psi_settings_nearest(const char *name, bool *known_out);

#endif
