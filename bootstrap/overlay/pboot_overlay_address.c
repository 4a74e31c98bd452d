#include "bootstrap/overlay/pboot_overlay_address.h"

#include "runtime/util/net_wish.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The address is copied between the general and the particular type, so that no pointer of a wrong
 * type or alignment is used. */
static void
address_set_4(struct pboot_address *address, struct in_addr host, uint16_t port)
{
	const struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = host,
	};

	memset(address, 0, sizeof *address);
	memcpy(&address->name, &name, sizeof name);
	address->len_bytes = sizeof name;
}

static void
address_set_6(struct pboot_address *address, const struct in6_addr *host, uint16_t port)
{
	const struct sockaddr_in6 name = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *host,
	};

	memset(address, 0, sizeof *address);
	memcpy(&address->name, &name, sizeof name);
	address->len_bytes = sizeof name;
}

static bool
host_parse(const char *text, uint16_t port, struct pboot_address *address_out)
{
	struct in6_addr host_6;
	struct in_addr host_4;

	if (inet_pton(AF_INET, text, &host_4) == 1)
		address_set_4(address_out, host_4, port);
	else if (inet_pton(AF_INET6, text, &host_6) == 1)
		address_set_6(address_out, &host_6, port);
	else
		return false;
	return true;
}

static bool
port_parse(const char *text, uint16_t *port_out)
{
	uint32_t port = 0;
	size_t i;

	for (i = 0; text[i] >= '0' && text[i] <= '9' && i < 5; i++)
		port = port * 10 + (uint32_t)(text[i] - '0');
	if (i == 0 || text[i] != '\0' || port == 0 || port > UINT16_MAX)
		return false;
	*port_out = (uint16_t)port;
	return true;
}

/* Copies text[0..len) as a string; false if it does not fit. */
static bool
text_cut(const char *text, size_t len, char cut_out[PBOOT_ADDRESS_BYTES])
{
	if (len >= PBOOT_ADDRESS_BYTES)
		return false;
	memcpy(cut_out, text, len);
	cut_out[len] = '\0';
	return true;
}

bool
pboot_address_parse(const char *text, struct pboot_address *address_out)
{
	const char *colon = strrchr(text, ':');
	const bool six = text[0] == '[';
	struct pboot_address address;
	char host[PBOOT_ADDRESS_BYTES];
	uint16_t port;

	if (!colon || !port_parse(colon + 1, &port))
		return false;
	if (six && (colon - text < 2 || colon[-1] != ']'))
		return false;
	if (!text_cut(text + six, (size_t)(colon - text) - 2 * (size_t)six, host) ||
	    !host_parse(host, port, &address) || six != (address.name.ss_family == AF_INET6))
		return false;
	*address_out = address;
	return true;
}

bool
pboot_address_format(const struct pboot_address *address, char text_out[PBOOT_ADDRESS_BYTES])
{
	char host[INET6_ADDRSTRLEN];
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	memcpy(&four, &address->name, sizeof four);
	memcpy(&six, &address->name, sizeof six);
	if (address->name.ss_family == AF_INET) {
		if (!inet_ntop(AF_INET, &four.sin_addr, host, sizeof host))
			return false;
		snprintf(text_out, PBOOT_ADDRESS_BYTES, "%s:%u", host, ntohs(four.sin_port));
		return true;
	}
	if (address->name.ss_family != AF_INET6 ||
	    !inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host))
		return false;
	snprintf(text_out, PBOOT_ADDRESS_BYTES, "[%s]:%u", host, ntohs(six.sin6_port));
	return true;
}

/* Is the address valid on one link alone?  Such an address needs the number of that link, which
 * differs from host to host. */
static bool
host_is_link_local(const uint8_t *host, size_t bytes)
{
	return bytes == 16 && host[0] == 0xfe && (host[1] & 0xc0) == 0x80;
}

/* Is this interface wanted?  If wish is NULL, any but loopback is. */
static bool
entry_is_wanted(const struct psi_net_wish *wish, const struct ifaddrs *entry)
{
	uint8_t host[16];
	size_t bytes;

	if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
		return false;
	bytes = psi_net_host_bytes(entry->ifa_addr, host);
	if (bytes == 0 || host_is_link_local(host, bytes))
		return false;
	return wish ? psi_net_wish_takes(wish, entry->ifa_name, entry->ifa_addr) :
	    !(entry->ifa_flags & IFF_LOOPBACK);
}

static void
address_take(const struct sockaddr *name, struct pboot_address *address_out)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (name->sa_family == AF_INET) {
		memcpy(&four, name, sizeof four);
		address_set_4(address_out, four.sin_addr, 0);
	} else {
		memcpy(&six, name, sizeof six);
		address_set_6(address_out, &six.sin6_addr, 0);
	}
}

/* Finds the first address that is wanted; an IPv4 address goes before those of IPv6. */
static bool
address_find(const struct psi_net_wish *wish, struct pboot_address *address_out)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct ifaddrs *list, *entry;
	bool found = false;
	unsigned i;

	if (getifaddrs(&list) != 0)
		return false;
	for (i = 0; i < 2 && !found; i++)
		for (entry = list; entry && !found; entry = entry->ifa_next)
			if (entry_is_wanted(wish, entry) &&
			    entry->ifa_addr->sa_family == families[i]) {
				address_take(entry->ifa_addr, address_out);
				found = true;
			}
	freeifaddrs(list);
	return found;
}

/* Finds the address from which `toward' is reached.  The kernel chooses it when a datagram socket
 * is connected; nothing is sent. */
static bool
address_toward(const char *toward, struct pboot_address *address_out)
{
	struct pboot_address to, from = { .len_bytes = sizeof from.name };
	bool found;
	int sock;

	if (!pboot_address_parse(toward, &to) && !host_parse(toward, 9, &to))
		return false;
	sock = socket(to.name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return false;
	found = connect(sock, (const struct sockaddr *)&to.name, to.len_bytes) == 0 &&
	    getsockname(sock, (struct sockaddr *)&from.name, &from.len_bytes) == 0;
	close(sock);
	if (found)
		address_take((const struct sockaddr *)&from.name, address_out);
	return found;
}

bool
pboot_address_choose(const char *iface, const char *toward, struct pboot_address *address_out,
    char why_out[PBOOT_ADDRESS_WHY_BYTES])
{
	struct psi_net_wish wish;

	if (iface && *iface) {
		wish = psi_net_wish_parse(iface);
		if (address_find(&wish, address_out))
			return true;
		snprintf(why_out, PBOOT_ADDRESS_WHY_BYTES, "PST_NET_IFACE=%s: no interface that is "
		    "up has this name, or an address there; `ip address' lists them", iface);
		return false;
	}
	if (toward && address_toward(toward, address_out))
		return true;
	if (address_find(NULL, address_out))
		return true;
	snprintf(why_out, PBOOT_ADDRESS_WHY_BYTES, "no network interface but loopback is up; "
	    "PST_NET_IFACE names the one to use");
	return false;
}
