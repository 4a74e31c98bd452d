/*
 * Segments of more bytes than a device registers at once.  Their owner registers them in parts, and
 * keeps a table of the parts' keys in memory that peers may read.  The name of such a segment is
 * key and address of the table.  A peer reads the table when it first uses the segment, and keeps
 * it; meanwhile its transfers wait as if there were no room.  The address of a table is never that
 * of another of its process, whose segment would be taken for the first one's: the owner frees
 * tables at the end alone (pibv_segment_release).
 */
#include "ibv-conduit/pibv.h"

#include <stdlib.h>

/* In the higher half of a name's key, where the key of a second device would be.  The lower half is
 * that of the table. */
static const uint64_t parts_mark = 0xfffffffe;

/* As long as a send buffer, by which peers read it. */
struct pibv_key_table {
	uint64_t base;                  /* address of the segment at its owner */
	uint64_t part_bytes;
	uint32_t keys[];
};

/* A peer's, or one that is on its way. */
struct pibv_peer_table {
	struct pibv_peer_table *next;
	uint32_t process;
	struct psi_segment_name name;
	uint64_t state;                 /* PIBV_READ: it is here */
	struct pibv_key_table *table;
};

bool
pibv_name_has_parts(struct psi_segment_name name)
{
	return name.key >> 32 == parts_mark;
}

/* -- at the owner ------------------------------------------------------------------------------ */

bool
pibv_parts_fit(const struct psi_conduit *conduit, size_t len_bytes)
{
	const size_t parts = pibv_parts_of(conduit, len_bytes);
	const size_t most =
		(conduit->message_bytes - sizeof(struct pibv_key_table)) / sizeof(uint32_t);

	if (parts <= most)
		return true;
	conduit->services->log("ibv: a segment of %zu bytes would have %zu parts of %zu bytes, and "
	                       "%zu are possible; raise PST_IBV_PART or PST_IBV_MAX_MEDIUM",
	                       len_bytes, parts, conduit->part_bytes, most);
	return false;
}

bool
pibv_parts_publish(struct psi_conduit *conduit, struct psi_registration *registration,
                   struct psi_segment_name *name_out)
{
	const size_t bytes = conduit->message_bytes;
	struct pibv_key_table *table = calloc(1, bytes);

	registration->table = table;
	if (!table) {
		conduit->services->log("ibv: no memory to register a segment");
		return false;
	}
	table->base = (uintptr_t)registration->base;
	table->part_bytes = registration->part_bytes;
	for (uint32_t part = 0; part < registration->parts; part++)
		table->keys[part] = registration->mrs[part]->rkey;
	registration->table_mr = pibv_register(conduit, 0, table, bytes,
	                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!registration->table_mr)
		return false;
	*name_out = (struct psi_segment_name){
		.key = parts_mark << 32 | registration->table_mr->rkey,
		.origin = (uintptr_t)table,
	};
	return true;
}

/* -- at its peers ------------------------------------------------------------------------------ */

static struct pibv_peer_table *
table_find(const struct psi_conduit *conduit, uint32_t process, struct psi_segment_name name)
{
	struct pibv_peer_table *at = conduit->tables;

	while (at && (at->process != process || at->name.key != name.key ||
	              at->name.origin != name.origin))
		at = at->next;
	return at;
}

/* What finds no room or memory is tried again with the transfer. */
static void
table_fetch(struct psi_conduit *conduit, struct pibv_connection *connection,
            struct psi_segment_name name)
{
	const size_t bytes = conduit->message_bytes;
	struct ibv_sge sge = { .length = (uint32_t)bytes, .lkey = conduit->buffers.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { .remote_addr = name.origin, .rkey = (uint32_t)name.key },
	};
	struct pibv_work work = { .what = PIBV_ALL, .copy_bytes = bytes };
	const struct pibv_work *const works = &work;
	struct pibv_peer_table *made = NULL;

	if (pibv_work_fits(conduit, connection, 1))
		work.buffer = pibv_buffer_take(conduit, connection);
	if (work.buffer)
		made = calloc(1, sizeof *made);
	if (made)
		made->table = calloc(1, bytes);
	if (!made || !made->table) {
		free(made);
		if (work.buffer)
			pibv_buffer_give(conduit, work.buffer);
		return;
	}
	made->process = connection->process;
	made->name = name;
	made->next = conduit->tables;
	conduit->tables = made;
	sge.addr = (uintptr_t)work.buffer->bytes;
	work.copy_to = made->table;
	work.read_word = &made->state;
	(void)pibv_work_post(conduit, connection, &wr, &works);
}

static bool
part_find(struct psi_conduit *conduit, struct pibv_connection *connection,
          const struct psi_remote *remote, size_t *len_io, uint64_t *address_out,
          uint32_t *key_out)
{
	const struct pibv_peer_table *peer =
		table_find(conduit, connection->process, remote->name);
	uint64_t part, left;

	if (!peer)
		table_fetch(conduit, connection, remote->name);
	if (!peer || peer->state != PIBV_READ)
		return false;
	part = remote->offset / peer->table->part_bytes;
	left = (part + 1) * peer->table->part_bytes - remote->offset;
	if (*len_io > left)
		*len_io = left;
	*address_out = peer->table->base + remote->offset;
	*key_out = peer->table->keys[part];
	return true;
}

bool
pibv_remote_find(struct psi_conduit *conduit, struct pibv_connection *connection,
                 const struct psi_remote *remote, size_t *len_io, uint64_t *address_out,
                 uint32_t *key_out)
{
	const struct pibv_card *card = &conduit->cards[connection->process];
	const unsigned device = card->ports[connection->rail].device_index;

	if (pibv_name_has_parts(remote->name))
		return part_find(conduit, connection, remote, len_io, address_out, key_out);
	*address_out = remote->name.origin + remote->offset;
	*key_out = (uint32_t)(remote->name.key >> 32 * device);
	return true;
}

void
pibv_tables_free(struct psi_conduit *conduit)
{
	while (conduit->tables) {
		struct pibv_peer_table *table = conduit->tables;

		conduit->tables = table->next;
		free(table->table);
		free(table);
	}
}
