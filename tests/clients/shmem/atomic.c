/* Atomics: the target's handler changes the word under a lock; its reply brings the old value. */
#include "inside.h"

enum atomic_op { ATOMIC_ADD, ATOMIC_SWAP, ATOMIC_CSWAP };

/* What a caller waits for, on its stack; the reply brings its address back. */
struct answer {
	int64_t old;
	gasnett_atomic_t done;
};

static gasnet_hsl_t target_lock = GASNET_HSL_INITIALIZER;

/* A 64-bit number travels as two arguments. */
static gasnet_handlerarg_t
high_half(uint64_t number)
{
	return (gasnet_handlerarg_t)(number >> 32);
}

static gasnet_handlerarg_t
low_half(uint64_t number)
{
	return (gasnet_handlerarg_t)(uint32_t)number;
}

static uint64_t
both_halves(gasnet_handlerarg_t high, gasnet_handlerarg_t low)
{
	return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static void
atomic_reply(gasnet_token_t token, gasnet_handlerarg_t to_high, gasnet_handlerarg_t to_low,
             gasnet_handlerarg_t old_high, gasnet_handlerarg_t old_low)
{
	struct answer *answer = (struct answer *)(uintptr_t)both_halves(to_high, to_low);

	(void)token;
	answer->old = (int64_t)both_halves(old_high, old_low);
	gasnett_atomic_set(&answer->done, 1, GASNETT_ATOMIC_REL);
}

static int64_t
word_change(int64_t *word, enum atomic_op op, uint64_t value, int64_t expected)
{
	int64_t old;

	gasnet_hsl_lock(&target_lock);
	old = *word;
	if (op == ATOMIC_ADD)
		*word = (int64_t)((uint64_t)old + value);
	else if (op == ATOMIC_SWAP || old == expected)
		*word = (int64_t)value;
	gasnet_hsl_unlock(&target_lock);
	return old;
}

static void
atomic_request(gasnet_token_t token, gasnet_handlerarg_t op, gasnet_handlerarg_t word_high,
               gasnet_handlerarg_t word_low, gasnet_handlerarg_t value_high,
               gasnet_handlerarg_t value_low, gasnet_handlerarg_t expected_high,
               gasnet_handlerarg_t expected_low, gasnet_handlerarg_t answer_high,
               gasnet_handlerarg_t answer_low)
{
	int64_t *word = (int64_t *)(uintptr_t)both_halves(word_high, word_low);
	int64_t old = word_change(word, (enum atomic_op)op, both_halves(value_high, value_low),
	                          (int64_t)both_halves(expected_high, expected_low));

	GASNET_TRY(gasnet_AMReplyShort4(token, atomic_handlers[1].index, answer_high, answer_low,
	                                high_half((uint64_t)old), low_half((uint64_t)old)));
}

/* Index 0 asks gasnet_attach to choose. */
gasnet_handlerentry_t atomic_handlers[ATOMIC_HANDLERS] = {
	{ 0, (void (*)())atomic_request },
	{ 0, (void (*)())atomic_reply },
};

static int64_t
atomic_apply(enum atomic_op op, const int64_t *target, int64_t value, int64_t expected, int pe)
{
	uint64_t word = (uintptr_t)heap_translate(target, pe);
	struct answer answer = { 0, gasnett_atomic_init(0) };
	uint64_t to = (uintptr_t)&answer;

	GASNET_TRY(gasnet_AMRequestShort9(
		(gasnet_node_t)pe, atomic_handlers[0].index, (gasnet_handlerarg_t)op,
		high_half(word), low_half(word), high_half((uint64_t)value),
		low_half((uint64_t)value), high_half((uint64_t)expected),
		low_half((uint64_t)expected), high_half(to), low_half(to)));
	GASNET_BLOCKUNTIL(gasnett_atomic_read(&answer.done, GASNETT_ATOMIC_ACQ));
	return answer.old;
}

int64_t
shmem_int64_fadd(int64_t *target, int64_t value, int pe)
{
	return atomic_apply(ATOMIC_ADD, target, value, 0, pe);
}

int64_t
shmem_int64_swap(int64_t *target, int64_t value, int pe)
{
	return atomic_apply(ATOMIC_SWAP, target, value, 0, pe);
}

int64_t
shmem_int64_cswap(int64_t *target, int64_t expected, int64_t value, int pe)
{
	return atomic_apply(ATOMIC_CSWAP, target, value, expected, pe);
}
