/* Error codes in words. */
#include "runtime/process/process.h"

static const struct {
	int code;
	const char *name, *description;
} errors[] = {
	{ GASNET_OK, "GASNET_OK", "no error" },
	{ GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT", "the library has not been initialised" },
	{ GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "a resource ran out or is not there" },
	{ GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "an argument is not valid" },
	{ GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "not done yet, or not possible now" },
	{ GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH",
	  "the names of a barrier differ" },
};

enum { ERRORS = sizeof errors / sizeof *errors };

const char *
gasnet_ErrorName(int errval)
{
	for (unsigned i = 0; i < ERRORS; i++)
		if (errors[i].code == errval)
			return errors[i].name;
	return "*unknown*";
}

const char *
gasnet_ErrorDesc(int errval)
{
	for (unsigned i = 0; i < ERRORS; i++)
		if (errors[i].code == errval)
			return errors[i].description;
	return "no description available";
}

int
gex_System_GetVerboseErrors(void)
{
	return atomic_load_explicit(&psi.verbose_errors, memory_order_relaxed);
}

void
gex_System_SetVerboseErrors(int enable)
{
	atomic_store_explicit(&psi.verbose_errors, enable != 0, memory_order_relaxed);
}
