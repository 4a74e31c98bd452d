// A program of tasks: a tree of calls, and payloads of all sizes from everybody to everybody. It
// ends with status 1 when an answer is wrong.
#include "runtime.h"

#include <cstdio>

namespace
{

enum { FIBONACCI = 1, CHECK_PAYLOAD };
constexpr int tree_of = 13, tree_answer = 233;
constexpr std::size_t sizes[] = { 0, 1, 16, 17, 512, 513, 5000, 65536, 65537, 700000 };

std::atomic<std::int64_t> payloads_right{ 0 };

struct Call {
	Runtime::Join caller;
	std::int64_t number;
};

void
fibonacci(Runtime &runtime, Task &task)
{
	Call call = plain_of<Call>(task.bytes);

	if (call.number < 2) {
		runtime.answer(call.caller, call.number);
		return;
	}
	Runtime::Join join = runtime.expect(
		2, [&runtime, call](std::int64_t sum) { runtime.answer(call.caller, sum); });
	for (int back : { 1, 2 }) {
		int rank = static_cast<int>(runtime.rank() + back + call.number) % runtime.ranks();

		runtime.spawn(rank, FIBONACCI, bytes_of(Call{ join, call.number - back }));
	}
}

// What byte i of a payload is, by its sender and size.
unsigned char
payload_byte(int source, std::size_t size, std::size_t i)
{
	return static_cast<unsigned char>(static_cast<std::size_t>(source) * 31 + size * 7 + i * 5 +
	                                  i / 251);
}

void
check_payload(Runtime &, Task &task)
{
	std::size_t size = task.bytes.size(), i = 0;

	while (i < size && task.bytes[i] == payload_byte(task.source, size, i))
		i++;
	if (i == size)
		payloads_right++;
	else
		std::fprintf(stderr, "byte %zu of %zu from rank %d is wrong\n", i, size,
		             task.source);
}

bool
tree_holds(Runtime &runtime)
{
	std::atomic<std::int64_t> result{ -1 };

	if (runtime.rank() == 0) {
		Runtime::Join join =
			runtime.expect(1, [&result](std::int64_t sum) { result = sum; });

		runtime.spawn(runtime.ranks() - 1, FIBONACCI, bytes_of(Call{ join, tree_of }));
	}
	runtime.run();
	return runtime.rank() != 0 || result == tree_answer;
}

bool
payloads_hold(Runtime &runtime)
{
	std::int64_t expected = 0;

	for (std::size_t size : sizes) {
		Bytes bytes(size);

		for (std::size_t i = 0; i < size; i++)
			bytes[i] = payload_byte(runtime.rank(), size, i);
		for (int rank = 0; rank < runtime.ranks(); rank++)
			runtime.spawn(rank, CHECK_PAYLOAD, bytes);
		expected += runtime.ranks();
	}
	runtime.run();
	return payloads_right == expected;
}

// With nothing left to do, what all tell of themselves adds up.
bool
loads_hold(Runtime &runtime)
{
	std::int64_t created = 0, finished = 0;

	for (int rank = 0; rank < runtime.ranks(); rank++) {
		Load load = runtime.ask_load(rank);

		created += load.created;
		finished += load.finished;
	}
	return created == finished && created > tree_answer;
}

} // namespace

int
main(int argc, char **argv)
{
	Runtime runtime(&argc, &argv, { fibonacci, check_payload }, 2);
	const bool answers[] = { tree_holds(runtime), payloads_hold(runtime), loads_hold(runtime) };
	std::int64_t wrong = runtime.sum(3 - answers[0] - answers[1] - answers[2]);

	if (runtime.rank() == 0)
		std::printf("%s: %d\n", wrong == 0 ? "done" : "wrong", runtime.ranks());
	runtime.exit(wrong == 0 ? 0 : 1);
}
