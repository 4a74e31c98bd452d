/*
 * gasnet_ex_am.h: active messages: registration, limits, fixed and negotiated
 * payload, tokens.
 */
#ifndef GASNET_EX_AM_H
#define GASNET_EX_AM_H

#include "gasnet_ex_am_args.h"
#include "gasnet_ex_mode.h"
#include "gasnet_ex_types.h"

typedef uint8_t gex_AM_Index_t;
typedef struct gex_Token_s *gex_Token_t;
typedef struct gex_AM_SrcDesc_s *gex_AM_SrcDesc_t;
typedef uint32_t gex_TI_t;

#define GEX_AM_INDEX_BASE    128
#define GEX_AM_SRCDESC_NO_OP _GEX_NULL(gex_AM_SrcDesc_t)

#define GEX_TI_SRCRANK (1u << 0)
#define GEX_TI_EP      (1u << 1)
#define GEX_TI_ENTRY   (1u << 2)
#define GEX_TI_IS_REQ  (1u << 3)
#define GEX_TI_IS_LONG (1u << 4)
#define GEX_TI_ALL \
	(GEX_TI_SRCRANK | GEX_TI_EP | GEX_TI_ENTRY | GEX_TI_IS_REQ | GEX_TI_IS_LONG)

/* In C any function goes without a cast, which is why it has no parameters. */
#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void (*gex_AM_Fn_t)();
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif

typedef struct {
	gex_AM_Index_t gex_index;
	gex_AM_Fn_t gex_fnptr;
	gex_Flags_t gex_flags;
	unsigned int gex_nargs;
	const void *gex_cdata;
	const char *gex_name;
} gex_AM_Entry_t;

typedef struct {
	gex_Rank_t gex_srcrank;
	gex_EP_t gex_ep;
	const gex_AM_Entry_t *gex_entry;
	int gex_is_req;
	int gex_is_long;
} gex_Token_Info_t;

PSI_BEGIN_DECLS

PSI_API int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries);

/* Limits. */
PSI_INLINE unsigned int
gex_AM_MaxArgs(void)
{
	return PSI_AM_MAX_ARGS;
}

PSI_API size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank,
				       const gex_Event_t *lc_opt, gex_Flags_t flags,
				       unsigned int numargs);
PSI_API size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
				     gex_Flags_t flags, unsigned int numargs);
PSI_API size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
				     gex_Flags_t flags, unsigned int numargs);
PSI_API size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt,
				   gex_Flags_t flags, unsigned int numargs);
PSI_API size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt,
					gex_Flags_t flags, unsigned int numargs);
PSI_API size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt,
				      gex_Flags_t flags, unsigned int numargs);
PSI_API size_t gex_AM_LUBRequestMedium(void);
PSI_API size_t gex_AM_LUBReplyMedium(void);
PSI_API size_t gex_AM_LUBRequestLong(void);
PSI_API size_t gex_AM_LUBReplyLong(void);

/* Tokens. */
PSI_API gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info_out, gex_TI_t mask);

/* Negotiated payload. */
PSI_API gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank,
						     const void *client_buf, size_t least_payload,
						     size_t most_payload, gex_Event_t *lc_opt,
						     gex_Flags_t flags, unsigned int numargs);
PSI_API gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf,
						   size_t least_payload, size_t most_payload,
						   gex_Event_t *lc_opt, gex_Flags_t flags,
						   unsigned int numargs);
PSI_API gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank,
						   const void *client_buf, size_t least_payload,
						   size_t most_payload, void *dest_addr,
						   gex_Event_t *lc_opt, gex_Flags_t flags,
						   unsigned int numargs);
PSI_API gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf,
						 size_t least_payload, size_t most_payload,
						 void *dest_addr, gex_Event_t *lc_opt,
						 gex_Flags_t flags, unsigned int numargs);
PSI_API void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
PSI_API size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);
PSI_API int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
PSI_API int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
PSI_API int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
PSI_API int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);

/* What the families below call; args has nargs values, and may be NULL for none. */
PSI_API int psi_am_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
				 gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
				  const void *src, size_t nbytes, gex_Event_t *lc_opt,
				  gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
				const void *src, size_t nbytes, void *dest, gex_Event_t *lc_opt,
				gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
			       unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void *src,
				size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags,
				unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void *src,
			      size_t nbytes, void *dest, gex_Event_t *lc_opt, gex_Flags_t flags,
			      unsigned nargs, const gex_AM_Arg_t *args);
PSI_API int psi_am_commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
					 size_t nbytes, gex_Flags_t commit_flags, unsigned nargs,
					 const gex_AM_Arg_t *args);
PSI_API int psi_am_commit_reply_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
				       gex_Flags_t commit_flags, unsigned nargs,
				       const gex_AM_Arg_t *args);
PSI_API int psi_am_commit_request_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
				       void *dest, gex_Flags_t commit_flags, unsigned nargs,
				       const gex_AM_Arg_t *args);
PSI_API int psi_am_commit_reply_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
				     void *dest, gex_Flags_t commit_flags, unsigned nargs,
				     const gex_AM_Arg_t *args);

/* Fixed payload: gex_AM_RequestShort0 to gex_AM_ReplyLong16. */
#define PSI_AM_FIXED(m)                                                                        \
	PSI_INLINE int gex_AM_RequestShort##m(gex_TM_t tm, gex_Rank_t rank,                    \
					      gex_AM_Index_t handler,                          \
					      gex_Flags_t flags PSI_AM_PARAMS_##m)             \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_request_short(tm, rank, handler, flags, m, psi_args);            \
	}                                                                                      \
	PSI_INLINE int gex_AM_RequestMedium##m(                                                \
		gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr, \
		size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags PSI_AM_PARAMS_##m)       \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt,   \
					     flags, m, psi_args);                              \
	}                                                                                      \
	PSI_INLINE int gex_AM_RequestLong##m(                                                  \
		gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr, \
		size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,                           \
		gex_Flags_t flags PSI_AM_PARAMS_##m)                                           \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_request_long(tm, rank, handler, source_addr, nbytes, dest_addr,  \
					   lc_opt, flags, m, psi_args);                        \
	}                                                                                      \
	PSI_INLINE int gex_AM_ReplyShort##m(gex_Token_t token, gex_AM_Index_t handler,         \
					    gex_Flags_t flags PSI_AM_PARAMS_##m)               \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_reply_short(token, handler, flags, m, psi_args);                 \
	}                                                                                      \
	PSI_INLINE int gex_AM_ReplyMedium##m(                                                  \
		gex_Token_t token, gex_AM_Index_t handler, const void *source_addr,            \
		size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags PSI_AM_PARAMS_##m)       \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, \
					   m, psi_args);                                       \
	}                                                                                      \
	PSI_INLINE int gex_AM_ReplyLong##m(gex_Token_t token, gex_AM_Index_t handler,          \
					   const void *source_addr, size_t nbytes,             \
					   void *dest_addr, gex_Event_t *lc_opt,               \
					   gex_Flags_t flags PSI_AM_PARAMS_##m)                \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_reply_long(token, handler, source_addr, nbytes, dest_addr,       \
					 lc_opt, flags, m, psi_args);                          \
	}

/* Commit: gex_AM_CommitRequestMedium0 to gex_AM_CommitReplyLong16_v2. */
#define PSI_AM_COMMIT_MEDIUM(Kind, kind, m)                                                    \
	PSI_INLINE void gex_AM_Commit##Kind##m(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,    \
					       size_t nbytes PSI_AM_PARAMS_##m)                \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		(void)psi_am_commit_##kind(sd, handler, nbytes, 0, m, psi_args);               \
	}                                                                                      \
	PSI_INLINE int gex_AM_Commit##Kind##m##_v2(gex_AM_SrcDesc_t sd,                        \
						   gex_AM_Index_t handler, size_t nbytes,      \
						   gex_Flags_t commit_flags PSI_AM_PARAMS_##m) \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_commit_##kind(sd, handler, nbytes, commit_flags, m, psi_args);   \
	}
#define PSI_AM_COMMIT_LONG(Kind, kind, m)                                                      \
	PSI_INLINE void gex_AM_Commit##Kind##m(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,    \
					       size_t nbytes,                                  \
					       void *dest_addr PSI_AM_PARAMS_##m)              \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		(void)psi_am_commit_##kind(sd, handler, nbytes, dest_addr, 0, m, psi_args);    \
	}                                                                                      \
	PSI_INLINE int gex_AM_Commit##Kind##m##_v2(                                            \
		gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr,   \
		gex_Flags_t commit_flags PSI_AM_PARAMS_##m)                                    \
	{                                                                                      \
		PSI_AM_PACK_##m;                                                               \
		return psi_am_commit_##kind(sd, handler, nbytes, dest_addr, commit_flags, m,   \
					    psi_args);                                         \
	}
#define PSI_AM_COMMIT(m)                                      \
	PSI_AM_COMMIT_MEDIUM(RequestMedium, request_medium, m) \
	PSI_AM_COMMIT_MEDIUM(ReplyMedium, reply_medium, m)     \
	PSI_AM_COMMIT_LONG(RequestLong, request_long, m)       \
	PSI_AM_COMMIT_LONG(ReplyLong, reply_long, m)

PSI_AM_EACH_COUNT(PSI_AM_FIXED)
PSI_AM_EACH_COUNT(PSI_AM_COMMIT)

PSI_END_DECLS

/* Forms that count their arguments; the number is how many are fixed. */
#define PSI_AM_CALL(name, count)        PSI_PASTE(name, count)
#define PSI_AM_CALL_V2_(name, count)    name##count##_v2
#define PSI_AM_CALL_V2(name, count)     PSI_AM_CALL_V2_(name, count)

#define gex_AM_RequestShort(...) \
	PSI_AM_CALL(gex_AM_RequestShort, PSI_AM_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) \
	PSI_AM_CALL(gex_AM_RequestMedium, PSI_AM_COUNT_7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) \
	PSI_AM_CALL(gex_AM_RequestLong, PSI_AM_COUNT_8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) \
	PSI_AM_CALL(gex_AM_ReplyShort, PSI_AM_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) \
	PSI_AM_CALL(gex_AM_ReplyMedium, PSI_AM_COUNT_6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) \
	PSI_AM_CALL(gex_AM_ReplyLong, PSI_AM_COUNT_7(__VA_ARGS__))(__VA_ARGS__)

#define gex_AM_CommitRequestMedium(...) \
	PSI_AM_CALL(gex_AM_CommitRequestMedium, PSI_AM_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) \
	PSI_AM_CALL(gex_AM_CommitReplyMedium, PSI_AM_COUNT_3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) \
	PSI_AM_CALL(gex_AM_CommitRequestLong, PSI_AM_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) \
	PSI_AM_CALL(gex_AM_CommitReplyLong, PSI_AM_COUNT_4(__VA_ARGS__))(__VA_ARGS__)

#define gex_AM_CommitRequestMedium_v2(...) \
	PSI_AM_CALL_V2(gex_AM_CommitRequestMedium, PSI_AM_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) \
	PSI_AM_CALL_V2(gex_AM_CommitReplyMedium, PSI_AM_COUNT_4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) \
	PSI_AM_CALL_V2(gex_AM_CommitRequestLong, PSI_AM_COUNT_5(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) \
	PSI_AM_CALL_V2(gex_AM_CommitReplyLong, PSI_AM_COUNT_5(__VA_ARGS__))(__VA_ARGS__)

#endif
