/*
 * Faults that the storm must notice, planted between the library and the storm's own checks, one to
 * a job: the rank before the last does it, at its tenth opportunity.  Of a wake-up that is lost,
 * all answers from then on are counted by a thread that wakes nobody.
 */
#ifndef PT_STORM_PLANT_H
#define PT_STORM_PLANT_H

enum storm_plant {
	PLANT_NOTHING,
	PLANT_LOST,                     /* a request is dropped */
	PLANT_TWICE,                    /* a request comes twice */
	PLANT_TWICE_ANSWERED,           /* an answer does */
	PLANT_BYTE,                     /* a byte of a payload is another one */
	PLANT_ARGUMENT,                 /* an argument is */
	PLANT_PUT,                      /* a put is not done */
	PLANT_WAKE,                     /* a wake-up is lost */
};

/* By name; before the storm begins. */
void storm_plant_set(const char *name);

/* Is this the opportunity? */
int storm_planted(enum storm_plant plant);

/* Calls done(context) from a thread that the library does not know, a moment later. */
void storm_behind_its_back(void (*done)(void *context), void *context);

#endif
