/*
 * Segments of this process that peers reach by RDMA.  Their names are what peers put in a work
 * request: the remote key, and the address of the first byte.  The name has room for the keys of
 * two devices.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>

/* -- registrations ----------------------------------------------------------------------------- */

static uint32_t
mrs_of(const struct psi_conduit *conduit, const struct psi_registration *registration)
{
	return registration->parts > 1 ? registration->parts : conduit->device_count;
}

static void
registration_undo(struct psi_conduit *conduit, struct psi_registration *registration)
{
	for (uint32_t i = 0; registration->mrs && i < mrs_of(conduit, registration); i++)
		if (registration->mrs[i])
			ibv_dereg_mr(registration->mrs[i]);
	if (registration->table_mr)
		ibv_dereg_mr(registration->table_mr);
	free(registration->mrs);
	registration->mrs = NULL;
	registration->table_mr = NULL;
}

static void
registration_free(struct psi_conduit *conduit, struct psi_registration *registration)
{
	registration_undo(conduit, registration);
	free(registration->table);
	free(registration);
}

static void
registrations_free(struct psi_conduit *conduit, struct psi_registration *first)
{
	while (first) {
		struct psi_registration *registration = first;

		first = registration->next;
		registration_free(conduit, registration);
	}
}

/* False after one line. */
static bool
registration_fill(struct psi_conduit *conduit, struct psi_registration *made)
{
	const uint32_t count = mrs_of(conduit, made);

	for (uint32_t i = 0; i < count; i++) {
		const unsigned device = made->parts > 1 ? 0 : i;
		const size_t at = made->parts > 1 ? i * made->part_bytes : 0;
		const size_t left = made->len_bytes - at;

		made->mrs[i] = pibv_register(conduit, device, made->base + at,
		                             left < made->part_bytes ? left : made->part_bytes,
		                             pibv_access_of(conduit, device == 0));
		if (!made->mrs[i])
			return false;
	}
	return true;
}

/* Registers it with each device, or in parts with the first; NULL after one line. */
static struct psi_registration *
registration_make(struct psi_conduit *conduit, void *base, size_t len_bytes)
{
	struct psi_registration *made = calloc(1, sizeof *made);

	if (made) {
		made->base = base;
		made->len_bytes = len_bytes;
		made->part_bytes = conduit->part_bytes;
		made->parts = (uint32_t)pibv_parts_of(conduit, len_bytes);
		made->mrs = calloc(mrs_of(conduit, made), sizeof *made->mrs);
	}
	if (!made || !made->mrs) {
		conduit->services->log("ibv: no memory to register a segment");
		free(made);
		return NULL;
	}
	if (registration_fill(conduit, made))
		return made;
	registration_free(conduit, made);
	return NULL;
}

static struct psi_segment_name
name_of(const struct psi_conduit *conduit, const struct psi_registration *registration)
{
	uint64_t keys = registration->mrs[0]->rkey;

	if (conduit->device_count > 1)
		keys |= (uint64_t)registration->mrs[1]->rkey << 32;
	return (struct psi_segment_name){ .key = keys, .origin = (uintptr_t)registration->base };
}

/* ---------------------------------------------------------------------------------------------- */

int
pibv_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                  struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	struct psi_registration *made = NULL;
	struct psi_segment_name name;

	if (pibv_parts_fit(conduit, len_bytes))
		made = registration_make(conduit, base, len_bytes);
	if (!made)
		return PSI_FAILED;
	if (made->parts == 1) {
		name = name_of(conduit, made);
	} else if (!pibv_parts_publish(conduit, made, &name)) {
		registration_free(conduit, made);
		return PSI_FAILED;
	}
	psi_guard_lock(&conduit->guard);
	made->next = conduit->segments;
	conduit->segments = made;
	psi_guard_unlock(&conduit->guard);
	*name_out = name;
	*registration_out = made;
	return PSI_OK;
}

/* A table stays: peers remember it by its address, so no later one may have that. */
void
pibv_segment_release(struct psi_conduit *conduit, struct psi_registration *registration)
{
	struct psi_registration **link = &conduit->segments;
	const bool has_table = registration->table;

	psi_guard_lock(&conduit->guard);
	while (*link != registration)
		link = &(*link)->next;
	*link = registration->next;
	if (has_table) {
		registration->next = conduit->released;
		conduit->released = registration;
	}
	psi_guard_unlock(&conduit->guard);
	if (has_table)
		registration_undo(conduit, registration);
	else
		registration_free(conduit, registration);
}

/* What lies in a segment of several parts has a key for each, with the first device alone. */
static bool
key_in(const struct psi_registration *registration, unsigned device, size_t at, size_t *len_io,
       uint32_t *key_out)
{
	const size_t part = at / registration->part_bytes;
	const size_t left = (part + 1) * registration->part_bytes - at;

	if (registration->parts == 1) {
		*key_out = registration->mrs[device]->lkey;
		return true;
	}
	if (device)
		return false;
	if (*len_io > left)
		*len_io = left;
	*key_out = registration->mrs[part]->lkey;
	return true;
}

bool
pibv_segment_key(const struct psi_conduit *conduit, unsigned device, const void *base,
                 size_t *len_io, uint32_t *key_out)
{
	for (const struct psi_registration *at = conduit->segments; at; at = at->next) {
		const uintptr_t offset = (uintptr_t)base - (uintptr_t)at->base;

		if (*len_io <= at->len_bytes && offset <= at->len_bytes - *len_io)
			return key_in(at, device, offset, len_io, key_out);
	}
	return false;
}

void
pibv_segments_close(struct psi_conduit *conduit)
{
	registrations_free(conduit, conduit->segments);
	registrations_free(conduit, conduit->released);
	conduit->segments = conduit->released = NULL;
}
