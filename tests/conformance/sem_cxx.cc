// Every call of penstock_sem.h and penstock_signal.h from C++: to the caller itself, by a set,
// and by words, in the least form of each.
#include "tests/lib/pt.h"

#include <penstock.h>

namespace {

PT_OWN pst_sem_set_t set;

pst_sem_ref_t
mine()
{
	return pst_sem_set_ref(set, pt.rank, 0);
}

void
semaphores()
{
	pst_sem_t sems[2];
	int done[2] = {0, 0};
	size_t indices[2];

	PT_OK(pst_sem_alloc(pt.ep, PST_SEM_INTEGER, 2, sems));
	PT_CHECK(sems[0] != PST_SEM_INVALID);
	pst_sem_ref_t ref = pst_sem_ref_make(pt.tm, pt.rank, pst_sem_ref_key(pst_sem_ref(sems[0])));
	PT_EQ(pst_sem_ref_owner(ref).gex_rank, pt.where[pt.rank].gex_rank);
	PT_OK(pst_sem_post(pt.tm, pt.rank, ref, 4, 0));
	pst_sem_post_local(sems[1], 1);
	PT_EQ(pst_sem_value(sems[0]), 4);
	pst_sem_wait(sems[0], 1);
	PT_EQ(pst_sem_try(sems[0], 1), 1);
	PT_EQ(pst_sem_timedwait(sems[0], 1, PST_FOREVER), 1);
	PT_LE(pst_sem_wait_any(sems, nullptr, 2, done, PST_FOREVER), 1);
	PT_EQ(pst_sem_wait_some(sems, nullptr, 2, done, PST_FOREVER, indices), 1);
	PT_EQ(pst_sem_wait_all(sems, nullptr, 2, done, PST_FOREVER), 1);
	PT_OK(pst_poll(pt.ep));
	pst_sem_free(sems, 2);
}

void
puts()
{
	char source[16] = "signals";
	void *to = pt.base + 64;
	pst_signal_t sig = pst_signal_sem(mine(), 1);
	gex_Memvec_t there = {to, 8}, here = {source, 8};
	void *const tos[1] = {to}, *const froms[1] = {source};

	pst_memput_signal(pt.tm, pt.rank, to, source, 8, mine(), 1);
	gex_Event_Wait(pst_memput_signal_nb(pt.tm, pt.rank, to, source, 8, mine(), 1, 0));
	PT_OK(pst_memput_signal_nbi(pt.tm, pt.rank, to, source, 8, mine(), 1, 0));
	PT_OK(pst_put_signal(pt.tm, pt.rank, to, source, 8, &sig, PST_FLAG_LOCAL_ONLY));
	gex_Event_Wait(pst_put_signal_nb(pt.tm, pt.rank, to, source, 8, &sig, GEX_EVENT_NOW, 0));
	PT_OK(pst_put_signal_nbi(pt.tm, pt.rank, to, source, 8, &sig, GEX_EVENT_DEFER, 0));
	PT_OK(pst_putval_signal(pt.tm, pt.rank, to, 1, 8, &sig, 0));
	gex_Event_Wait(pst_putval_signal_nb(pt.tm, pt.rank, to, 2, 8, &sig, 0));
	PT_OK(pst_putval_signal_nbi(pt.tm, pt.rank, to, 3, 8, &sig, 0));
	PT_OK(pst_putv_signal(pt.tm, pt.rank, 1, &there, 1, &here, &sig, 0));
	gex_Event_Wait(pst_putv_signal_nb(pt.tm, pt.rank, 1, &there, 1, &here, &sig, 0));
	PT_OK(pst_putv_signal_nbi(pt.tm, pt.rank, 1, &there, 1, &here, &sig, 0));
	PT_OK(pst_puti_signal(pt.tm, pt.rank, 1, tos, 8, 1, froms, 8, &sig, 0));
	gex_Event_Wait(pst_puti_signal_nb(pt.tm, pt.rank, 1, tos, 8, 1, froms, 8, &sig, 0));
	PT_OK(pst_puti_signal_nbi(pt.tm, pt.rank, 1, tos, 8, 1, froms, 8, &sig, 0));
	PT_OK(pst_puts_signal(pt.tm, pt.rank, to, nullptr, source, nullptr, 8, nullptr, 0, &sig,
	                      0));
	gex_Event_Wait(pst_puts_signal_nb(pt.tm, pt.rank, to, nullptr, source, nullptr, 8, nullptr,
	                                  0, &sig, 0));
	PT_OK(pst_puts_signal_nbi(pt.tm, pt.rank, to, nullptr, source, nullptr, 8, nullptr, 0, &sig,
	                          0));
	PT_OK(pst_get_signal(pt.tm, source, pt.rank, to, 8, &sig, 0));
	gex_Event_Wait(pst_get_signal_nb(pt.tm, source, pt.rank, to, 8, &sig, 0));
	PT_OK(pst_get_signal_nbi(pt.tm, source, pt.rank, to, 8, &sig, 0));
	gex_NBI_Wait(GEX_EC_ALL, 0);
	pst_sem_wait(pst_sem_set_mine(set, 0), 21);
	PT_STR(source, "signals");
}

void
words()
{
	uint64_t *word = static_cast<uint64_t *>(static_cast<void *>(pt.base));
	uint64_t *const all[1] = {word};
	const uint64_t value = 7;
	pst_signal_t sig = pst_signal_word(PST_SIGNAL_SET, word, value);
	int done[1] = {0};
	uint64_t seen = 0;

	pst_signal_store(word, 0);
	PT_OK(pst_put_signal(pt.tm, pt.rank, pt.base + 64, &value, 0, &sig, 0));
	PT_EQ(pst_signal_wait(pt.ep, word, PST_CMP_EQ, value), value);
	PT_EQ(pst_signal_fetch(word), value);
	PT_EQ(pst_signal_test(pt.ep, word, PST_CMP_GE, 1, &seen), 1);
	PT_EQ(seen, value);
	PT_EQ(pst_signal_wait_any(pt.ep, all, &value, 1, PST_CMP_EQ, nullptr, PST_FOREVER), 0);
	PT_EQ(pst_signal_wait_some(pt.ep, all, &value, 1, PST_CMP_EQ, nullptr, PST_FOREVER,
	                           nullptr),
	      1);
	PT_EQ(pst_signal_wait_all(pt.ep, all, &value, 1, PST_CMP_EQ, done, 0), 1);
}

} // namespace

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, nullptr, 0, 4096);
	PT_OK(pst_sem_set_create(pt.tm, 1, 0, &set, 0));
	semaphores();
	puts();
	words();
	pt_barrier();
	pst_sem_set_destroy(set, 0);
	pt_finish();
}
