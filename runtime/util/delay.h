/*
 * Delay points: named places between two steps of a protocol, where a thread now and then lingers
 * for a random time, so that both sides meet in every order.  They exist in the message queue that
 * the stress programs are linked with, and in the whole of a build with --enable-delays; elsewhere
 * a point is nothing.
 *
 *     PT_DELAY_SEED=N     what the random times begin with (default 1)
 *     PT_DELAY_EVERY=N    one passage in so many lingers (default 16); 0: none
 *     PT_DELAY_AT=a,b     only at these points
 */
#ifndef PSI_UTIL_DELAY_H
#define PSI_UTIL_DELAY_H

#include <stdint.h>

/* Name, and between what and what. */
#define PSI_DELAY_POINTS(POINT)                                                              \
	POINT(claim,    "a place or buffer is the sender's; it writes there")                    \
	POINT(fill,     "the message is written; its header is published")                       \
	POINT(publish,  "the header is published; the sender looks whether it is polled")        \
	POINT(announce, "the lane is not polled; its bit is set")                                \
	POINT(mark,     "a bit is set in the lower bitmap; its word's bit is set in the upper")  \
	POINT(ring,     "somebody is to be rung; his wake word is read, changed, woken")         \
	POINT(arm,      "the sleeper has announced itself; its lanes are no longer polled")      \
	POINT(unpoll,   "lanes are no longer polled; the receiver looks at them once more")      \
	POINT(recheck,  "armed; the waiter looks at its condition")                              \
	POINT(sleep,    "the waiter has looked; it sleeps")                                      \
	POINT(disarm,   "the sleeper is awake; it takes back its announcement")                  \
	POINT(collect,  "bits are taken from the upper bitmap; then from the lower")             \
	POINT(activate, "a lane's bit is taken; it is polled from now on")                       \
	POINT(take,     "a header is seen; the message is read")                                 \
	POINT(retire,   "a message is done with; its slot is given back")                        \
	POINT(give,     "a buffer is done with; it is given back")                               \
	POINT(room,     "room was given back; who wants it is looked for")                       \
	POINT(want,     "the sender found no room; it leaves word, and looks again")

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

/* Perhaps waits; from any thread, orders nothing. */
void psi_delay(enum psi_delay_point point);

const char *psi_delay_name(enum psi_delay_point point);

/* How often threads of this process came by; a lost count is harmless. */
uint64_t psi_delay_passages(enum psi_delay_point point);

#endif
