/* A PMI-1 server for one client, which can be made to misbehave. */
#ifndef PT_PMI1_SERVER_H
#define PT_PMI1_SERVER_H

#include <stdbool.h>

struct pmi1_server {
	int vallen_max;		/* what it tells, and keeps to; 0: 1024 */
	bool by_port;		/* the client says first which process it is */
	bool in_bits;		/* answers come slowly, in pieces */
	int close_at; /* closes in place of the answer to this request, counted from 1; 0: never */
	int instead_at;		/* answers this request with the text below; 0: none */
	const char *instead;	/* NULL: with nothing */
};

/* Serves until the client has gone.  Status 0 if it finalized, 10 + code if it aborted, 1 if it
 * just went, 2 if a request was no good; for exit. */
int pmi1_serve(int sock, const struct pmi1_server *how);

#endif
