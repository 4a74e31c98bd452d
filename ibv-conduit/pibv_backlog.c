/*
 * The backlog of a connection: replies and transfers that found no room, or came before it was
 * connected.  While it holds something, later ones go behind it.
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>

static struct pibv_waiting *
waiting_add(struct psi_conduit *conduit, struct pibv_connection *connection, size_t len_bytes)
{
	struct pibv_waiting *waiting = malloc(offsetof(struct pibv_waiting, message) + len_bytes);

	if (!waiting)
		return NULL;
	waiting->next = NULL;
	waiting->len_bytes = len_bytes;
	if (!connection->first) {
		connection->next_backlog = conduit->backlog;
		conduit->backlog = connection;
		connection->last = &connection->first;
	}
	*connection->last = waiting;
	connection->last = &waiting->next;
	return waiting;
}

char *
pibv_backlog_reply(struct psi_conduit *conduit, struct pibv_connection *connection,
                   size_t len_bytes)
{
	struct pibv_waiting *waiting = NULL;

	if (connection->replies < conduit->credits)
		waiting = waiting_add(conduit, connection, len_bytes);
	if (!waiting)
		return NULL;
	waiting->is_move = false;
	connection->replies++;
	return waiting->message;
}

int
pibv_backlog_move(struct psi_conduit *conduit, struct pibv_connection *connection,
                  const struct pibv_move *move)
{
	struct pibv_waiting *waiting = waiting_add(conduit, connection, 0);

	if (!waiting)
		return PSI_AGAIN;
	waiting->is_move = true;
	waiting->move = *move;
	conduit->moves++;
	return PSI_OK;
}

static void
waiting_drop_first(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	struct pibv_waiting *waiting = connection->first;

	connection->first = waiting->next;
	if (waiting->is_move)
		conduit->moves--;
	else
		connection->replies--;
	free(waiting);
}

/* Those of a lost peer never complete: the job ends. */
static int
waiting_try(struct psi_conduit *conduit, struct pibv_connection *connection,
            struct pibv_done *done)
{
	struct pibv_waiting *waiting = connection->first;
	uint64_t read_cookie = 0;
	int result;

	if (connection->broken)
		return PSI_OK;
	if (!waiting->is_move)
		return pibv_message_resend(conduit, connection, waiting->message,
		                           waiting->len_bytes);
	result = pibv_move_advance(conduit, connection, &waiting->move, &read_cookie);
	pibv_done_add(done, read_cookie);
	return result;
}

/* True if nothing is left.  What completes at once has room in `done' for the rest of the poll. */
static bool
connection_advance(struct psi_conduit *conduit, struct pibv_connection *connection,
                   struct pibv_done *done)
{
	while (connection->first) {
		if (done->count >= PIBV_DONE - 2 * PIBV_DEPTH_MOST ||
		    waiting_try(conduit, connection, done) == PSI_AGAIN)
			return false;
		waiting_drop_first(conduit, connection);
	}
	return true;
}

void
pibv_backlog_advance(struct psi_conduit *conduit, struct pibv_done *done)
{
	struct pibv_connection **link = &conduit->backlog;

	while (*link) {
		if (connection_advance(conduit, *link, done))
			*link = (*link)->next_backlog;
		else
			link = &(*link)->next_backlog;
	}
}

void
pibv_backlog_free(struct pibv_connection *connection)
{
	while (connection->first) {
		struct pibv_waiting *waiting = connection->first;

		connection->first = waiting->next;
		free(waiting);
	}
}
