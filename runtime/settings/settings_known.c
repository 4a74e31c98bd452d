#include "runtime/settings/settings_known.h"

#include <fnmatch.h>

/* Patterns for fnmatch, by group; * stands for a limit, a device number and the like. */
static const char *const foreign[] = {
	/* what the launcher and the keeper tell a rank */
	"PST_JOB_*",
	/* placement and memory */
	"GASNET_USE_PSHM_SINGLETON", "GASNET_USE_HUGEPAGES", "GASNET_HOST_DETECT",
	"GASNET_NODEMAP_EXACT", "GASNET_DISABLE_MUNMAP", "GASNET_MAXIMIZE_*", "GASNET_HWLOC_QUERY",
	"GASNET_THREAD_STACK_MIN",
	"GASNET_THREAD_STACK_PAD", "GASNET_PHYSMEM_MAX", "GASNET_PHYSMEM_PROBE",
	"GASNET_PHYSMEM_WARN", "GASNET_PINNED_REGIONS_MAX",
	/* algorithms */
	"GASNET_BARRIER", "GASNET_PSHM_BARRIER_HIER", "GASNET_PSHM_BARRIER_RADIX",
	"GASNET_PSHM_NETWORK_DEPTH", "GASNET_COLL_ENABLE_SEARCH", "GASNET_COLL_TUNING_FILE",
	"GASNET_COLL_*", "GASNET_VIS_*",
	/* decoding of protected arguments, time source, test programs */
	"GASNET_DISABLE_ENVDECODE", "GASNET_DISABLE_ARGDECODE", "GASNET_TSC_*",
	"GASNET_TEST_*",
	/* builds with tracing, statistics, checked malloc or canaries */
	"GASNET_TRACEFILE", "GASNET_TRACEMASK", "GASNET_TRACENODES", "GASNET_TRACEFLUSH",
	"GASNET_TRACELOCAL",
	"GASNET_MALLOC_*", "GASNET_MALLOCFILE", "GASNET_MALLOCNODES",
	/* udp and mpi conduits */
	"GASNET_SPAWNFN", "GASNET_CSPAWN_*", "GASNET_NETWORKDEPTH*", "GASNET_SENDDEPTH",
	"GASNET_RECVDEPTH", "GASNET_SOCKETBUFFER_*", "GASNET_REQUESTTIMEOUT_*",
	"GASNET_ROUTE_OUTPUT", "GASNET_LINEBUFFERSZ", "GASNET_MASTERIP", "GASNET_WORKERIP",
	"GASNET_WORKER_RANK", "GASNET_ENV_CMD", "GASNET_USE_GETHOSTID",
	/* spawners */
	"GASNET_MPI_*", "GASNET_*_SPAWNER",
	/* ibv conduit; whole names, since those that have an effect here may be mistyped */
	"GASNET_IBV_PORTS_TYPE*", "GASNET_IBV_PORTS_VERBOSE", "GASNET_IBV_LIST_PORTS",
	"GASNET_IBV_LIST_PORTS_NODES", "GASNET_HCA_ID", "GASNET_PORT_NUM", "GASNET_NUM_QPS",
	"GASNET_CONNECT_DYNAMIC", "GASNET_CONNECT_SNDS", "GASNET_CONNECT_RCVS",
	"GASNET_CONNECTFILE_*", "GASNET_RCV_THREAD_*", "GASNET_SND_THREAD*",
	"GASNET_PACKEDLONG_LIMIT", "GASNET_NONBULKPUT_BOUNCE_LIMIT", "GASNET_PUTINMOVE_LIMIT",
	"GASNET_PUT_STRIPE_SZ", "GASNET_GET_STRIPE_SZ", "GASNET_AM_GATHER_MIN", "GASNET_USE_SRQ",
	"GASNET_USE_XRC", "GASNET_USE_ODP", "GASNET_ODP_VERBOSE", "GASNET_USE_FENCED_PUTS",
	"GASNET_AM_CREDITS_*", "GASNET_RBUF_SPARES", "GASNET_RATOMICBUF_COUNT",
	"GASNET_USE_FIREHOSE", "GASNET_FIREHOSE_*",
	/* ofi and ucx conduits */
	"GASNET_OFI_*", "GASNET_UCX_*",
	NULL,
};

bool
psi_settings_is_foreign(const char *name)
{
	size_t i;

	for (i = 0; foreign[i]; i++) {
		if (fnmatch(foreign[i], name, 0) == 0)
			return true;
	}
	return false;
}

const char *
psi_settings_foreign_name(size_t i)
{
	return i < sizeof foreign / sizeof *foreign ? foreign[i] : NULL;
}
