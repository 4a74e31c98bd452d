/*
 * Each of 0 to 16 arguments arrives as it was sent: legacy calls.  Forms: 0
 * number in the name, 1 number as an argument, 2 and 3 the same with LongAsync
 * in place of Long.
 */
enum { ARGS_FORMS = 4, ARGS_FIRST = 0 };

#include <gasnet.h>

#include "tests/lib/pt.h"
#include "tests/lib/pt_args.h"

#define DEFINE_SENDERS(M)                                                                          \
	static void send_short_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, uint32_t key)   \
	{                                                                                          \
		(void)key;                                                                         \
		if (way % 2 == 0)                                                                  \
			PT_OK(PT_CALL(gasnet_AMRequestShort##M, rank, index PT_VALS##M(key)));     \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMRequestShort, rank, index, M PT_VALS##M(key)));     \
	}                                                                                          \
	static void send_medium_##M(int way, gex_Rank_t rank, gex_AM_Index_t index,                \
	                            const void *buf, size_t nbytes, uint32_t key)                  \
	{                                                                                          \
		void *from = (void *)(uintptr_t)buf;                                               \
		(void)key;                                                                         \
		if (way % 2 == 0)                                                                  \
			PT_OK(PT_CALL(gasnet_AMRequestMedium##M, rank, index, from,                \
			              nbytes PT_VALS##M(key)));                                    \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMRequestMedium, rank, index, buf, nbytes,            \
			              M PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void send_long_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, const void *buf, \
	                          size_t nbytes, void *dest, uint32_t key)                         \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gasnet_AMRequestLong##M, rank, index, buf, nbytes,           \
			              dest PT_VALS##M(key)));                                      \
		else if (way == 1)                                                                 \
			PT_OK(PT_CALL(gasnet_AMRequestLong, rank, index, buf, nbytes, dest,        \
			              M PT_VALS##M(key)));                                         \
		else if (way == 2)                                                                 \
			PT_OK(PT_CALL(gasnet_AMRequestLongAsync##M, rank, index, buf, nbytes,      \
			              dest PT_VALS##M(key)));                                      \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMRequestLongAsync, rank, index, buf, nbytes, dest,   \
			              M PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void answer_short_##M(int way, gex_Token_t token, gex_AM_Index_t index,             \
	                             uint32_t key)                                                 \
	{                                                                                          \
		(void)key;                                                                         \
		if (way % 2 == 0)                                                                  \
			PT_OK(PT_CALL(gasnet_AMReplyShort##M, token, index PT_VALS##M(key)));      \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMReplyShort, token, index, M PT_VALS##M(key)));      \
	}                                                                                          \
	static void answer_medium_##M(int way, gex_Token_t token, gex_AM_Index_t index,            \
	                              const void *buf, size_t nbytes, uint32_t key)                \
	{                                                                                          \
		(void)key;                                                                         \
		if (way % 2 == 0)                                                                  \
			PT_OK(PT_CALL(gasnet_AMReplyMedium##M, token, index, buf,                  \
			              nbytes PT_VALS##M(key)));                                    \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMReplyMedium, token, index, buf, nbytes,             \
			              M PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void answer_long_##M(int way, gex_Token_t token, gex_AM_Index_t index,              \
	                            const void *buf, size_t nbytes, void *dest, uint32_t key)      \
	{                                                                                          \
		(void)key;                                                                         \
		if (way % 2 == 0)                                                                  \
			PT_OK(PT_CALL(gasnet_AMReplyLong##M, token, index, buf, nbytes,            \
			              dest PT_VALS##M(key)));                                      \
		else                                                                               \
			PT_OK(PT_CALL(gasnet_AMReplyLong, token, index, buf, nbytes, dest,         \
			              M PT_VALS##M(key)));                                         \
	}
PT_EACH(DEFINE_SENDERS)

#include "tests/conformance/am_args_engine.h"

int
main(int argc, char **argv)
{
	args_main(&argc, &argv, GEX_FLAG_USES_GASNET1);
	return 0;
}
