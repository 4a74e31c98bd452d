/*
 * Linux lets the thread run next that has the earliest deadline: its virtual time and a slice.  A
 * yield sets the virtual time to the deadline (since 6.18), so threads that yield all advance by a
 * slice in each of their turns.  A thread may choose its slice (since 6.12).  One yield with a
 * longer slice puts it behind others that were behind it.
 *
 * The thread has its old slice back behind that, and what it does not change stays, as far as
 * nobody else changes it in the microseconds between reading and writing.
 */
#include "runtime/wait/virtual_time.h"

#include "runtime/util/hostfile.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What /proc/thread-self/sched has as the weight of nice 0. */
enum { WEIGHT_OF_NICE_0 = 1 << 20 };

/* struct sched_attr of Linux, as far as it had come when slices came. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline_ns, period_ns;
	uint32_t util_min, util_max;
};

static bool
attributes_get(struct sched_attributes *out)
{
	return syscall(SYS_sched_getattr, 0, out, sizeof *out, 0) == 0 &&
	       out->policy == SCHED_OTHER && out->slice_ns > 0;
}

/* slice_ns 0: the kernel's own choice. */
static bool
slice_set(uint64_t slice_ns)
{
	struct sched_attributes attributes;

	if (!attributes_get(&attributes))
		return false;
	attributes.size = sizeof attributes;
	attributes.slice_ns = slice_ns;
	return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

/* Most slices are the kernel's choice, which a number would keep from changing. */
static bool
slice_restore(uint64_t slice_ns)
{
	struct sched_attributes attributes;

	return slice_set(0) && attributes_get(&attributes) &&
	       (attributes.slice_ns == slice_ns || slice_set(slice_ns));
}

/* The number behind a name and a colon.  Times are in ms and have six digits behind a point, which
 * is left out: that is ns. */
static bool
number_find(const char *text, const char *name, uint64_t *out)
{
	const char *at = strstr(text, name), *first;

	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return false;
	at += 1 + strspn(at + 1, " ");
	*out = 0;
	for (first = at; (*at >= '0' && *at <= '9') || *at == '.'; at++)
		if (*at != '.')
			*out = *out * 10 + (uint64_t)(*at - '0');
	return at > first;
}

enum psi_virtual
psi_virtual_time_read(struct psi_virtual_time *out)
{
	char text[8192];
	struct sched_attributes attributes;
	uint64_t weight;

	if (!attributes_get(&attributes))
		return PSI_VIRTUAL_NEVER;
	if (!psi_hostfile_read("", "/proc/thread-self/sched", text, sizeof text))
		return errno == ENOENT || errno == EACCES ? PSI_VIRTUAL_NEVER : PSI_VIRTUAL_LATER;
	/* it is below 0 for a moment where a group of threads is new */
	if (!number_find(text, "se.vruntime", &out->now) ||
	    !number_find(text, "se.load.weight", &weight) || !weight)
		return PSI_VIRTUAL_LATER;
	out->slice = attributes.slice_ns * WEIGHT_OF_NICE_0 / weight;
	return out->slice ? PSI_VIRTUAL_KNOWN : PSI_VIRTUAL_LATER;
}

bool
psi_virtual_time_yield(const struct psi_virtual_time *time, uint64_t more)
{
	struct sched_attributes attributes;

	if (!attributes_get(&attributes) ||
	    !slice_set(attributes.slice_ns + attributes.slice_ns * more / time->slice))
		return false;
	sched_yield();
	return slice_restore(attributes.slice_ns);
}
