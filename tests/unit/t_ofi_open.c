/*
 * The ofi conduit: where it cannot open or connect it says why, in one line that names what to do;
 * and when its receive buffers are used again.
 */
#include "tests/unit/main.h"
#include "tests/unit/ofi_rig.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One test asks for more memory than there is; the sanitizers' allocators may say so with NULL. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}
const char *
__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void
said_has(const char *part)
{
	ck_assert_msg(strstr(ofi_said, part), "`%s' is not in: %s", part, ofi_said);
	ck_assert_ptr_eq(strchr(ofi_said, '\n'), NULL);
}

static void
opens(void)
{
	char text[400];

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ck_assert_int_eq(ofi_connect(), PSI_OK);
	pofi_ops.describe(ofi_self.conduit, text, sizeof text);
	ck_assert_ptr_ne(strstr(text, "provider "), NULL);
	ck_assert_ptr_ne(strstr(text, "per peer"), NULL);
	ck_assert_ptr_ne(strstr(text, "puts, gets and Longs native, signals with puts, in "
	                              "pieces of 1073741824 bytes, 128 at a time"), NULL);
	ofi_self.conduit->rma.puts = ofi_self.conduit->rma.data = false;
	pofi_ops.describe(ofi_self.conduit, text, sizeof text);
	ck_assert_ptr_ne(strstr(text, "puts by messages, gets native in pieces"), NULL);
	ofi_self.conduit->rma.gets = false;
	pofi_ops.describe(ofi_self.conduit, text, sizeof text);
	ck_assert_ptr_ne(strstr(text, "puts and gets by messages"), NULL);
	ck_assert_uint_lt(ofi_self.conduit->address_bytes + sizeof(fi_addr_t), 1024);
}

START_TEST(it_opens_and_says_what_it_uses)
{
	ofi_run(2, false, true, ofi_meet_idle);
	ofi_run(1, false, false, opens);
}
END_TEST

/* The provider gives a buffer back with a message behind one that is not there yet. */
static void
late_message(void)
{
	struct psi_conduit *conduit;
	struct pofi_inbound *inbound;
	size_t half;

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	conduit = ofi_self.conduit;
	inbound = &conduit->inbound[0];
	half = conduit->inbound_bytes / 2;
	pofi_inbound_arrived(inbound, inbound->bytes + half, half);
	pofi_inbound_released(conduit, inbound);
	pofi_inbound_refill(conduit);
	ck_assert(!inbound->posted);
	pofi_inbound_arrived(inbound, inbound->bytes, half);
	inbound->pins = 1;
	pofi_inbound_refill(conduit);
	ck_assert(!inbound->posted);
	inbound->pins = 0;
	pofi_inbound_refill(conduit);
	ck_assert(inbound->posted);
	ck_assert_uint_eq(conduit->posted, conduit->inbound_count);
	ck_assert_uint_eq(conduit->inbound_made, conduit->inbound_count);
}

START_TEST(a_buffer_is_used_again_when_all_of_it_has_arrived)
{
	ofi_run(1, false, false, late_message);
}
END_TEST

/* Peers died while they sent, so nothing more arrives in these buffers. */
static void
buffers_lost(void)
{
	struct psi_conduit *conduit;

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	conduit = ofi_self.conduit;
	for (uint32_t i = 0; i < conduit->inbound_count; i++) {
		pofi_inbound_arrived(&conduit->inbound[i], conduit->inbound[i].bytes + 64, 64);
		pofi_inbound_released(conduit, &conduit->inbound[i]);
	}
	pofi_inbound_refill(conduit);
	pofi_inbound_refill(conduit);
	ck_assert_uint_ge(conduit->posted, 2);
}

START_TEST(buffers_that_do_not_come_back_are_replaced)
{
	ofi_run(1, false, false, buffers_lost);
}
END_TEST

static void
provider_missing(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("no provider nosuch");
	said_has("fi_info");
}

START_TEST(a_provider_that_is_not_there_is_named)
{
	ofi_set("PST_OFI_PROVIDER", "nosuch");
	ofi_run(1, false, false, provider_missing);
}
END_TEST

static void
interface_missing(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("interface nosuch0 of PST_NET_IFACE");
}

START_TEST(an_interface_that_is_not_there_is_named)
{
	ofi_set("PST_NET_IFACE", "nosuch0");
	ofi_run(1, false, false, interface_missing);
}
END_TEST

static void
avoided_is_avoided(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("unasked");
}

/* Where libfabric has it, FI_PROVIDER lets it alone pass; the conduit is not told of that. */
START_TEST(a_provider_that_is_avoided_is_not_taken_unasked)
{
	setenv("FI_PROVIDER", "sockets", 1);
	ofi_run(1, false, false, avoided_is_avoided);
	unsetenv("FI_PROVIDER");
}
END_TEST

static void
sockets_refused(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("provider sockets is not used: it is slow");
}

static void
rxd_refused(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("provider udp;ofi_rxd is not used: it loses messages, and crashes");
}

START_TEST(a_provider_that_is_no_good_is_refused_though_named)
{
	ofi_set("PST_OFI_PROVIDER", "sockets");
	ofi_run(1, false, false, sockets_refused);
	ofi_set("PST_OFI_PROVIDER", "udp;ofi_rxd");
	ofi_run(1, false, false, rxd_refused);
}
END_TEST

static void
loopback_alone(void)
{
	ofi_self.several_hosts = true;
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("the job has several hosts");
	said_has("on lo");
	said_has("PST_NET_IFACE");
}

/* Over it no rank would reach another host.  FI_TCP_IFACE is libfabric's own. */
START_TEST(a_job_of_several_hosts_refuses_the_loopback_interface)
{
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	setenv("FI_TCP_IFACE", "lo", 1);
	ofi_run(2, false, false, loopback_alone);
	unsetenv("FI_TCP_IFACE");
}
END_TEST

static void
loopback_named(void)
{
	ofi_self.several_hosts = true;
	ck_assert_int_eq(ofi_open(false), PSI_OK);
}

START_TEST(who_names_the_loopback_interface_gets_it)
{
	ofi_set("PST_NET_IFACE", "lo");
	ofi_run(2, false, false, loopback_named);
	ofi_set("PST_NET_IFACE", "127.0.0.0/8");
	ofi_run(2, false, false, loopback_named);
}
END_TEST

static void
shm_alone(void)
{
	if (!ofi_has_provider("shm"))
		return;
	ck_assert_int_eq(ofi_open(false), PSI_OK);
	pofi_leave(ofi_self.conduit);
	ofi_self.several_hosts = true;
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("the job has several hosts");
}

START_TEST(a_job_of_several_hosts_refuses_shared_memory)
{
	ofi_set("PST_OFI_PROVIDER", "shm");
	ofi_run(2, false, false, shm_alone);
}
END_TEST

static size_t
memory_bytes(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* What the heap has more of, libfabric's tables included, with so many processes in the job. */
static size_t
opened_bytes(uint32_t places)
{
	const size_t before_bytes = memory_bytes();
	size_t cards_bytes;

	ofi_self.places = places;
	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ck_assert_ptr_nonnull(pofi_spent_at(ofi_self.conduit, 0));
	cards_bytes = malloc_usable_size(ofi_self.conduit->cards);  /* until it has connected */
	return memory_bytes() - before_bytes - cards_bytes;
}

static void
peers_are_small(void)
{
	enum { FEW = 4, MANY = 20004, BOUND = 1024 };
	const size_t few_bytes = opened_bytes(FEW), many_bytes = opened_bytes(MANY);
	const size_t each_bytes = (many_bytes - few_bytes) / (MANY - FEW) +
	                          ofi_self.conduit->info->src_addrlen;

	ck_assert_uint_lt(each_bytes, BOUND);
	/* what it tells of is its own part; the heap's pages round it by some bytes */
	ck_assert_uint_le(pofi_peer_bytes(ofi_self.conduit), each_bytes + 8);
}

/* Sanitizers have a heap of their own, which mallinfo2 does not count. */
START_TEST(a_peer_that_is_not_used_takes_less_than_a_kilobyte)
{
	const char *sanitizers = getenv("TEST_SANITIZERS");

	if (sanitizers && strcmp(sanitizers, "no") != 0)
		return;
	ofi_run(1, false, false, peers_are_small);
}
END_TEST

static void
medium_differs(void)
{
	if (ofi_self.place == 1)
		ofi_set("GASNET_OFI_MAX_MEDIUM", "4096");
	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ck_assert_int_eq(ofi_connect(), PSI_FAILED);
	said_has("GASNET_OFI_MAX_MEDIUM");
}

START_TEST(ranks_with_other_limits_do_not_connect)
{
	ofi_run(2, false, false, medium_differs);
}
END_TEST

static int
name_fails(struct fid *fid, void *address, size_t *address_bytes)
{
	(void)fid, (void)address, (void)address_bytes;
	return -FI_ENODATA;
}

/* The endpoint of process 1 does not tell its address. */
static void
one_has_no_address(void)
{
	struct fid_ep *ep;
	struct fi_ops_cm cm;

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ep = ofi_self.conduit->ep;
	cm = *ep->cm;
	cm.getname = name_fails;
	if (ofi_self.place == 1)
		ep->cm = &cm;
	ck_assert_int_eq(ofi_connect(), PSI_FAILED);
	if (ofi_self.place == 1)
		said_has("does not tell its address");
	else
		ck_assert_str_eq(ofi_said, "");
}

START_TEST(a_rank_that_cannot_connect_leaves_nobody_waiting)
{
	ofi_run(2, false, false, one_has_no_address);
}
END_TEST

static void
carries_little(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_FAILED);
	said_has("raise FI_OFI_RXM_BUFFER_SIZE");
}

START_TEST(a_provider_that_carries_too_little_is_refused)
{
	ofi_set("PST_OFI_PROVIDER", "tcp;ofi_rxm");
	setenv("FI_OFI_RXM_BUFFER_SIZE", "1100", 1);
	ofi_run(1, false, false, carries_little);
	unsetenv("FI_OFI_RXM_BUFFER_SIZE");
}
END_TEST

static void
nothing_to_send_from(void)
{
	ck_assert_int_eq(ofi_open(false), PSI_OK);
	ofi_self.conduit->message_bytes = SIZE_MAX / 2;
	ck_assert_ptr_null(pofi_send_take(ofi_self.conduit, PSI_REPLIES, 0));
	said_has("no memory for a buffer to send from");
	ck_assert(ofi_self.conduit->lost);
}

START_TEST(a_rank_that_cannot_send_is_lost)
{
	ofi_run(1, false, false, nothing_to_send_from);
}
END_TEST

static int
insert_fails(struct fid_av *av, const void *addresses, size_t count, fi_addr_t *out, uint64_t flags,
             void *context)
{
	(void)av, (void)addresses, (void)count, (void)out, (void)flags, (void)context;
	return 0;
}

static void
no_address(void)
{
	const struct psi_am am = psi_am_of(1, PSI_SHORT, psi_am_tag(PSI_REQUESTS, 200, 0), NULL);
	struct fi_ops_av ops = *ofi_self.conduit->av->ops;

	ops.insert = insert_fails;
	ofi_self.conduit->av->ops = &ops;
	if (ofi_self.place == 0) {
		ck_assert_int_eq(pofi_ops.am_send(ofi_self.port, &am), PSI_FATAL);
		said_has("does not take the address of rank 1");
	}
	ofi_meet_idle();
}

START_TEST(an_address_that_is_not_taken_ends_the_sending)
{
	ofi_run(2, false, true, no_address);
}
END_TEST

/* Copies the file of provider shm that one process has to where another's will be. */
static void
copy_shm_file(long from, long to)
{
	char command[120];

	snprintf(command, sizeof command, "cp /dev/shm/%ld:%ld:0 /dev/shm/%ld:%ld:0", from,
	         (long)getuid(), to, (long)getuid());
	ck_assert_int_eq(system(command), 0);
}

static void
stale_file(void)
{
	if (ofi_self.place == 0) {
		ck_assert_int_eq(ofi_open(false), PSI_OK);
		atomic_store(&ofi_words[0], (uint64_t)getpid());
		while (!atomic_load(&ofi_words[1]))
			usleep(1000);
		return;
	}
	while (!atomic_load(&ofi_words[0]))
		usleep(1000);
	copy_shm_file((long)atomic_load(&ofi_words[0]), (long)getpid());
	ck_assert_msg(ofi_open(false) == PSI_OK, "%s", ofi_said);
	atomic_store(&ofi_words[1], 1);
}

/* Process numbers come again. */
START_TEST(what_another_process_of_this_number_has_left_is_removed)
{
	if (!ofi_has_provider("shm"))
		return;
	ofi_set("PST_OFI_PROVIDER", "shm");
	ofi_run(2, false, false, stale_file);
}
END_TEST

static void
other_contract(void)
{
	struct psi_services newer = { .abi = PSI_CONDUIT_ABI + 1, .size_bytes = sizeof newer };
	const struct psi_conduit_job job = { .places = 1, .host_places = 1 };

	ck_assert_int_eq(ofi_open(false), PSI_OK);
	newer.log = ofi_self.conduit->services->log;
	ck_assert_int_eq(pofi_ops.open(&newer, &job, &ofi_self.attributes, &ofi_self.conduit),
	                 PSI_FATAL);
	said_has("contract");
}

START_TEST(a_library_of_another_contract_is_refused)
{
	ofi_run(1, false, false, other_contract);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("ofi");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, it_opens_and_says_what_it_uses);
	tcase_add_test(tests, a_buffer_is_used_again_when_all_of_it_has_arrived);
	tcase_add_test(tests, buffers_that_do_not_come_back_are_replaced);
	tcase_add_test(tests, a_provider_that_is_not_there_is_named);
	tcase_add_test(tests, an_interface_that_is_not_there_is_named);
	tcase_add_test(tests, a_provider_that_is_avoided_is_not_taken_unasked);
	tcase_add_test(tests, a_provider_that_is_no_good_is_refused_though_named);
	tcase_add_test(tests, a_job_of_several_hosts_refuses_the_loopback_interface);
	tcase_add_test(tests, who_names_the_loopback_interface_gets_it);
	tcase_add_test(tests, a_job_of_several_hosts_refuses_shared_memory);
	tcase_add_test(tests, a_peer_that_is_not_used_takes_less_than_a_kilobyte);
	tcase_add_test(tests, ranks_with_other_limits_do_not_connect);
	tcase_add_test(tests, a_rank_that_cannot_connect_leaves_nobody_waiting);
	tcase_add_test(tests, a_provider_that_carries_too_little_is_refused);
	tcase_add_test(tests, a_rank_that_cannot_send_is_lost);
	tcase_add_test(tests, an_address_that_is_not_taken_ends_the_sending);
	tcase_add_test(tests, what_another_process_of_this_number_has_left_is_removed);
	tcase_add_test(tests, a_library_of_another_contract_is_refused);
	return unit_run("ofi conduit, opening", tests);
}
