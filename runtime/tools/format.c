/* Arguments of transfers as text, for people. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gasnet.h"

#include "gasnet_tools.h"

/* Bytes at most: of one entry of a list, and of the words around the parts. */
enum { ENTRY_BYTES = 64, FRAME_BYTES = 256 };

/* Where the next text goes; the buffers are as large as the bufsz companions say. */
static char *format_append(char *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static char *
format_append(char *at, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(at, FRAME_BYTES, format, args);
	va_end(args);
	return at + (len < FRAME_BYTES ? len : FRAME_BYTES - 1);
}

static size_t
vectors_bytes(size_t count, const gex_Memvec_t *list)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += list[i].gex_len;
	return bytes;
}

static char *
append_vectors(char *at, size_t count, const gex_Memvec_t *list)
{
	at = format_append(at, "%zu regions, %zu bytes {", count, vectors_bytes(count, list));
	for (size_t i = 0; i < count; i++)
		at = format_append(at, "%s%p:%zu", i ? ", " : "", list[i].gex_addr,
		                   list[i].gex_len);
	return format_append(at, "}");
}

static char *
append_addresses(char *at, size_t count, void *const list[], size_t len)
{
	size_t i;

	at = format_append(at, "%zu regions of %zu bytes {", count, len);
	for (i = 0; i < count; i++)
		at = format_append(at, "%s%p", i ? ", " : "", list[i]);
	return format_append(at, "}");
}

static char *
append_strides(char *at, size_t count, const ptrdiff_t *list)
{
	size_t i;

	at = format_append(at, "{");
	for (i = 0; i < count; i++)
		at = format_append(at, "%s%td", i ? ", " : "", list[i]);
	return format_append(at, "}");
}

size_t
gasnett_format_memveclist_bufsz(size_t count)
{
	return FRAME_BYTES + count * ENTRY_BYTES;
}

char *
gasnett_format_memveclist(char *buf, size_t count, const gex_Memvec_t *list)
{
	append_vectors(buf, count, list);
	return buf;
}

size_t
gasnett_format_addrlist_bufsz(size_t count)
{
	return FRAME_BYTES + count * ENTRY_BYTES;
}

char *
gasnett_format_addrlist(char *buf, size_t count, void *const list[], size_t len)
{
	append_addresses(buf, count, list, len);
	return buf;
}

size_t
gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount)
{
	return 2 * FRAME_BYTES + (dstcount + srccount) * ENTRY_BYTES;
}

size_t
gasnett_format_putvgetv(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                        gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[])
{
	char *at = append_vectors(format_append(buf, "rank %u, to ", rank), dstcount, dstlist);

	(void)tm;
	append_vectors(format_append(at, ", from "), srccount, srclist);
	return vectors_bytes(dstcount, dstlist);
}

size_t
gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount)
{
	return 2 * FRAME_BYTES + (dstcount + srccount) * ENTRY_BYTES;
}

size_t
gasnett_format_putigeti(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                        void *const dstlist[], size_t dstlen, size_t srccount,
                        void *const srclist[], size_t srclen)
{
	char *at = append_addresses(format_append(buf, "rank %u, to ", rank), dstcount, dstlist,
	                            dstlen);

	(void)tm;
	append_addresses(format_append(at, ", from "), srccount, srclist, srclen);
	return dstcount * dstlen;
}

size_t
gasnett_format_strides_bufsz(size_t count)
{
	return FRAME_BYTES + count * ENTRY_BYTES;
}

void
gasnett_format_strides(char *buf, size_t count, const ptrdiff_t *list)
{
	append_strides(buf, count, list);
}

size_t
gasnett_format_putsgets_bufsz(size_t stridelevels)
{
	return 3 * FRAME_BYTES + 3 * stridelevels * ENTRY_BYTES;
}

size_t
gasnett_format_putsgets(char *buf, void *unused, gex_TM_t tm, gex_Rank_t rank, void *dstaddr,
                        const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[],
                        size_t elemsz, const size_t count[], size_t stridelevels)
{
	char *at = format_append(buf, "rank %u, elements of %zu bytes {", rank, elemsz);
	size_t bytes = elemsz;

	(void)unused, (void)tm;
	for (size_t i = 0; i < stridelevels; i++) {
		bytes *= count[i];
		at = format_append(at, "%s%zu", i ? " x " : "", count[i]);
	}
	at = append_strides(format_append(at, "}, to %p by ", dstaddr), stridelevels, dststrides);
	append_strides(format_append(at, ", from %p by ", srcaddr), stridelevels, srcstrides);
	return bytes;
}

struct name {
	uint32_t bit;
	const char *text;
};

/* Names of all bits, joined; what has no name in hexadecimal. NULL only counts. */
static size_t
format_join(char *buf, uint32_t bits, const struct name *names)
{
	char rest[16];
	size_t len = 0;

	if (buf)
		*buf = '\0';
	for (; names->text && bits; names++) {
		if ((bits & names->bit) != names->bit)
			continue;
		bits &= ~names->bit;
		if (buf)
			sprintf(buf + len, "%s%s", len ? "|" : "", names->text);
		len += (len != 0) + strlen(names->text);
	}
	if (bits || len == 0) {
		snprintf(rest, sizeof rest, "0x%x", bits);
		if (buf)
			sprintf(buf + len, "%s%s", len ? "|" : "", rest);
		len += (len != 0) + strlen(rest);
	}
	return len + 1;
}

#define NAME(prefix, word) { prefix##word, #prefix #word }

size_t
gasnett_format_dt(char *buf, gex_DT_t dt)
{
	static const struct name names[] = {
		NAME(GEX_DT_, I32), NAME(GEX_DT_, U32), NAME(GEX_DT_, I64), NAME(GEX_DT_, U64),
		NAME(GEX_DT_, FLT), NAME(GEX_DT_, DBL), NAME(GEX_DT_, USER), { 0, NULL },
	};

	return format_join(buf, dt, names);
}

size_t
gasnett_format_op(char *buf, gex_OP_t op)
{
	static const struct name names[] = {
		NAME(GEX_OP_, AND), NAME(GEX_OP_, OR), NAME(GEX_OP_, XOR), NAME(GEX_OP_, ADD),
		NAME(GEX_OP_, SUB), NAME(GEX_OP_, MULT), NAME(GEX_OP_, MIN), NAME(GEX_OP_, MAX),
		NAME(GEX_OP_, INC), NAME(GEX_OP_, DEC), NAME(GEX_OP_, SET), NAME(GEX_OP_, CAS),
		NAME(GEX_OP_, FAND), NAME(GEX_OP_, FOR), NAME(GEX_OP_, FXOR), NAME(GEX_OP_, FADD),
		NAME(GEX_OP_, FSUB), NAME(GEX_OP_, FMULT), NAME(GEX_OP_, FMIN),
		NAME(GEX_OP_, FMAX), NAME(GEX_OP_, FINC), NAME(GEX_OP_, FDEC), NAME(GEX_OP_, SWAP),
		NAME(GEX_OP_, FCAS), NAME(GEX_OP_, GET), NAME(GEX_OP_, USER),
		NAME(GEX_OP_, USER_NC), { 0, NULL },
	};

	return format_join(buf, op, names);
}

size_t
gasnett_format_ti(char *buf, gex_TI_t ti)
{
	static const struct name names[] = {
		NAME(GEX_TI_, SRCRANK), NAME(GEX_TI_, EP), NAME(GEX_TI_, ENTRY),
		NAME(GEX_TI_, IS_REQ), NAME(GEX_TI_, IS_LONG), { 0, NULL },
	};

	return format_join(buf, ti, names);
}

void *
gasnett_mmap(uintptr_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
