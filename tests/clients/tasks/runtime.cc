// Queue, workers, answers, and the end of all work.
#include "runtime.h"

#include <chrono>
#include <mutex>

// A join that waits: its address travels, and comes back with each answer.
struct Runtime::Pending {
	std::atomic<int> missing;
	std::atomic<std::int64_t> sum;
	Continuation then;
};

namespace
{

struct Answer {
	std::uint64_t address;
	std::int64_t value;
};

// What a thread without work does next; the first rounds cost nothing but a look at the queue.
void
rest(int rounds_without_work)
{
	if (rounds_without_work < 50)
		std::this_thread::yield();
	else
		std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace

// Function 0 of every runtime takes answers.
Runtime::Runtime(int *argc, char ***argv, std::vector<Function> client_functions, int workers)
    : functions(std::move(client_functions)),
      wire(argc, argv,
           { [this](Task &&task) { enqueue(std::move(task)); },
             [this] {
		     return Load{ created, finished };
	     } })
{
	functions.insert(functions.begin(), take_answer);
	for (int i = 0; i < workers; i++)
		threads.emplace_back([this] { work(); });
	threads.emplace_back([this] { keep_polling(); });
}

Runtime::~Runtime()
{
	stopping = true;
	for (std::thread &thread : threads)
		thread.join();
}

// By handlers and by threads.
void
Runtime::enqueue(Task &&task)
{
	std::lock_guard<HandlerLock> guard(queue_lock);

	queue.push_back(std::move(task));
}

// A task counts from before it leaves here until after it ran, wherever that is.
void
Runtime::spawn(int rank, int function, Bytes bytes)
{
	Task task{ function, wire.rank(), std::move(bytes) };

	created++;
	if (rank == wire.rank())
		enqueue(std::move(task));
	else
		wire.send(rank, task);
}

Runtime::Join
Runtime::expect(int answers, Continuation then)
{
	Pending *pending = new Pending{ { answers }, { 0 }, std::move(then) };

	return { wire.rank(), reinterpret_cast<std::uintptr_t>(pending) };
}

void
Runtime::answer(const Join &join, std::int64_t value)
{
	spawn(static_cast<int>(join.rank), 0, bytes_of(Answer{ join.address, value }));
}

void
Runtime::take_answer(Runtime &, Task &task)
{
	Answer answer = plain_of<Answer>(task.bytes);
	Pending *pending = reinterpret_cast<Pending *>(static_cast<std::uintptr_t>(answer.address));

	pending->sum += answer.value;
	if (--pending->missing != 0)
		return;
	pending->then(pending->sum);
	delete pending;
}

bool
Runtime::run_one()
{
	Task task;

	{
		std::lock_guard<HandlerLock> guard(queue_lock);

		if (queue.empty())
			return false;
		task = std::move(queue.front());
		queue.pop_front();
	}
	functions[static_cast<std::size_t>(task.function)](*this, task);
	finished++;
	return true;
}

void
Runtime::work()
{
	for (int idle = 0; !stopping; idle++) {
		if (run_one())
			idle = 0;
		else
			rest(idle);
	}
}

void
Runtime::keep_polling()
{
	while (!stopping) {
		wire.poll();
		rest(0);
	}
}

// The ranks count again and again. What was finished by one count is all that was created by the
// next: then nothing was left in between, in no queue and in no message.
void
Runtime::run()
{
	std::int64_t finished_before = -1;

	for (;;) {
		std::int64_t finished_here = finished;
		std::vector<std::int64_t> sums = wire.sum({ finished_here, created });

		if (sums[1] == finished_before)
			return;
		finished_before = sums[0];
		std::this_thread::sleep_for(std::chrono::microseconds(100));
	}
}

void
Runtime::exit(int status)
{
	stopping = true;
	for (std::thread &thread : threads)
		thread.join();
	threads.clear();
	wire.exit(status);
}
