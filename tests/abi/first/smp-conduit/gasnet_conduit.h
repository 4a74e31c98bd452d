/* gasnet_conduit.h for smp: processes of one host over shared memory. */
#ifndef GASNET_CONDUIT_H
#define GASNET_CONDUIT_H

#define GASNET_CONDUIT_SMP 1
#define GASNET_SMP_CONDUIT 1

/* The texts are spelt out, since a client may have a macro named SMP. */
#define GASNET_CONDUIT_NAME         SMP
#define GASNET_CONDUIT_NAME_STR     "SMP"
#define GASNET_CORE_NAME            SMP
#define GASNET_CORE_NAME_STR        "SMP"
#define GASNET_CORE_VERSION         0.1
#define GASNET_CORE_VERSION_STR     "0.1"
#define GASNET_EXTENDED_NAME        SMP
#define GASNET_EXTENDED_NAME_STR    "SMP"
#define GASNET_EXTENDED_VERSION     0.1
#define GASNET_EXTENDED_VERSION_STR "0.1"

#endif
