/*
 * No call waits for a futex and a descriptor, so a process sleeps on two descriptors: the
 * network's, and its own (service wake_fd), to which smp's wake-ups write.  Where the network has
 * none, the process naps on smp's word and looks at the network every NAP_NS.
 *
 * D6  watch.  One thread of a process at a time sleeps on the descriptors, the *watcher*; the
 * others sleep on smp's words.  The watcher that wakes wakes them all: each looks again, and one
 * becomes the watcher.  A thread sets bit 0 of a wake word (arm, with its fence) and then looks at
 * `watched'; the watcher clears `watched' and then looks at the wake words (wake, which begins with
 * a fence: D4 of sysvnet_sleep.c).  So at least one of the two sees the other.
 *
 * The watcher alone empties its process's descriptor, before it clears `watched' (D6_DRAIN).  What
 * wakes the next watcher is written after that one has said that it sleeps (fd_sleep_begin), which
 * it says after it has become the watcher (D6_WATCH); so nobody takes that away.  And the watcher
 * says that it sleeps no longer (fd_sleep_end) before it wakes the others, or it would write to the
 * descriptor itself, and wake the next watcher for nothing.  The model is tests/model/watch.pml.
 */
#include "runtime/conduit/watch.h"

#include "runtime/util/clock.h"

#include <poll.h>
#include <unistd.h>

enum {
	NAP_NS = 1000000,
	/* Where other processes wake this one: one of them may have no descriptor of it. */
	LOOK_NS = 100000000,
};

static uint32_t
job_places_near(const struct psi_conduit_job *job)
{
	uint32_t near = 0;

	for (uint32_t place = 0; place < job->places; place++)
		near += job->local[place];
	return near;
}

void
psi_watch_init(struct psi_watch *watch, const struct psi_services *services,
               const struct psi_conduit_job *job, const struct psi_conduit_ops *local,
               const struct psi_conduit_ops *network)
{
	const bool near = job_places_near(job) > 1;

	*watch = (struct psi_watch){
		.services = services,
		.local = local,
		.network = network,
		.counts = job->counts,
		.threaded = job->threaded,
		.waits_on_network = network->wait_on && local->fd_sleep_begin,
		.wake_fd = -1,
		.limit_ns = near ? LOOK_NS : 0,
	};
	if (watch->waits_on_network && (near || job->threaded)) {
		watch->wake_fd = services->wake_fd();
		watch->waits_on_network = watch->wake_fd >= 0;
	}
}

/* Devices are asked for theirs directly before the sleep, too: they are readable while there is
 * work. */
static void
fds_await(struct psi_watch *watch, struct psi_port *port, int network_fd, uint64_t timeout_ns)
{
	struct pollfd fds[2 + PSI_DEVICE_FDS] = { { .fd = network_fd, .events = POLLIN },
	                                          { .fd = watch->wake_fd, .events = POLLIN } };
	int device_fds[PSI_DEVICE_FDS];
	uint64_t most_ns = 0, taken;
	const unsigned devices = watch->services->device_fds(device_fds, &most_ns);
	struct timespec timeout;

	for (unsigned i = 0; i < devices; i++)
		fds[2 + i] = (struct pollfd){ .fd = device_fds[i], .events = POLLIN };
	timeout_ns = psi_limit_shorter(timeout_ns, most_ns);
	timeout = (struct timespec){ (time_t)(timeout_ns / 1000000000),
		                     (long)(timeout_ns % 1000000000) };
	psi_count(watch->counts ? watch->counts : watch->services->counts(), PSI_COUNT_SLEEPS);
	(void)ppoll(fds, 2 + devices, timeout_ns ? &timeout : NULL, NULL);
	watch->local->fd_sleep_end(port);
	/* D6_DRAIN: before psi_watch_sleep clears `watched'; D6_WRITE in wake_word fills it */
	if (fds[1].revents && read(watch->wake_fd, &taken, sizeof taken) < 0)
		return;         /* nothing was there */
}

/* The network is asked for its descriptor directly before the sleep. */
static void
port_watch(struct psi_watch *watch, struct psi_conduit *network, struct psi_port *port,
           uint32_t ticket, uint64_t timeout_ns)
{
	uint64_t most_ns = 0;
	int fd, result = watch->network->wait_on(network, &fd, &most_ns);

	if (result == PSI_UNSUPPORTED)
		watch->local->sleep(port, ticket, psi_limit_shorter(timeout_ns, NAP_NS));
	else if (result == PSI_OK && watch->local->fd_sleep_begin(port, ticket) == PSI_OK)
		fds_await(watch, port, fd,
		          psi_limit_shorter(timeout_ns,
		                            psi_limit_shorter(watch->limit_ns, most_ns)));
}

/* A thread becomes the watcher (D6_WATCH), sleeps, empties the descriptor (D6_DRAIN), and ends its
 * watch. */
void
psi_watch_sleep(struct psi_watch *watch, struct psi_conduit *network, struct psi_port *local,
                uint32_t ticket, uint64_t timeout_ns)
{
	if (!watch->waits_on_network) {
		watch->local->sleep(local, ticket, psi_limit_shorter(timeout_ns, NAP_NS));
	} else if (!watch->threaded) {
		port_watch(watch, network, local, ticket, timeout_ns);
	} else if (atomic_exchange_explicit(
		           &watch->watched, true,
		           memory_order_acquire)) { /* D6_WATCH: acquire, before fd_sleep_begin */
		watch->local->sleep(local, ticket, timeout_ns);
	} else {
		port_watch(watch, network, local, ticket, timeout_ns);
		atomic_store_explicit(&watch->watched, false, memory_order_relaxed);
		watch->local->wake(local);
	}
}
