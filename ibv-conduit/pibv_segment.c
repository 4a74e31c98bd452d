/*
 * Segments of this process that peers reach by RDMA.  Their names are what peers put in a work
 * request: the remote key, and the address of the first byte.  The name has room for the keys of
 * two devices.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>

enum {
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
};

/* Atomic operations go by the first device.  One that has none refuses memory that asks for
 * them. */
static unsigned
access_of(const struct psi_conduit *conduit, unsigned device)
{
	return ACCESS | (device == 0 && pibv_has_atomics(conduit) ? IBV_ACCESS_REMOTE_ATOMIC : 0);
}

/* -- registrations ----------------------------------------------------------------------------- */

static void
registration_free(struct psi_registration *registration)
{
	for (unsigned device = 0; device < PIBV_DEVICES; device++)
		if (registration->mrs[device])
			ibv_dereg_mr(registration->mrs[device]);
	free(registration);
}

/* With each device; NULL after one line. */
static struct psi_registration *
registration_make(struct psi_conduit *conduit, void *base, size_t len_bytes)
{
	struct psi_registration *made = calloc(1, sizeof *made);

	if (!made) {
		conduit->services->log("ibv: no memory to register a segment");
		return NULL;
	}
	for (unsigned device = 0; device < conduit->device_count; device++) {
		made->mrs[device] = pibv_register(conduit, device, base, len_bytes,
		                                  access_of(conduit, device));
		if (!made->mrs[device]) {
			registration_free(made);
			return NULL;
		}
	}
	return made;
}

static uint64_t
keys_of(const struct psi_registration *registration)
{
	uint64_t keys = registration->mrs[0]->rkey;

	if (registration->mrs[1])
		keys |= (uint64_t)registration->mrs[1]->rkey << 32;
	return keys;
}

/* ---------------------------------------------------------------------------------------------- */

int
pibv_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                  struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	struct psi_registration *made = registration_make(conduit, base, len_bytes);

	if (!made)
		return PSI_FAILED;
	psi_guard_lock(&conduit->guard);
	made->next = conduit->segments;
	conduit->segments = made;
	psi_guard_unlock(&conduit->guard);
	*name_out = (struct psi_segment_name){ .key = keys_of(made), .origin = (uintptr_t)base };
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
	registration_free(registration);
}

bool
pibv_segment_key(const struct psi_conduit *conduit, unsigned device, const void *base,
                 size_t len_bytes, uint32_t *key_out)
{
	for (const struct psi_registration *at = conduit->segments; at; at = at->next) {
		const struct ibv_mr *mr = at->mrs[device];

		if (len_bytes <= mr->length &&
		    (uintptr_t)base - (uintptr_t)mr->addr <= mr->length - len_bytes) {
			*key_out = mr->lkey;
			return true;
		}
	}
	return false;
}

void
pibv_segments_close(struct psi_conduit *conduit)
{
	while (conduit->segments) {
		struct psi_registration *registration = conduit->segments;

		conduit->segments = registration->next;
		registration_free(registration);
	}
}
