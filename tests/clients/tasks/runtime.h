// Tasks on all ranks: a queue with workers on each, answers that are counted, and a way to find out
// that nothing is left anywhere.
#ifndef RUNTIME_H
#define RUNTIME_H

#include "wire.h"

#include <atomic>
#include <deque>
#include <thread>

class Runtime
{
      public:
	using Function = void (*)(Runtime &, Task &);
	using Continuation = std::function<void(std::int64_t)>;

	// Names a join on the rank that made it.
	struct Join {
		std::int64_t rank;
		std::uint64_t address;
	};

	// The functions are the same on all ranks, in the same order.
	Runtime(int *argc, char ***argv, std::vector<Function> functions, int workers);
	~Runtime();

	int rank() const
	{
		return wire.rank();
	}
	int ranks() const
	{
		return wire.ranks();
	}

	// By any thread: task `function' runs on that rank, with these bytes.
	void spawn(int rank, int function, Bytes bytes);
	// Calls `then' with the sum of so many answers, on this rank.
	Join expect(int answers, Continuation then);
	void answer(const Join &join, std::int64_t value);
	Load ask_load(int rank)
	{
		return wire.ask_load(rank);
	}

	// By the main thread of all ranks: returns when no task is left on any of them.
	void run();
	std::int64_t sum(std::int64_t part)
	{
		return wire.sum({ part })[0];
	}
	[[noreturn]] void exit(int status);

      private:
	struct Pending;

	std::vector<Function> functions;
	HandlerLock queue_lock;
	std::deque<Task> queue;
	std::atomic<std::int64_t> created{ 0 }, finished{ 0 };
	std::atomic<bool> stopping{ false };
	Wire wire;
	std::vector<std::thread> threads;

	static void take_answer(Runtime &runtime, Task &task);
	void enqueue(Task &&task);
	bool run_one();
	void work();
	void keep_polling();
};

// Plain structs as bytes, and back.
template <typename Plain>
Bytes
bytes_of(const Plain &plain)
{
	const unsigned char *begin = reinterpret_cast<const unsigned char *>(&plain);

	return Bytes(begin, begin + sizeof(plain));
}

template <typename Plain>
Plain
plain_of(const Bytes &bytes)
{
	Plain plain{};

	std::copy(bytes.begin(), bytes.begin() + sizeof(plain),
	          reinterpret_cast<unsigned char *>(&plain));
	return plain;
}

#endif
