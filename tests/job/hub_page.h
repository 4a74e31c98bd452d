/* Parts of the hub (hub.c): its page and what is done with operands there, memory, addresses. */
#include <penstock_offload.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SLOTS = 32, MEMBERS = 8, PAYLOAD = 8192 };

/* filled, done: the number of the call + 1 */
struct slot {
	_Atomic uint64_t filled[MEMBERS], done[MEMBERS];
	unsigned char payload[MEMBERS][PAYLOAD];
};

/* dying: so is that with which member 1 fails */
struct page {
	_Atomic uint64_t dying;
	struct slot slot[SLOTS];
};

#define COMBINE(type, bits)                                                                      \
	for (size_t i = 0; i < nbytes / sizeof(type); i++) {                                       \
		type a, b;                                                                         \
		memcpy(&a, (const char *)from + i * sizeof a, sizeof a);                           \
		memcpy(&b, (char *)to + i * sizeof b, sizeof b);                                   \
		b = rop == GEX_OP_ADD ? a + b : rop == GEX_OP_MULT ? a * b                         \
		    : rop == GEX_OP_MAX ? (a > b ? a : b) : rop == GEX_OP_MIN ? (a < b ? a : b)    \
		    : bits(a, b);                                                                  \
		memcpy((char *)to + i * sizeof b, &b, sizeof b);                                   \
	}
#define BITS(a, b) (rop == GEX_OP_XOR ? (a) ^ (b) : rop == GEX_OP_AND ? (a) & (b) : (a) | (b))
#define NO_BITS(a, b) (a)

static void
combine(const void *from, void *to, size_t nbytes, gex_DT_t dt, gex_OP_t rop)
{
	const int orders = rop == GEX_OP_MIN || rop == GEX_OP_MAX;

	/* what has no order is done without a sign, so that it wraps */
	switch (!orders && dt == GEX_DT_I32 ? GEX_DT_U32 : !orders && dt == GEX_DT_I64 ? GEX_DT_U64
	                                                                               : dt) {
	case GEX_DT_I32: COMBINE(int32_t, BITS) break;
	case GEX_DT_U32: COMBINE(uint32_t, BITS) break;
	case GEX_DT_I64: COMBINE(int64_t, BITS) break;
	case GEX_DT_U64: COMBINE(uint64_t, BITS) break;
	case GEX_DT_FLT: COMBINE(float, NO_BITS) break;
	default: COMBINE(double, NO_BITS) break;
	}
}

enum { REDUCTIONS = PST_OFF_REDUCE | PST_OFF_ALLREDUCE | PST_OFF_REDUCE_SCATTER };

enum { NUMBERS = GEX_OP_ADD | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX };

static int
type_is_served(gex_DT_t dt, gex_OP_t rop)
{
	switch (dt) {
	case GEX_DT_I32:
	case GEX_DT_U32:
	case GEX_DT_I64:
	case GEX_DT_U64: return (rop & (NUMBERS | GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR)) != 0;
	case GEX_DT_FLT:
	case GEX_DT_DBL: return (rop & NUMBERS) != 0;
	default: return 0;
	}
}

/* What goes through a slot: blocks of all members, where a side has them. */
static size_t
payload_bytes(const pst_off_op_t *op)
{
	const int has_blocks = op->op & (PST_OFF_REDUCE_SCATTER | PST_OFF_GATHER_ALL);

	return op->nbytes * (has_blocks ? op->members : 1);
}

/* How many bytes a member gives, and gets. */
static size_t
operand_bytes(const pst_off_call_t *call, uint32_t members)
{
	return call->nbytes * (call->op == PST_OFF_REDUCE_SCATTER ? members : 1);
}

static size_t
result_bytes(const pst_off_call_t *call, uint32_t members)
{
	return call->nbytes * (call->op == PST_OFF_GATHER_ALL ? members : 1);
}

/* Memory that is registered. */
struct pst_off_mem_s {
	char *addr;
	size_t nbytes;
};

static int
is_in(const void *at, size_t nbytes, const pst_off_mem_t *mem)
{
	return mem != NULL && (const char *)at >= mem->addr &&
	       (const char *)at + nbytes <= mem->addr + mem->nbytes;
}

/* The socket of a member, by its process. */
static void
address_of(int pid, struct sockaddr_un *address)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "penstock-hub-%d", pid);
}
