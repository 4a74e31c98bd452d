/* Addresses of keepers: their form as text, and the choice of the address at which this host
 * listens. */
#ifndef PBOOT_OVERLAY_ADDRESS_H
#define PBOOT_OVERLAY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* "192.0.2.1:4000" or "[2001:db8::1]:4000", with its NUL. */
enum { PBOOT_ADDRESS_BYTES = 64, PBOOT_ADDRESS_WHY_BYTES = 256 };

struct pboot_address {
	struct sockaddr_storage name;
	socklen_t len_bytes;
};

/* Addresses in these texts are numeric.  parse reads the whole text, or fails. */
bool pboot_address_parse(const char *text, struct pboot_address *address_out);
bool pboot_address_format(const struct pboot_address *address,
    char text_out[PBOOT_ADDRESS_BYTES]);

/*
 * Chooses the address of this host to listen at; its port is 0.
 *
 *     iface   the setting PST_NET_IFACE: the name of an interface, an address, or an address with
 *             the length of its prefix ("10.1.0.0/16"); NULL or empty: the address from which
 *             `toward' is reached, and without that the first of an interface that is up and no
 *             loopback
 *     toward  a numeric address, with or without a port; may be NULL
 *
 * If it returns false, why_out has one line that says what is wrong and what helps.
 */
bool pboot_address_choose(const char *iface, const char *toward,
    struct pboot_address *address_out, char why_out[PBOOT_ADDRESS_WHY_BYTES]);

#endif
