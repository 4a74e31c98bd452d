/* The simulated unit: trees of all fan-outs, members that come in any order, and faults.  Members
 * are devices of this process, between which packets go through queues. */
#include "offload/cau/cau.h"

#include "offload/wire.h"

#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 24, QUEUE = 4096, CALLS = 200 };

/* -- what the library does for the unit -------------------------------------------------------- */

struct packet {
	uint32_t from;
	size_t len_bytes;
	unsigned char bytes[POFF_PACKET_BYTES];
};

static struct packet *queues[MOST];
static unsigned first[MOST], count[MOST];
static uint32_t members, turn;          /* the member whose call is under way */
static uint64_t trees_taken;
static bool one_host;
static const char *fault_text, *fanout_text;

int
poff_wire_send(uint64_t key, uint32_t to, const void *packet, size_t nbytes)
{
	struct packet *at = &queues[to][(first[to] + count[to]) % QUEUE];

	(void)key;
	if (count[to] == QUEUE)
		return PST_OFF_AGAIN;
	at->from = turn;
	at->len_bytes = nbytes;
	memcpy(at->bytes, packet, nbytes);
	count[to]++;
	return PST_OFF_OK;
}

size_t
poff_wire_take(uint64_t key, uint32_t *from_out, void *packet_out)
{
	const struct packet *at = &queues[turn][first[turn]];

	(void)key;
	if (!count[turn])
		return 0;
	*from_out = at->from;
	memcpy(packet_out, at->bytes, at->len_bytes);
	first[turn] = (first[turn] + 1) % QUEUE;
	count[turn]--;
	return at->len_bytes;
}

bool
poff_cau_unit_is_only_one(void)
{
	return one_host;
}

int
poff_cau_unit_take(uint32_t trees)
{
	return trees_taken < trees ? (int)trees_taken++ : -1;
}

void
poff_cau_unit_give(unsigned number)
{
	(void)number;
	trees_taken--;
}

uint64_t
poff_cau_unit_handle(uint64_t at_ns, uint64_t takes_ns)
{
	return at_ns + takes_ns;
}

static uint64_t
now_ns(void)
{
	static uint64_t now;

	return ++now;
}

static const char *
setting(const char *provider, const char *key)
{
	ck_assert_str_eq(provider, "cau");
	if (strcmp(key, "FAULT") == 0)
		return fault_text;
	return strcmp(key, "FANOUT") == 0 ? fanout_text : NULL;
}

static void
log_nothing(int level, const char *provider, const char *text)
{
	(void)level, (void)provider, (void)text;
}

static const pst_off_host_t host = { sizeof host, now_ns, setting, log_nothing };

/* -- members ----------------------------------------------------------------------------------- */

struct member {
	pst_off_dev_t *dev;
	pst_off_attr_t attr;
	pst_off_tree_t *tree;
	pst_off_req_t *req;
	uint64_t next;                  /* the call that it starts next, or has under way */
	uint64_t value;
	bool failed;
};

static struct member member[MOST];
static uint8_t told[MOST];

/* The allgather is over when the last has told. */
static uint32_t tellers;

static int
oob_start(void *oob, const void *mine, size_t nbytes, void *all_out)
{
	(void)all_out;
	ck_assert_uint_eq(nbytes, 1);
	memcpy(&told[*(uint32_t *)oob], mine, 1);
	tellers++;
	return PST_OFF_OK;
}

static int
oob_test(void *oob)
{
	const uint32_t me = *(uint32_t *)oob;

	if (tellers < members)
		return PST_OFF_AGAIN;
	memcpy(member[me].tree->have_trees, told, members);
	return PST_OFF_OK;
}

static uint32_t names[MOST];

/* Returns how many joined. */
static uint32_t
all_join(void)
{
	const char *why = NULL;
	uint32_t joined = 0;

	tellers = 0;
	for (turn = 0; turn < members; turn++) {
		const pst_off_group_t group = {
			.struct_bytes = sizeof group, .members = members, .me = turn, .key = 7,
			.agreed = &member[turn].attr, .oob = &names[turn],
			.oob_start = oob_start, .oob_test = oob_test,
		};

		names[turn] = turn;
		member[turn] = (struct member){ .next = 1 };
		first[turn] = count[turn] = 0;
		ck_assert_int_eq(poff_cau.open(&host, &member[turn].dev, &member[turn].attr, &why),
		                 PST_OFF_OK);
		ck_assert_int_eq(poff_cau.join_start(member[turn].dev, &group, &member[turn].tree,
		                                     &why), PST_OFF_OK);
	}
	for (turn = 0; turn < members; turn++)
		joined += poff_cau.join_test(member[turn].tree, &why) == PST_OFF_OK;
	return joined;
}

static void
all_leave(bool have_trees)
{
	for (turn = 0; turn < members; turn++) {
		if (have_trees) {
			poff_cau.leave_start(member[turn].tree, 0);
			ck_assert_int_eq(poff_cau.leave_test(member[turn].tree), PST_OFF_OK);
		}
		poff_cau.close(member[turn].dev);
	}
	ck_assert_uint_eq(trees_taken, 0);
}

/* -- calls ------------------------------------------------------------------------------------- */

/* What all members know of a call by its number: reductions and multicasts in turn, any root. */
static uint32_t root_of(uint64_t seq) { return (uint32_t)(seq * 7 % members); }
static bool is_reduce(uint64_t seq) { return seq % 3 != 0; }
static uint64_t operand(uint32_t rank, uint64_t seq) { return rank * 1000 + seq; }

static uint64_t
sum_of(uint64_t seq)
{
	uint64_t sum = 0;

	for (uint32_t rank = 0; rank < members; rank++)
		sum += operand(rank, seq);
	return sum;
}

static void
call_begin(struct member *own, uint32_t rank)
{
	const pst_off_call_t call = {
		.struct_bytes = sizeof call,
		.op = is_reduce(own->next) ? PST_OFF_REDUCE : PST_OFF_BCAST,
		.root = root_of(own->next), .dt = is_reduce(own->next) ? GEX_DT_U64 : 0,
		.rop = is_reduce(own->next) ? GEX_OP_ADD : 0, .seq = own->next, .nbytes = 8,
		.src = &own->value, .dst = &own->value,
	};
	int result;

	own->value = operand(rank, own->next);
	result = poff_cau.start(own->tree, &call, &own->req);
	own->failed = result == PST_OFF_FAIL;
	if (result != PST_OFF_OK)
		own->req = NULL;
}

static void
call_look(struct member *own, uint32_t rank)
{
	pst_off_result_t result;
	const int ended = poff_cau.test(own->req, &result);
	const uint64_t seq = own->next;

	if (ended == PST_OFF_AGAIN)
		return;
	own->req = NULL;
	own->failed = ended != PST_OFF_OK;
	if (own->failed)
		return;
	if (is_reduce(seq) && rank == root_of(seq))
		ck_assert_uint_eq(own->value, sum_of(seq));
	if (!is_reduce(seq))
		ck_assert_uint_eq(own->value, operand(root_of(seq), seq));
	own->next++;
}

/* Members take turns at random, none more than CAU_AHEAD calls before the slowest. */
static void
run_calls(uint64_t calls)
{
	uint64_t slowest = 1;

	for (uint64_t left = 400 * calls * members; left && slowest <= calls; left--) {
		struct member *own;

		turn = (uint32_t)(rand() % (int)members);
		own = &member[turn];
		poff_cau.progress(own->dev, (unsigned)(1 + rand() % 4));
		if (own->failed)
			return;
		if (own->req)
			call_look(own, turn);
		else if (own->next <= calls && own->next < slowest + CAU_AHEAD)
			call_begin(own, turn);
		slowest = UINT64_MAX;
		for (uint32_t rank = 0; rank < members; rank++)
			if (member[rank].next < slowest)
				slowest = member[rank].next;
	}
	if (!fault_text)
		ck_assert_uint_gt(slowest, calls);
}

START_TEST(answers)
{
	static const char *const fanouts[] = { "2", "3", "5", "6", "8" };

	fault_text = NULL;
	fanout_text = fanouts[_i];
	for (members = 1; members <= MOST; members += 1 + members / 4) {
		ck_assert_uint_eq(all_join(), members);
		run_calls(CALLS);
		all_leave(true);
	}
}
END_TEST

START_TEST(damage_is_noticed)
{
	bool failed = false;

	fanout_text = NULL;
	fault_text = _i ? "corrupt:after=20" : "die:member=2:after=10";
	members = 5;
	ck_assert_uint_eq(all_join(), members);
	run_calls(CALLS);
	for (uint32_t rank = 0; rank < members; rank++)
		failed = failed || member[rank].failed;
	ck_assert(failed);
	all_leave(true);
}
END_TEST

START_TEST(one_without_a_tree)
{
	fanout_text = NULL;
	fault_text = "refuse_join:member=3";
	members = 5;
	ck_assert_uint_eq(all_join(), 0);
	all_leave(false);
}
END_TEST

START_TEST(all_ranks_of_one_host)
{
	fanout_text = fault_text = NULL;
	members = 9;
	one_host = true;
	ck_assert_uint_eq(all_join(), members);
	ck_assert_uint_eq(trees_taken, 1);
	ck_assert_uint_eq(member[0].attr.scope, PST_OFF_PER_RANK);
	all_leave(true);
	one_host = false;
	ck_assert_uint_eq(all_join(), members);
	ck_assert_uint_eq(trees_taken, members);
	ck_assert_uint_eq(member[0].attr.scope, PST_OFF_PER_LEADER);
	all_leave(true);
}
END_TEST

START_TEST(bad_faults)
{
	static const char *const texts[] = { "drip", "drop:", "drop:p=2", "drop:p", "stall:ns=x",
		                             "die:after=1:", "drop,,die", "drop:member=-1" };
	struct cau_faults faults = { .random = 1 };
	const char *why = NULL;

	ck_assert(!poff_cau_faults_read(&faults, texts[_i], &why));
	ck_assert_ptr_nonnull(why);
}
END_TEST

int
main(void)
{
	TCase *cases = tcase_create("cau");

	for (unsigned i = 0; i < MOST; i++)
		queues[i] = calloc(QUEUE, sizeof *queues[i]);
	tcase_add_loop_test(cases, answers, 0, 5);
	tcase_add_loop_test(cases, damage_is_noticed, 0, 2);
	tcase_add_test(cases, one_without_a_tree);
	tcase_add_test(cases, all_ranks_of_one_host);
	tcase_add_loop_test(cases, bad_faults, 0, 8);
	return unit_run("cau", cases);
}
