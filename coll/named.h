/* Memory of this process that the network knows for a while, so that members of other hosts put
 * there. */
#ifndef PCOLL_NAMED_H
#define PCOLL_NAMED_H

#include "runtime/conduit/conduit.h"

struct pcoll_named {
	struct psi_registration *registration;  /* NULL: the network does not know it */
	struct psi_segment_name name;           /* if it does */
};

/* Makes it known.  False: members send messages to it instead.  Once a process has no room to
 * register more, of which the conduit tells in one line, it does not try again.  Any thread. */
bool pcoll_name(struct pcoll_named *named, void *base, size_t len_bytes);
/* Takes that back, if there is something; nobody puts there any more. */
void pcoll_unname(struct pcoll_named *named);

#endif
