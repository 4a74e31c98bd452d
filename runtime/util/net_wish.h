/*
 * What PST_NET_IFACE names: an interface ("eth0"), an address, or a network as an address with the
 * length of its prefix ("10.1.0.0/16").
 */
#ifndef PSI_UTIL_NET_WISH_H
#define PSI_UTIL_NET_WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct psi_net_wish {
	const char *iface;      /* NULL: the rest counts */
	uint8_t prefix[16];
	size_t prefix_bytes;    /* 4 or 16: the family */
	unsigned prefix_bits;
};

/* What is no address is taken for the name of an interface.  The text stays the caller's. */
struct psi_net_wish psi_net_wish_parse(const char *text);

/* Is an interface of this name, with this address (NULL: it has none), what is wished for? */
bool psi_net_wish_takes(const struct psi_net_wish *wish, const char *iface,
                        const struct sockaddr *address);

/* The bytes of an address without its port, 4 or 16 of them; 0 for another family. */
size_t psi_net_host_bytes(const struct sockaddr *address, uint8_t bytes_out[16]);

#endif
