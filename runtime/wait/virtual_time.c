/*
 * Linux lets the thread run next that has the earliest deadline: its virtual time and a slice.  A
 * yield sets the virtual time to the deadline (since 6.18), so threads that yield all advance by a
 * slice in each of their turns.  A thread may choose its slice (since 6.12).  One yield with a
 * longer slice puts it behind others that were behind it.
 */
#include "runtime/wait/virtual_time.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What /proc/thread-self/sched has as the weight of nice 0. */
enum { WEIGHT_OF_NICE_0 = 1 << 20 };

/* struct sched_attr of Linux, as far as it had come when slices came. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline_ns, period_ns;
	uint32_t util_min, util_max;
};

static bool
attributes_get(struct attributes *out)
{
	return syscall(SYS_sched_getattr, 0, out, sizeof *out, 0) == 0 &&
	       out->policy == SCHED_OTHER && out->slice_ns > 0;
}

static bool
slice_set(struct attributes attributes, uint64_t slice_ns)
{
	attributes.size = sizeof attributes;
	attributes.slice_ns = slice_ns;
	return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
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

bool
psi_virtual_time_read(struct psi_virtual_time *out)
{
	char text[2048];
	struct attributes attributes;
	uint64_t weight;
	ssize_t len;
	int file;

	if (!attributes_get(&attributes))
		return false;
	file = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	len = read(file, text, sizeof text - 1);
	(void)close(file);
	text[len > 0 ? len : 0] = '\0';
	if (!number_find(text, "se.vruntime", &out->now) ||
	    !number_find(text, "se.load.weight", &weight) || !weight)
		return false;
	out->slice = attributes.slice_ns * WEIGHT_OF_NICE_0 / weight;
	return out->slice > 0;
}

bool
psi_virtual_time_yield(const struct psi_virtual_time *time, uint64_t more)
{
	struct attributes attributes;

	if (!attributes_get(&attributes) ||
	    !slice_set(attributes, attributes.slice_ns + attributes.slice_ns * more / time->slice))
		return false;
	sched_yield();
	return slice_set(attributes, attributes.slice_ns);
}
