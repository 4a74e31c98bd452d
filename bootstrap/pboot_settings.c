#include "bootstrap/pboot_settings.h"

#include "bootstrap/pboot_exit_rules.h"
#include "runtime/util/deny.h"
#include "runtime/util/log.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An empty setting counts as unset. */
static const char *
setting(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static const char *const exit_names[4] = {
	"GASNET_EXITTIMEOUT", "GASNET_EXITTIMEOUT_MAX", "GASNET_EXITTIMEOUT_MIN",
	"GASNET_EXITTIMEOUT_FACTOR",
};

/* *bad_out is the index of a name whose value makes no sense, or -1. */
static uint64_t
grace_ns(uint32_t size, int *bad_out)
{
	const char *texts[4];
	int i;

	for (i = 0; i < 4; i++)
		texts[i] = setting(exit_names[i]);
	return pboot_rules_grace_ns(size, texts, bad_out);
}

uint64_t
pboot_settings_grace_ns(uint32_t size)
{
	int bad;

	return grace_ns(size, &bad);
}

enum pboot_shm
pboot_settings_shm(void)
{
	const char *text = setting("PST_SHM");

	return text ? (enum pboot_shm)pboot_shm_find(text) : PBOOT_SHM_MEMFD;
}

bool
pboot_settings_by_socket(void)
{
	const char *text = setting("PST_HANDOVER");

	return text && strcmp(text, "socket") == 0;
}

/* 0 if the text is no real-time signal. */
static int
death_signal_parse(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < SIGRTMIN || value > SIGRTMAX)
		return 0;
	return (int)value;
}

int
pboot_settings_death_signal(void)
{
	const char *text = setting("PST_DEATH_SIGNAL");
	int number = text ? death_signal_parse(text) : SIGRTMAX - 2; /* qemu keeps the two above */

	if (number == 0)
		psi_log_refuse("PST_DEATH_SIGNAL=%s: expected a real-time signal, %d to %d", text,
		    SIGRTMIN, SIGRTMAX);
	return number;
}

void
pboot_settings_check(void)
{
	const char *handover = setting("PST_HANDOVER"), *shm = setting("PST_SHM");
	int bad;

	grace_ns(1, &bad);
	if (bad >= 0)
		psi_log_refuse("%s=%s: expected a number of seconds", exit_names[bad],
		    getenv(exit_names[bad]));
	if (handover && strcmp(handover, "inherit") != 0 && strcmp(handover, "socket") != 0)
		psi_log_refuse("PST_HANDOVER=%s: expected inherit or socket", handover);
	if (shm && pboot_shm_find(shm) < 0)
		psi_log_refuse("PST_SHM=%s: expected memfd, posix, sysv or mmap", shm);
	if (psi_deny_unknown())
		psi_log_refuse("PST_DENY=%s: expected a list of known features",
		    getenv("PST_DENY"));
	pboot_settings_death_signal();
}
