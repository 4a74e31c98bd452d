#include "tests/unit/ofi_rig.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CARD_BYTES = 4096, SETTINGS = 4, DEADLINE_S = 40 };

struct ofi_rank ofi_self;
char ofi_said[OFI_SAID_BYTES];
_Atomic uint64_t *ofi_words;

static struct shared {
	_Atomic uint64_t words[OFI_MAX_PLACES];
	_Atomic uint32_t arrived;       /* counts all meetings */
	char cards[OFI_MAX_PLACES][CARD_BYTES];
} *shared;

static uint32_t meetings;
static struct { const char *name, *value; } settings[SETTINGS];

/* -- services ---------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ofi_said, sizeof ofi_said, format, args);
	va_end(args);
}

static const char *
setting_of(const char *name)
{
	for (unsigned i = 0; i < SETTINGS; i++)
		if (settings[i].name && strcmp(settings[i].name, name) == 0)
			return settings[i].value;
	return NULL;
}

void
ofi_set(const char *name, const char *value)
{
	unsigned i = 0;

	while (settings[i].name && strcmp(settings[i].name, name) != 0)
		i++;
	settings[i].name = name;
	settings[i].value = value;
}

static void
exchange(const void *mine, size_t len_bytes, void *all_out)
{
	ck_assert_uint_le(len_bytes, CARD_BYTES);
	memcpy(shared->cards[ofi_self.place], mine, len_bytes);
	ofi_meet_idle();
	for (uint32_t place = 0; place < ofi_self.places; place++)
		memcpy((char *)all_out + place * len_bytes, shared->cards[place], len_bytes);
	ofi_meet_idle();
}

static void
deliver(void *owner, const struct psi_arrival *arrival)
{
	ofi_self.deliver(*(struct psi_port **)owner, arrival);
}

static void
completed(uint64_t cookie)
{
	ofi_self.completed(cookie);
}

static bool
signal_arrived(uint64_t packed)
{
	return ofi_self.signal_arrived(packed);
}

/* The runtime would end the job. */
static void
unreachable(uint32_t place, const char *why)
{
	ofi_self.lost = place;
	say("%s", why);
}

static void
look_again(void)
{
	atomic_fetch_add_explicit(&ofi_self.looks_again, 1, memory_order_relaxed);
}

static uint32_t
job_processes(void)
{
	return ofi_self.places;
}

static const char *
host_name(uint32_t process)
{
	(void)process;
	return "here";
}

static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI, .size_bytes = sizeof(struct psi_services),
	.log = say, .setting = setting_of, .deliver = deliver, .exchange = exchange,
	.host_name = host_name,
	.unreachable = unreachable, .completed = completed, .signal_arrived = signal_arrived,
	.look_again = look_again, .job_processes = job_processes,
};

/* -- opening ----------------------------------------------------------------------------------- */

static struct psi_port *ports[OFI_MAX_PORTS];

int
ofi_open(bool threaded)
{
	static const uint32_t host_index[OFI_MAX_PLACES] = { 0, 1, 2, 3 };
	static const uint8_t local[OFI_MAX_PLACES] = { 1, 1, 1, 1 };
	const struct psi_conduit_job job = {
		.place = ofi_self.place, .places = ofi_self.places,
		.host_places = ofi_self.several_hosts ? 1 : ofi_self.places,
		.host_index = host_index, .local = local,
		.threaded = threaded, .crowded = true, .counts = ofi_self.count,
	};
	const int result = pofi_ops.open(&services, &job, &ofi_self.attributes, &ofi_self.conduit);

	if (result == PSI_OK)
		ofi_self.port = ofi_port(0);
	return result;
}

struct psi_port *
ofi_port(unsigned index)
{
	const uint32_t place = index * ofi_self.places + ofi_self.place;

	ck_assert_int_eq(pofi_ops.port_open(ofi_self.conduit, place, false, &ports[index],
	                                    &ports[index]), PSI_OK);
	return ports[index];
}

int
ofi_connect(void)
{
	return pofi_ops.connect(ofi_self.conduit);
}

bool
ofi_has_provider(const char *name)
{
	struct fi_info *hints = fi_allocinfo(), *found = NULL;
	bool there;

	hints->fabric_attr->prov_name = strdup(name);
	hints->ep_attr->type = FI_EP_RDM;
	there = fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &found) == 0;
	fi_freeinfo(found);
	fi_freeinfo(hints);
	return there;
}

/* -- talking ----------------------------------------------------------------------------------- */

void
ofi_turn(struct psi_port *port, unsigned networks)
{
	if (!pofi_ops.poll(port, networks, 8))
		sched_yield();
}

static uint32_t
arrive(void)
{
	atomic_fetch_add(&shared->arrived, 1);
	return ++meetings * ofi_self.places;
}

void
ofi_meet(void)
{
	const uint32_t all = arrive();

	OFI_UNTIL(atomic_load(&shared->arrived) >= all);
}

void
ofi_meet_idle(void)
{
	const uint32_t all = arrive();

	while (atomic_load(&shared->arrived) < all)
		sched_yield();
}

void
ofi_send(struct psi_port *port, const struct psi_am *am, unsigned networks)
{
	int result;

	while ((result = pofi_ops.am_send(port, am)) == PSI_AGAIN)
		ofi_turn(port, networks);
	ck_assert_int_eq(result, PSI_OK);
}

void
ofi_fill(unsigned char *bytes, size_t len_bytes, uint32_t seed)
{
	for (size_t i = 0; i < len_bytes; i++)
		bytes[i] = (unsigned char)(seed * 31 + i + (i >> 8));
}

bool
ofi_is_filled(const unsigned char *bytes, size_t len_bytes, uint32_t seed)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (bytes[i] != (unsigned char)(seed * 31 + i + (i >> 8)))
			return false;
	return true;
}

/* -- processes --------------------------------------------------------------------------------- */

static void
rank_run(uint32_t place, uint32_t places, bool threaded, bool connected, ofi_body *body)
{
	ofi_self.place = place;
	ofi_self.places = places;
	ofi_self.lost = PSI_NO_PEER;
	if (connected) {
		ck_assert_msg(ofi_open(threaded) == PSI_OK, "%s", ofi_said);
		ck_assert_msg(ofi_connect() == PSI_OK, "%s", ofi_said);
		ofi_meet_idle();
	}
	body();
	_exit(0);
}

static pid_t
rank_fork(uint32_t place, uint32_t places, bool threaded, bool connected, ofi_body *body)
{
	const pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rank_run(place, places, threaded, connected, body);
	}
	return pid;
}

/* Waits for all; the first that fails ends the others. */
static bool
ranks_end(const pid_t *pids, uint32_t places)
{
	const char *slack = getenv("PT_SLACK");
	const uint64_t deadline_s = DEADLINE_S * (slack ? strtoul(slack, NULL, 10) : 1);
	const uint64_t until_ns = psi_now_ns() + deadline_s * 1000000000;
	bool good = true;

	for (uint32_t left = places; left;) {
		int status;
		const pid_t pid = waitpid(0, &status, WNOHANG);

		if (pid > 0) {
			left--;
			good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
		} else {
			usleep(1000);
		}
		if (good && psi_now_ns() < until_ns)
			continue;
		good = false;
		for (uint32_t place = 0; place < places; place++)
			kill(pids[place], SIGKILL);
	}
	return good;
}

void
ofi_run(uint32_t places, bool threaded, bool connected, ofi_body *body)
{
	pid_t pids[OFI_MAX_PLACES];

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	ofi_words = shared->words;
	meetings = 0;
	for (uint32_t place = 0; place < places; place++)
		pids[place] = rank_fork(place, places, threaded, connected, body);
	ck_assert_msg(ranks_end(pids, places), "a process failed, or they took too long");
	munmap(shared, sizeof *shared);
}
