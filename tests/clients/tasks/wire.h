// Brings tasks to other ranks: a message or several, of the kind that suits their size.
#ifndef WIRE_H
#define WIRE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

using Bytes = std::vector<unsigned char>;

struct Task {
	int function;
	int source;
	Bytes bytes;
};

// What a rank tells of itself.
struct Load {
	std::int64_t created;
	std::int64_t finished;
};

class Wire
{
      public:
	// What is called by handlers: it may lock a HandlerLock, and does not communicate.
	struct Callbacks {
		std::function<void(Task &&)> task_arrived;
		std::function<Load()> load_asked;
	};

	Wire(int *argc, char ***argv, Callbacks callbacks);
	~Wire();
	Wire(const Wire &) = delete;
	Wire &operator=(const Wire &) = delete;

	int rank() const;
	int ranks() const;

	// Called by any thread; the task may be destroyed on return.
	void send(int target, const Task &task);
	Load ask_load(int target);
	void poll();

	// Called by all ranks, in the same order.
	void barrier();
	std::vector<std::int64_t> sum(const std::vector<std::int64_t> &parts);
	[[noreturn]] void exit(int status);

      private:
	struct State;
	struct Handlers;
	std::unique_ptr<State> state;

	void send_short(int target, const Task &task);
	void send_medium(int target, const Task &task);
	void send_negotiated(int target, const Task &task);
	void send_long(int target, const Task &task);
};

// A lock that handlers may take; for std::lock_guard.
class HandlerLock
{
      public:
	HandlerLock();
	~HandlerLock();
	HandlerLock(const HandlerLock &) = delete;
	HandlerLock &operator=(const HandlerLock &) = delete;
	void lock();
	void unlock();

      private:
	struct Lock;
	std::unique_ptr<Lock> inside;
};

#endif
