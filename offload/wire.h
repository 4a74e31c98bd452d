/*
 * Packets between the members of a tree, for providers that the library has in itself: messages of
 * the library, outside of its collectives.  A packet may come before its receiver has joined the
 * tree; it is then kept.  Packets from one member to another come in their order.
 */
#ifndef POFF_WIRE_H
#define POFF_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { POFF_PACKET_BYTES = 256 };       /* at most */

/* Sends to a member of the tree with that key.  Returns PST_OFF_OK, or PST_OFF_AGAIN if there is no
 * room: nothing was sent.  Under the rules of a call into a provider. */
int poff_wire_send(uint64_t key, uint32_t to, const void *packet, size_t nbytes);
/* Takes the next packet of that tree.  Returns its length, 0 if there is none. */
size_t poff_wire_take(uint64_t key, uint32_t *from_out, void *packet_out);

#endif
