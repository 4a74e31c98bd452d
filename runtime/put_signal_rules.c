/* With checks: the word of a signal is not what the payload goes to. */
#include "runtime/put_signal.h"

#include "runtime/rules.h"

static bool
is_word(const struct psi_signalled *s)
{
	return PSI_UNLIKELY(psi.checks) && s->sig->pst_what != PST_SIGNAL_SEM;
}

void
psi_signal_check_piece(const struct psi_signalled *s, const void *dst, size_t nbytes)
{
	const uintptr_t word = (uintptr_t)s->sig->pst_word, from = (uintptr_t)dst;

	if (is_word(s) && nbytes && word + sizeof(uint64_t) > from && word < from + nbytes)
		psi_fatal("%s: the word at %p lies in the payload, %zu bytes at %p; put it elsewhere",
		          s->call, (void *)word, nbytes, dst);
}

void
psi_signal_check_vector(const struct psi_signalled *s, size_t count, const gex_Memvec_t *list)
{
	for (size_t i = 0; is_word(s) && list && i < count; i++)
		psi_signal_check_piece(s, list[i].gex_addr, list[i].gex_len);
}

void
psi_signal_check_indexed(const struct psi_signalled *s, size_t count, void *const *list, size_t len)
{
	for (size_t i = 0; is_word(s) && list && i < count; i++)
		psi_signal_check_piece(s, list[i], len);
}

void
psi_signal_check_strided(const struct psi_signalled *s, const void *dst, const ptrdiff_t *strides,
                         size_t elemsz, const size_t *count, size_t levels)
{
	if (!is_word(s) || (levels && (!strides || !count)))
		return;
	if (!levels) {
		psi_signal_check_piece(s, dst, elemsz);
		return;
	}
	levels--;
	for (size_t i = 0; i < count[levels]; i++) {
		const uintptr_t at = (uintptr_t)dst + i * (size_t)strides[levels];

		psi_signal_check_strided(s, (const void *)at, strides, elemsz, count, levels);
	}
}
