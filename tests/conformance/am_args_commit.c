/*
 * Each of 0 to 16 arguments arrives as it was committed.  Forms: 0 number in
 * the name, 1 counting, 2 and 3 the same in the _v2 spelling.  Short has no
 * negotiated form and is left out.
 */
enum { ARGS_FORMS = 4, ARGS_FIRST = 1 };

#include "tests/lib/pt.h"
#include "tests/lib/pt_args.h"

#define DEFINE_SENDERS(M)                                                                          \
	static void send_short_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, uint32_t key)   \
	{                                                                                          \
		(void)way, (void)rank, (void)index, (void)key;                                     \
	}                                                                                          \
	static void answer_short_##M(int way, gex_Token_t token, gex_AM_Index_t index,             \
	                             uint32_t key)                                                 \
	{                                                                                          \
		(void)way, (void)token, (void)index, (void)key;                                    \
	}                                                                                          \
	static void send_medium_##M(int way, gex_Rank_t rank, gex_AM_Index_t index,                \
	                            const void *buf, size_t nbytes, uint32_t key)                  \
	{                                                                                          \
		gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(pt.tm, rank, NULL, nbytes,       \
		                                                  nbytes, NULL, 0, M);             \
		(void)key;                                                                         \
		memcpy(gex_AM_SrcDescAddr(sd), buf, nbytes);                                       \
		if (way == 0)                                                                      \
			PT_CALL(gex_AM_CommitRequestMedium##M, sd, index, nbytes PT_VALS##M(key)); \
		else if (way == 1)                                                                 \
			PT_CALL(gex_AM_CommitRequestMedium, sd, index, nbytes PT_VALS##M(key));    \
		else if (way == 2)                                                                 \
			PT_OK(PT_CALL(gex_AM_CommitRequestMedium##M##_v2, sd, index, nbytes,       \
			              0 PT_VALS##M(key)));                                         \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_CommitRequestMedium_v2, sd, index, nbytes,            \
			              0 PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void answer_medium_##M(int way, gex_Token_t token, gex_AM_Index_t index,            \
	                              const void *buf, size_t nbytes, uint32_t key)                \
	{                                                                                          \
		gex_AM_SrcDesc_t sd =                                                              \
			gex_AM_PrepareReplyMedium(token, NULL, nbytes, nbytes, NULL, 0, M);        \
		(void)key;                                                                         \
		memcpy(gex_AM_SrcDescAddr(sd), buf, nbytes);                                       \
		if (way == 0)                                                                      \
			PT_CALL(gex_AM_CommitReplyMedium##M, sd, index, nbytes PT_VALS##M(key));   \
		else if (way == 1)                                                                 \
			PT_CALL(gex_AM_CommitReplyMedium, sd, index, nbytes PT_VALS##M(key));      \
		else if (way == 2)                                                                 \
			PT_OK(PT_CALL(gex_AM_CommitReplyMedium##M##_v2, sd, index, nbytes,         \
			              0 PT_VALS##M(key)));                                         \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_CommitReplyMedium_v2, sd, index, nbytes,              \
			              0 PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void send_long_##M(int way, gex_Rank_t rank, gex_AM_Index_t index, const void *buf, \
	                          size_t nbytes, void *dest, uint32_t key)                         \
	{                                                                                          \
		gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(pt.tm, rank, NULL, nbytes, nbytes, \
		                                                NULL, NULL, 0, M);                 \
		(void)key;                                                                         \
		memcpy(gex_AM_SrcDescAddr(sd), buf, nbytes);                                       \
		if (way == 0)                                                                      \
			PT_CALL(gex_AM_CommitRequestLong##M, sd, index, nbytes,                    \
			        dest PT_VALS##M(key));                                             \
		else if (way == 1)                                                                 \
			PT_CALL(gex_AM_CommitRequestLong, sd, index, nbytes,                       \
			        dest PT_VALS##M(key));                                             \
		else if (way == 2)                                                                 \
			PT_OK(PT_CALL(gex_AM_CommitRequestLong##M##_v2, sd, index, nbytes, dest,   \
			              0 PT_VALS##M(key)));                                         \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_CommitRequestLong_v2, sd, index, nbytes, dest,        \
			              0 PT_VALS##M(key)));                                         \
	}                                                                                          \
	static void answer_long_##M(int way, gex_Token_t token, gex_AM_Index_t index,              \
	                            const void *buf, size_t nbytes, void *dest, uint32_t key)      \
	{                                                                                          \
		gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyLong(token, buf, nbytes, nbytes, dest,    \
		                                              GEX_EVENT_NOW, 0, M);                \
		(void)key;                                                                         \
		PT_PTR(gex_AM_SrcDescAddr(sd), buf);                                               \
		if (way == 0)                                                                      \
			PT_CALL(gex_AM_CommitReplyLong##M, sd, index, nbytes,                      \
			        dest PT_VALS##M(key));                                             \
		else if (way == 1)                                                                 \
			PT_CALL(gex_AM_CommitReplyLong, sd, index, nbytes, dest PT_VALS##M(key));  \
		else if (way == 2)                                                                 \
			PT_OK(PT_CALL(gex_AM_CommitReplyLong##M##_v2, sd, index, nbytes, dest,     \
			              0 PT_VALS##M(key)));                                         \
		else                                                                               \
			PT_OK(PT_CALL(gex_AM_CommitReplyLong_v2, sd, index, nbytes, dest,          \
			              0 PT_VALS##M(key)));                                         \
	}
PT_EACH(DEFINE_SENDERS)

#include "tests/conformance/am_args_engine.h"

int
main(int argc, char **argv)
{
	args_main(&argc, &argv, 0);
	return 0;
}
