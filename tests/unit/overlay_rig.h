/*
 * A job of keepers on the loopback interface: each host is a process with a loop of its own.  A
 * host that finds something wrong prints it and ends with status 1, which the test sees.
 */
#ifndef OVERLAY_RIG_H
#define OVERLAY_RIG_H

#include "bootstrap/overlay/pboot_overlay.h"

#include <stdatomic.h>
#include <sys/types.h>

enum { RIG_HOSTS_MAX = 32 };

/* In memory that all processes of the test share. */
struct rig_shared {
	_Atomic uint32_t listening;
	char address[RIG_HOSTS_MAX][PBOOT_ADDRESS_BYTES];
	_Atomic uint32_t step[RIG_HOSTS_MAX];	/* how far a host is, as it says itself */
	_Atomic uint32_t go;			/* how far the test lets them go */
};

struct rig_host {
	uint32_t self, count;
	struct rig_shared *shared;
	struct pboot_overlay *net;
};

typedef void rig_program(struct rig_host *host);

struct rig {
	uint32_t count;
	rig_program *program;
	struct rig_shared *shared;
	pid_t pid[RIG_HOSTS_MAX];
	/* Set between rig_open and rig_start. */
	uint64_t limit_ns;		/* of silence; the period is a tenth of it */
	uint64_t connect_ns;		/* limit for connect */
	uint64_t handshake_ns;		/* limit for a handshake */
	const char *iface;
	uint32_t other_version;		/* the host that has another one; count: none */
	uint32_t other_secret;
	uint32_t absent;		/* never started */
	bool absent_listens;		/* its address takes connections, and nobody answers */
};

/* Of PT_SLACK: times are multiplied by it. */
uint64_t rig_ms(uint64_t ms);

struct rig *rig_open(uint32_t count, rig_program *program);
void rig_start(struct rig *rig);
/* Waits until every host but `except' has said that it is that far. */
void rig_await_step(struct rig *rig, uint32_t step, uint32_t except);
/* Waits for the end of every host but `except', and asserts that their status is 0. */
void rig_finish(struct rig *rig, uint32_t except);
/* Kills what is left. */
void rig_close(struct rig *rig);

/* rig_start, rig_finish of all hosts, rig_close. */
void rig_run(struct rig *rig);

/* In a host.  rig_fail prints and ends the process. */
void rig_fail(const struct rig_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
#define RIG_CHECK(host, condition)                                                             \
	do {                                                                                   \
		if (!(condition))                                                              \
			rig_fail(host, "%s:%d: %s", __FILE__, __LINE__, #condition);           \
	} while (0)
/* The next event; waits at most that long: false. */
bool rig_next(struct rig_host *host, struct pboot_overlay_event *event_out, uint64_t within_ns);
/* The next event, which must be of that kind. */
struct pboot_overlay_event rig_expect(struct rig_host *host, enum pboot_overlay_event_kind kind);
/* Runs the loop until the test lets go of a step; no event may come. */
void rig_idle_until(struct rig_host *host, uint32_t go);
/* close, and the loop until CLOSED. */
void rig_leave(struct rig_host *host);

#endif
