#include "bootstrap/share/pboot_settings.h"

#include "bootstrap/bootstrap.h"
#include "runtime/util/deny.h"
#include "runtime/util/log.h"
#include "runtime/util/settings_parse.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
seconds_parse(const char *text, double *seconds_out)
{
	uint64_t ns;

	if (!psi_parse_time(text, PBOOT_SECOND_NS, &ns) || ns > PBOOT_GRACE_MAX_S * PBOOT_SECOND_NS)
		return false;
	*seconds_out = (double)ns / 1e9;
	return true;
}

uint64_t
pboot_settings_grace_of(uint32_t size, const char *const texts[4], int *bad_out)
{
	double values[4] = { -1, 1.5, 0.5, 0.005 }, grace;
	int i;

	*bad_out = -1;
	for (i = 0; i < 4; i++)
		if (texts[i] && !seconds_parse(texts[i], &values[i]))
			*bad_out = i;
	if (*bad_out < 0 && texts[1] && texts[2] && values[2] > values[1])
		*bad_out = 4;
	if (!texts[1] && values[2] > values[1])
		values[1] = values[2];  /* a value of the user counts more than a default */
	grace = values[2] + size * values[3];
	if (grace > values[1])
		grace = values[1];
	if (values[0] >= 0)
		grace = values[0];
	return (uint64_t)(grace * 1e9);
}

/* An empty setting counts as unset. */
static const char *
setting_text(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static const char *const exit_names[4] = {
	"GASNET_EXITTIMEOUT", "GASNET_EXITTIMEOUT_MAX", "GASNET_EXITTIMEOUT_MIN",
	"GASNET_EXITTIMEOUT_FACTOR",
};

/* *bad_out is the index in exit_names of a bad value, 4 if MIN is above MAX, or -1. */
static uint64_t
grace_from_environment(uint32_t size, int *bad_out)
{
	const char *texts[4];
	int i;

	for (i = 0; i < 4; i++)
		texts[i] = setting_text(exit_names[i]);
	return pboot_settings_grace_of(size, texts, bad_out);
}

uint64_t
pboot_settings_grace_ns(uint32_t size)
{
	int bad;

	return grace_from_environment(size, &bad);
}

enum pboot_shm
pboot_settings_shm(void)
{
	const char *text = setting_text("PST_SHM");

	return text ? (enum pboot_shm)pboot_shm_find(text) : PBOOT_SHM_MEMFD;
}

enum pboot_huge
pboot_settings_huge(void)
{
	const char *text = setting_text("PST_HUGEPAGES");

	if (!text)
		return PBOOT_HUGE_THP;
	return strcmp(text, "no") == 0 ? PBOOT_HUGE_NO :
	    strcmp(text, "thp") == 0 ? PBOOT_HUGE_THP : PBOOT_HUGE_POOL;
}

bool
pboot_settings_by_socket(void)
{
	const char *text = setting_text("PST_TEST_HANDOVER");

	return text && strcmp(text, "socket") == 0;
}

/* Returns the limit in ns, or 0 for a bad value.  No limit is taken as a century. */
static uint64_t
limit_of(const char *text)
{
	uint64_t ns;

	if (!psi_parse_time(text, PBOOT_SECOND_NS, &ns) ||
	    ns > PBOOT_GRACE_MAX_S * PBOOT_SECOND_NS ||
	    (ns > 0 && ns < PBOOT_SECOND_NS))
		return 0;
	return ns > 0 ? ns : UINT64_C(36525) * 86400 * PBOOT_SECOND_NS;
}

/* How long what may be lost is waited for. */
static const struct { const char *name, *fallback; } limits[] = {
	{ "PST_HOST_LIMIT", PBOOT_HOST_LIMIT }, { "PST_START_LIMIT", PBOOT_START_LIMIT },
};

static const char *
limit_text(int which)
{
	const char *text = setting_text(limits[which].name);

	return text ? text : limits[which].fallback;
}

uint64_t pboot_settings_host_limit_ns(void) { return limit_of(limit_text(0)); }
uint64_t pboot_settings_start_limit_ns(void) { return limit_of(limit_text(1)); }

/* Reads a number from 1 to 65535; false: there is none. */
static bool
port_read(const char *text, char **end_out, uint16_t *port_out)
{
	const unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, end_out, 10) : 0;

	*port_out = (uint16_t)number;
	return number >= 1 && number <= UINT16_MAX;
}

bool
pboot_settings_net_ports(uint16_t *first_out, uint16_t *last_out)
{
	const char *text = setting_text("PST_NET_PORTS");
	char *end;

	*first_out = *last_out = 0;
	if (!text)
		return true;
	if (!port_read(text, &end, first_out))
		return false;
	*last_out = *first_out;
	if (*end == '-' && !port_read(end + 1, &end, last_out))
		return false;
	return !*end && *first_out <= *last_out;
}

bool
pboot_settings_programs_may_differ(void)
{
	const char *text = setting_text("PST_PROGRAMS");

	return text && strcmp(text, "any") == 0;
}

/* Returns PST_DEATH_SIGNAL, or -1 for a bad value. */
static int
death_signal_of(const char *text)
{
	int64_t number;

	if (!psi_parse_int(text, &number) || number < PBOOT_DEATH_SIGNAL_LEAST ||
	    number > PBOOT_DEATH_SIGNAL_MOST)
		return -1;
	return (int)number;
}

static const char *
death_signal_text(void)
{
	const char *text = setting_text("PST_DEATH_SIGNAL");

	return text ? text : PBOOT_DEATH_SIGNAL;
}

#define BAD_DEATH_SIGNAL                                                                           \
	"PST_DEATH_SIGNAL=%s: expected a real-time signal, a whole number from %d to %d"

int
pboot_settings_death_signal(void)
{
	const int signal = death_signal_of(death_signal_text());

	if (signal < 0)
		psi_log_refuse(BAD_DEATH_SIGNAL, death_signal_text(), PBOOT_DEATH_SIGNAL_LEAST,
		    PBOOT_DEATH_SIGNAL_MOST);
	return signal;
}

static bool PSI_PRINTF(2, 3)
fault_write(char text[PBOOT_FAULT_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, PBOOT_FAULT_BYTES, format, args);
	va_end(args);
	return true;
}

/* The message lists the features: few people know them. */
static bool
fault_of_deny(char text[PBOOT_FAULT_BYTES])
{
	char known[256] = "";
	size_t i;

	if (!psi_deny_unknown())
		return false;
	for (i = 0; psi_deny_features[i]; i++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "",
		         psi_deny_features[i]);
	}
	return fault_write(text, "PST_TEST_DENY=%s: expected a comma-separated list of %s",
	    getenv("PST_TEST_DENY"), known);
}

static bool
fault_of_grace(char text[PBOOT_FAULT_BYTES])
{
	int bad;

	grace_from_environment(1, &bad);
	if (bad == 4)
		return fault_write(text, "%s=%s: expected a time that is not above %s=%s",
		    exit_names[2], getenv(exit_names[2]), exit_names[1], getenv(exit_names[1]));
	if (bad >= 0)
		return fault_write(text,
		                   "%s=%s: expected a time in s, such as 2 or 0.5, from 0 to %d s",
		                   exit_names[bad], getenv(exit_names[bad]), PBOOT_GRACE_MAX_S);
	return false;
}

bool
pboot_settings_fault(char text_out[PBOOT_FAULT_BYTES])
{
	const char *handover = setting_text("PST_TEST_HANDOVER"), *shm = setting_text("PST_SHM");
	const char *programs = setting_text("PST_PROGRAMS");
	uint16_t ports[2];

	if (fault_of_grace(text_out))
		return true;
	if (handover && strcmp(handover, "inherit") != 0 && strcmp(handover, "socket") != 0)
		return fault_write(text_out, "PST_TEST_HANDOVER=%s: expected inherit or socket",
		    handover);
	if (shm && pboot_shm_find(shm) < 0)
		return fault_write(text_out, "PST_SHM=%s: expected memfd, posix, sysv or mmap",
		                   shm);
	if (fault_of_deny(text_out))
		return true;
	for (int i = 0; i < 2; i++)
		if (limit_of(limit_text(i)) == 0)
			return fault_write(text_out, "%s=%s: expected a time in s, such as %s, "
			    "from 1 to %d s, or 0 for no limit", limits[i].name, limit_text(i),
			    limits[i].fallback, PBOOT_GRACE_MAX_S);
	if (programs && strcmp(programs, "same") != 0 && strcmp(programs, "any") != 0)
		return fault_write(text_out, "PST_PROGRAMS=%s: expected same or any", programs);
	if (!pboot_settings_net_ports(&ports[0], &ports[1]))
		return fault_write(text_out, "PST_NET_PORTS=%s: expected ports such as "
		    "51000-51100", setting_text("PST_NET_PORTS"));
	if (death_signal_of(death_signal_text()) < 0)
		return fault_write(text_out, BAD_DEATH_SIGNAL, death_signal_text(),
		    PBOOT_DEATH_SIGNAL_LEAST, PBOOT_DEATH_SIGNAL_MOST);
	return false;
}

void
pboot_settings_check(void)
{
	char fault[PBOOT_FAULT_BYTES];

	if (pboot_settings_fault(fault))
		psi_log_refuse("%s", fault);
}
