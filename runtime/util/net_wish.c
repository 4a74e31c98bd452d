#include "runtime/util/net_wish.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

size_t
psi_net_host_bytes(const struct sockaddr *address, uint8_t bytes_out[16])
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (address->sa_family == AF_INET) {
		memcpy(&four, address, sizeof four);
		memcpy(bytes_out, &four.sin_addr, 4);
		return 4;
	}
	if (address->sa_family == AF_INET6) {
		memcpy(&six, address, sizeof six);
		memcpy(bytes_out, &six.sin6_addr, 16);
		return 16;
	}
	return 0;
}

/* Digits alone, up to `most'. */
static bool
bits_parse(const char *text, unsigned most, unsigned *bits_out)
{
	char *end;
	const unsigned long bits = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || bits > most)
		return false;
	*bits_out = (unsigned)bits;
	return true;
}

static bool
network_parse(const char *text, struct psi_net_wish *wish)
{
	const size_t len = strcspn(text, "/");
	char host[INET6_ADDRSTRLEN];

	if (len >= sizeof host)
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET, host, wish->prefix) == 1)
		wish->prefix_bytes = 4;
	else if (inet_pton(AF_INET6, host, wish->prefix) == 1)
		wish->prefix_bytes = 16;
	else
		return false;
	wish->prefix_bits = (unsigned)wish->prefix_bytes * 8;
	return text[len] == '\0' ||
	       bits_parse(text + len + 1, wish->prefix_bits, &wish->prefix_bits);
}

struct psi_net_wish
psi_net_wish_parse(const char *text)
{
	struct psi_net_wish wish = { 0 };

	return network_parse(text, &wish) ? wish : (struct psi_net_wish){ .iface = text };
}

static bool
prefix_matches(const struct psi_net_wish *wish, const uint8_t *host)
{
	const unsigned whole = wish->prefix_bits / 8, rest = wish->prefix_bits % 8;

	if (memcmp(host, wish->prefix, whole) != 0)
		return false;
	return rest == 0 || (host[whole] ^ wish->prefix[whole]) >> (8 - rest) == 0;
}

bool
psi_net_wish_takes(const struct psi_net_wish *wish, const char *iface,
                   const struct sockaddr *address)
{
	uint8_t host[16];

	if (wish->iface)
		return strcmp(iface, wish->iface) == 0;
	return address && psi_net_host_bytes(address, host) == wish->prefix_bytes &&
	       prefix_matches(wish, host);
}
