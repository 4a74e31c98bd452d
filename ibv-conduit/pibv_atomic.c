/*
 * Atomic operations of the device, on words of 64 bits.  The old value comes into a send buffer,
 * since the device asks for registered memory, whether the caller wants it or not.
 */
#include "ibv-conduit/pibv.h"

/* A device whose operations are not even atomic with each other's, of other processes, has none. */
bool
pibv_has_atomics(const struct psi_conduit *conduit)
{
	return conduit->devices[0].limits.atomic_cap != IBV_ATOMIC_NONE;
}

/* Atomic operations go by the first rail.  A device that has none refuses memory that asks for
 * them. */
unsigned
pibv_access_of(const struct psi_conduit *conduit, bool is_first)
{
	const unsigned access =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	return is_first && pibv_has_atomics(conduit) ? access | IBV_ACCESS_REMOTE_ATOMIC : access;
}

static int
atomic_try(struct psi_conduit *conduit, const struct psi_device_atomic *operation)
{
	const struct psi_remote *remote = &operation->remote;
	struct pibv_connection *connection =
		pibv_connection_of(conduit, pibv_process_of(conduit, remote->peer));
	struct ibv_sge sge = { .length = sizeof *operation->result,
	                       .lkey = conduit->buffers.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = operation->is_swap ? IBV_WR_ATOMIC_CMP_AND_SWP
		                             : IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.compare_add = operation->is_swap ? operation->compare : operation->add,
			.swap = operation->swap,
		},
	};
	struct pibv_work work = {
		.what = PIBV_ALL, .cookie = operation->cookie, .copy_to = operation->result,
		.copy_bytes = sizeof *operation->result,
	};
	const struct pibv_work *const works = &work;
	size_t len_bytes = sizeof *operation->result;

	if (conduit->lost)
		return PSI_FATAL;
	if (!connection || connection->first || !pibv_work_fits(conduit, connection, 1) ||
	    !pibv_remote_find(conduit, connection, remote, &len_bytes,
	                      &wr.wr.atomic.remote_addr, &wr.wr.atomic.rkey) ||
	    !(work.buffer = pibv_buffer_take(conduit, connection)))
		return PSI_AGAIN;
	sge.addr = (uintptr_t)work.buffer->bytes;
	(void)pibv_work_post(conduit, connection, &wr, &works);
	return PSI_OK;          /* where the peer is lost it never completes, and the job ends */
}

int
pibv_device_atomic(struct psi_port *port, const struct psi_device_atomic *operation)
{
	struct psi_conduit *conduit = port->conduit;
	int result;

	if (operation->remote.name.key == PSI_NO_KEY)
		return PSI_UNSUPPORTED;
	psi_guard_lock(&conduit->guard);
	result = atomic_try(conduit, operation);
	psi_guard_unlock(&conduit->guard);
	if (result == PSI_AGAIN)
		pibv_count(conduit, PSI_COUNT_REFUSED);
	return result;
}
