/*
 * Opening: the process's one endpoint of the fabric with its completion queue, its ports, and what
 * people want to know.
 */
#include "ofi-conduit/pofi_record.h"

#include "runtime/util/settings_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some providers only note what is registered; others pin its pages, which takes as long as to send
 * that much by messages. */
enum { NAMED_LEAST_BYTES = 32 << 10, PINNED_LEAST_BYTES = 256 << 10 };

/* The number of a setting that the runtime has checked; `fallback' if it is unset. */
static uint64_t
number_of(const struct psi_services *services, const char *name, uint64_t fallback)
{
	const char *text = services->setting(name);
	uint64_t number;

	return text && *text && psi_parse_count(text, &number) ? number : fallback;
}

/* -- opening ----------------------------------------------------------------------------------- */

/* Closes what is open, in reverse; also after an open that failed half way. */
static void
fabric_close(struct psi_conduit *conduit)
{
	pofi_reach_close(conduit);
	if (conduit->ep)
		fi_close(&conduit->ep->fid);
	if (conduit->cq)
		fi_close(&conduit->cq->fid);
	if (conduit->av)
		fi_close(&conduit->av->fid);
	pofi_inbound_close(conduit);
	pofi_rma_close(conduit);
	pofi_records_close(conduit);
	if (conduit->domain)
		fi_close(&conduit->domain->fid);
	if (conduit->fabric)
		fi_close(&conduit->fabric->fid);
	if (conduit->info)
		fi_freeinfo(conduit->info);
}

/* With libfabric 2.4 bytes that came for tcp;ofi_rxm have been seen to stand in the socket while
 * the queue's descriptor was not readable, after fi_trywait had allowed the sleep; with 1.17
 * never. */
static bool
wait_misses(const struct fi_info *info)
{
	return FI_VERSION_GE(fi_version(), FI_VERSION(1, 18)) &&
	       strstr(info->fabric_attr->prov_name, "ofi_rxm");
}

/* The queue gets a descriptor to sleep on if the provider has one. */
static int
cq_open(struct psi_conduit *conduit)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };

	conduit->wait_fd = -1;
	conduit->wait_misses = wait_misses(conduit->info);
	if (fi_cq_open(conduit->domain, &attr, &conduit->cq, conduit) == 0) {
		if (fi_control(&conduit->cq->fid, FI_GETWAIT, &conduit->wait_fd) != 0)
			conduit->wait_fd = -1;
		return 0;
	}
	attr.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(conduit->domain, &attr, &conduit->cq, conduit);
}

static bool
provider_is_shm(const struct psi_conduit *conduit)
{
	return strcmp(conduit->info->fabric_attr->prov_name, "shm") == 0;
}

/* Provider shm has a file in /dev/shm, named for the process.  It takes what an earlier process of
 * that number has left for one in use: it removes that and fails, and makes its own when asked
 * again. */
static int
endpoint_enable(struct psi_conduit *conduit)
{
	int code = fi_enable(conduit->ep);

	if (code == -FI_EBUSY && provider_is_shm(conduit))
		code = fi_enable(conduit->ep);
	return code;
}

static int
endpoint_open(struct psi_conduit *conduit)
{
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC, .count = conduit->places };
	const size_t least_bytes = conduit->message_bytes;
	int code;

	if ((code = cq_open(conduit)) != 0 ||
	    (code = fi_av_open(conduit->domain, &av_attr, &conduit->av, conduit)) != 0 ||
	    (code = fi_endpoint(conduit->domain, conduit->info, &conduit->ep, conduit)) != 0 ||
	    (code = fi_ep_bind(conduit->ep, &conduit->av->fid, 0)) != 0 ||
	    (code = fi_ep_bind(conduit->ep, &conduit->cq->fid, FI_TRANSMIT | FI_RECV)) != 0 ||
	    (code = endpoint_enable(conduit)) != 0)
		return code;
	/* before any buffer is posted; the shm provider of 1.17 cannot do it before enabling */
	return fi_setopt(&conduit->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least_bytes,
	                 sizeof least_bytes);
}

/* Providers that register memory say of a low limit what they say where there is no memory. */
static const char *
remedy_of(const struct fi_info *info, int code)
{
	return code == -FI_ENOMEM && info->domain_attr->mr_mode & FI_MR_LOCAL
	               ? "; raise the limit of locked memory (ulimit -l)" : "";
}

static int
fabric_open(struct psi_conduit *conduit)
{
	struct fi_info *info = conduit->info;
	int code;

	if ((code = fi_fabric(info->fabric_attr, &conduit->fabric, conduit)) != 0 ||
	    (code = fi_domain(conduit->fabric, info, &conduit->domain, conduit)) != 0 ||
	    (code = endpoint_open(conduit)) != 0) {
		conduit->services->log("ofi: provider %s on %s does not open: %s%s",
		                       info->fabric_attr->prov_name, info->domain_attr->name,
		                       fi_strerror(-code), remedy_of(info, code));
		return PSI_FAILED;
	}
	pofi_records_open(conduit);
	return pofi_inbound_open(conduit) == 0 ? PSI_OK : PSI_FAILED;
}

/* Whose order is not promised by the provider: then a later message says nothing of an injected
 * one, and draining could not tell when that has left. */
static size_t
inject_limit(const struct fi_info *info)
{
	const size_t most = info->tx_attr->inject_size;

	if (!(info->tx_attr->msg_order & FI_ORDER_SAS))
		return 0;
	return most < POFI_INJECT_BYTES ? most : POFI_INJECT_BYTES;
}

/* Messages that ofi_rxm does not copy whole it sends in segments.  In 1.17 those do not go together
 * with buffers of many messages: bytes of them are lost, or they never arrive (am_flood of the
 * conformance tests).  Its own setting says how much it copies, its header included. */
static size_t
whole_limit(const struct fi_info *info)
{
	enum { RXM_BUFFER_BYTES = 16384, RXM_HEADERS_BYTES = 512 };
	const char *text = getenv("FI_OFI_RXM_BUFFER_SIZE");
	const size_t buffer_bytes = text ? strtoul(text, NULL, 0) : RXM_BUFFER_BYTES;
	const size_t most = info->ep_attr->max_msg_size;

	if (!strstr(info->fabric_attr->prov_name, "ofi_rxm"))
		return most;
	return buffer_bytes > RXM_HEADERS_BYTES ? buffer_bytes - RXM_HEADERS_BYTES : 0;
}

/* A place that does not poll can keep the requests of all processes, if each has this many, within
 * the two bounds. */
static uint32_t
credits_per_place(const struct psi_conduit *conduit)
{
	const size_t each = POFI_KEPT_BYTES / (conduit->message_bytes * conduit->places);

	return each > POFI_CREDITS_MOST ? POFI_CREDITS_MOST
	       : each < POFI_CREDITS_LEAST ? POFI_CREDITS_LEAST : (uint32_t)each;
}

static void
sizes_choose(struct psi_conduit *conduit)
{
	const struct fi_info *info = conduit->info;
	const size_t head_bytes = pofi_payload_at(POFI_LONG_HEAD, POFI_SIZES_MOST) + POFI_LINE;
	const size_t whole_bytes = whole_limit(info);
	const size_t most = whole_bytes > head_bytes ? whole_bytes - head_bytes : 0;
	const size_t queue = info->tx_attr->size / 2;
	size_t medium = number_of(conduit->services, "GASNET_OFI_MAX_MEDIUM", POFI_MEDIUM_BYTES);

	medium = medium < most ? medium : most;
	conduit->medium_bytes = medium & ~(size_t)(POFI_ALIGN - 1);
	conduit->message_bytes = pofi_message_bytes(PSI_MEDIUM, POFI_SIZES_MOST,
	                                            conduit->medium_bytes);
	conduit->credits = credits_per_place(conduit);
	conduit->inject_bytes = inject_limit(info);
	conduit->inbound_count = (uint32_t)number_of(conduit->services,
	                                             "PST_OFI_RECEIVE_BUFFERS",
	                                             POFI_RECEIVE_BUFFERS);
	conduit->inbound_bytes = number_of(conduit->services, "PST_OFI_RECEIVE_SIZE",
	                                   POFI_RECEIVE_BYTES);
	if (conduit->inbound_bytes < 4 * conduit->message_bytes)
		conduit->inbound_bytes = 4 * conduit->message_bytes;
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		conduit->sends[network].most = queue < 1 ? 1 : queue < POFI_SENDS ? (uint32_t)queue
		                                                                  : POFI_SENDS;
}

static bool
sizes_are_good(const struct psi_conduit *conduit)
{
	if (conduit->medium_bytes >= POFI_MEDIUM_LEAST)
		return true;
	conduit->services->log("ofi: provider %s carries Mediums of %zu bytes as a whole, and %d "
	                       "are needed; raise FI_OFI_RXM_BUFFER_SIZE (16384 by default), or "
	                       "set PST_OFI_PROVIDER to another",
	                       conduit->info->fabric_attr->prov_name, conduit->medium_bytes,
	                       POFI_MEDIUM_LEAST);
	return false;
}

static bool
job_is_one_host(const struct psi_conduit_job *job)
{
	return job->host_places == job->places;
}

static struct psi_conduit *
conduit_make(const struct psi_services *services, const struct psi_conduit_job *job)
{
	struct psi_conduit *conduit = calloc(1, sizeof *conduit);
	struct pofi_peer *peers = pofi_peers_new(job->places);
	struct pofi_card *cards = pofi_cards_new(job->places);

	if (!conduit || !peers || !cards) {
		services->log("ofi: no memory");
		free(conduit);
		free(peers);
		free(cards);
		return NULL;
	}
	*conduit = (struct psi_conduit){
		.services = services, .place = job->place, .places = job->places,
		.guard = PSI_GUARD(job->threaded), .counts = job->counts, .peers = peers,
		.cards = cards,
	};
	return conduit;
}

static void
conduit_free(struct psi_conduit *conduit)
{
	fabric_close(conduit);
	pofi_peers_free(conduit);
	pofi_longs_free(conduit);
	free(conduit->cards);
	free(conduit);
}

/* The name of the provider without those above it: tcp of tcp;ofi_rxm. */
static void
transport_name(const char *provider, char transport_out[PSI_TRANSPORT_BYTES])
{
	snprintf(transport_out, PSI_TRANSPORT_BYTES, "%.*s", (int)strcspn(provider, ";"), provider);
}

static int
conduit_open(const struct psi_services *services, const struct psi_conduit_job *job,
             struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	struct psi_conduit *conduit;
	char lack[256];

	conduit = conduit_make(services, job);
	if (!conduit)
		return PSI_FAILED;
	conduit->info = pofi_choose(services, job_is_one_host(job), &conduit->reason, lack,
	                            sizeof lack);
	if (!conduit->info) {
		services->log("ofi: %s", lack);
		conduit_free(conduit);
		return PSI_FAILED;
	}
	sizes_choose(conduit);
	if (!sizes_are_good(conduit) || !pofi_rma_open(conduit) ||
	    fabric_open(conduit) != PSI_OK) {
		conduit_free(conduit);
		return PSI_FAILED;
	}
	*attributes_out = (struct psi_attributes){
		.max_medium_bytes = conduit->medium_bytes,
		.max_long_bytes = INT32_MAX,
		.shared_bytes = 0,
		.puts_longs = conduit->rma.data,
		.named_least_bytes = conduit->rma.needs_local ? PINNED_LEAST_BYTES
		                                              : NAMED_LEAST_BYTES,
	};
	transport_name(conduit->info->fabric_attr->prov_name, attributes_out->transport);
	*conduit_out = conduit;
	return PSI_OK;
}

int
pofi_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	struct pofi_variable one_queue;
	int result;

	if (services->abi != PSI_CONDUIT_ABI || services->size_bytes < sizeof *services) {
		services->log("ofi: this conduit speaks contract %d, the library %u; install both "
		              "from one build", PSI_CONDUIT_ABI, services->abi);
		return PSI_FATAL;
	}
	one_queue = pofi_one_queue_set();
	result = conduit_open(services, job, attributes_out, conduit_out);
	pofi_variable_unset(&one_queue);
	return result;
}

/* Provider shm has a file of each process in /dev/shm.  Elsewhere the kernel closes what is open,
 * and still sends what it has. */
void
pofi_leave(struct psi_conduit *conduit)
{
	if (conduit->left || !provider_is_shm(conduit))
		return;
	conduit->left = true;
	fi_close(&conduit->ep->fid);
}

/* -- ports ------------------------------------------------------------------------------------- */

int
pofi_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	(void)serial;
	return psi_network_port_open(conduit, "ofi", conduit->services, conduit->ports,
	                             &conduit->guard, place, conduit->places, owner, port_out);
}

/* -- for people -------------------------------------------------------------------------------- */

/* What of puts and gets the provider makes. */
static void
native_describe(const struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	if (!conduit->rma.gets)
		snprintf(text, text_bytes, "puts and gets by messages");
	else
		snprintf(text, text_bytes, "%s native%s in pieces of %zu bytes, %u at a time",
		         conduit->rma.data ? "puts, gets and Longs"
		         : conduit->rma.puts ? "puts and gets" : "puts by messages, gets",
		         conduit->rma.data ? ", signals with puts," : "",
		         conduit->rma.piece_bytes, conduit->rma.made);
}

void
pofi_describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	const struct fi_info *info = conduit->info;
	char native[96];

	native_describe(conduit, native, sizeof native);

	snprintf(text, text_bytes,
	         "libfabric %u.%u, provider %s (%s) on %s, Mediums of %zu bytes, %u requests on "
	         "their way to each place, %u receive buffers of %zu bytes, %s, %zu bytes per peer",
	         FI_MAJOR(fi_version()), FI_MINOR(fi_version()), info->fabric_attr->prov_name,
	         conduit->reason, info->domain_attr->name, conduit->medium_bytes, conduit->credits,
	         conduit->inbound_count, conduit->inbound_bytes, native,
	         pofi_peer_bytes(conduit));
}
