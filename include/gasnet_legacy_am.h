/* gasnet_legacy_am.h: GASNet-1 active messages. */
#ifndef GASNET_LEGACY_AM_H
#define GASNET_LEGACY_AM_H

#include "gasnetex.h"

typedef gex_Token_t gasnet_token_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;

#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef struct {
	gasnet_handler_t index;
	void (*fnptr)();
} gasnet_handlerentry_t;
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif

PSI_BEGIN_DECLS

/* The count that a call was told is not that of its arguments: ends the job with one line. */
PSI_API PSI_NORETURN void psi_legacy_count_bad(const char *call, unsigned int told,
					       unsigned int given);

PSI_INLINE size_t
gasnet_AMMaxArgs(void)
{
	return gex_AM_MaxArgs();
}

PSI_INLINE size_t
gasnet_AMMaxMedium(void)
{
	size_t request = gex_AM_LUBRequestMedium();
	size_t reply = gex_AM_LUBReplyMedium();

	return request < reply ? request : reply;
}

PSI_INLINE size_t
gasnet_AMMaxLongRequest(void)
{
	return gex_AM_LUBRequestLong();
}

PSI_INLINE size_t
gasnet_AMMaxLongReply(void)
{
	return gex_AM_LUBReplyLong();
}

PSI_INLINE int
gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex)
{
	gex_Token_Info_t token_info;

	(void)gex_Token_Info(token, &token_info, GEX_TI_SRCRANK);
	*srcindex = token_info.gex_srcrank;
	return GASNET_OK;
}

/*
 * One call of each family: body is what it does, in terms of the EX call.
 * Beside gasnet_AMRequestShort3 and its like stands a form that is told the
 * count, for the names without a number.
 */
#define PSI_LEGACY_FORMS(Name, m, fixed, pass, body)                                   \
	PSI_INLINE int gasnet_AM##Name##m(PSI_UNPAREN fixed PSI_AM_PARAMS_##m)         \
	{                                                                              \
		return body;                                                           \
	}                                                                              \
	PSI_INLINE int psi_counted_##Name##m(PSI_UNPAREN fixed,                        \
					     unsigned int nargs PSI_AM_PARAMS_##m)     \
	{                                                                              \
		if (PSI_UNLIKELY(nargs != m))                                          \
			psi_legacy_count_bad("gasnet_AM" #Name, nargs, m);             \
		return gasnet_AM##Name##m(PSI_UNPAREN pass PSI_AM_PASS_##m);           \
	}
#define PSI_UNPAREN(...) __VA_ARGS__

#define PSI_LEGACY_SHORT(m)                                                                \
	PSI_LEGACY_FORMS(RequestShort, m, (gasnet_node_t dest, gasnet_handler_t handler),  \
			 (dest, handler),                                                  \
			 gex_AM_RequestShort##m(PSI_TM_LEGACY, dest, handler,              \
						0 PSI_AM_PASS_##m))                        \
	PSI_LEGACY_FORMS(ReplyShort, m, (gasnet_token_t token, gasnet_handler_t handler),  \
			 (token, handler),                                                 \
			 gex_AM_ReplyShort##m(token, handler, 0 PSI_AM_PASS_##m))

#define PSI_LEGACY_MEDIUM(m)                                                                \
	PSI_LEGACY_FORMS(RequestMedium, m,                                                  \
			 (gasnet_node_t dest, gasnet_handler_t handler,                     \
			  const void *source_addr, size_t nbytes),                          \
			 (dest, handler, source_addr, nbytes),                              \
			 gex_AM_RequestMedium##m(PSI_TM_LEGACY, dest, handler, source_addr, \
						 nbytes, GEX_EVENT_NOW, 0 PSI_AM_PASS_##m)) \
	PSI_LEGACY_FORMS(ReplyMedium, m,                                                    \
			 (gasnet_token_t token, gasnet_handler_t handler,                   \
			  const void *source_addr, size_t nbytes),                          \
			 (token, handler, source_addr, nbytes),                             \
			 gex_AM_ReplyMedium##m(token, handler, source_addr, nbytes,         \
					       GEX_EVENT_NOW, 0 PSI_AM_PASS_##m))

#define PSI_LEGACY_LONG_REQUEST(Name, m)                                                  \
	PSI_LEGACY_FORMS(Name, m,                                                         \
			 (gasnet_node_t dest, gasnet_handler_t handler,                   \
			  const void *source_addr, size_t nbytes, void *dest_addr),       \
			 (dest, handler, source_addr, nbytes, dest_addr),                 \
			 gex_AM_RequestLong##m(PSI_TM_LEGACY, dest, handler, source_addr, \
					       nbytes, dest_addr, GEX_EVENT_NOW,          \
					       0 PSI_AM_PASS_##m))
#define PSI_LEGACY_LONG(m)                                                               \
	PSI_LEGACY_LONG_REQUEST(RequestLong, m)                                          \
	PSI_LEGACY_LONG_REQUEST(RequestLongAsync, m)                                     \
	PSI_LEGACY_FORMS(ReplyLong, m,                                                   \
			 (gasnet_token_t token, gasnet_handler_t handler,                \
			  const void *source_addr, size_t nbytes, void *dest_addr),      \
			 (token, handler, source_addr, nbytes, dest_addr),               \
			 gex_AM_ReplyLong##m(token, handler, source_addr, nbytes,        \
					     dest_addr, GEX_EVENT_NOW, 0 PSI_AM_PASS_##m))

PSI_AM_EACH_COUNT(PSI_LEGACY_SHORT)
PSI_AM_EACH_COUNT(PSI_LEGACY_MEDIUM)
PSI_AM_EACH_COUNT(PSI_LEGACY_LONG)

PSI_END_DECLS

/* The count stands, as an argument, just before the message's arguments. */
#define gasnet_AMRequestShort(...) \
	PSI_AM_CALL(psi_counted_RequestShort, PSI_AM_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestMedium(...) \
	PSI_AM_CALL(psi_counted_RequestMedium, PSI_AM_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLong(...) \
	PSI_AM_CALL(psi_counted_RequestLong, PSI_AM_COUNT_6(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMRequestLongAsync(...) \
	PSI_AM_CALL(psi_counted_RequestLongAsync, PSI_AM_COUNT_6(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyShort(...) \
	PSI_AM_CALL(psi_counted_ReplyShort, PSI_AM_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyMedium(...) \
	PSI_AM_CALL(psi_counted_ReplyMedium, PSI_AM_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
#define gasnet_AMReplyLong(...) \
	PSI_AM_CALL(psi_counted_ReplyLong, PSI_AM_COUNT_6(__VA_ARGS__))(__VA_ARGS__)

#endif
