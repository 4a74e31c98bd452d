/* What stands behind the handles of the interface: clients, segments, endpoints, tokens,
 * descriptors. */
#ifndef PSI_OBJECTS_H
#define PSI_OBJECTS_H

#define PSI_BUILDING_LIBRARY 1

#include "gasnet.h"

#include "runtime/conduit/conduit.h"

#include <stdatomic.h>
#include <stdbool.h>

struct psi_thread;

enum { PSI_HANDLERS = 256 };

/* Indices below GEX_AM_INDEX_BASE that the library uses itself. */
enum psi_internal_handler {
	PSI_HANDLER_GATHER = 1,
	PSI_HANDLER_ATOMIC,
	PSI_HANDLER_ATOMIC_DONE,
	PSI_HANDLER_PART_DONE,  /* of an operation (op.h): its two words; what replies that need no
	                         * more use */
	PSI_HANDLER_PUT,
	PSI_HANDLER_GET,
	PSI_HANDLER_DATA,
	PSI_HANDLER_FILL,
	PSI_HANDLER_COLL_NOTE,
	PSI_HANDLER_COLL_PAYLOAD,
	PSI_HANDLER_COLL_DATA,
	PSI_HANDLER_OFFLOAD,
	PSI_HANDLER_VIS_PUT,
	PSI_HANDLER_VIS_GET,
	PSI_HANDLER_VIS_DATA,
	PSI_HANDLER_LONG_HEAD,
	PSI_HANDLER_LONG_PIECE,
	PSI_HANDLER_SIGNAL,
	PSI_HANDLER_PUT_SIGNAL,
};

struct gex_Client_s {
	char *name;
	gex_Flags_t flags;
	void *cdata;
};

struct gex_Segment_s {
	gex_Client_t client;
	void *base;
	uintptr_t size;
	void *cdata;
	gex_Flags_t flags;
	bool attached;          /* by gex_Segment_Attach; lives as long as the job */
	bool destroyed;         /* seen only where psi.checks is set */
	gex_Segment_t destroyed_before; /* with checks */
	bool library_memory;    /* a range of this rank's file, else the client's memory */
	uint64_t key;           /* of its range */
	/* What peers call it over a network, from when it is first published. */
	bool is_bound;
	struct psi_segment_name name;
	struct psi_registration *registration;  /* NULL: it has no name */
};

/* The messages that a handler accepts are noted beside its address, so that delivery makes one
 * test. */
struct psi_handler {
	gex_AM_Fn_t fn;         /* NULL: not registered */
	uint8_t shapes;         /* the bits psi_shape_of() of the messages that it takes; 0: not
	                         * registered */
	uint8_t nargs;
	uint8_t nargs_mask;     /* 0: any number */
	gex_AM_Entry_t entry;   /* as registered; all zero for internal and legacy ones */
};

struct gex_EP_s {
	gex_Client_t client;
	gex_Segment_t segment;
	void *cdata;
	gex_Flags_t flags;
	gex_EP_Index_t index;
	bool serial;            /* one thread at a time, by promise */
	_Atomic(struct psi_thread *) user;      /* with checks, if serial: the thread in a call */
	_Atomic uint32_t threads;       /* bound to it (pollset.c), */
	_Atomic bool held;              /* one of which has not come yet */
	uint32_t place;
	const struct psi_conduit_ops *ops;
	struct psi_port *port;
	struct psi_handler handlers[PSI_HANDLERS];
};

struct gex_Token_s {
	gex_EP_t ep;
	const struct psi_arrival *arrival;
	bool replied;
};

/* A negotiated payload, from prepare to commit or cancel; each thread has one for each network. */
struct gex_AM_SrcDesc_s {
	bool open, own_buffer, is_long, is_reply, claimed;
	uint8_t nargs;
	gex_EP_t ep;
	gex_Token_t token;              /* replies */
	uint32_t place;
	void *buffer;
	size_t size;
	void *dest;                     /* Long: the hint, or NULL */
	gex_Event_t *lc_opt;
	struct psi_claim claim;
};

#endif
