/*
 * Connecting: the processes exchange their addresses, check that they speak the same, and agree on
 * the job's tag.  The fabric learns of an address when the first message goes there.
 */
#include "ofi-conduit/pofi_record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What each process tells all; `wire' 0: that it cannot connect, and says why. */
struct pofi_card {
	uint32_t wire;
	uint32_t medium_bytes;
	uint64_t secret;                /* that of process 0 is the job's */
	char provider[POFI_PROVIDER_BYTES];
	uint32_t address_bytes;
	char address[POFI_ADDRESS_BYTES];
	struct psi_segment_name records;
};

struct pofi_card *
pofi_cards_new(uint32_t places)
{
	return calloc(places, sizeof(struct pofi_card));
}

/* On failure `wire' stays 0. */
static int
card_fill(struct psi_conduit *conduit, struct pofi_card *card)
{
	const struct fi_info *info = conduit->info;
	size_t address_bytes = sizeof card->address;
	int code;

	strncpy(card->provider, info->fabric_attr->prov_name, sizeof card->provider - 1);
	code = -fi_getname(&conduit->ep->fid, card->address, &address_bytes);
	if (code) {
		conduit->services->log("ofi: provider %s does not tell its address: %s",
		                       card->provider, fi_strerror(code));
		return PSI_FAILED;
	}
	card->address_bytes = (uint32_t)address_bytes;
	if (getrandom(&card->secret, sizeof card->secret, 0) != sizeof card->secret) {
		conduit->services->log("ofi: no random number for the job's tag");
		return PSI_FAILED;
	}
	card->wire = POFI_WIRE;
	card->medium_bytes = (uint32_t)conduit->medium_bytes;
	card->records = conduit->records.name;
	return PSI_OK;
}

/* One line about a process that does not fit this one; none about one that says why itself. */
static bool
card_fits(const struct psi_conduit *conduit, const struct pofi_card *mine,
          const struct pofi_card *other, uint32_t process)
{
	const struct psi_services *services = conduit->services;

	if (!other->wire)
		return false;
	if (other->wire != mine->wire)
		services->log("ofi: ranks %u and %u have conduits of different kinds or releases "
		              "(%u, %u); set PST_CONDUIT the same, and install one release, on all "
		              "hosts", conduit->place, process,
		              mine->wire, other->wire);
	else if (strcmp(other->provider, mine->provider) != 0)
		services->log("ofi: ranks %u and %u chose different providers (%s, %s); set "
		              "PST_OFI_PROVIDER to one that all hosts have", conduit->place,
		              process, mine->provider, other->provider);
	else if (other->medium_bytes != mine->medium_bytes)
		services->log("ofi: ranks %u and %u differ in GASNET_OFI_MAX_MEDIUM (%u, %u "
		              "bytes); set the same on all hosts",
		              conduit->place, process, mine->medium_bytes, other->medium_bytes);
	else if (other->address_bytes != mine->address_bytes)
		services->log("ofi: ranks %u and %u have addresses of different kinds (%u, %u "
		              "bytes); set PST_NET_IFACE to interfaces of one kind on all hosts",
		              conduit->place, process, mine->address_bytes,
		              other->address_bytes);
	else
		return true;
	return false;
}

static int
cards_read(struct psi_conduit *conduit, const struct pofi_card *mine, const struct pofi_card *all)
{
	conduit->tag = all[0].secret;
	conduit->address_bytes = mine->address_bytes;
	conduit->addresses = malloc((size_t)conduit->places * mine->address_bytes);
	if (!conduit->addresses) {
		conduit->services->log("ofi: no memory for the addresses of %u ranks",
		                       conduit->places);
		return PSI_FAILED;
	}
	for (uint32_t process = 0; process < conduit->places; process++) {
		if (!card_fits(conduit, mine, &all[process], process))
			return PSI_FAILED;
		memcpy(conduit->addresses + process * conduit->address_bytes,
		       all[process].address, conduit->address_bytes);
		pofi_records_learn(conduit, process, all[process].records);
	}
	return PSI_OK;
}

/* A process that has no card takes part in the exchange, since the others wait there.  So what the
 * exchange needs was allocated at open. */
int
pofi_connect(struct psi_conduit *conduit)
{
	struct pofi_card mine = { 0 };
	int result = card_fill(conduit, &mine);

	conduit->services->exchange(&mine, sizeof mine, conduit->cards);
	if (result == PSI_OK)
		result = cards_read(conduit, &mine, conduit->cards);
	free(conduit->cards);
	conduit->cards = NULL;
	return result;
}
