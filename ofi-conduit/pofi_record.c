/*
 * Records of Longs (pofi_record.h): the rings, and which of their places are free.
 */
#include "ofi-conduit/pofi_record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert((POFI_IS_RECORD & PSI_SIGNAL_BITS) == 0, "no signal");
_Static_assert(POFI_RECORD_PROCESS_SHIFT - POFI_RECORD_PLACE_SHIFT >= 6, "places fit");

/* -- opening ----------------------------------------------------------------------------------- */

static size_t
rings_bytes(const struct psi_conduit *conduit)
{
	return (size_t)conduit->places * POFI_RECORDS * POFI_RECORD_BYTES;
}

/* Memory of a record is the conduit's own, so providers that want it registered have none. */
static bool
records_are_possible(const struct psi_conduit *conduit)
{
	const struct fi_info *info = conduit->info;

	return conduit->rma.data && !conduit->rma.needs_local &&
	       info->tx_attr->iov_limit >= 2 && info->tx_attr->rma_iov_limit >= 2 &&
	       conduit->rma.in_order;
}

void
pofi_records_open(struct psi_conduit *conduit)
{
	const bool virtual = conduit->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
	void *rings;

	conduit->records.name.key = PSI_NO_KEY;
	if (!records_are_possible(conduit))
		return;
	conduit->records.names = calloc(conduit->places, sizeof *conduit->records.names);
	if (!conduit->records.names)
		return;
	rings = mmap(NULL, rings_bytes(conduit), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (rings == MAP_FAILED)
		return;
	if (pofi_register_quietly(conduit, rings, rings_bytes(conduit), FI_REMOTE_WRITE,
	                          &conduit->records.mr) != 0) {
		munmap(rings, rings_bytes(conduit));
		return;
	}
	conduit->records.rings = rings;
	conduit->records.name = (struct psi_segment_name){
		.key = fi_mr_key(conduit->records.mr),
		.origin = virtual ? (uintptr_t)rings : 0,
	};
}

void
pofi_records_close(struct psi_conduit *conduit)
{
	if (conduit->records.mr)
		fi_close(&conduit->records.mr->fid);
	if (conduit->records.rings)
		munmap(conduit->records.rings, rings_bytes(conduit));
	free(conduit->records.names);
}

void
pofi_records_learn(struct psi_conduit *conduit, uint32_t process, struct psi_segment_name name)
{
	if (conduit->records.names)
		conduit->records.names[process] = name;
}

/* -- sending ----------------------------------------------------------------------------------- */

bool
pofi_record_has_room(const struct psi_conduit *conduit, uint32_t process)
{
	const struct pofi_peer *peer = &conduit->peers[process];

	return conduit->records.rings && conduit->records.names[process].key != PSI_NO_KEY &&
	       !peer->record_open &&
	       (uint16_t)(peer->records_sent - peer->records_read) < POFI_RECORDS;
}

static size_t
record_at(uint32_t process, uint32_t place)
{
	return ((size_t)process * POFI_RECORDS + place) * POFI_RECORD_BYTES;
}

struct psi_remote
pofi_record_next(const struct psi_conduit *conduit, uint32_t process, uint64_t *data_out)
{
	const uint32_t place = conduit->peers[process].records_sent % POFI_RECORDS;

	*data_out = (uint64_t)conduit->place << POFI_RECORD_PROCESS_SHIFT |
	            (uint64_t)place << POFI_RECORD_PLACE_SHIFT | POFI_IS_RECORD;
	return (struct psi_remote){
		.peer = process, .name = conduit->records.names[process],
		.offset = record_at(conduit->place, place),
	};
}

void
pofi_record_sent(struct psi_conduit *conduit, uint32_t process)
{
	conduit->peers[process].records_sent++;
}

/* Messages may overtake each other with some providers, so an older count is no news. */
void
pofi_records_read(struct psi_conduit *conduit, uint32_t process, uint16_t count)
{
	struct pofi_peer *peer = &conduit->peers[process];

	if ((uint16_t)(count - peer->records_read) <=
	    (uint16_t)(peer->records_sent - peer->records_read))
		peer->records_read = count;
}

/* -- taking ------------------------------------------------------------------------------------ */

/* A record is believed once: its tag is cleared, and the next one brings it again. */
char *
pofi_record_take(struct psi_conduit *conduit, uint64_t data)
{
	const uint64_t process = data >> POFI_RECORD_PROCESS_SHIFT;
	const uint64_t place = data >> POFI_RECORD_PLACE_SHIFT & 0xffffff;
	struct pofi_header header;
	char *record;

	if (!conduit->records.rings || process >= conduit->places || place >= POFI_RECORDS)
		return NULL;
	record = conduit->records.rings + record_at((uint32_t)process, (uint32_t)place);
	memcpy(&header, record, POFI_HEADER_BYTES);
	if (header.tag != conduit->tag || header.category != PSI_LONG ||
	    pofi_process_of(conduit, header.source) != process)
		return NULL;
	memset(record, 0, sizeof header.tag);
	conduit->peers[process].records_taken++;
	return record;
}
