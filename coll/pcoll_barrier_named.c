/*
 * gasnet_barrier_*: the named barrier of the job, split in notify and wait.
 */
#include "coll/pcoll_barrier.h"

#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/wait/waiting.h"

/* State of the phase between notify and wait.  Only one thread at a time makes these calls. */
static struct {
	bool notified, nameless;
	uint64_t phase;
} named;

static void
notify_check_flags(int flags, const char *call)
{
	psi_check_flags((gex_Flags_t)flags,
	                GASNET_BARRIERFLAG_UNNAMED | GASNET_BARRIERFLAG_MISMATCH, call);
}

void
gasnet_barrier_notify(int id, int flags)
{
	struct pcoll_names names;

	psi_need_init("gasnet_barrier_notify");
	psi_rule_call("gasnet_barrier_notify");
	if (named.notified)
		psi_fatal("gasnet_barrier_notify: called twice; call gasnet_barrier_wait, or try "
		          "until it succeeds, between");
	notify_check_flags(flags, "gasnet_barrier_notify");
	names = (struct pcoll_names){
		.mismatch = flags & GASNET_BARRIERFLAG_MISMATCH,
		.named = !(flags & (GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_MISMATCH)),
		.id = id,
	};
	named.notified = true;
	named.nameless = flags & GASNET_BARRIERFLAG_ANONYMOUS;
	named.phase = pcoll_barrier_begin(pcoll_barrier_named(), names);
}

/* The result of wait, from its own arguments and from what all ranks notified. */
static int
notify_result(int id, int flags)
{
	const struct pcoll_names all = pcoll_barrier_result(pcoll_barrier_named());

	named.notified = false;
	if (all.mismatch || (flags & GASNET_BARRIERFLAG_MISMATCH))
		return GASNET_ERR_BARRIER_MISMATCH;
	if (flags & GASNET_BARRIERFLAG_ANONYMOUS || !all.named)
		return GASNET_OK;
	return all.id == id ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH;
}

static void
notify_check_called(int flags, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	notify_check_flags(flags, call);
	if (!named.notified)
		psi_fatal("%s: called without gasnet_barrier_notify before it; notify first", call);
}

/* `call' is what the client called, for reports. */
static int
notify_wait(int id, int flags, const char *call)
{
	const struct psi_reason reason = { .kind = PSI_FOR_BARRIER_NAMED,
		                           .category = named.nameless, .number = named.phase,
		                           .ep = psi.ep };
	struct psi_wait wait = PSI_WAIT_FOR_ALL(call, &reason);

	notify_check_called(flags, "gasnet_barrier_wait");
	while (!pcoll_barrier_is_over(pcoll_barrier_named(), named.phase))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
	return notify_result(id, flags);
}

int
gasnet_barrier_wait(int id, int flags)
{
	return notify_wait(id, flags, "gasnet_barrier_wait");
}

int
gasnet_barrier_try(int id, int flags)
{
	notify_check_called(flags, "gasnet_barrier_try");
	if (!pcoll_barrier_is_over(pcoll_barrier_named(), named.phase))
		gasnet_AMPoll();
	if (!pcoll_barrier_is_over(pcoll_barrier_named(), named.phase))
		return GASNET_ERR_NOT_READY;
	return notify_result(id, flags);
}

int
gasnet_barrier(int id, int flags)
{
	gasnet_barrier_notify(id, flags);
	return notify_wait(id, flags, "gasnet_barrier");
}

int
gasnet_barrier_result(int *id)
{
	const struct pcoll_names all = pcoll_barrier_result(pcoll_barrier_named());

	psi_rule_context("gasnet_barrier_result");
	if (!all.named)
		return 1;
	*id = all.id;
	return 0;
}
