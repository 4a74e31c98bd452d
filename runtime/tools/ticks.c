/*
 * Ticks count the processor's counter, if that runs at one rate in all states and the kernel keeps
 * time by it or does not object; otherwise they count CLOCK_MONOTONIC.  The rate of the counter is
 * measured once against the clock, from the start of the program to the first conversion, and over
 * PROBE_NS at least.  GASNET_TSC_RATE can give the rate instead.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gasnet_tools.h"
#include "runtime/settings/settings.h"
#include "runtime/util/settings_parse.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/tools/ticks.h"
#include "runtime/util/clock.h"
#include "runtime/util/log.h"

#if defined(PLATFORM_ARCH_X86_64)
#include <cpuid.h>
#endif

enum { PROBE_NS = 2000000, TRIES = 8, TEXT_BYTES = 256, RATE_SHIFT = 32 };
#define HZ_MIN 1e6
#define HZ_MAX 1e11

enum psi_tick_source psi_ticks_from = PSI_TICKS_UNKNOWN;

/* A moment by both. */
struct moment {
	uint64_t ticks, ns;
};

/* Written once, under the once below; start before that, by the constructor. */
static struct moment start;
static struct psi_tick_rate rate;
static double rate_hz;
static pthread_once_t rate_once = PTHREAD_ONCE_INIT;

static bool
ticks_rate_accepted(const char *text)
{
	double hz;

	return strcmp(text, "walltime") == 0 || strcmp(text, "cpuinfo") == 0 ||
	       (psi_parse_double(text, &hz) && hz >= HZ_MIN && hz <= HZ_MAX);
}

static bool
ticks_tolerance_accepted(const char *text)
{
	double part;

	return psi_parse_fraction(text, &part) && part > 0 && part < 1;
}

static const struct psi_setting rows[] = {
	{ .name = "GASNET_TSC_RATE",
	  .kind = PSI_SETTING_TEXT,
	  .default_text = "walltime",
	  .check = ticks_rate_accepted,
	  .accepts = "walltime, cpuinfo, or a number of Hz from 1e6 to "
	             "1e11",
	  .help = "where the rate of the processor's counter comes from" },
	{ .name = "GASNET_TSC_RATE_TOLERANCE",
	  .kind = PSI_SETTING_TEXT,
	  .default_text = "0.0005",
	  .check = ticks_tolerance_accepted,
	  .accepts = "a part between 0 and 1, such as 0.0005",
	  .help = "a given rate that is off the clock's by more than this part is warned about" },
	{ .name = "GASNET_TSC_RATE_HARD_TOLERANCE",
	  .kind = PSI_SETTING_TEXT,
	  .default_text = "0.02",
	  .check = ticks_tolerance_accepted,
	  .accepts = "a part between 0 and 1, such as 0.02",
	  .help = "a given rate that is off the clock's by more than this part is not used" },
	{ .name = "GASNET_TSC_VERBOSE",
	  .kind = PSI_SETTING_BOOL,
	  .default_text = "0",
	  .help = "print the rate of the processor's counter when it is first needed" },
};

const struct psi_setting_table psi_settings_tools = PSI_SETTING_TABLE("Clock", rows);

#if defined(PLATFORM_ARCH_X86_64)
/* "Invariant" is bit 8 of this leaf: one rate in all power states. */
static bool
counter_is_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}
#else
/* The architecture tells whether it has a steady counter. */
static bool
counter_is_steady(void)
{
	return PSI_HAS_COUNTER;
}
#endif

static bool
ticks_read_text(const char *path, char *buf, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(buf, (int)size, file);

	if (file)
		fclose(file);
	return got;
}

/* Kernels that found the counter wanting keep time by one of these. */
static bool
kernel_trusts_counter(void)
{
	static const char *const others[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies",
		                              "pit" };
	char text[TEXT_BYTES];
	size_t i;

	if (!ticks_read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
	                     text, sizeof text))
		return true;
	text[strcspn(text, "\n")] = '\0';
	for (i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (strcmp(text, others[i]) == 0)
			return false;
	}
	return true;
}

/* Both clocks at one moment: of some tries the one that took least, so the least uncertain. */
static struct moment
ticks_now_by_both(void)
{
	struct moment best = { 0, 0 };
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = psi_counter_read();
		uint64_t ns = psi_now_ns();
		uint64_t took = psi_counter_read() - before;

		if (took < least) {
			least = took;
			best = (struct moment){ before + took / 2, ns };
		}
	}
	return best;
}

/*
 * Runs before main, and before that if a constructor of the client takes the time.  All come to the
 * same choice, so it does not matter which of two threads writes it.
 */
static __attribute__((constructor)) void
ticks_choose(void)
{
	if (__atomic_load_n(&psi_ticks_from, __ATOMIC_RELAXED) != PSI_TICKS_UNKNOWN)
		return;
	if (counter_is_steady() && kernel_trusts_counter()) {
		start = ticks_now_by_both();
		__atomic_store_n(&psi_ticks_from, PSI_TICKS_COUNTER, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&psi_ticks_from, PSI_TICKS_CLOCK, __ATOMIC_RELAXED);
	}
}

gasnett_tick_t
psi_ticks_read(void)
{
	ticks_choose();
	return psi_ticks_from == PSI_TICKS_COUNTER ? psi_counter_read() : psi_now_ns();
}

/* Ticks and nanoseconds since the start; waits until they are enough to tell the rate. */
static struct moment
ticks_elapsed(void)
{
	struct moment now = ticks_now_by_both();
	uint64_t passed = now.ns - start.ns;

	if (passed < PROBE_NS) {
		gasnett_nsleep(PROBE_NS - passed);
		now = ticks_now_by_both();
	}
	return (struct moment){ now.ticks - start.ticks, now.ns - start.ns };
}

/* The processor's frequency as the kernel reports it, in Hz; 0 if it does not. */
static double
cpuinfo_hz(void)
{
	char line[TEXT_BYTES];
	double mhz = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && mhz == 0 && fgets(line, sizeof line, file)) {
		if (sscanf(line, "cpu MHz : %lf", &mhz) != 1)
			mhz = 0;
	}
	if (file)
		fclose(file);
	return mhz * 1e6;
}

static double
ticks_fraction_of(const char *name)
{
	double part = 0;

	psi_parse_fraction(psi_setting_text(psi_setting_named(name)), &part);
	return part;
}

/* The rate that was asked for, if it is near the measured one. */
static double
ticks_checked_hz(const char *text, double measured)
{
	double hz = 0, off;

	if (strcmp(text, "cpuinfo") == 0)
		hz = cpuinfo_hz();
	else
		psi_parse_double(text, &hz);
	off = hz > measured ? hz / measured - 1 : 1 - hz / measured;
	if (off > ticks_fraction_of("GASNET_TSC_RATE_HARD_TOLERANCE")) {
		if (psi_settings_warns())
			psi_log("GASNET_TSC_RATE=%s is %.0f Hz where the clock shows %.0f Hz; "
				"the latter is used", text, hz, measured);
		return measured;
	}
	if (off > ticks_fraction_of("GASNET_TSC_RATE_TOLERANCE") && psi_settings_warns())
		psi_log("GASNET_TSC_RATE=%s is %.0f Hz where the clock shows %.0f Hz", text, hz,
			measured);
	return hz;
}

static void __attribute__((cold))
ticks_measure(void)
{
	const char *text = psi_setting_text(psi_setting_named("GASNET_TSC_RATE"));
	struct moment passed;
	double hz;

	psi_ticks_read();
	if (psi_ticks_from == PSI_TICKS_CLOCK) {
		rate_hz = 1e9;
		rate = psi_tick_rate(rate_hz);
		return;
	}
	passed = ticks_elapsed();
	hz = (double)passed.ticks * 1e9 / (double)passed.ns;
	if (strcmp(text, "walltime") != 0)
		hz = ticks_checked_hz(text, hz);
	rate_hz = hz;
	rate = psi_tick_rate(hz);
	if (psi_setting_bool(psi_setting_named("GASNET_TSC_VERBOSE")))
		psi_log("the processor's counter runs at %.0f Hz", hz);
}

struct psi_tick_rate
psi_tick_rate(double hz)
{
	double ns = 1e9 / hz;
	uint64_t whole = (uint64_t)ns;

	return (struct psi_tick_rate){
		.ns = whole,
		.part = (uint64_t)((ns - (double)whole) * 0x1p63) * 2,
	};
}

/* High word of a product of two words. */
static uint64_t
multiply_high(uint64_t a, uint64_t b)
{
	uint64_t al = (uint32_t)a, ah = a >> RATE_SHIFT, bl = (uint32_t)b, bh = b >> RATE_SHIFT;
	uint64_t low = al * bl, mid1 = ah * bl + (low >> RATE_SHIFT);
	uint64_t mid2 = al * bh + (uint32_t)mid1;

	return ah * bh + (mid1 >> RATE_SHIFT) + (mid2 >> RATE_SHIFT);
}

uint64_t
psi_ticks_scale(const struct psi_tick_rate *by, uint64_t ticks)
{
	return ticks * by->ns + multiply_high(ticks, by->part);
}

double
psi_ticks_hz(void)
{
	pthread_once(&rate_once, ticks_measure);
	return rate_hz;
}

uint64_t
gasnett_ticks_to_ns(gasnett_tick_t ticks)
{
	pthread_once(&rate_once, ticks_measure);
	return psi_ticks_scale(&rate, ticks);
}

uint64_t
gasnett_ticks_to_us(gasnett_tick_t ticks)
{
	return gasnett_ticks_to_ns(ticks) / 1000;
}
