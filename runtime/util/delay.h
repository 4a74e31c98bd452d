/*
 * Delay points stand between two steps of a protocol.  There a thread sometimes pauses for a random
 * time, so that both sides meet in every order.  The points are active in the message queue that
 * the stress programs link, and everywhere in a build with --enable-delays; elsewhere the macro is
 * empty.
 *
 *     PT_DELAY_SEED=N     the seed of the random times (default 1)
 *     PT_DELAY_EVERY=N    one passage in N pauses (default 16); 0: none
 *     PT_DELAY_AT=a,b     only these points pause
 */
#ifndef PSI_UTIL_DELAY_H
#define PSI_UTIL_DELAY_H

#include <stdint.h>

/* Name; what is done before the point; what comes after it. */
#define PSI_DELAY_POINTS(POINT)                                                              \
	POINT(claim,    "the sender has a slot or buffer; it writes there")                    \
	POINT(fill,     "the message is written; its header is published")                       \
	POINT(publish,  "the header is published; the sender looks whether it is polled")        \
	POINT(announce, "the lane is not polled; its bit is set")                                \
	POINT(mark,     "a bit is set in the lower bitmap; its word's bit is set in the upper")  \
	POINT(wake,     "a sleeper is to be woken; its wake word is read, then changed")         \
	POINT(arm,      "the sleeper has set its wake word; its lanes are no longer polled")     \
	POINT(unpoll,   "lanes are no longer polled; the receiver looks at them once more")      \
	POINT(recheck,  "armed; the waiter looks at its condition")                              \
	POINT(sleep,    "the waiter has looked; it sleeps")                                      \
	POINT(disarm,   "the sleeper is awake; it clears its wake word")                         \
	POINT(collect,  "bits are taken from the upper bitmap; then from the lower")             \
	POINT(activate, "a lane's bit is taken; it is polled from now on")                       \
	POINT(take,     "a header is seen; the message is read")                                 \
	POINT(retire,   "a message was used; its slot is given back")                            \
	POINT(give,     "a buffer was used; it is given back")                                   \
	POINT(room,     "room was given back; room requests are looked for")                     \
	POINT(request,  "the sender found no room and marked its request; it looks again")

enum psi_delay_point {
#define PSI_DELAY_MEMBER(name, text) PSI_DELAY_##name,
	PSI_DELAY_POINTS(PSI_DELAY_MEMBER)
#undef PSI_DELAY_MEMBER
	PSI_DELAYS_COUNT
};

#ifdef PSI_DELAYS
#define PSI_DELAY_POINT(name) psi_delay(PSI_DELAY_##name)
#else
#define PSI_DELAY_POINT(name) ((void)0)
#endif

/* Pauses sometimes.  Any thread may call it; it orders nothing. */
void psi_delay(enum psi_delay_point point);

const char *psi_delay_name(enum psi_delay_point point);

/* How often threads of this process passed the point; a lost count is harmless. */
uint64_t psi_delay_passages(enum psi_delay_point point);

#endif
