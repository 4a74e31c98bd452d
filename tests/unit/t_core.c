/* The runtime's core over a conduit that can little and refuses much. */
#include "coll/coll.h"
#include "coll/pcoll_barrier.h"
#include "runtime/job/modules.h"
#include "runtime/process/process.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"
#include "tests/unit/main.h"

#include <string.h>

static struct gex_EP_s ep;
static struct gex_TM_s tm;

/* What the conduit does next, and what it was asked. */
static struct {
	int send_result, claim_result;
	unsigned refusals;              /* sends to refuse before send_result counts */
	unsigned sends, claims, cancels, wants, polls;
	uint32_t wanted;
	struct psi_am last;
	unsigned char payload[256];
} fake;

static int
fake_send(struct psi_port *port, const struct psi_am *am)
{
	(void)port;
	fake.sends++;
	if (fake.refusals) {
		fake.refusals--;
		return PSI_AGAIN;
	}
	fake.last = *am;
	ck_assert_uint_le(am->len_bytes, sizeof fake.payload);
	if (am->len_bytes && fake.send_result == PSI_OK)
		memcpy(fake.payload, am->payload, am->len_bytes);
	return fake.send_result;
}

static int
fake_claim(struct psi_port *port, struct psi_claim *claim)
{
	static _Alignas(16) unsigned char buffer[64];

	(void)port;
	fake.claims++;
	claim->buffer = buffer;
	claim->size_bytes = claim->most_bytes < sizeof buffer ? claim->most_bytes : sizeof buffer;
	return fake.claim_result;
}

static void
fake_cancel(struct psi_port *port, const struct psi_claim *claim)
{
	(void)port, (void)claim;
	fake.cancels++;
}

static void
fake_want(struct psi_port *port, uint32_t peer)
{
	(void)port;
	fake.wants++;
	fake.wanted = peer;
}

static unsigned
fake_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	(void)port, (void)networks, (void)budget;
	fake.polls++;
	return 0;
}

static const struct psi_conduit_ops ops = {
	.name = "fake", .am_send = fake_send, .am_claim = fake_claim, .am_cancel = fake_cancel,
	.request_room = fake_want, .poll = fake_poll,
};

static void
set_up(void)
{
	static const uint32_t host_of[2] = { 0, 1 };

	memset(&fake, 0, sizeof fake);
	tm.ep = &ep;
	psi.boot = (struct pboot_job){ .size = 2, .host_count = 2, .host_of = host_of };
	tm.size = psi.places = 2;
	psi_hosts_open();
	psi.shared = calloc(1, psi_shared_bytes(2, 0));
	ck_assert_ptr_ne(psi.shared, NULL);
	ep.ops = psi.ops = &ops;
	psi.ep = &ep;
	psi.tm = &tm;
	psi.thread_mode = PSI_MODE_PARSYNC;
	psi.attributes.max_medium_bytes = 100;
	psi.open = true;
	psi.modules = psi_modules;
}

static int
commit(gex_AM_SrcDesc_t sd, size_t nbytes, gex_Flags_t flags)
{
	return psi_am_commit_request_medium(sd, 200, nbytes, flags, 0, NULL);
}

START_TEST(without_claims_a_prepared_message_is_copied)
{
	gex_AM_SrcDesc_t sd;

	fake.claim_result = PSI_UNSUPPORTED;
	sd = gex_AM_PrepareRequestMedium(&tm, 1, NULL, 0, SIZE_MAX, NULL, 0, 0);
	ck_assert_ptr_nonnull(sd);
	ck_assert_uint_eq(gex_AM_SrcDescSize(sd), 100);
	memset(gex_AM_SrcDescAddr(sd), 7, 100);
	ck_assert_int_eq(commit(sd, 99, 0), GASNET_OK);
	ck_assert_uint_eq(fake.sends, 1);
	ck_assert_uint_eq(fake.last.len_bytes, 99);
	ck_assert_int_eq(fake.payload[98], 7);
	/* and one that is not wanted any more is not the conduit's business */
	sd = gex_AM_PrepareRequestMedium(&tm, 1, NULL, 1, 8, NULL, 0, 0);
	ck_assert_int_eq(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
	ck_assert_uint_eq(fake.cancels, 0);
}
END_TEST

START_TEST(a_refused_prepare_holds_nothing)
{
	gex_AM_SrcDesc_t sd;

	fake.claim_result = PSI_AGAIN;
	sd = gex_AM_PrepareRequestMedium(&tm, 1, NULL, 8, 8, NULL, GEX_FLAG_IMMEDIATE, 0);
	ck_assert_ptr_null(sd);
	ck_assert_uint_eq(fake.polls, 0);
	fake.claim_result = PSI_OK;
	sd = gex_AM_PrepareRequestMedium(&tm, 1, NULL, 8, 8, NULL, GEX_FLAG_IMMEDIATE, 0);
	ck_assert_ptr_nonnull(sd);
	ck_assert_int_eq(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
	ck_assert_uint_eq(fake.cancels, 1);
}
END_TEST

START_TEST(a_refused_commit_stays_open)
{
	gex_Event_t event = GEX_EVENT_NO_OP;
	char block[8] = "abcdefg";
	gex_AM_SrcDesc_t sd =
		gex_AM_PrepareRequestMedium(&tm, 1, block, 8, 8, &event, GEX_FLAG_IMMEDIATE, 0);

	ck_assert_ptr_nonnull(sd);
	fake.send_result = PSI_AGAIN;
	ck_assert_int_ne(commit(sd, 8, GEX_FLAG_IMMEDIATE), GASNET_OK);
	ck_assert_int_ne(commit(sd, 8, GEX_FLAG_IMMEDIATE), GASNET_OK);
	ck_assert_uint_eq(fake.polls, 0);
	ck_assert_ptr_eq(event, GEX_EVENT_NO_OP);
	fake.send_result = PSI_OK;
	ck_assert_int_eq(commit(sd, 4, GEX_FLAG_IMMEDIATE), GASNET_OK);
	ck_assert_ptr_eq(event, GEX_EVENT_INVALID);
	ck_assert_uint_eq(fake.last.len_bytes, 4);
}
END_TEST

/* Whoever sleeps for the barrier hears of room only if it was asked for. */
START_TEST(a_barrier_without_room_asks_for_it)
{
	gex_Event_t event;

	psi_module_open(&pcoll_barrier_module, &ep);
	psi_module_open(&pcoll_module, &ep);
	fake.refusals = 2;
	event = gex_Coll_BarrierNB(&tm, 0);
	ck_assert_ptr_ne(event, GEX_EVENT_INVALID);
	ck_assert_uint_eq(fake.sends, 2);       /* once more after asking */
	ck_assert_uint_eq(fake.wants, 1);
	ck_assert_uint_eq(fake.wanted, 1);
	psi_poll();
	ck_assert_uint_eq(fake.sends, 3);
	psi_poll();
	ck_assert_uint_eq(fake.sends, 3);       /* it is under way */
	ck_assert_uint_eq(fake.wants, 1);
	ck_assert_int_eq(gex_Event_Test(event), GASNET_ERR_NOT_READY);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("core");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, without_claims_a_prepared_message_is_copied);
	tcase_add_test(tests, a_refused_prepare_holds_nothing);
	tcase_add_test(tests, a_refused_commit_stays_open);
	tcase_add_test(tests, a_barrier_without_room_asks_for_it);
	return unit_run("core", tests);
}
