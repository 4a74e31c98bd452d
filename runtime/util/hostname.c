#include "runtime/util/hostname.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char name[HOST_NAME_MAX + 1];

static void
hostname_ask(void)
{
	if (gethostname(name, sizeof name) != 0 || !name[0])
		strcpy(name, "localhost");
}

const char *
psi_hostname(void)
{
	pthread_once(&once, hostname_ask);
	return name;
}
