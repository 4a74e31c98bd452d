/* Checks that the payload does not overwrite the word of the signal. */
#include "runtime/signal/put_signal.h"

#include "runtime/process/rules.h"

static bool
signal_is_word(const struct psi_signalled *s)
{
	return PSI_UNLIKELY(psi.checks) && s->sig->pst_what != PST_SIGNAL_SEM;
}

void
psi_signal_check_piece(const struct psi_signalled *s, const void *dst, size_t nbytes)
{
	const uintptr_t word = (uintptr_t)s->sig->pst_word, from = (uintptr_t)dst;

	if (signal_is_word(s) && nbytes && word + sizeof(uint64_t) > from && word < from + nbytes)
		psi_fatal("%s: the word at %p lies in the payload, %zu bytes at %p; put it "
		          "elsewhere",
		          s->call, (void *)word, nbytes, dst);
}

void
psi_signal_check_vector(const struct psi_signalled *s, size_t count, const gex_Memvec_t *list)
{
	psi_check_list(list, count, sizeof *list, "dstlist", s->call);
	for (size_t i = 0; signal_is_word(s) && i < count; i++)
		psi_signal_check_piece(s, list[i].gex_addr, list[i].gex_len);
}

/* Can the list be in memory?  If not, the transfer refuses it with the reason. */
static bool
signal_lies_somewhere(void *const *list, size_t count, size_t len)
{
	return list && len && psi_fits_memory(count, sizeof *list) && psi_fits_memory(count, len);
}

void
psi_signal_check_indexed(const struct psi_signalled *s, size_t count, void *const *list, size_t len)
{
	for (size_t i = 0;
	     signal_is_word(s) && signal_lies_somewhere(list, count, len) && i < count; i++)
		psi_signal_check_piece(s, list[i], len);
}

static void
shapes_check_dimensions(const struct psi_signalled *s, uintptr_t dst, const ptrdiff_t *strides,
                        size_t elemsz, const size_t *count, size_t levels)
{
	if (!levels) {
		psi_signal_check_piece(s, (const void *)dst, elemsz);
		return;
	}
	levels--;
	for (size_t i = 0; i < count[levels]; i++)
		shapes_check_dimensions(s, dst + i * (size_t)strides[levels], strides, elemsz,
		                        count, levels);
}

/* Can so many pieces be in memory?  If not, the transfer refuses them with the reason. */
static bool
shapes_are_countable(size_t elemsz, const size_t *count, size_t levels)
{
	size_t bytes = elemsz;

	if (!psi_fits_memory(levels, sizeof *count))
		return false;
	for (size_t k = 0; k < levels; k++) {
		if (!psi_fits_memory(bytes, count[k]))
			return false;
		bytes *= count[k];
	}
	return bytes != 0;
}

void
psi_signal_check_strided(const struct psi_signalled *s, const void *dst, const ptrdiff_t *strides,
                         size_t elemsz, const size_t *count, size_t levels)
{
	if (signal_is_word(s) && (!levels || (strides && count)) &&
	    shapes_are_countable(elemsz, count, levels))
		shapes_check_dimensions(s, (uintptr_t)dst, strides, elemsz, count, levels);
}
