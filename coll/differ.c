#include "coll/differ.h"

#include "runtime/process/process.h"

/* Ends the job if one of the two alone has that bit. */
static void __attribute__((cold))
flag_check(const char *call, uint32_t number, const struct pcoll_signature *lower,
           const struct pcoll_signature *higher, uint32_t bit, const char *flag)
{
	const bool lower_has = lower->form & bit, higher_has = higher->form & bit;

	if (lower_has != higher_has)
		psi_fatal("%s: call %u on its team, to which rank %u passes %s and rank %u does "
		          "not; let all members pass the same flags",
		          call, number, lower_has ? lower->rank : higher->rank, flag,
		          lower_has ? higher->rank : lower->rank);
}

/* Ends the job if one of the two alone works in place. */
static void __attribute__((cold))
in_place_check(const char *call, uint32_t number, const struct pcoll_signature *lower,
               const struct pcoll_signature *higher)
{
	const bool lower_is = lower->form & PCOLL_FORM_IN_PLACE;

	if (lower_is != !!(higher->form & PCOLL_FORM_IN_PLACE))
		psi_fatal("%s: call %u on its team, which is in place at rank %u and not at rank "
		          "%u; let all members work in place, or none",
		          call, number, lower_is ? lower->rank : higher->rank,
		          lower_is ? higher->rank : lower->rank);
}

static void __attribute__((noreturn, cold))
forms_differ(const char *call, uint32_t number, const struct pcoll_signature *lower,
             const struct pcoll_signature *higher)
{
	const uint32_t elem = lower->form & PCOLL_FORM_ELEM_BYTES;
	const uint32_t other_elem = higher->form & PCOLL_FORM_ELEM_BYTES;

	if (elem != other_elem)
		psi_fatal("%s: call %u on its team, to which rank %u passes elements of %u bytes "
		          "and rank %u elements of %u; let all members pass the same type",
		          call, number, lower->rank, elem, higher->rank, other_elem);
	flag_check(call, number, lower, higher, PCOLL_FORM_SINGLE, "PST_SINGLE");
	flag_check(call, number, lower, higher, PCOLL_FORM_REPRODUCIBLE, "PST_REPRODUCIBLE");
	in_place_check(call, number, lower, higher);
	if (lower->form != higher->form)
		psi_fatal("%s: call %u on its team, in which rank %u and rank %u synchronise in "
		          "different ways; let all members pass the same flags",
		          call, number, lower->rank, higher->rank);
	if (lower->form & PCOLL_FORM_SINGLE)
		psi_fatal("%s: call %u on its team, in which rank %u and rank %u pass pointers at "
		          "different offsets of their segments%s; with PST_SINGLE let all members "
		          "pass the same",
		          call, number, lower->rank, higher->rank,
		          elem ? ", or different types or operators" : "");
	psi_fatal("%s: call %u on its team, in which rank %u and rank %u pass different types or "
	          "operators; let all members pass the same",
	          call, number, lower->rank, higher->rank);
}

static void __attribute__((noreturn, cold))
arguments_differ(const char *call, uint32_t number, const struct pcoll_signature *lower,
                 const struct pcoll_signature *higher)
{
	if (lower->root != higher->root)
		psi_fatal("%s: call %u on its team, to which rank %u passes root %u and rank %u "
		          "passes root %u; let all members pass the same root",
		          call, number, lower->rank, lower->root, higher->rank, higher->root);
	if (lower->len_bytes != higher->len_bytes)
		psi_fatal("%s: call %u on its team, to which rank %u passes %llu bytes and rank %u "
		          "passes %llu; let all members pass the same sizes",
		          call, number, lower->rank, (unsigned long long)lower->len_bytes,
		          higher->rank, (unsigned long long)higher->len_bytes);
	forms_differ(call, number, lower, higher);
}

void
pcoll_signatures_differ(uint32_t number, const struct pcoll_signature *own,
                        const struct pcoll_signature *peers)
{
	const char *call = pcoll_call_name(own->what);

	if (pcoll_what_number(own->what) != pcoll_what_number(peers->what))
		psi_fatal("%s: call %u on its team, which is %s at its rank %u; let all members "
		          "make the same calls in the same order",
		          call, number, pcoll_call_name(peers->what), peers->rank);
	if (own->rank < peers->rank)
		arguments_differ(call, number, own, peers);
	arguments_differ(call, number, peers, own);
}

/* Only calls with lists come here.  Heads of cells and notes compare the lengths of all others. */
void
pcoll_lengths_differ(struct pcoll_what what, uint32_t number, uint32_t from, uint64_t sent_bytes,
                     uint32_t to, uint64_t expected_bytes)
{
	psi_fatal("%s: call %u on its team, in which rank %u sends %llu bytes to rank %u, which "
	          "expects %llu; let the counts of both agree",
	          pcoll_call_name(what), number, from, (unsigned long long)sent_bytes, to,
	          (unsigned long long)expected_bytes);
}
