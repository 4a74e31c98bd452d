/*
 * Which provider and interface the process uses: that of PST_OFI_PROVIDER or FI_PROVIDER, else the
 * first of a list that this host has.  Jobs of one host take the loopback interface where the
 * provider has one, so that nobody else reaches their ports.
 */
#include "ofi-conduit/pofi.h"
#include "runtime/util/net_wish.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Best first.  What is in neither list comes last.  Where libfabric is new enough for tcp to carry
 * reliable datagrams itself, that needs no ofi_rxm. */
static const char *const preferred[] = {
	"cxi", "psm2", "opx", "verbs;ofi_rxm", "tcp", "tcp;ofi_rxm",
};

/* Taken only if the user names them: for tests, and one that reaches one host alone. */
static const char *const avoided[] = { "shm", "ofi_hook" };

/* Not taken at all. */
static const struct {
	const char *provider, *why;
} refused[] = {
	{ "sockets", "it is slow, and libfabric gives it up; tcp;ofi_rxm does the same" },
	{ "udp", "it loses messages, and crashes; tcp;ofi_rxm goes over the same network" },
};

static bool
begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool
provider_is_avoided(const char *provider)
{
	for (size_t i = 0; i < sizeof avoided / sizeof *avoided; i++)
		if (begins_with(provider, avoided[i]))
			return true;
	return false;
}

/* Why a provider is not taken; NULL: it may be. */
static const char *
refusal_of(const char *provider)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (begins_with(provider, refused[i].provider))
			return refused[i].why;
	return NULL;
}

static size_t
rank_of_provider(const char *provider)
{
	size_t i = 0;

	while (i < sizeof preferred / sizeof *preferred && strcmp(provider, preferred[i]) != 0)
		i++;
	return i;
}

static const char *
setting_or_null(const struct psi_services *services, const char *name)
{
	const char *text = services->setting(name);

	return text && *text ? text : NULL;
}

/* -- what is asked for ------------------------------------------------------------------------- */

/* Reliable datagrams, received many to a buffer.  The modes are those that this conduit can serve;
 * the provider leaves the ones that it asks for. */
static struct fi_info *
hints_make(const char *provider)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_MULTI_RECV;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
	                              FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
	return hints;
}

/* -- the choice -------------------------------------------------------------------------------- */

static bool
info_is_loopback(const struct fi_info *info)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (!info->src_addr)
		return false;
	if (info->addr_format == FI_SOCKADDR_IN && info->src_addrlen >= sizeof in) {
		memcpy(&in, info->src_addr, sizeof in);
		return ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	if (info->addr_format == FI_SOCKADDR_IN6 && info->src_addrlen >= sizeof in6) {
		memcpy(&in6, info->src_addr, sizeof in6);
		return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
	}
	return false;
}

/* Smaller is better: the provider first, then the interface; libfabric's own order decides what is
 * left. */
static size_t
info_badness(const struct fi_info *info, bool one_host)
{
	const bool wrong_side = info_is_loopback(info) != one_host;
	const bool other_family = info->addr_format == FI_SOCKADDR_IN6;

	return rank_of_provider(info->fabric_attr->prov_name) * 4 + wrong_side * 2U + other_family;
}

/* What the user wants; NULL: anything.  Not every provider looks at the name in the hints. */
struct wish {
	const char *provider, *filter, *interface;
};

/* Who names the loopback interface knows why: hosts that are all this machine, say. */
static bool
reaches_other_hosts(const struct fi_info *info, const struct wish *wish)
{
	return (!info_is_loopback(info) || wish->interface) &&
	       !begins_with(info->fabric_attr->prov_name, "shm");
}

static bool
info_is_on_interface(const struct fi_info *info, const char *text)
{
	const struct psi_net_wish wish = psi_net_wish_parse(text);
	const bool socket = (info->addr_format == FI_SOCKADDR_IN &&
	                     info->src_addrlen >= sizeof(struct sockaddr_in)) ||
	                    (info->addr_format == FI_SOCKADDR_IN6 &&
	                     info->src_addrlen >= sizeof(struct sockaddr_in6));

	return psi_net_wish_takes(&wish, info->domain_attr->name, socket ? info->src_addr : NULL);
}

static bool
provider_is_allowed(const struct fi_info *info, const struct wish *wish, bool one_host)
{
	const char *provider = info->fabric_attr->prov_name;

	if (wish->interface && !info_is_on_interface(info, wish->interface))
		return false;
	if (refusal_of(provider) || (!one_host && !reaches_other_hosts(info, wish)))
		return false;
	return wish->provider || wish->filter || !provider_is_avoided(provider);
}

static const struct fi_info *
best_of(const struct fi_info *list, const struct wish *wish, bool one_host)
{
	const struct fi_info *best = NULL;

	for (const struct fi_info *info = list; info; info = info->next)
		if (provider_is_allowed(info, wish, one_host) &&
		    (!best || info_badness(info, one_host) < info_badness(best, one_host)))
			best = info;
	return best;
}

/* -- the one line where there is none ---------------------------------------------------------- */

static void
provider_tell_lack(int code, const struct wish *wish, char *lack, size_t lack_bytes)
{
	const char *provider = wish->provider ? wish->provider : wish->filter;
	const char *why = code ? fi_strerror(code) : "only what it does not use unasked";

	if (provider && refusal_of(provider))
		snprintf(lack, lack_bytes, "provider %s is not used: %s", provider,
		         refusal_of(provider));
	else if (wish->interface)
		snprintf(lack, lack_bytes, "libfabric has no provider for the interface %s of "
		         "PST_NET_IFACE; `fi_info` lists those that it has", wish->interface);
	else if (provider)
		snprintf(lack, lack_bytes, "libfabric has no provider %s that carries messages "
		         "here (%s); `fi_info` lists those that it has", provider, why);
	else
		snprintf(lack, lack_bytes, "libfabric has no provider that carries messages here "
		         "(%s); is a network interface up? `fi_info` lists the providers", why);
}

/* There is one for the ranks of one host. */
static void
provider_tell_lack_of_hosts(const struct fi_info *near, const struct wish *wish, char *lack,
                            size_t lack_bytes)
{
	const char *provider = near->fabric_attr->prov_name;

	if (begins_with(provider, "shm"))
		snprintf(lack, lack_bytes, "the job has several hosts, and provider %s reaches "
		         "this one alone; %s", provider,
		         wish->provider ? "unset PST_OFI_PROVIDER" : "unset FI_PROVIDER");
	else
		snprintf(lack, lack_bytes, "the job has several hosts, and here libfabric reaches "
		         "this one alone (provider %s on %s); is another network interface up? "
		         "PST_NET_IFACE names one", provider, near->domain_attr->name);
}

enum { UNIVERSE_LEAST = 16 };   /* small jobs may have connections that both sides begin */

/* What libfabric offers, which takes it a while to find out; until pofi_choose has chosen. */
static struct fi_info *offered;

static struct wish
wish_read(const struct psi_services *services)
{
	return (struct wish){
		.provider = setting_or_null(services, "PST_OFI_PROVIDER"),
		.filter = setting_or_null(services, "FI_PROVIDER"),
		.interface = setting_or_null(services, "PST_NET_IFACE"),
	};
}

static struct pofi_variable
variable_set(const char *name, unsigned value)
{
	char text[16];

	snprintf(text, sizeof text, "%u", value);
	return (struct pofi_variable){
		.name = name, .is_set = !getenv(name) && setenv(name, text, 1) == 0,
	};
}

void
pofi_variable_unset(const struct pofi_variable *variable)
{
	if (variable->is_set)
		unsetenv(variable->name);
}

struct pofi_variable
pofi_one_queue_set(void)
{
	return variable_set("FI_OFI_RXM_USE_SRX", 1);
}

/* Without the variable, which is read at the first call, queues are made for 256 processes: more
 * than some devices have (rxe), and fewer than large jobs need. */
static int
offers_get(const struct psi_services *services, const struct wish *wish)
{
	const uint32_t processes = services->job_processes();
	struct pofi_variable universe, one_queue;
	struct fi_info *hints;
	int code;

	if (offered)
		return 0;
	hints = hints_make(wish->provider);
	if (!hints)
		return FI_ENOMEM;
	universe = variable_set("FI_UNIVERSE_SIZE",
	                        processes > UNIVERSE_LEAST ? processes : UNIVERSE_LEAST);
	one_queue = pofi_one_queue_set();
	code = -fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &offered);
	pofi_variable_unset(&one_queue);
	pofi_variable_unset(&universe);
	fi_freeinfo(hints);
	return code;
}

bool
pofi_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	const struct wish wish = wish_read(services);
	const int code = offers_get(services, &wish);

	if (code == 0 && best_of(offered, &wish, true))
		return true;
	provider_tell_lack(code, &wish, reason, reason_bytes);
	return false;
}

/* -- puts and gets ----------------------------------------------------------------------------- */

static bool
is_same_way(const struct fi_info *a, const struct fi_info *b)
{
	return strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0 &&
	       strcmp(a->domain_attr->name, b->domain_attr->name) == 0 &&
	       a->addr_format == b->addr_format && a->src_addrlen == b->src_addrlen &&
	       (!a->src_addrlen || memcmp(a->src_addr, b->src_addr, a->src_addrlen) == 0);
}

/* The same provider on the same interface, with puts and gets and those flags of theirs; NULL: it
 * has none. */
static struct fi_info *
info_with_rma(const struct fi_info *plain, uint64_t op_flags)
{
	struct fi_info *hints = hints_make(plain->fabric_attr->prov_name), *list = NULL, *found;

	if (!hints)
		return NULL;
	hints->caps |= FI_RMA;
	hints->tx_attr->op_flags = op_flags;
	(void)fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &list);
	fi_freeinfo(hints);
	for (found = list; found && !is_same_way(found, plain);)
		found = found->next;
	if (found)
		found = fi_dupinfo(found);
	if (found)
		found->tx_attr->op_flags |= op_flags;
	fi_freeinfo(list);
	return found;
}

/* Takes the info over, and returns the best that there is instead.  Its op_flags say whether puts
 * may ask for FI_DELIVERY_COMPLETE. */
static struct fi_info *
info_enrich(struct fi_info *plain)
{
	struct fi_info *rich = plain ? info_with_rma(plain, FI_DELIVERY_COMPLETE) : NULL;

	if (plain && !rich)
		rich = info_with_rma(plain, 0);
	if (!rich)
		return plain;
	fi_freeinfo(plain);
	return rich;
}

struct fi_info *
pofi_choose(const struct psi_services *services, bool one_host, const char **reason_out, char *lack,
            size_t lack_bytes)
{
	const struct wish wish = wish_read(services);
	const struct fi_info *best;
	struct fi_info *taken = NULL;

	if (!pofi_probe(services, lack, lack_bytes))
		return NULL;
	best = best_of(offered, &wish, one_host);
	if (best)
		taken = info_enrich(fi_dupinfo(best));
	else
		provider_tell_lack_of_hosts(best_of(offered, &wish, true), &wish, lack,
		                            lack_bytes);
	if (best && !taken)
		provider_tell_lack(FI_ENOMEM, &wish, lack, lack_bytes);
	*reason_out = wish.provider ? "PST_OFI_PROVIDER" : wish.filter ? "FI_PROVIDER"
	                                                               : "preferred";
	fi_freeinfo(offered);
	offered = NULL;
	return taken;
}
