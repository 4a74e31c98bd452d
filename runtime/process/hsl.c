/* Handler-safe locks: a mutex each.  A handler runs in a thread that holds none. */
#include "runtime/process/process.h"
#include "runtime/process/rules.h"

#include <errno.h>
#include <string.h>

static void
hsl_check(int error, const char *call)
{
	if (PSI_UNLIKELY(error))
		psi_fatal("%s: %s; initialise the lock by gex_HSL_Init or GEX_HSL_INITIALIZER, and "
		          "use no copy of it", call, strerror(error));
}

void
gex_HSL_Init(gex_HSL_t *hsl)
{
	*hsl = (gex_HSL_t)GEX_HSL_INITIALIZER;
	hsl_check(pthread_mutex_init(&hsl->psi_mutex, NULL), "gex_HSL_Init");
}

void
gex_HSL_Destroy(gex_HSL_t *hsl)
{
	int error = pthread_mutex_destroy(&hsl->psi_mutex);

	if (error == EBUSY)
		psi_fatal("gex_HSL_Destroy: the lock at %p is held; unlock it first", (void *)hsl);
	hsl_check(error, "gex_HSL_Destroy");
}

void
gex_HSL_Lock(gex_HSL_t *hsl)
{
	psi_rule_lock(hsl, "gex_HSL_Lock");
	hsl_check(pthread_mutex_lock(&hsl->psi_mutex), "gex_HSL_Lock");
	psi_rule_lock_taken(hsl);
}

void
gex_HSL_Unlock(gex_HSL_t *hsl)
{
	psi_rule_unlock(hsl);
	hsl_check(pthread_mutex_unlock(&hsl->psi_mutex), "gex_HSL_Unlock");
}

int
gex_HSL_Trylock(gex_HSL_t *hsl)
{
	int error = pthread_mutex_trylock(&hsl->psi_mutex);

	if (error == EBUSY)
		return GASNET_ERR_NOT_READY;
	hsl_check(error, "gex_HSL_Trylock");
	psi_rule_lock_taken(hsl);
	return GASNET_OK;
}
