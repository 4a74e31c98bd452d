// The one file that knows GASNet. Threads send at will; handlers run in whoever polls.
#include "wire.h"

#include <gasnetex.h>
#include <gasnet_coll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace
{

enum Index : gex_AM_Index_t {
	SHORT_TASK = GEX_AM_INDEX_BASE,
	MEDIUM_PART,
	LONG_PART,
	SLOT_FREE,
	ASK_LOAD,
	TELL_LOAD,
};

// A short message has room for so many bytes beside two arguments.
constexpr std::size_t short_words = 4;
constexpr std::size_t short_bytes = short_words * sizeof(gex_AM_Arg_t);
// So much fits any Medium; up to the second, the library says how much it takes at a time.
constexpr std::size_t medium_bytes = 512;
constexpr std::size_t negotiated_bytes = 64 << 10;
// Larger ones go by Longs, each rank into a slot of its own at the target.
constexpr std::size_t slot_bytes = 256 << 10;

gex_AM_Arg_t
high_half(std::uint64_t number)
{
	return static_cast<gex_AM_Arg_t>(number >> 32);
}

gex_AM_Arg_t
low_half(std::uint64_t number)
{
	return static_cast<gex_AM_Arg_t>(number & 0xffffffff);
}

template <typename Object>
Object *
pointer_of(gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	std::uint64_t number = std::uint64_t{ static_cast<std::uint32_t>(high) } << 32 |
	                       static_cast<std::uint32_t>(low);

	return reinterpret_cast<Object *>(static_cast<std::uintptr_t>(number));
}

void
expect_ok(int result, const char *call)
{
	if (result == GASNET_OK)
		return;
	std::fprintf(stderr, "%s: %s\n", call, gasnet_ErrorDesc(result));
	gasnet_exit(2);
}

// A task of which parts have arrived, in any order.
struct Partial {
	Task task;
	std::size_t missing;
};

struct Question {
	Load load;
	std::atomic<bool> answered;
};

} // namespace

// Without a call, since locks are made before GASNet is started.
struct HandlerLock::Lock {
	gex_HSL_t hsl = GEX_HSL_INITIALIZER;
};

HandlerLock::HandlerLock() : inside(new Lock)
{
}

HandlerLock::~HandlerLock()
{
	gex_HSL_Destroy(&inside->hsl);
}

void
HandlerLock::lock()
{
	gex_HSL_Lock(&inside->hsl);
}

void
HandlerLock::unlock()
{
	gex_HSL_Unlock(&inside->hsl);
}

struct Wire::State {
	Callbacks callbacks;
	gex_Client_t client;
	gex_EP_t endpoint;
	gex_TM_t team;
	gex_Segment_t segment;
	std::vector<unsigned char *> slots;         // mine at each rank
	std::vector<std::atomic<bool>> slot_in_use; // a Long of mine is there
	std::atomic<std::uint32_t> next_id{ 0 };
	HandlerLock partials_lock;
	std::map<std::pair<int, std::uint32_t>, Partial> partials;

	// Who a message came from, and for whom: the endpoint remembers its State.
	static State &of(gex_Token_t token, int *source_out)
	{
		gex_Token_Info_t info;

		gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP);
		*source_out = static_cast<int>(info.gex_srcrank);
		return *static_cast<State *>(gex_EP_QueryCData(info.gex_ep));
	}

	void part_arrived(int source, std::uint32_t id, int function, std::size_t total,
	                  std::size_t offset, const void *bytes, std::size_t count);
	void attach(std::size_t rank_count);
};

// The part that completes its task takes it out of the table, and delivers it without the lock.
void
Wire::State::part_arrived(int source, std::uint32_t id, int function, std::size_t total,
                          std::size_t offset, const void *bytes, std::size_t count)
{
	Task task;

	{
		std::lock_guard<HandlerLock> guard(partials_lock);
		auto place = partials.find({ source, id });

		if (place == partials.end())
			place = partials.insert({ { source, id },
			                          { { function, source, Bytes(total) }, total } })
			                .first;
		if (count != 0)
			std::memcpy(place->second.task.bytes.data() + offset, bytes, count);
		place->second.missing -= count;
		if (place->second.missing != 0)
			return;
		task = std::move(place->second.task);
		partials.erase(place);
	}
	callbacks.task_arrived(std::move(task));
}

struct Wire::Handlers {
	static void short_task(gex_Token_t token, gex_AM_Arg_t function, gex_AM_Arg_t size,
	                       gex_AM_Arg_t word0, gex_AM_Arg_t word1, gex_AM_Arg_t word2,
	                       gex_AM_Arg_t word3)
	{
		const gex_AM_Arg_t words[short_words] = { word0, word1, word2, word3 };
		const unsigned char *bytes = reinterpret_cast<const unsigned char *>(words);
		int source;
		State &state = State::of(token, &source);

		state.callbacks.task_arrived({ function, source, Bytes(bytes, bytes + size) });
	}

	static void medium_part(gex_Token_t token, void *bytes, std::size_t count, gex_AM_Arg_t id,
	                        gex_AM_Arg_t function, gex_AM_Arg_t total, gex_AM_Arg_t offset)
	{
		int source;
		State &state = State::of(token, &source);

		state.part_arrived(source, static_cast<std::uint32_t>(id), function,
		                   static_cast<std::size_t>(total),
		                   static_cast<std::size_t>(offset), bytes, count);
	}

	static void long_part(gex_Token_t token, void *bytes, std::size_t count, gex_AM_Arg_t id,
	                      gex_AM_Arg_t function, gex_AM_Arg_t total, gex_AM_Arg_t offset)
	{
		medium_part(token, bytes, count, id, function, total, offset);
		gex_AM_ReplyShort0(token, SLOT_FREE, 0);
	}

	static void slot_free(gex_Token_t token)
	{
		int target;
		State &state = State::of(token, &target);

		state.slot_in_use[static_cast<std::size_t>(target)] = false;
	}

	static void ask_load(gex_Token_t token, gex_AM_Arg_t to_high, gex_AM_Arg_t to_low)
	{
		int source;
		Load load = State::of(token, &source).callbacks.load_asked();
		gex_AM_SrcDesc_t reply = gex_AM_PrepareReplyMedium(token, nullptr, sizeof(load),
		                                                   sizeof(load), nullptr, 0, 2);

		std::memcpy(gex_AM_SrcDescAddr(reply), &load, sizeof(load));
		gex_AM_CommitReplyMedium2(reply, TELL_LOAD, sizeof(load), to_high, to_low);
	}

	static void tell_load(gex_Token_t, void *bytes, std::size_t count, gex_AM_Arg_t to_high,
	                      gex_AM_Arg_t to_low)
	{
		Question *question = pointer_of<Question>(to_high, to_low);

		std::memcpy(&question->load, bytes, std::min(count, sizeof(question->load)));
		question->answered = true;
	}

	template <typename Handler>
	static gex_AM_Entry_t entry(Index index, Handler handler, gex_Flags_t flags,
	                            unsigned int arguments, const char *name)
	{
		return { index, reinterpret_cast<gex_AM_Fn_t>(handler), flags, arguments, nullptr,
			 name };
	}

	static std::vector<gex_AM_Entry_t> table()
	{
		constexpr gex_Flags_t request = GEX_FLAG_AM_REQUEST, reply = GEX_FLAG_AM_REPLY;

		return {
			entry(SHORT_TASK, short_task, GEX_FLAG_AM_SHORT | request, 6, "task"),
			entry(MEDIUM_PART, medium_part, GEX_FLAG_AM_MEDIUM | request, 4, "part"),
			entry(LONG_PART, long_part, GEX_FLAG_AM_LONG | request, 4, "large part"),
			entry(SLOT_FREE, slot_free, GEX_FLAG_AM_SHORT | reply, 0, "slot free"),
			entry(ASK_LOAD, ask_load, GEX_FLAG_AM_SHORT | request, 2, "ask"),
			entry(TELL_LOAD, tell_load, GEX_FLAG_AM_MEDIUM | reply, 2, "tell"),
		};
	}
};

// A segment of one slot for each rank; then where mine is at each.
void
Wire::State::attach(std::size_t rank_count)
{
	std::size_t me = gex_TM_QueryRank(team);

	expect_ok(gex_Segment_Attach(&segment, team, rank_count * slot_bytes), "attach");
	slots.resize(rank_count);
	for (std::size_t rank = 0; rank < rank_count; rank++) {
		void *base;

		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, static_cast<gex_Rank_t>(rank),
		                                          &base, nullptr, nullptr, 0));
		slots[rank] = static_cast<unsigned char *>(base) + me * slot_bytes;
	}
}

Wire::Wire(int *argc, char ***argv, Callbacks callbacks) : state(new State)
{
	std::vector<gex_AM_Entry_t> table = Handlers::table();

	state->callbacks = std::move(callbacks);
	expect_ok(gex_Client_Init(&state->client, &state->endpoint, &state->team, "TASKS", argc,
	                          argv, 0),
	          "init");
	gex_EP_SetCData(state->endpoint, state.get());
	state->slot_in_use = std::vector<std::atomic<bool>>(gex_TM_QuerySize(state->team));
	expect_ok(gex_EP_RegisterHandlers(state->endpoint, table.data(), table.size()), "register");
	state->attach(gex_TM_QuerySize(state->team));
	barrier();
}

Wire::~Wire() = default;

int
Wire::rank() const
{
	return static_cast<int>(gex_TM_QueryRank(state->team));
}

int
Wire::ranks() const
{
	return static_cast<int>(gex_TM_QuerySize(state->team));
}

void
Wire::poll()
{
	expect_ok(gasnet_AMPoll(), "poll");
}

void
Wire::barrier()
{
	gex_Event_Wait(gex_Coll_BarrierNB(state->team, 0));
}

std::vector<std::int64_t>
Wire::sum(const std::vector<std::int64_t> &parts)
{
	std::vector<std::int64_t> sums(parts.size());

	gex_Event_Wait(gex_Coll_ReduceToAllNB(state->team, sums.data(), parts.data(), GEX_DT_I64,
	                                      sizeof(parts[0]), parts.size(), GEX_OP_ADD, nullptr,
	                                      nullptr, 0));
	return sums;
}

void
Wire::exit(int status)
{
	barrier();
	gasnet_exit(status);
	std::abort();
}

void
Wire::send(int target, const Task &task)
{
	if (task.bytes.size() <= short_bytes)
		send_short(target, task);
	else if (task.bytes.size() <= medium_bytes)
		send_medium(target, task);
	else if (task.bytes.size() <= negotiated_bytes)
		send_negotiated(target, task);
	else
		send_long(target, task);
}

// At once if there is room; if not, after a poll, and then for as long as it takes.
void
Wire::send_short(int target, const Task &task)
{
	gex_Rank_t to = static_cast<gex_Rank_t>(target);
	gex_AM_Arg_t size = static_cast<gex_AM_Arg_t>(task.bytes.size());
	gex_AM_Arg_t words[short_words] = {};

	std::copy(task.bytes.begin(), task.bytes.end(), reinterpret_cast<unsigned char *>(words));
	const gex_Flags_t tries[] = { GEX_FLAG_IMMEDIATE, 0 };
	for (gex_Flags_t flags : tries) {
		if (gex_AM_RequestShort6(state->team, to, SHORT_TASK, flags, task.function, size,
		                         words[0], words[1], words[2], words[3]) == 0)
			return;
		poll();
	}
}

void
Wire::send_medium(int target, const Task &task)
{
	gex_AM_Arg_t id = static_cast<gex_AM_Arg_t>(state->next_id++);
	gex_AM_Arg_t size = static_cast<gex_AM_Arg_t>(task.bytes.size());

	gex_AM_RequestMedium4(state->team, static_cast<gex_Rank_t>(target), MEDIUM_PART,
	                      task.bytes.data(), task.bytes.size(), GEX_EVENT_NOW, 0, id,
	                      task.function, size, 0);
}

// The library's own buffer is filled, as much of it as the library grants.
void
Wire::send_negotiated(int target, const Task &task)
{
	gex_AM_Arg_t id = static_cast<gex_AM_Arg_t>(state->next_id++);
	std::size_t total = task.bytes.size(), offset = 0;

	while (offset < total) {
		std::size_t rest = total - offset, least = std::min(rest, medium_bytes);
		gex_AM_SrcDesc_t part =
			gex_AM_PrepareRequestMedium(state->team, static_cast<gex_Rank_t>(target),
		                                    nullptr, least, rest, nullptr, 0, 4);
		std::size_t granted = gex_AM_SrcDescSize(part);

		std::memcpy(gex_AM_SrcDescAddr(part), task.bytes.data() + offset, granted);
		gex_AM_CommitRequestMedium4(part, MEDIUM_PART, granted, id, task.function,
		                            static_cast<gex_AM_Arg_t>(total),
		                            static_cast<gex_AM_Arg_t>(offset));
		offset += granted;
	}
}

// One part at a time lies in my slot; the reply says that it was taken out.
void
Wire::send_long(int target, const Task &task)
{
	gex_Rank_t to = static_cast<gex_Rank_t>(target);
	gex_AM_Arg_t id = static_cast<gex_AM_Arg_t>(state->next_id++);
	std::size_t most =
		std::min(slot_bytes, gex_AM_MaxRequestLong(state->team, to, nullptr, 0, 4));
	std::size_t total = task.bytes.size(), count;

	for (std::size_t offset = 0; offset < total; offset += count) {
		gex_Event_t source_free;

		count = std::min(most, total - offset);
		while (state->slot_in_use[to].exchange(true)) {
			poll();
			std::this_thread::yield();
		}
		gex_AM_RequestLong4(state->team, to, LONG_PART, task.bytes.data() + offset, count,
		                    state->slots[to], &source_free, 0, id, task.function,
		                    static_cast<gex_AM_Arg_t>(total),
		                    static_cast<gex_AM_Arg_t>(offset));
		gex_Event_Wait(source_free);
	}
}

Load
Wire::ask_load(int target)
{
	Question question{};
	std::uint64_t to = reinterpret_cast<std::uintptr_t>(&question);

	gex_AM_RequestShort2(state->team, static_cast<gex_Rank_t>(target), ASK_LOAD, 0,
	                     high_half(to), low_half(to));
	GASNET_BLOCKUNTIL(question.answered);
	return question.load;
}
