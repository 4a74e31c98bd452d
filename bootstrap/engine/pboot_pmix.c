/*
 * The engine that speaks PMIx: Open MPI's mpirun, and Slurm.  The system's library libpmix.so.2 is
 * opened when a job starts under it, so a program needs no such library elsewhere.  The library has
 * a thread of its own, which ends with finalize.  All signals are blocked around open, so that this
 * thread inherits that and no handler of the client's runs there.
 */
#include "bootstrap/engine/pboot_engine.h"

#include "bootstrap/bootstrap.h"
#include "bootstrap/engine/pboot_siblings.h"
#include "runtime/util/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIBRARY "libpmix.so.2"

/* A program may be linked without -ldl, which C libraries before glibc 2.34 need for these
 * functions.  Then they are NULL, and everything but PMIx works. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

static struct {
	pmix_proc_t self;
	uint32_t size;
	bool connected;
	pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t info[], size_t count);
	pmix_status_t (*finalize)(const pmix_info_t info[], size_t count);
	pmix_status_t (*abort)(int status, const char text[], pmix_proc_t procs[], size_t count);
	pmix_status_t (*put)(pmix_scope_t scope, const char key[], pmix_value_t *value);
	pmix_status_t (*commit)(void);
	pmix_status_t (*fence)(const pmix_proc_t procs[], size_t proc_count,
	    const pmix_info_t info[], size_t count, pmix_op_cbfunc_t over, void *context);
	pmix_status_t (*get)(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
	    size_t count, pmix_value_t **value);
	const char *(*error_text)(pmix_status_t status);
} pmix;

/* Prints one line about a call that failed. */
static bool
pmix_fail(const char *call, pmix_status_t status)
{
	psi_log("rank %u: PMIx: %s: %s (%d)", pmix.self.rank, call, pmix.error_text(status),
	    (int)status);
	return false;
}

/* -- opening ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void *where;	/* the pointer that gets the function */
} calls[] = {
	{ "PMIx_Init", &pmix.init }, { "PMIx_Finalize", &pmix.finalize },
	{ "PMIx_Abort", &pmix.abort }, { "PMIx_Put", &pmix.put },
	{ "PMIx_Commit", &pmix.commit }, { "PMIx_Fence_nb", &pmix.fence },
	{ "PMIx_Get", &pmix.get }, { "PMIx_Error_string", &pmix.error_text },
};

/* Finds all calls.  Returns NULL, or the reason why that cannot be done. */
static const char *
calls_find(void)
{
	void *library, *call;
	size_t i;

	if (!dlopen || !dlsym || !dlerror)
		return "the program was linked without -ldl";
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL); /* its parts use its names */
	if (!library)
		return dlerror();
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		call = dlsym(library, calls[i].name);
		if (!call)
			return calls[i].name;
		memcpy(calls[i].where, &call, sizeof call);
	}
	return NULL;
}

static bool
library_open(void)
{
	const char *why = calls_find();

	if (why)
		psi_log("this program was started under PMIx (PMIX_NAMESPACE=%.80s), and cannot "
		    "use " LIBRARY ": %.300s", getenv("PMIX_NAMESPACE"), why);
	return !why;
}

static pmix_status_t
connection_open(void)
{
	pmix_status_t status;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	status = pmix.init(&pmix.self, NULL, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

static bool
size_learn(uint32_t *size_out)
{
	pmix_proc_t job = pmix.self;
	pmix_value_t *value = NULL;
	pmix_status_t status;
	bool known;

	job.rank = PMIX_RANK_WILDCARD;
	status = pmix.get(&job, PMIX_JOB_SIZE, NULL, 0, &value);
	if (status != PMIX_SUCCESS)
		return pmix_fail("the number of ranks", status);
	known = value->type == PMIX_UINT32 && value->data.uint32 >= 1 &&
	    value->data.uint32 <= PBOOT_RANKS_MAX && pmix.self.rank < value->data.uint32;
	if (known)
		*size_out = value->data.uint32;
	else
		psi_log("rank %u: PMIx gives no number of ranks above this rank and up to %d",
		    pmix.self.rank, PBOOT_RANKS_MAX);
	free(value);
	return known;
}

/* How many ranks are on this host, if the process manager says it. */
static void
local_size_learn(void)
{
	pmix_proc_t job = pmix.self;
	pmix_value_t *value = NULL;

	job.rank = PMIX_RANK_WILDCARD;
	if (pmix.get(&job, PMIX_LOCAL_SIZE, NULL, 0, &value) != PMIX_SUCCESS)
		return;
	if (value->type == PMIX_UINT32)
		pboot_siblings_expect(value->data.uint32);
	free(value);
}

static bool
pmix_open(uint32_t *rank_out, uint32_t *size_out)
{
	pmix_status_t status;

	pboot_siblings_open("PMIX_RANK", "PMIX_NAMESPACE");
	if (!library_open())
		return false;
	status = connection_open();
	if (status != PMIX_SUCCESS)
		return pmix_fail("cannot reach the process manager", status);
	pmix.connected = true;
	if (!size_learn(&pmix.size))
		return false;
	local_size_learn();
	*size_out = pmix.size;
	*rank_out = pmix.self.rank;
	return true;
}

/* -- values ------------------------------------------------------------------------------------ */

static void
key_write(const char *key, pmix_key_t name_out)
{
	snprintf(name_out, sizeof(pmix_key_t), "pst.%s", key);
}

static bool
pmix_put(const char *key, const void *value, size_t len_bytes)
{
	pmix_value_t wrapped = { .type = PMIX_BYTE_OBJECT };
	char *copy = malloc(len_bytes + 1);
	pmix_key_t name;
	pmix_status_t status;

	if (!copy) {
		psi_log("rank %u: no memory for a value of %zu bytes", pmix.self.rank, len_bytes);
		return false;
	}
	memcpy(copy, value, len_bytes);
	wrapped.data.bo.bytes = copy;
	wrapped.data.bo.size = len_bytes;
	key_write(key, name);
	status = pmix.put(PMIX_GLOBAL, name, &wrapped);
	free(copy);
	return status == PMIX_SUCCESS || pmix_fail("PMIx_Put", status);
}

/* The fence that is under way.  A thread of PMIx tells its end, perhaps late, so this is static. */
static struct {
	sem_t over;
	pmix_status_t status;	/* written before over is posted */
} fence;

static void
fence_over(pmix_status_t status, void *context)
{
	(void)context;
	fence.status = status;
	sem_post(&fence.over);
}

static bool
fence_is_over(int limit_ms)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += limit_ms * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		err = sem_timedwait(&fence.over, &end) == 0 ? 0 : errno;
	} while (err == EINTR);
	return err == 0;
}

/* With PMIX_COLLECT_DATA the values come with the fence, so get asks no other process. */
static bool
pmix_fence(void)
{
	pmix_info_t collect;
	pmix_proc_t all = pmix.self;
	pmix_status_t status = pmix.commit();

	if (status != PMIX_SUCCESS)
		return pmix_fail("PMIx_Commit", status);
	memset(&collect, 0, sizeof collect);
	snprintf(collect.key, sizeof collect.key, "%s", PMIX_COLLECT_DATA);
	collect.value.type = PMIX_BOOL;
	collect.value.data.flag = true;
	all.rank = PMIX_RANK_WILDCARD;
	sem_init(&fence.over, 0, 0);
	status = pmix.fence(&all, 1, &collect, 1, fence_over, NULL);
	if (status == PMIX_SUCCESS &&
	    !pboot_siblings_await(fence_is_over, pmix.self.rank, pmix.size))
		return false;
	if (status == PMIX_SUCCESS)
		status = fence.status;
	else if (status == PMIX_OPERATION_SUCCEEDED)
		status = PMIX_SUCCESS;
	return status == PMIX_SUCCESS || pmix_fail("PMIx_Fence", status);
}

static bool
pmix_get(uint32_t rank, const char *key, void *value_out, size_t room_bytes, size_t *len_out)
{
	pmix_proc_t owner = pmix.self;
	pmix_value_t *value = NULL;
	pmix_key_t name;
	pmix_status_t status;
	bool fits;

	owner.rank = rank;
	key_write(key, name);
	status = pmix.get(&owner, name, NULL, 0, &value);
	if (status != PMIX_SUCCESS)
		return pmix_fail("PMIx_Get", status);
	fits = value->type == PMIX_BYTE_OBJECT && value->data.bo.size <= room_bytes;
	if (fits) {
		*len_out = value->data.bo.size;
		memcpy(value_out, value->data.bo.bytes, *len_out);
	} else {
		psi_log("rank %u: PMIx: the value of %s is not what rank %u put there",
		    pmix.self.rank, name, rank);
	}
	if (value->type == PMIX_BYTE_OBJECT)
		free(value->data.bo.bytes);
	free(value);
	return fits;
}

/* -- the end ----------------------------------------------------------------------------------- */

static void
pmix_abort(int status, const char *text)
{
	if (pmix.connected)
		pmix.abort(status, text, NULL, 0);
}

static void
pmix_finalize(void)
{
	pboot_engine_forget();
	pmix.finalize(NULL, 0);
}

const struct pboot_engine pboot_engine_pmix = {
	.name = "PMIx",
	.probe = pboot_engine_has_namespace,
	.open = pmix_open,
	.put = pmix_put,
	.fence = pmix_fence,
	.get = pmix_get,
	.abort = pmix_abort,
	.finalize = pmix_finalize,
};
