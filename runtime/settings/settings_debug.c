/* Settings of signals, stack traces and waiting for a debugger. */
#include "runtime/report/backtrace.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/report/signal_names.h"

#define NOT_THE_DEATH_SIGNAL ", not that of PST_DEATH_SIGNAL"

/* Is none of them taken by the setting of that name? */
static bool
are_apart(uint64_t bits, const char *name)
{
	const struct psi_setting *row = psi_setting_named(name);
	const char *text = psi_setting_value(row, NULL);
	uint64_t taken;

	return !text || !psi_signals_parse(text, &taken) || !(bits & taken);
}

static bool
backtrace_accepted(const char *text)
{
	uint64_t bits;

	return psi_signals_accepted(text) && psi_signals_parse(text, &bits) &&
	       are_apart(bits, "PST_DEATH_SIGNAL");
}

static bool
freeze_accepted(const char *text)
{
	uint64_t bits;

	return backtrace_accepted(text) && psi_signals_parse(text, &bits) &&
	       are_apart(bits, "GASNET_BACKTRACE_SIGNAL");
}

static const struct psi_setting debug_rows[] = {
	{ .name = "GASNET_NO_CATCH_SIGNAL", .kind = PSI_SETTING_TEXT, .default_text = "",
	  .check = psi_signals_or_all_accepted, .accepts = PSI_SIGNALS_SYNTAX ", or *",
	  .help = "signals for which no handler is installed; * for all" },
	{ .name = "GASNET_BACKTRACE", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "fatal errors print a stack trace" },
	{ .name = "GASNET_BACKTRACE_NODES", .kind = PSI_SETTING_TEXT, .default_text = "*",
	  .check = psi_ranks_accepted, .accepts = PSI_RANKS_SYNTAX,
	  .help = "ranks whose fatal errors print a stack trace" },
	{ .name = "GASNET_BACKTRACE_SIGNAL", .kind = PSI_SETTING_TEXT,
	  .check = backtrace_accepted, .accepts = PSI_SIGNALS_CAUGHT NOT_THE_DEATH_SIGNAL,
	  .help = "signals on which a rank prints a stack trace and goes on, or after an error "
	          "ends" },
	{ .name = "GASNET_BACKTRACE_TYPE", .kind = PSI_SETTING_TEXT,
	  .check = psi_backtrace_types_accepted,
	  .accepts = "EXECINFO or the name of the program's own way, or both with a comma",
	  .help = "ways of getting a stack trace; unset: the program's own, then EXECINFO" },
	{ .name = "GASNET_BACKTRACE_MT", .kind = PSI_SETTING_BOOL, .default_text = "1",
	  .help = "leave out a way of the program's own that does not work with threads" },
	{ .name = "GASNET_FREEZE", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "each rank waits for a debugger at start" },
	{ .name = "GASNET_FREEZE_ON_ERROR", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "a rank waits for a debugger after a fatal error" },
	{ .name = "GASNET_FREEZE_SIGNAL", .kind = PSI_SETTING_TEXT,
	  .check = freeze_accepted,
	  .accepts = PSI_SIGNALS_CAUGHT NOT_THE_DEATH_SIGNAL ", and none of "
	                                                     "GASNET_BACKTRACE_SIGNAL",
	  .help = "signals on which a rank waits for a debugger and then goes on, or after an "
	          "error ends" },
};

const struct psi_setting_table psi_settings_debug =
	PSI_SETTING_TABLE("Signals and debugging", debug_rows);
