/*
 * penstock.h: what this library has beyond the interfaces that it implements, and its version, as
 * opposed to theirs.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include "gasnet_ex_port.h"

#define PENSTOCK_VERSION_MAJOR  PSI_CONFIG_VERSION_MAJOR
#define PENSTOCK_VERSION_MINOR  PSI_CONFIG_VERSION_MINOR
#define PENSTOCK_VERSION_PATCH  PSI_CONFIG_VERSION_PATCH
#define PENSTOCK_VERSION_STRING       \
	PSI_STRING(PENSTOCK_VERSION_MAJOR) "." \
	PSI_STRING(PENSTOCK_VERSION_MINOR) "." \
	PSI_STRING(PENSTOCK_VERSION_PATCH)

PSI_BEGIN_DECLS

/* Version of the library that runs, which may be newer than this header. */
PSI_API const char *pst_version(void);

/*
 * Counters: what each rank counts while it runs, always. They can be read at
 * any moment, by any thread, without a call of the rank that they are of;
 * numbers that change meanwhile may not fit together. PST_COUNTERS prints
 * them at the end of a job. What a thread counts while 256 others of its rank
 * live, other ranks see when it or the job has ended.
 */
struct pst_counter {
	const char *name;  /* such as "sent_request_short" */
	const char *unit;  /* such as "messages", "bytes", "ns" */
	const char *group; /* such as "am", "put", "wait" */
	const char *help;  /* what is counted */
	int is_most;       /* the largest of several is taken for all, not the sum */
};

/* Counter number i, the same in all processes; NULL past the last. Needs no job. */
PSI_API const struct pst_counter *pst_counter_at(unsigned i);

#define PST_COUNTERS_OWN UINT32_MAX

/*
 * Values of the first `room' counters of a rank of the job, or of the caller's
 * (PST_COUNTERS_OWN). Returns how many were written: 0 before init, and where
 * the rank's counters cannot be read from here.
 */
PSI_API unsigned pst_counters_read(uint32_t rank, uint64_t *values, unsigned room);
/* The same over all ranks whose counters can be read from here. */
PSI_API unsigned pst_counters_sum(uint64_t *values, unsigned room);

PSI_END_DECLS

#if defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR)
#include "gasnetex.h"

#include "gasnet_coll.h"
#include "gasnet_ratomic.h"
#include "gasnet_vis.h"

#include "penstock_coll.h"
#include "penstock_sem.h"
#include "penstock_signal.h"
#include "penstock_threads.h"

#define PST_API_VERSION          1 /* grows with every addition */
#endif

#endif
