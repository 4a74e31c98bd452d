#include "tests/unit/signals_rig.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/report/backtrace.h"
#include "runtime/report/freeze.h"
#include "runtime/report/signals.h"

const char *rig_segment;

static bool
covers(const void *address)
{
	return rig_segment && (const char *)address >= rig_segment &&
	       (const char *)address < rig_segment + 8192;
}

bool rig_has_keeper = true;

static bool
note(const char *text, bool printed)
{
	char line[600];
	int len = snprintf(line, sizeof line, "%s: %s\n", printed ? "noted" : "to be said", text);

	if (rig_has_keeper && write(STDERR_FILENO, line, (size_t)len) != len)
		_exit(99);
	return rig_has_keeper;
}

static void
leave(int code)
{
	_exit(code == 131 ? 42 : 43);
}

void
rig_open_all(void)
{
	const struct psi_signals_hooks hooks = { covers, NULL, note, leave };

	psi_backtrace_open(3);
	psi_signals_open(3, "node7", &hooks);
	psi_freeze_open(3, "node7");
}

void
rig_touch_null(void)
{
	volatile uintptr_t nowhere = 0x10;

	rig_open_all();
	*(volatile int *)nowhere = 1;
}

void
rig_check_ended(const struct pt_child *child, int number)
{
	ck_assert_msg(WIFSIGNALED(child->status) && WTERMSIG(child->status) == number,
		      "status %x, text %s", (unsigned)child->status, child->text);
}

unsigned
rig_lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}
