/* The EX calls: form 0 has the number in the name, form 1 counts the arguments itself. */
enum { ARGS_FORMS = 2, ARGS_FIRST = 0 };

#include "tests/lib/pt.h"
#include "tests/lib/pt_args.h"

#define DEFINE_SENDERS(M)                                                                          \
	static void send_short_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, uint32_t key)   \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_RequestShort##M, pt.tm, rank, index,                  \
			              0 PT_VALS##M(key)));                                         \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_RequestShort, pt.tm, rank, index,                     \
			              0 PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void send_medium_##M(int way, gex_Rank_t rank, gex_AM_Index_t index,                \
	                            const void *buf, size_t nbytes, uint32_t key)                  \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_RequestMedium##M, pt.tm, rank, index, buf, nbytes,    \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_RequestMedium, pt.tm, rank, index, buf, nbytes,       \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
	}                                                                                          \
	static void send_long_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, const void *buf, \
	                          size_t nbytes, void *dest, uint32_t key)                         \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_RequestLong##M, pt.tm, rank, index, buf, nbytes,      \
			              dest, GEX_EVENT_NOW, 0 PT_VALS##M(key)));                    \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_RequestLong, pt.tm, rank, index, buf, nbytes, dest,   \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
	}                                                                                          \
	static void answer_short_##M(int way, gex_Token_t token, gex_AM_Index_t index,             \
	                             uint32_t key)                                                 \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_ReplyShort##M, token, index, 0 PT_VALS##M(key)));     \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_ReplyShort, token, index, 0 PT_VALS##M(key)));        \
	}                                                                                          \
	static void answer_medium_##M(int way, gex_Token_t token, gex_AM_Index_t index,            \
	                              const void *buf, size_t nbytes, uint32_t key)                \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_ReplyMedium##M, token, index, buf, nbytes,            \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_ReplyMedium, token, index, buf, nbytes,               \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
	}                                                                                          \
	static void answer_long_##M(int way, gex_Token_t token, gex_AM_Index_t index,              \
	                            const void *buf, size_t nbytes, void *dest, uint32_t key)      \
	{                                                                                          \
		(void)key;                                                                         \
		if (way == 0)                                                                      \
			PT_OK(PT_CALL(gex_AM_ReplyLong##M, token, index, buf, nbytes, dest,        \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_ReplyLong, token, index, buf, nbytes, dest,           \
			              GEX_EVENT_NOW, 0 PT_VALS##M(key)));                          \
	}
PT_EACH(DEFINE_SENDERS)

#include "tests/conformance/am_args_engine.h"
