/*
 * The runtime's own view of a process, one header per thing.  Included by runtime, extended-ref and coll;
 * conduits see runtime/conduit/conduit.h alone.
 */
#ifndef PSI_H
#define PSI_H

#include "runtime/process/process.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/thread.h"
#include "runtime/wait/waiting.h"
#include "runtime/team/team.h"
#include "runtime/segment/shmem.h"
#include "runtime/op/event.h"
#include "runtime/am/am.h"
#include "runtime/rma/inline.h"
#include "runtime/report/reports.h"
#include "runtime/job/start.h"

#endif
