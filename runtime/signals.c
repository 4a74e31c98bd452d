#include "runtime/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/backtrace.h"
#include "runtime/freeze.h"
#include "runtime/settings.h"
#include "runtime/signal_names.h"
#include "runtime/util/line.h"

enum { STACK_BYTES = 65536, QUIT_STATUS = 128 + SIGQUIT };

extern volatile int gasnet_frozen;

/* Errors of the program itself, and requests to end. */
static const int fatal[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ
};
static const int terminate[] = { SIGHUP, SIGINT, SIGTERM };

/* Written by psi_signals_open, before any of its handlers can run. */
static struct psi_signals_hooks hooks;
static char who[96];
static pid_t rank_pid;

/* Set before the signal is raised, by the thread that raises it. */
static atomic_bool told;

/* Thread that ends the process; others that fail meanwhile wait for that end. */
static _Atomic pid_t ending;

static void on_fatal(int number, siginfo_t *info, void *context);
static void on_terminate(int number, siginfo_t *info, void *context);
static void on_quit(int number, siginfo_t *info, void *context);
static void on_backtrace(int number, siginfo_t *info, void *context);
static void on_freeze(int number, siginfo_t *info, void *context);

typedef void handler_fn(int number, siginfo_t *info, void *context);

static bool
is_ours(const struct sigaction *action)
{
	handler_fn *fn = action->sa_flags & SA_SIGINFO ? action->sa_sigaction : NULL;

	return fn == on_fatal || fn == on_terminate || fn == on_quit || fn == on_backtrace ||
	       fn == on_freeze;
}

static bool
is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static void
take(int number, handler_fn *fn)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK }, old;

	action.sa_sigaction = fn;
	sigemptyset(&action.sa_mask);
	if (fn == on_backtrace || fn == on_freeze)
		action.sa_flags |= SA_RESTART;
	if (sigaction(number, NULL, &old) == 0 && is_default(&old))
		sigaction(number, &action, NULL);
}

static void
give_back(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0 || !is_ours(&action))
		return;
	memset(&action, 0, sizeof action);
	action.sa_handler = SIG_DFL;
	sigaction(number, &action, NULL);
}

/* Ends the process by a signal whose default action does that. */
static void
die_by(int number)
{
	sigset_t set;

	give_back(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Did the kernel itself send it, because of what the program did? */
static bool
has_address(int number, const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != SI_KERNEL &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

static uintptr_t
stack_pointer(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.sp;
#else
	(void)context;
	return 0;
#endif
}

/* A stack that is full faults at its pointer, or below within the frame that is being made. */
static bool
stack_is_full(const siginfo_t *info, const ucontext_t *context)
{
	const uintptr_t near_bytes = 64 * 1024;
	uintptr_t at = (uintptr_t)info->si_addr, pointer = stack_pointer(context);

	return at < pointer + near_bytes && pointer < at + near_bytes;
}

/* Where it happened, or who sent it; often nothing is known. */
static void
describe(struct psi_line *line, int number, const siginfo_t *info, const ucontext_t *context)
{
	if (has_address(number, info)) {
		psi_line_text(line, "at address ");
		psi_line_address(line, info->si_addr);
		if (number == SIGSEGV && stack_is_full(info, context))
			psi_line_text(line, ": the stack is full (ulimit -s)");
		else if (number == SIGSEGV && hooks.tell_given)
			hooks.tell_given(line, info->si_addr);
		if (number == SIGBUS && hooks.segment_covers && hooks.segment_covers(info->si_addr))
			psi_line_text(line, ": no memory for a page of the segment");
	} else if (number == SIGSEGV && info->si_code == SI_KERNEL && hooks.tell_given) {
		hooks.tell_given(line, NULL);
	} else if (info->si_code == SI_USER && info->si_pid != getpid()) {
		psi_line_text(line, "sent by process ");
		psi_line_number(line, (uint64_t)info->si_pid);
	}
}

/* A process that the rank forked has these handlers until it runs another program. */
static bool
in_child(void)
{
	return getpid() != rank_pid;
}

/* False if nobody reads it. */
static bool
say(int number, struct psi_line *details)
{
	struct psi_line line = { .len = 0 };

	psi_line_text(&line, who);
	psi_line_text(&line, ": ");
	if (in_child()) {
		psi_line_text(&line, "its child ");
		psi_line_number(&line, (uint64_t)getpid());
		psi_line_text(&line, " ");
	}
	psi_line_text(&line, "ended by ");
	psi_line_text(&line, psi_signal_name(number));
	psi_line_text(&line, " (");
	psi_line_number(&line, (uint64_t)number);
	psi_line_text(&line, details->len ? ") " : ")");
	psi_line_text(&line, psi_line_string(details));
	return psi_line_write(&line, STDERR_FILENO);
}

/* The line is there before a stack trace or a debugger's wait, whoever reads it first. */
static void
say_failure(int number, const siginfo_t *info, const ucontext_t *context)
{
	struct psi_line details = { .len = 0 };
	bool said;

	describe(&details, number, info, context);
	said = say(number, &details);
	if (hooks.note_cause && !in_child())
		hooks.note_cause(psi_line_string(&details), said);
}

void
psi_signals_told(void)
{
	atomic_store(&told, true);
}

/* False for the first thread to come here; others do not return but when it fails once more. */
static bool
already_ending(void)
{
	pid_t self = gettid(), nobody = 0;

	if (atomic_compare_exchange_strong(&ending, &nobody, self))
		return false;
	while (nobody != self)
		pause();
	return true;
}

static void
on_fatal(int number, siginfo_t *info, void *context)
{
	if (!already_ending()) {
		if (!atomic_load(&told))
			say_failure(number, info, context);
		gasnett_print_backtrace_ifenabled(STDERR_FILENO);
		psi_freeze_on_error();
	}
	die_by(number);
}

/* Who sent it, unless that was the terminal or our parent the keeper; all ranks may have got it, so
 * each prints a line only if nobody says it for all. The end of a child is its parent's affair. */
static void
on_terminate(int number, siginfo_t *info, void *context)
{
	struct psi_line details = { .len = 0 };

	if (info->si_code == SI_USER && info->si_pid != getppid() && !in_child()) {
		describe(&details, number, info, context);
		if (!hooks.note_cause || !hooks.note_cause(psi_line_string(&details), false))
			say(number, &details);
	}
	die_by(number);
}

static void
on_quit(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	if (hooks.leave)
		hooks.leave(QUIT_STATUS);
	die_by(number);
}

static void
on_backtrace(int number, siginfo_t *info, void *context)
{
	struct psi_line line = { .len = 0 };

	(void)info, (void)context;
	psi_line_text(&line, who);
	psi_line_text(&line, ": stack at ");
	psi_line_text(&line, psi_signal_name(number));
	psi_line_write(&line, STDERR_FILENO);
	psi_backtrace_print(STDERR_FILENO);
}

static void
on_freeze(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	psi_freeze_now(&gasnet_frozen, "gasnet_frozen");
}

static uint64_t
listed(const char *name)
{
	const char *text = psi_setting_text(psi_setting_named(name));
	uint64_t bits = 0;

	if (text)
		psi_signals_parse(text, &bits);
	return bits;
}

static void
take_listed(uint64_t bits, handler_fn *fn)
{
	int number;

	for (number = 1; number < 64; number++) {
		if (bits >> number & 1)
			take(number, fn);
	}
}

static uint64_t
bits_of(const int *numbers, size_t count)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < count; i++)
		bits |= UINT64_C(1) << numbers[i];
	return bits;
}

/* An overflowing stack has no room for a handler. */
static void
make_stack(void)
{
	static char memory[STACK_BYTES] __attribute__((aligned(16)));
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory }, old;

	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
}

void
psi_signals_open(uint32_t rank, const char *host, const struct psi_signals_hooks *given)
{
	uint64_t spared = listed("GASNET_NO_CATCH_SIGNAL");
	uint64_t errors = bits_of(fatal, sizeof fatal / sizeof *fatal);
	uint64_t requests = bits_of(terminate, sizeof terminate / sizeof *terminate);

	hooks = *given;
	rank_pid = getpid();
	snprintf(who, sizeof who, "penstock: rank %u (%s)", rank, host);
	atomic_store(&ending, 0);
	make_stack();
	/* An error cannot be gone on from: its instruction would fail again. */
	take_listed(listed("GASNET_BACKTRACE_SIGNAL") & ~errors, on_backtrace);
	take_listed(listed("GASNET_FREEZE_SIGNAL") & ~errors, on_freeze);
	take_listed(errors & ~spared, on_fatal);
	take_listed(requests & ~spared, on_terminate);
	take_listed((UINT64_C(1) << SIGQUIT) & ~spared, on_quit);
}

void
psi_signals_close(void)
{
	int number;

	for (number = 1; number < 64; number++)
		give_back(number);
}
