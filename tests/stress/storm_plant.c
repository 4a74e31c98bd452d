#include "tests/stress/storm_plant.h"

#include "tests/stress/storm.h"

enum { OPPORTUNITY = 10, LATER_MS = 50 };

static const char *const names[] = {
	"nothing", "lost", "twice", "twice-answered", "byte", "argument", "put", "wake",
};

static enum storm_plant planted;
static pt_count opportunities;

void
storm_plant_set(const char *name)
{
	for (unsigned i = 0; i < PT_COUNT(names); i++) {
		if (strcmp(names[i], name) == 0) {
			planted = (enum storm_plant)i;
			if (planted == PLANT_WAKE)
				gasnet_set_waitmode(GASNET_WAIT_BLOCK);
			return;
		}
	}
	PT_FAIL("no fault is named %s", name);
}

int
storm_planted(enum storm_plant plant)
{
	unsigned long count;

	if (plant != planted || pt.rank != (pt.size > 1 ? pt.size - 2 : 0))
		return 0;
	count = (unsigned long)PT_INC(opportunities);
	return plant == PLANT_WAKE ? count >= OPPORTUNITY : count == OPPORTUNITY;
}

struct later {
	void (*done)(void *context);
	void *context;
};

static void *
do_later(void *arg)
{
	struct later later = *(struct later *)arg;

	free(arg);
	pt_sleep_ms(LATER_MS);
	later.done(later.context);
	return NULL;
}

void
storm_behind_its_back(void (*done)(void *context), void *context)
{
	struct later *later = (struct later *)malloc(sizeof *later);
	pthread_t thread;

	PT_CHECK(later != NULL);
	*later = (struct later){ done, context };
	PT_EQ(pthread_create(&thread, NULL, do_later, later), 0);
	pthread_detach(thread);
}
