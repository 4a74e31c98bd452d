/*
 * Segments of this process that peers reach by puts and gets of the provider's.  Their names are
 * what peers put in such an operation: key, and address of the first byte.
 */
#include "ofi-conduit/pofi.h"

#include <stdlib.h>

/* Peers put to it and get from it, and this process's own transfers use it too. */
static const uint64_t segment_access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;

static void
segment_enlist(struct psi_conduit *conduit, struct psi_registration *registration)
{
	registration->next = conduit->rma.segments;
	conduit->rma.segments = registration;
}

static void
segment_drop(struct psi_conduit *conduit, struct psi_registration *registration)
{
	struct psi_registration **link = &conduit->rma.segments;

	while (*link != registration)
		link = &(*link)->next;
	*link = registration->next;
}

/* Providers that count from the first byte leave FI_MR_VIRT_ADDR out. */
static struct psi_segment_name
segment_name(const struct psi_conduit *conduit, const struct psi_registration *registration)
{
	const bool virtual = conduit->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

	return (struct psi_segment_name){
		.key = fi_mr_key(registration->mr), .origin = virtual ? registration->base : 0,
	};
}

/* The endpoint is closed while a process ends; then nobody asks any more. */
int
pofi_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                  struct psi_segment_name *name_out, struct psi_registration **registration_out)
{
	struct psi_registration *made;
	int code;

	if (!conduit->rma.puts && !conduit->rma.gets)
		return PSI_UNSUPPORTED;
	made = malloc(sizeof *made);
	if (!made) {
		conduit->services->log("ofi: no memory to register a segment");
		return PSI_FAILED;
	}
	*made = (struct psi_registration){ .base = (uintptr_t)base, .len_bytes = len_bytes };
	psi_guard_lock(&conduit->guard);
	code = pofi_register(conduit, base, len_bytes, segment_access, &made->mr);
	if (!code)
		segment_enlist(conduit, made);
	psi_guard_unlock(&conduit->guard);
	if (code) {
		free(made);
		return PSI_FAILED;
	}
	*name_out = segment_name(conduit, made);
	*registration_out = made;
	return PSI_OK;
}

void
pofi_segment_release(struct psi_conduit *conduit, struct psi_registration *registration)
{
	psi_guard_lock(&conduit->guard);
	segment_drop(conduit, registration);
	if (!conduit->left)
		fi_close(&registration->mr->fid);
	psi_guard_unlock(&conduit->guard);
	free(registration);
}

bool
pofi_segment_desc(const struct psi_conduit *conduit, const void *base, size_t len_bytes,
                  void **desc_out)
{
	const struct psi_registration *at = conduit->rma.segments;

	for (; at; at = at->next)
		if (len_bytes <= at->len_bytes &&
		    (uintptr_t)base - at->base <= at->len_bytes - len_bytes) {
			*desc_out = fi_mr_desc(at->mr);
			return true;
		}
	return false;
}

void
pofi_segments_close(struct psi_conduit *conduit)
{
	while (conduit->rma.segments) {
		struct psi_registration *registration = conduit->rma.segments;

		conduit->rma.segments = registration->next;
		fi_close(&registration->mr->fid);
		free(registration);
	}
}
