#include "runtime/report/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

#include "gasnet_tools.h"
#include "runtime/report/backtrace.h"
#include "runtime/report/freeze.h"
#include "runtime/settings/settings.h"
#include "runtime/report/signal_names.h"
#include "runtime/report/symbol.h"
#include "runtime/util/line.h"
#include "runtime/util/readable.h"

enum { STACK_BYTES = 65536, QUIT_STATUS = 128 + SIGQUIT };

extern volatile int gasnet_frozen;

/* Errors of the program itself, and requests to end. */
static const int fatal[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ
};
static const int terminate[] = { SIGHUP, SIGINT, SIGTERM };

/* Written by psi_signals_open, before any of its handlers can run. */
static struct psi_signals_hooks hooks;
static bool quit_was_ignored;
static char who[96];
static pid_t rank_pid;

/* Errors for which settings may ask for a trace or for a wait for a debugger. */
static uint64_t traced, frozen;
/* An overflow of a stack would have nobody to tell it, so no stack is made for that. */
static bool stacks_spared;

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
signal_is_ours(const struct sigaction *action)
{
	handler_fn *fn = action->sa_flags & SA_SIGINFO ? action->sa_sigaction : NULL;

	return fn == on_fatal || fn == on_terminate || fn == on_quit || fn == on_backtrace ||
	       fn == on_freeze;
}

static bool
signal_is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

/* A shell that is not interactive ignores SIGQUIT in what it starts in the background.  The keeper
 * sends it to end a rank in good order, so it is handled there too. */
static bool
signal_is_ignored_quit(int number, const struct sigaction *action)
{
	return number == SIGQUIT && !(action->sa_flags & SA_SIGINFO) &&
	       action->sa_handler == SIG_IGN;
}

static void
signal_take(int number, handler_fn *fn)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK }, old;

	action.sa_sigaction = fn;
	sigemptyset(&action.sa_mask);
	if (fn == on_backtrace || fn == on_freeze)
		action.sa_flags |= SA_RESTART;
	if (sigaction(number, NULL, &old) != 0)
		return;
	if (fn == on_quit)
		quit_was_ignored = signal_is_ignored_quit(number, &old);
	if (signal_is_default(&old) || (fn == on_quit && quit_was_ignored))
		sigaction(number, &action, NULL);
}

static void
signal_give_back(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) != 0 || !signal_is_ours(&action))
		return;
	memset(&action, 0, sizeof action);
	action.sa_handler = number == SIGQUIT && quit_was_ignored ? SIG_IGN : SIG_DFL;
	sigaction(number, &action, NULL);
}

/* Ends the process by a signal whose default action does that. */
static void
signal_die_by(int number)
{
	sigset_t set;

	signal_give_back(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Did the kernel itself send it, because of what the program did?  Of addresses that no process can
 * have, and of some faults of instructions, it says SI_KERNEL. */
static bool
signal_is_fault(int number, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

struct registers {
	uintptr_t code, stack;
	uintptr_t caller;       /* what called the function that has just begun; 0: look on the
	                         * stack */
};

static struct registers
registers_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	const greg_t *registers = context->uc_mcontext.gregs;

	return (struct registers){ (uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP],
		                   0 };
#elif defined(__aarch64__)
	return (struct registers){ (uintptr_t)context->uc_mcontext.pc,
		                   (uintptr_t)context->uc_mcontext.sp,
		                   (uintptr_t)context->uc_mcontext.regs[30] };
#else
	(void)context;
	return (struct registers){ 0, 0, 0 };
#endif
}

/* The low end of the thread's stack, above its guard page; 0: unknown.  Signal handlers read it. */
static _Thread_local uintptr_t stack_least __attribute__((tls_model("initial-exec")));

/*
 * If the thread's stack is known, a full stack faults in the guard page.  A large frame may step
 * over the guard; the pointer is then in the memory below.  If the stack is not known: a call with
 * a full stack faults below its pointer.  A frame that is being made faults above its pointer, and
 * then no memory is mapped at the pointer either.  A read past the other end of the stack is above
 * a pointer that is valid.
 */
static bool
stack_is_full(uintptr_t at, uintptr_t pointer)
{
	const uintptr_t near_bytes = 64 << 10, frame_bytes = 1 << 30;

	if (stack_least)
		return at < stack_least && stack_least - at <= near_bytes;
	if (at < pointer)
		return pointer - at < near_bytes;
	return pointer && at - pointer < frame_bytes && !psi_is_readable(pointer);
}

/* The address at which the program was; its caller's, if a call led to an address without code. */
static void
tell_code(struct psi_line *line, const siginfo_t *info, const struct registers *registers)
{
	uintptr_t code = registers->code;

	if (code == (uintptr_t)info->si_addr && !psi_is_readable(code)) {
		psi_line_text(line, ", where a call led");
		code = registers->caller;
		if (!code && psi_is_readable(registers->stack))
			code = *(const uintptr_t *)registers->stack;
	}
	if (!code)
		return;
	psi_line_text(line, ", in ");
	psi_symbol_describe(line, code);
}

static void
tell_full(struct psi_line *line)
{
	psi_line_text(line, gettid() == getpid() ? ": the stack is full; raise ulimit -s"
	                                         : ": the thread's stack is full; raise ulimit -s, "
	                                           "or pthread_attr_setstacksize");
}

/* A fault of the program: its address, if the processor tells it, and place. */
static void
describe_fault(struct psi_line *line, int number, const siginfo_t *info, const ucontext_t *context)
{
	const struct registers registers = registers_of(context);
	const bool known = info->si_code != SI_KERNEL;

	if (known) {
		psi_line_text(line, "at address ");
		psi_line_address(line, info->si_addr);
	} else {
		psi_line_text(line, "at an address that no memory has");
	}
	tell_code(line, info, &registers);
	if (number == SIGSEGV && known && stack_is_full((uintptr_t)info->si_addr, registers.stack))
		tell_full(line);
	else if (number == SIGSEGV && hooks.tell_given)
		hooks.tell_given(line, known ? info->si_addr : NULL);
	if (number == SIGBUS && hooks.segment_covers && hooks.segment_covers(info->si_addr))
		psi_line_text(line, ": no memory for a page of the segment");
}

/* The faulting address, or the sender; nothing for abort(). */
static void
signal_describe(struct psi_line *line, int number, const siginfo_t *info, const ucontext_t *context)
{
	if (signal_is_fault(number, info)) {
		describe_fault(line, number, info, context);
	} else if (info->si_code == SI_USER && info->si_pid != getpid()) {
		psi_line_text(line, "sent by process ");
		psi_line_number(line, (uint64_t)info->si_pid);
	}
}

/* A process that the rank forked has these handlers until it runs another program. */
static bool
signal_in_child(void)
{
	return getpid() != rank_pid;
}

/* False if nobody reads it. */
static bool
signal_say(int number, struct psi_line *details)
{
	struct psi_line line = { .len = 0 };

	psi_line_text(&line, who);
	psi_line_text(&line, ": ");
	if (signal_in_child()) {
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
signal_say_failure(int number, const siginfo_t *info, const ucontext_t *context)
{
	struct psi_line details = { .len = 0 };
	bool said;

	signal_describe(&details, number, info, context);
	said = signal_say(number, &details);
	if (hooks.note_cause && !signal_in_child())
		hooks.note_cause(psi_line_string(&details), said);
}

void
psi_signals_told(void)
{
	atomic_store(&told, true);
}

/* False for the first thread to come here; others do not return but when it fails once more. */
static bool
signal_already_ending(void)
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
	if (!signal_already_ending()) {
		if (!atomic_load(&told))
			signal_say_failure(number, info, context);
		if (traced >> number & 1)
			psi_backtrace_print(STDERR_FILENO);
		else
			gasnett_print_backtrace_ifenabled(STDERR_FILENO);
		if (frozen >> number & 1)
			psi_freeze_now(&gasnet_frozen, "gasnet_frozen");
		else
			psi_freeze_on_error();
	}
	signal_die_by(number);
}

/* Describes the sender, unless that was the terminal or the keeper, which is our parent.  All ranks
 * may have got the signal, so each prints a line only if the keeper does not print one for all.
 * The end of a forked child concerns its parent alone. */
static void
on_terminate(int number, siginfo_t *info, void *context)
{
	struct psi_line details = { .len = 0 };

	if (info->si_code == SI_USER && info->si_pid != getppid() && !signal_in_child()) {
		signal_describe(&details, number, info, context);
		if (!hooks.note_cause || !hooks.note_cause(psi_line_string(&details), false))
			signal_say(number, &details);
	}
	signal_die_by(number);
}

/* If the signal was ignored before, that of the terminal still is. */
static void
on_quit(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (quit_was_ignored && info->si_code != SI_USER)
		return;
	if (hooks.leave)
		hooks.leave(QUIT_STATUS);
	signal_die_by(number);
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
signal_is_listed(const char *name)
{
	const char *text = psi_setting_text(psi_setting_named(name));
	uint64_t bits = 0;

	if (text)
		psi_signals_parse(text, &bits);
	return bits;
}

static void
signal_take_listed(uint64_t bits, handler_fn *fn)
{
	int number;

	for (number = 1; number < 64; number++) {
		if (bits >> number & 1)
			signal_take(number, fn);
	}
}

static uint64_t
signal_bits_of(const int *numbers, size_t count)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < count; i++)
		bits |= UINT64_C(1) << numbers[i];
	return bits;
}

/* An overflowing stack has no room for a handler.  This one is of the thread that makes the job. */
static void
make_stack(void)
{
	static char memory[STACK_BYTES] __attribute__((aligned(16)));
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory }, old;

	if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
}

static void
know_stack(void)
{
	pthread_attr_t attributes;
	size_t len;
	void *base;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &base, &len) == 0)
		stack_least = (uintptr_t)base;
	pthread_attr_destroy(&attributes);
}

/* The signal stack of another thread; NULL if it has one already or needs none. */
void *
psi_signals_stack_open(void)
{
	stack_t stack = { .ss_size = STACK_BYTES }, old;

	if (!stacks_spared && gettid() != getpid())
		know_stack();
	if (stacks_spared || sigaltstack(NULL, &old) != 0 || !(old.ss_flags & SS_DISABLE))
		return NULL;
	stack.ss_sp =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED)
		return NULL;
	sigaltstack(&stack, NULL);
	return stack.ss_sp;
}

void
psi_signals_stack_close(void *memory)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t old;

	if (!memory)
		return;
	if (sigaltstack(NULL, &old) == 0 && old.ss_sp == memory)
		sigaltstack(&none, NULL);
	munmap(memory, STACK_BYTES);
}

void __attribute__((cold))
psi_signals_open(uint32_t rank, const char *host, const struct psi_signals_hooks *given)
{
	uint64_t spared = signal_is_listed("GASNET_NO_CATCH_SIGNAL");
	uint64_t errors = signal_bits_of(fatal, sizeof fatal / sizeof *fatal);
	uint64_t requests = signal_bits_of(terminate, sizeof terminate / sizeof *terminate);

	hooks = *given;
	rank_pid = getpid();
	snprintf(who, sizeof who, "penstock: rank %u (%s)", rank, host);
	atomic_store(&ending, 0);
	make_stack();
	stacks_spared = (errors & ~spared & (UINT64_C(1) << SIGSEGV | UINT64_C(1) << SIGBUS)) == 0;
	traced = signal_is_listed("GASNET_BACKTRACE_SIGNAL");
	frozen = signal_is_listed("GASNET_FREEZE_SIGNAL");
	/* An error cannot be gone on from: its instruction would fail again. */
	signal_take_listed(traced & ~errors, on_backtrace);
	signal_take_listed(frozen & ~errors, on_freeze);
	signal_take_listed(errors & ~spared, on_fatal);
	signal_take_listed(requests & ~spared, on_terminate);
	signal_take_listed((UINT64_C(1) << SIGQUIT) & ~spared, on_quit);
}

void
psi_signals_close(void)
{
	int number;

	for (number = 1; number < 64; number++)
		signal_give_back(number);
}
