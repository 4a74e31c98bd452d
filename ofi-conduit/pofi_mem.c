/*
 * Buffers: those in which messages arrive, and those from which they are sent; and registration of
 * memory, for providers that ask for it (FI_MR_LOCAL).
 */
#include "ofi-conduit/pofi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

/* -- registration ------------------------------------------------------------------------------ */

enum { KEY_TRIES = 16 };

/* Strangers do not guess it, as far as its size allows.  It is not PSI_NO_KEY.  Where there are no
 * random numbers, connecting fails. */
static uint64_t
key_choose(const struct psi_conduit *conduit)
{
	const size_t key_bytes = conduit->info->domain_attr->mr_key_size;
	uint64_t key = 0;

	if (conduit->info->domain_attr->mr_mode & FI_MR_PROV_KEY ||
	    getrandom(&key, sizeof key, 0) != sizeof key)
		return 0;
	if (key_bytes < sizeof key)
		key &= ((uint64_t)1 << 8 * key_bytes) - 1;
	return key == PSI_NO_KEY ? 1 : key;
}

/* Where a registration belongs to an endpoint. */
static int
registration_enable(struct psi_conduit *conduit, struct fid_mr *mr)
{
	int code;

	if (!(conduit->info->domain_attr->mr_mode & FI_MR_ENDPOINT))
		return 0;
	code = -fi_mr_bind(mr, &conduit->ep->fid, 0);
	return code ? code : -fi_mr_enable(mr);
}

/* A key may be taken by chance. */
int
pofi_register_quietly(struct psi_conduit *conduit, void *base, size_t len_bytes, uint64_t access,
                      struct fid_mr **mr_out)
{
	struct fid_mr *mr;
	int code = FI_ENOKEY;

	for (unsigned tries = 0; code == FI_ENOKEY && tries < KEY_TRIES; tries++)
		code = -fi_mr_reg(conduit->domain, base, len_bytes, access, 0, key_choose(conduit),
		                  0, &mr, NULL);
	if (code)
		return code;
	code = registration_enable(conduit, mr);
	if (code)
		fi_close(&mr->fid);
	else
		*mr_out = mr;
	return code;
}

int
pofi_register(struct psi_conduit *conduit, void *base, size_t len_bytes, uint64_t access,
              struct fid_mr **mr_out)
{
	const int code = pofi_register_quietly(conduit, base, len_bytes, access, mr_out);

	if (code)
		conduit->services->log("ofi: provider %s cannot register %zu bytes: %s; raise the "
		                       "limit of locked memory (ulimit -l)",
		                       conduit->info->fabric_attr->prov_name, len_bytes,
		                       fi_strerror(code));
	return code;
}

static bool
buffers_need_registration(const struct psi_conduit *conduit)
{
	return conduit->info->domain_attr->mr_mode & FI_MR_LOCAL;
}

/* -- arriving ---------------------------------------------------------------------------------- */

static void
inbound_post(struct psi_conduit *conduit, struct pofi_inbound *inbound)
{
	const struct iovec part = { .iov_base = inbound->bytes,
	                            .iov_len = conduit->inbound_bytes };
	void *desc = inbound->mr ? fi_mr_desc(inbound->mr) : NULL;
	const struct fi_msg msg = {
		.msg_iov = &part, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = &inbound->context,
	};

	inbound->arrived_bytes = inbound->end_bytes = 0;
	inbound->posted = fi_recvmsg(conduit->ep, &msg, FI_MULTI_RECV) == 0;
	conduit->posted += inbound->posted;
}

void
pofi_inbound_arrived(struct pofi_inbound *inbound, const char *message, size_t len_bytes)
{
	const size_t end_bytes = (size_t)(message - inbound->bytes) + len_bytes;

	inbound->arrived_bytes += len_bytes;
	if (end_bytes > inbound->end_bytes)
		inbound->end_bytes = end_bytes;
}

void
pofi_inbound_released(struct psi_conduit *conduit, struct pofi_inbound *inbound)
{
	inbound->posted = false;
	conduit->posted--;
}

/* Has all arrived that the provider has begun to put there? */
static bool
inbound_is_free(const struct psi_conduit *conduit, const struct pofi_inbound *inbound)
{
	return !inbound->posted && !inbound->pins &&
	       inbound->arrived_bytes == inbound->end_bytes &&
	       (!inbound->end_bytes ||
	        conduit->inbound_bytes - inbound->end_bytes < conduit->message_bytes);
}

static int
inbound_make(struct psi_conduit *conduit, struct pofi_inbound *inbound)
{
	void *bytes = mmap(NULL, conduit->inbound_bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int code = 0;

	if (bytes == MAP_FAILED) {
		conduit->services->log("ofi: no memory for a receive buffer of %zu bytes; lower "
		                       "PST_OFI_RECEIVE_SIZE or PST_OFI_RECEIVE_BUFFERS",
		                       conduit->inbound_bytes);
		return FI_ENOMEM;
	}
	if (buffers_need_registration(conduit))
		code = pofi_register(conduit, bytes, conduit->inbound_bytes, FI_RECV, &inbound->mr);
	if (code) {
		munmap(bytes, conduit->inbound_bytes);
		return code;
	}
	inbound->bytes = bytes;
	conduit->inbound_made++;
	return 0;
}

int
pofi_inbound_open(struct psi_conduit *conduit)
{
	conduit->inbound = calloc((size_t)POFI_SPARE * conduit->inbound_count,
	                          sizeof *conduit->inbound);
	if (!conduit->inbound) {
		conduit->services->log("ofi: no memory");
		return FI_ENOMEM;
	}
	for (uint32_t i = 0; i < conduit->inbound_count; i++) {
		const int code = inbound_make(conduit, &conduit->inbound[i]);

		if (code)
			return code;
		inbound_post(conduit, &conduit->inbound[i]);
		if (!conduit->inbound[i].posted) {
			conduit->services->log("ofi: provider %s takes %u receive buffers, and not "
			                       "%u; lower PST_OFI_RECEIVE_BUFFERS, or set "
			                       "PST_OFI_PROVIDER to another",
			                       conduit->info->fabric_attr->prov_name, i,
			                       conduit->inbound_count);
			return FI_EIO;
		}
	}
	return 0;
}

/* One that the provider does not take is tried again at the next poll.  Where buffers do not come
 * back, since a peer died while it sent, there are more. */
void
pofi_inbound_refill(struct psi_conduit *conduit)
{
	if (conduit->posted >= conduit->inbound_count)
		return;
	for (uint32_t i = 0; i < conduit->inbound_made; i++)
		if (inbound_is_free(conduit, &conduit->inbound[i]))
			inbound_post(conduit, &conduit->inbound[i]);
	if (conduit->posted >= 2 || conduit->no_inbound ||
	    conduit->inbound_made == POFI_SPARE * conduit->inbound_count)
		return;
	conduit->no_inbound = inbound_make(conduit, &conduit->inbound[conduit->inbound_made]) != 0;
	if (!conduit->no_inbound)
		inbound_post(conduit, &conduit->inbound[conduit->inbound_made - 1]);
}

/* The endpoint is closed before this, so that the provider writes to none of them. */
void
pofi_inbound_close(struct psi_conduit *conduit)
{
	for (uint32_t i = 0; i < conduit->inbound_made; i++) {
		struct pofi_inbound *inbound = &conduit->inbound[i];

		if (inbound->mr)
			fi_close(&inbound->mr->fid);
		munmap(inbound->bytes, conduit->inbound_bytes);
	}
	free(conduit->inbound);
}

/* -- sending ----------------------------------------------------------------------------------- */

/* They are made as they are first needed, and never given back. */
static struct pofi_send *
send_make(struct psi_conduit *conduit)
{
	const size_t head_bytes = pofi_aligned(sizeof(struct pofi_send));
	struct pofi_send *send = calloc(1, head_bytes + conduit->message_bytes);
	struct fid_mr *mr;

	if (!send)
		return NULL;
	send->bytes = (char *)send + head_bytes;
	if (buffers_need_registration(conduit)) {
		if (pofi_register(conduit, send->bytes, conduit->message_bytes, FI_SEND, &mr) !=
		    0) {
			free(send);
			return NULL;
		}
		send->desc = fi_mr_desc(mr);
	}
	return send;
}

/* Without memory a network goes on with the buffers that it has, and is lost if it has none. */
static void
send_make_failed(struct psi_conduit *conduit, unsigned network)
{
	conduit->sends[network].most = conduit->sends[network].made;
	if (conduit->sends[network].made)
		return;
	conduit->services->log("ofi: no memory for a buffer to send from, of %zu bytes",
	                       conduit->message_bytes);
	pofi_lose(conduit);
}

/* A process gets a buffer only while it has fewer than are free or can still be made.  So one that
 * does not poll leaves about half of them to the others. */
static bool
send_is_allowed(const struct psi_conduit *conduit, unsigned network, uint32_t process)
{
	return conduit->peers[process].flying[network] <
	       conduit->sends[network].most - conduit->sends[network].flying;
}

struct pofi_send *
pofi_send_take(struct psi_conduit *conduit, unsigned network, uint32_t process)
{
	struct pofi_send *send = conduit->sends[network].free;

	if (!send_is_allowed(conduit, network, process))
		return NULL;
	if (send) {
		conduit->sends[network].free = send->next;
	} else if (conduit->sends[network].made < conduit->sends[network].most) {
		send = send_make(conduit);
		if (send)
			conduit->sends[network].made++;
		else
			send_make_failed(conduit, network);
	}
	if (!send)
		return NULL;
	send->network = (uint8_t)network;
	send->process = process;
	conduit->sends[network].flying++;
	conduit->peers[process].flying[network]++;
	return send;
}

void
pofi_send_give(struct psi_conduit *conduit, struct pofi_send *send)
{
	conduit->sends[send->network].flying--;
	conduit->peers[send->process].flying[send->network]--;
	send->next = conduit->sends[send->network].free;
	conduit->sends[send->network].free = send;
}

bool
pofi_sends_pending(const struct psi_conduit *conduit)
{
	return conduit->queued || conduit->sends[PSI_REQUESTS].flying ||
	       conduit->sends[PSI_REPLIES].flying;
}
