/*
 * A client whose two threads are in malloc nearly all the time, and whose timer ends the job by
 * gasnet_exit(5).  With a second thread malloc takes its locks.
 */
#include <gasnetex.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

static void
timer_over(int sig)
{
	(void)sig;
	gasnet_exit(5);
}

static void *
allocate(void *unused)
{
	for (size_t bytes = 2000;; bytes = bytes % 100000 + 1000) {
		void *volatile memory = malloc(bytes);

		free(memory);
	}
	return unused;
}

int
main(int argc, char **argv)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	pthread_t other;
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;

	gex_Client_Init(&client, &ep, &tm, "interrupted", &argc, &argv, 0);
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	signal(SIGALRM, timer_over);
	setitimer(ITIMER_REAL, &soon, NULL);
	if (pthread_create(&other, NULL, allocate, NULL) != 0)
		gasnet_exit(1);
	allocate(NULL);
}
