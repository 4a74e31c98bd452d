#include "runtime/util/siphash.h"

enum { WORD_BYTES = 8, ROUNDS_PER_WORD = 2, ROUNDS_AT_END = 4 };

struct sip_state {
	uint64_t v[4];
};

static uint64_t
rotate_left(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* Up to eight bytes, the first one lowest; missing ones are 0. */
static uint64_t
word_load(const uint8_t *bytes, size_t count)
{
	uint64_t word = 0;

	while (count-- > 0)
		word = word << 8 | bytes[count];
	return word;
}

static void
word_store(uint8_t bytes_out[WORD_BYTES], uint64_t word)
{
	unsigned i;

	for (i = 0; i < WORD_BYTES; i++)
		bytes_out[i] = (uint8_t)(word >> 8 * i);
}

static void
sip_rounds(struct sip_state *state, unsigned rounds)
{
	uint64_t *v = state->v;

	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] = rotate_left(v[2], 32);
	}
}

static void
sip_word(struct sip_state *state, uint64_t word)
{
	state->v[3] ^= word;
	sip_rounds(state, ROUNDS_PER_WORD);
	state->v[0] ^= word;
}

static uint64_t
sip_result(struct sip_state *state)
{
	sip_rounds(state, ROUNDS_AT_END);
	return state->v[0] ^ state->v[1] ^ state->v[2] ^ state->v[3];
}

/* The constants are "somepseudorandomlygeneratedbytes"; 0xee and 0xdd mark the long output. */
static struct sip_state
sip_begin(const uint8_t key[PSI_SIPHASH_BYTES])
{
	const uint64_t k0 = word_load(key, WORD_BYTES);
	const uint64_t k1 = word_load(key + WORD_BYTES, WORD_BYTES);

	return (struct sip_state){ {
		k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573),
	} };
}

void
psi_siphash(const uint8_t key[PSI_SIPHASH_BYTES], const void *message, size_t len_bytes,
    uint8_t hash_out[PSI_SIPHASH_BYTES])
{
	struct sip_state state = sip_begin(key);
	const uint8_t *bytes = message;
	size_t left = len_bytes;

	for (; left >= WORD_BYTES; left -= WORD_BYTES, bytes += WORD_BYTES)
		sip_word(&state, word_load(bytes, WORD_BYTES));
	sip_word(&state, word_load(bytes, left) | (uint64_t)len_bytes << 56);
	state.v[2] ^= 0xee;
	word_store(hash_out, sip_result(&state));
	state.v[1] ^= 0xdd;
	word_store(hash_out + WORD_BYTES, sip_result(&state));
}

bool
psi_siphash_same(const uint8_t a[PSI_SIPHASH_BYTES], const uint8_t b[PSI_SIPHASH_BYTES])
{
	unsigned differ = 0, i;

	for (i = 0; i < PSI_SIPHASH_BYTES; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}
