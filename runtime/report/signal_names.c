#include "runtime/report/signal_names.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "runtime/util/settings_parse.h"

enum { WORD_BYTES = 16, LAST_SIGNAL = 63 };

static const struct {
	const char *name;
	int number;
} names[] = {
	{ "SIGHUP", SIGHUP }, { "SIGINT", SIGINT }, { "SIGQUIT", SIGQUIT }, { "SIGILL", SIGILL },
	{ "SIGTRAP", SIGTRAP }, { "SIGABRT", SIGABRT }, { "SIGBUS", SIGBUS }, { "SIGFPE", SIGFPE },
	{ "SIGKILL", SIGKILL }, { "SIGUSR1", SIGUSR1 }, { "SIGSEGV", SIGSEGV },
	{ "SIGUSR2", SIGUSR2 }, { "SIGPIPE", SIGPIPE }, { "SIGALRM", SIGALRM },
	{ "SIGTERM", SIGTERM }, { "SIGCHLD", SIGCHLD }, { "SIGCONT", SIGCONT },
	{ "SIGSTOP", SIGSTOP }, { "SIGTSTP", SIGTSTP }, { "SIGTTIN", SIGTTIN },
	{ "SIGTTOU", SIGTTOU }, { "SIGURG", SIGURG }, { "SIGXCPU", SIGXCPU },
	{ "SIGXFSZ", SIGXFSZ }, { "SIGVTALRM", SIGVTALRM }, { "SIGPROF", SIGPROF },
	{ "SIGWINCH", SIGWINCH }, { "SIGIO", SIGIO }, { "SIGSYS", SIGSYS },
};

const char *
psi_signal_name(int number)
{
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].number == number)
			return names[i].name;
	}
	return "signal";
}

/* The number of the signal that one word names; 0 if it names none. */
static int
signal_number(const char *word)
{
	int64_t number;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcasecmp(names[i].name, word) == 0 ||
		    strcasecmp(names[i].name + 3, word) == 0)
			return names[i].number;
	}
	if (!psi_parse_int(word, &number) || number < 1 || number > LAST_SIGNAL)
		return 0;
	return (int)number;
}

bool
psi_signals_parse(const char *text, uint64_t *out)
{
	uint64_t bits = 0;

	if (strcmp(text, "*") == 0) {
		*out = UINT64_MAX;
		return true;
	}
	for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
		size_t len = strcspn(text, ", ");
		char word[WORD_BYTES];
		int number;

		if (len >= sizeof word)
			return false;
		memcpy(word, text, len);
		word[len] = '\0';
		text += len;
		number = signal_number(word);
		if (number == 0)
			return false;
		bits |= UINT64_C(1) << number;
	}
	*out = bits;
	return true;
}

bool
psi_signals_or_all_accepted(const char *text)
{
	uint64_t bits;

	return psi_signals_parse(text, &bits);
}

/* The list has the signals for which a handler can be set.  The C library keeps the first two
 * real-time signals. */
bool
psi_signals_accepted(const char *text)
{
	const uint64_t never = UINT64_C(1) << SIGKILL | UINT64_C(1) << SIGSTOP | UINT64_C(3) << 32;
	uint64_t bits;

	return strcmp(text, "*") != 0 && psi_signals_parse(text, &bits) && !(bits & never);
}
