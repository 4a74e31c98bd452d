#include "tests/unit/overlay_rig.h"

#include "runtime/util/clock.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

uint64_t
rig_ms(uint64_t ms)
{
	const char *slack = getenv("PT_SLACK");
	const double factor = slack ? atof(slack) : 1;

	return (uint64_t)((double)ms * (factor > 0 ? factor : 1)) * MS;
}

static void
nap(void)
{
	usleep(1000);
}

/* ------------------------------------------------------------------- a host --- */

void
rig_fail(const struct rig_host *host, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "host %u of %u: ", host->self, host->count);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

static void
host_poll(struct rig_host *host, uint64_t until_ns)
{
	struct pollfd polls[PBOOT_OVERLAY_POLLS];
	const unsigned count = pboot_overlay_fill(host->net, polls);
	uint64_t due = pboot_overlay_deadline(host->net), now = psi_now_ns();
	struct timespec left;

	due = due < until_ns ? due : until_ns;
	due = due > now ? due - now : 0;
	left.tv_sec = (time_t)(due / (1000 * MS));
	left.tv_nsec = (long)(due % (1000 * MS));
	if (ppoll(polls, count, &left, NULL) < 0 && errno != EINTR)
		rig_fail(host, "ppoll: %s", strerror(errno));
	pboot_overlay_step(host->net, psi_now_ns(), polls, count);
}

bool
rig_next(struct rig_host *host, struct pboot_overlay_event *event_out, uint64_t within_ns)
{
	const uint64_t until = psi_now_ns() + within_ns;

	while (!pboot_overlay_next(host->net, event_out)) {
		if (psi_now_ns() >= until)
			return false;
		host_poll(host, until);
	}
	return true;
}

struct pboot_overlay_event
rig_expect(struct rig_host *host, enum pboot_overlay_event_kind kind)
{
	struct pboot_overlay_event event;

	if (!rig_next(host, &event, rig_ms(20000)))
		rig_fail(host, "no event where one of kind %d was due", kind);
	if (event.kind != kind)
		rig_fail(host, "event of kind %d, not %d: host %u, %s", event.kind, kind,
		    event.host, event.why ? event.why : "");
	return event;
}

void
rig_idle_until(struct rig_host *host, uint32_t go)
{
	struct pboot_overlay_event event;

	while (atomic_load(&host->shared->go) < go)
		if (rig_next(host, &event, 5 * MS))
			rig_fail(host, "event of kind %d while idle: host %u, %s", event.kind,
			    event.host, event.why ? event.why : "");
}

void
rig_leave(struct rig_host *host)
{
	struct pboot_overlay_event event = { .kind = PBOOT_OVERLAY_ROOM };

	pboot_overlay_close(host->net);
	while (event.kind == PBOOT_OVERLAY_ROOM)
		if (!rig_next(host, &event, rig_ms(20000)))
			rig_fail(host, "close does not end");
	if (event.kind != PBOOT_OVERLAY_CLOSED)
		rig_fail(host, "event of kind %d while leaving: host %u, %s", event.kind,
		    event.host, event.why ? event.why : "");
}

static void
host_connect(struct rig_host *host, const struct rig *rig)
{
	struct pboot_overlay_host hosts[RIG_HOSTS_MAX];
	static char names[RIG_HOSTS_MAX][16];
	const uint64_t now = psi_now_ns();
	uint32_t i;

	for (i = 0; i < host->count; i++) {
		snprintf(names[i], sizeof names[i], "node%u", i);
		hosts[i] = (struct pboot_overlay_host){ host->shared->address[i], names[i] };
	}
	RIG_CHECK(host, pboot_overlay_connect(host->net, hosts, now, now + rig->connect_ns) ==
	    PBOOT_OVERLAY_OK);
}

static void
host_open(struct rig_host *host, const struct rig *rig)
{
	struct pboot_overlay_options options = {
		.self = host->self, .host_count = host->count, .secret = "fifteen letters",
		.version = host->self == rig->other_version ? "9.9.9" : "1.2.3",
		.iface = rig->iface, .handshake_ns = rig->handshake_ns,
		.period_ns = rig->limit_ns / 10, .limit_ns = rig->limit_ns,
	};
	char why[PBOOT_OVERLAY_WHY_BYTES];

	if (host->self == rig->other_secret)
		options.secret[3] ^= 1;
	host->net = pboot_overlay_open(&options, why);
	if (!host->net)
		rig_fail(host, "open: %s", why);
	strcpy(host->shared->address[host->self], pboot_overlay_address(host->net));
}

static void __attribute__((noreturn))
host_run(const struct rig *rig, uint32_t self)
{
	struct rig_host host = { .self = self, .count = rig->count, .shared = rig->shared };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	host_open(&host, rig);
	atomic_fetch_add(&rig->shared->listening, 1);
	while (atomic_load(&rig->shared->listening) < rig->count)
		nap();
	host_connect(&host, rig);
	rig->program(&host);
	pboot_overlay_free(host.net);
	exit(0);
}

/* ------------------------------------------------------------------- the test --- */

struct rig *
rig_open(uint32_t count, rig_program *program)
{
	struct rig *rig = calloc(1, sizeof *rig);

	ck_assert_ptr_nonnull(rig);
	ck_assert_uint_le(count, RIG_HOSTS_MAX);
	rig->shared = mmap(NULL, sizeof *rig->shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(rig->shared != MAP_FAILED);
	rig->count = rig->other_version = rig->other_secret = rig->absent = count;
	rig->program = program;
	rig->limit_ns = rig_ms(5000);
	rig->connect_ns = rig_ms(20000);
	rig->handshake_ns = rig_ms(2000);
	rig->iface = "127.0.0.0/8";
	return rig;
}

/* An absent host has an address at which nobody listens, or at which nobody accepts. */
static void
rig_make_absent(struct rig *rig)
{
	struct pboot_address bound = { .len_bytes = sizeof bound.name };
	char *address = rig->shared->address[rig->absent];
	int listener;

	strcpy(address, "127.0.0.1:1");
	if (rig->absent_listens) {
		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(listen(listener, 64), 0);
		ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&bound.name,
		    &bound.len_bytes), 0);
		snprintf(address, PBOOT_ADDRESS_BYTES, "127.0.0.1:%u",
		    ntohs(((struct sockaddr_in *)&bound.name)->sin_port));
	}
	atomic_fetch_add(&rig->shared->listening, 1);
}

void
rig_start(struct rig *rig)
{
	uint32_t i;

	fflush(stdout);
	for (i = 0; i < rig->count; i++) {
		if (i == rig->absent) {
			rig_make_absent(rig);
			continue;
		}
		rig->pid[i] = fork();
		ck_assert_int_ge(rig->pid[i], 0);
		if (rig->pid[i] == 0)
			host_run(rig, i);
	}
}

/* A host that has ended will not get any further. */
static bool
host_has_ended(struct rig *rig, uint32_t host)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)rig->pid[host], &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	    info.si_pid != 0;
}

void
rig_await_step(struct rig *rig, uint32_t step, uint32_t except)
{
	const uint64_t until = psi_now_ns() + rig_ms(20000);
	uint32_t i;

	for (i = 0; i < rig->count; i++)
		while (i != except && atomic_load(&rig->shared->step[i]) < step) {
			ck_assert_msg(!host_has_ended(rig, i), "host %u has ended", i);
			ck_assert_msg(psi_now_ns() < until, "host %u is not at step %u", i, step);
			nap();
		}
}

static void
host_finish(struct rig *rig, uint32_t host, uint64_t until_ns)
{
	int status;

	while (!host_has_ended(rig, host)) {
		ck_assert_msg(psi_now_ns() < until_ns, "host %u does not end", host);
		nap();
	}
	ck_assert_int_eq(waitpid(rig->pid[host], &status, 0), rig->pid[host]);
	rig->pid[host] = 0;
	ck_assert_msg(status == 0, "host %u ended with status 0x%x", host, status);
}

void
rig_finish(struct rig *rig, uint32_t except)
{
	const uint64_t until = psi_now_ns() + rig_ms(30000);
	uint32_t i;

	for (i = 0; i < rig->count; i++)
		if (i != except && rig->pid[i])
			host_finish(rig, i, until);
}

void
rig_close(struct rig *rig)
{
	uint32_t i;

	for (i = 0; i < rig->count; i++)
		if (rig->pid[i] > 0) {
			kill(rig->pid[i], SIGKILL);
			waitpid(rig->pid[i], NULL, 0);
		}
	munmap(rig->shared, sizeof *rig->shared);
	free(rig);
}

void
rig_run(struct rig *rig)
{
	rig_start(rig);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
