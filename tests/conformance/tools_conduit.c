/* What gasnet_tools.h offers programs of a conduit in addition. */
#include <gasnetex.h>

#include <gasnet_tools.h>

#include <sys/mman.h>

#include "tests/lib/pt.h"

static gex_RMA_Value_t
value_at(const void *src, size_t nbytes)
{
	GASNETT_VALUE_RETURN(src, nbytes);
}

static void
check_values(void)
{
	const uint64_t pattern = UINT64_C(0x8182838485868788);
	uint64_t to, from = 0;
	uint32_t word = 0x01020304u, copy = 0;
	uint16_t half = 0xabcd;

	memset(&to, 0, sizeof(to));
	GASNETT_VALUE_ASSIGN(&to, pattern, 8);
	PT_CHECK(to == pattern);
	GASNETT_VALUE_ASSIGN(&half, 0x11234, 2);
	PT_EQ(half, 0x1234);
	PT_CHECK(value_at(&pattern, 8) == pattern);
	PT_CHECK(value_at(&word, 4) == word);
	PT_CHECK(value_at(&half, 2) == 0x1234);
	GASNETT_FAST_ALIGNED_MEMCPY(&copy, &word, sizeof(copy));
	PT_EQ(copy, word);
	GASNETT_FAST_UNALIGNED_MEMCPY((char *)&from + 1, &word, sizeof(word));
	PT_CHECK(memcmp((char *)&from + 1, &word, sizeof(word)) == 0);
}

static void
check_mmap(void)
{
	char *memory = (char *)gasnett_mmap(3 * GASNETT_PAGESIZE);

	PT_CHECK(memory != MAP_FAILED);
	PT_EQ((uintptr_t)memory % GASNETT_PAGESIZE, 0);
	PT_CHECK(memory[0] == 0 && memory[3 * GASNETT_PAGESIZE - 1] == 0);
	memory[GASNETT_PAGESIZE] = 1;
	PT_EQ(munmap(memory, 3 * GASNETT_PAGESIZE), 0);
	PT_CHECK(gasnett_mmap(SIZE_MAX / 2) == MAP_FAILED);
}

/* The text fits, tells all numbers, and ends. */
static void
check_text(const char *text, size_t room, const char *const *parts)
{
	PT_CHECK(memchr(text, '\0', room) != NULL);
	for (; *parts; parts++) {
		if (!strstr(text, *parts))
			PT_FAIL("\"%s\" does not say %s", text, *parts);
	}
}

static void
check_lists(void)
{
	enum { LONG = 300 };
	static gex_Memvec_t vectors[LONG];
	static void *addresses[LONG];
	static ptrdiff_t strides[LONG];
	static size_t counts[LONG];
	const char *const few[] = { "2 regions", "0x10", "0x30", "7", "rank 5", NULL };
	const char *const many[] = { "300 regions", "0xffffffffffffffff", NULL };
	const char *const numbers[] = { "-9223372036854775808", NULL };
	const char *const shape[] = { "rank 5", "8 bytes", "3 x 4", "0x10",
		                      "0x20",   "64",      "-32",   NULL };
	const size_t room = gasnett_format_putvgetv_bufsz(LONG, LONG) +
	                    gasnett_format_putigeti_bufsz(LONG, LONG) +
	                    gasnett_format_putsgets_bufsz(LONG);
	char *buf = (char *)malloc(room);
	int i;

	PT_CHECK(buf != NULL);
	for (i = 0; i < LONG; i++) {
		vectors[i].gex_addr = addresses[i] = (void *)UINTPTR_MAX;
		vectors[i].gex_len = counts[i] = SIZE_MAX;
		strides[i] = PTRDIFF_MIN;
	}
	PT_PTR(gasnett_format_memveclist(buf, LONG, vectors), buf);
	check_text(buf, gasnett_format_memveclist_bufsz(LONG), many);
	check_text(gasnett_format_addrlist(buf, LONG, addresses, 8),
	           gasnett_format_addrlist_bufsz(LONG), many);
	gasnett_format_putvgetv(buf, pt.tm, 1, LONG, vectors, LONG, vectors);
	check_text(buf, gasnett_format_putvgetv_bufsz(LONG, LONG), many);
	gasnett_format_putigeti(buf, pt.tm, 1, LONG, addresses, 8, LONG, addresses, 8);
	check_text(buf, gasnett_format_putigeti_bufsz(LONG, LONG), many);
	gasnett_format_strides(buf, LONG, strides);
	check_text(buf, gasnett_format_strides_bufsz(LONG), numbers);
	gasnett_format_putsgets(buf, NULL, pt.tm, 1, buf, strides, buf, strides, 8, counts, LONG);
	check_text(buf, gasnett_format_putsgets_bufsz(LONG), numbers);

	for (i = 0; i < 2; i++) {
		vectors[i].gex_addr = addresses[i] = (void *)(uintptr_t)(0x10 + 0x20 * i);
		vectors[i].gex_len = 7;
	}
	PT_EQ(gasnett_format_putvgetv(buf, pt.tm, 5, 2, vectors, 2, vectors), 14);
	check_text(buf, room, few);
	PT_EQ(gasnett_format_putigeti(buf, pt.tm, 5, 2, addresses, 7, 2, addresses, 7), 14);
	check_text(buf, room, few);
	strides[0] = 64;
	strides[1] = -32;
	counts[0] = 3;
	counts[1] = 4;
	PT_EQ(gasnett_format_putsgets(buf, NULL, pt.tm, 5, (void *)0x10, strides, (void *)0x20,
	                              strides, 8, counts, 2),
	      8 * 3 * 4);
	check_text(buf, room, shape);
	free(buf);
}

static void
check_codes(void)
{
	char text[256];

	PT_EQ(gasnett_format_dt(NULL, GEX_DT_I32), sizeof("GEX_DT_I32"));
	PT_EQ(gasnett_format_dt(text, GEX_DT_I32), sizeof("GEX_DT_I32"));
	PT_STR(text, "GEX_DT_I32");
	gasnett_format_op(text, GEX_OP_FADD | GEX_OP_GET);
	PT_STR(text, "GEX_OP_FADD|GEX_OP_GET");
	PT_EQ(gasnett_format_op(NULL, GEX_OP_FADD | GEX_OP_GET), strlen(text) + 1);
	gasnett_format_ti(text, GEX_TI_SRCRANK | GEX_TI_IS_LONG);
	PT_STR(text, "GEX_TI_SRCRANK|GEX_TI_IS_LONG");
	gasnett_format_dt(text, 0);
	PT_STR(text, "0x0");
	PT_EQ(gasnett_format_dt(text, GEX_DT_DBL | 0x80000000u), sizeof("GEX_DT_DBL|0x80000000"));
	PT_STR(text, "GEX_DT_DBL|0x80000000");
}

/* Longs lie where they were sent to. */
static void
check_longs(const char *at)
{
	uint32_t words[16], i;

	memcpy(words, at, sizeof words);
	for (i = 1; i < 16; i++)
		PT_EQ(words[i], words[0] + i);
	PT_CHECK(words[0] != 0);
}

static void
check_diagnostics(void)
{
	const gex_Rank_t next = (pt.rank + 1) % pt.size;
	const int rounds = (int)pt_scale(200, 2000);
	gex_TM_t reversed;

	pt_phase("diagnostics");
	PT_EQ(gasnett_run_diagnostics(rounds, 4, NULL, pt.tm, pt.base, next, pt.peers[next].owner,
	                              17),
	      0);
	check_longs(pt.base);
	PT_EQ(gasnett_run_diagnostics(10, 0, "tm", pt.tm, NULL, 0, NULL, 0), 0);

	pt_phase("diagnostics of a team");
	gex_TM_Split(&reversed, pt.tm, 0, (int)(pt.size - pt.rank), NULL, 0,
	             GEX_FLAG_TM_NO_SCRATCH);
	PT_EQ(gasnett_run_diagnostics(10, 1, "m", reversed, pt.base, 0,
	                              (char *)pt.peers[pt.size - 1].owner + 256, UINT_MAX), 0);
	if (pt.rank == pt.size - 1)
		check_longs(pt.base + 256);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t *table;
	int count;

	gasnett_diagnostic_gethandlers(&table, &count);
	PT_CHECK(count > 0);
	pt_start(&argc, &argv, table, (size_t)count, GASNET_PAGESIZE);
	check_values();
	check_mmap();
	check_lists();
	check_codes();
	check_diagnostics();
	pt_finish();
}
