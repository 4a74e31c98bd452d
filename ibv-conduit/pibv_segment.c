/*
 * Segments of this process that peers reach by RDMA.  Their names are what peers put in a work
 * request: the remote key, and the address of the first byte.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>

enum {
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
};

/* A device without atomic operations refuses memory that asks for them. */
static unsigned
access_of(const struct psi_conduit *conduit)
{
	return ACCESS | (pibv_has_atomics(conduit) ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

int
pibv_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                  struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	struct psi_registration *made = calloc(1, sizeof *made);

	if (!made) {
		conduit->services->log("ibv: no memory to register a segment");
		return PSI_FAILED;
	}
	made->mr = pibv_register(conduit, base, len_bytes, access_of(conduit));
	if (!made->mr) {
		free(made);
		return PSI_FAILED;
	}
	psi_guard_lock(&conduit->guard);
	made->next = conduit->segments;
	conduit->segments = made;
	psi_guard_unlock(&conduit->guard);
	*name_out = (struct psi_segment_name){ .key = made->mr->rkey, .origin = (uintptr_t)base };
	*registration_out = made;
	return PSI_OK;
}

void
pibv_segment_release(struct psi_conduit *conduit, struct psi_registration *registration)
{
	struct psi_registration **link = &conduit->segments;

	psi_guard_lock(&conduit->guard);
	while (*link != registration)
		link = &(*link)->next;
	*link = registration->next;
	psi_guard_unlock(&conduit->guard);
	ibv_dereg_mr(registration->mr);
	free(registration);
}

bool
pibv_segment_key(const struct psi_conduit *conduit, const void *base, size_t len_bytes,
                 uint32_t *key_out)
{
	const struct psi_registration *at = conduit->segments;

	for (; at; at = at->next)
		if (len_bytes <= at->mr->length &&
		    (uintptr_t)base - (uintptr_t)at->mr->addr <= at->mr->length - len_bytes) {
			*key_out = at->mr->lkey;
			return true;
		}
	return false;
}

void
pibv_segments_close(struct psi_conduit *conduit)
{
	while (conduit->segments) {
		struct psi_registration *registration = conduit->segments;

		conduit->segments = registration->next;
		ibv_dereg_mr(registration->mr);
		free(registration);
	}
}
