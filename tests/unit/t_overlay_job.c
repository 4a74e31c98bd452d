/* Jobs of keepers whose hosts all live: gathers, barriers, frames, leaving. */
#include "tests/unit/main.h"
#include "tests/unit/overlay_rig.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t
byte_of(uint32_t host, uint32_t number, uint32_t at)
{
	return (uint8_t)(host * 31 + number * 7 + at * 13 + (at >> 8));
}

static void
bytes_fill(uint8_t *bytes, uint32_t len, uint32_t host, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		bytes[i] = byte_of(host, number, i);
}

static bool
bytes_are_right(const uint8_t *bytes, uint32_t len, uint32_t host, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (bytes[i] != byte_of(host, number, i))
			return false;
	return true;
}

/* ------------------------------------------------------------------- collectives --- */

enum { GATHERS = 40 };

/* Nothing, some bytes, about a piece, several pieces; number 20 is the largest that there is. */
static uint32_t
gather_bytes(uint32_t host, uint32_t number)
{
	if (number == 20)
		return host == 0 ? PBOOT_FRAME_BLOB_BYTES : host;
	switch ((host + number) % 5) {
	case 0:
		return 0;
	case 1:
		return PBOOT_FRAME_PART_BYTES + number % 3 - 1;
	case 2:
		return 3 * PBOOT_FRAME_PART_BYTES;
	default:
		return host + number;
	}
}

static void
gather_check(const struct rig_host *host, const struct pboot_overlay_blob *blobs, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < host->count; i++) {
		RIG_CHECK(host, blobs[i].len_bytes == gather_bytes(i, number));
		RIG_CHECK(host, bytes_are_right(blobs[i].bytes, blobs[i].len_bytes, i, number));
	}
}

/* Every third collective is a barrier. */
static enum pboot_overlay_result
collective_start(struct rig_host *host, uint32_t number, uint8_t *bytes)
{
	const uint32_t len = gather_bytes(host->self, number);

	if (number % 3 == 2)
		return pboot_overlay_barrier(host->net);
	bytes_fill(bytes, len, host->self, number);
	return pboot_overlay_allgather(host->net, bytes, len);
}

/* As many in flight as there may be. */
static void
run_collectives(struct rig_host *host)
{
	uint8_t *bytes = malloc(PBOOT_FRAME_BLOB_BYTES);
	struct pboot_overlay_event event;
	uint32_t begun = 0, done;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	for (done = 0; done < GATHERS; done++) {
		while (begun < GATHERS &&
		    collective_start(host, begun, bytes) == PBOOT_OVERLAY_OK)
			begun++;
		RIG_CHECK(host, begun == GATHERS || begun - done == PBOOT_OVERLAY_IN_FLIGHT);
		event = rig_expect(host, done % 3 == 2 ? PBOOT_OVERLAY_PASSED :
		    PBOOT_OVERLAY_GATHERED);
		if (event.kind == PBOOT_OVERLAY_GATHERED)
			gather_check(host, event.blobs, done);
	}
	free(bytes);
	rig_leave(host);
}

static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20 };

START_TEST(collectives_of_all_hosts)
{
	struct rig *rig = rig_open(sizes[_i], run_collectives);

	rig_run(rig);
}
END_TEST

/* Where the kernel has IPv6. */
START_TEST(collectives_over_ipv6)
{
	char why[PBOOT_ADDRESS_WHY_BYTES];
	struct pboot_address address;
	struct rig *rig;

	if (!pboot_address_choose("::1", NULL, &address, why)) {
		printf("no IPv6 here: %s\n", why);
		return;
	}
	rig = rig_open(10, run_collectives);
	rig->iface = "::1";
	rig_run(rig);
}
END_TEST

/* Nobody passes a barrier before the last host has come to it. */
static void
run_late_barrier(struct rig_host *host)
{
	const bool last = host->self == host->count - 1;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	atomic_store(&host->shared->step[host->self], 1);
	if (last)
		rig_idle_until(host, 1);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	RIG_CHECK(host, atomic_load(&host->shared->go) == 1);
	rig_leave(host);
}

START_TEST(a_barrier_waits_for_the_last)
{
	struct rig *rig = rig_open(11, run_late_barrier);

	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	usleep(100000);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------- frames --- */

enum { FRAMES = 40 };

static uint32_t
frame_bytes(uint32_t number)
{
	return number == FRAMES / 2 ? PBOOT_FRAME_DATA_BYTES : number * number;
}

struct traffic {
	uint8_t *bytes;
	uint32_t to, number;		/* what is sent next */
	uint32_t got[RIG_HOSTS_MAX];	/* of each host */
	uint32_t got_all[RIG_HOSTS_MAX];
};

/* Each number goes to each host, and every fourth to all in one frame besides.  Where the kind says
 * so (0x8000) it is that one. */
static bool
traffic_send(struct rig_host *host, struct traffic *traffic)
{
	const uint32_t number = traffic->number, to = traffic->to, len = frame_bytes(number);
	enum pboot_overlay_result result = PBOOT_OVERLAY_OK;

	bytes_fill(traffic->bytes, len, host->self, number);
	if (to < host->count && to != host->self)
		result = pboot_overlay_send(host->net, to, (uint16_t)number, traffic->bytes, len);
	else if (to == host->count && number % 4 == 0)
		result = pboot_overlay_send(host->net, PBOOT_FRAME_ALL,
		    (uint16_t)(0x8000 | number), traffic->bytes, len);
	RIG_CHECK(host, result == PBOOT_OVERLAY_OK || result == PBOOT_OVERLAY_AGAIN);
	if (result != PBOOT_OVERLAY_OK)
		return false;
	traffic->to = to == host->count ? 0 : to + 1;
	traffic->number = to == host->count ? number + 1 : number;
	return true;
}

/* All of one sender in the order of sending, those to all hosts too. */
static void
traffic_take(const struct rig_host *host, struct traffic *traffic,
    const struct pboot_overlay_event *event)
{
	const uint32_t from = event->host, number = event->frame_kind & 0x7fffu;

	RIG_CHECK(host, from < host->count && from != host->self);
	RIG_CHECK(host, event->len_bytes == frame_bytes(number));
	RIG_CHECK(host, bytes_are_right(event->bytes, event->len_bytes, from, number));
	if (event->frame_kind & 0x8000) {
		RIG_CHECK(host, number == 4 * traffic->got_all[from]++);
		RIG_CHECK(host, traffic->got[from] == number + 1);
	} else {
		RIG_CHECK(host, number == traffic->got[from]++);
	}
}

static bool
traffic_is_over(const struct rig_host *host, const struct traffic *traffic)
{
	uint32_t i;

	for (i = 0; i < host->count; i++)
		if (i != host->self &&
		    (traffic->got[i] < FRAMES || traffic->got_all[i] < FRAMES / 4))
			return false;
	return traffic->number == FRAMES;
}

static void
run_all_to_all(struct rig_host *host)
{
	struct traffic traffic = { .bytes = malloc(PBOOT_FRAME_DATA_BYTES) };
	struct pboot_overlay_event event;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	while (!traffic_is_over(host, &traffic)) {
		while (traffic.number < FRAMES && traffic_send(host, &traffic))
			;
		if (traffic_is_over(host, &traffic))
			break;
		RIG_CHECK(host, rig_next(host, &event, rig_ms(20000)));
		if (event.kind == PBOOT_OVERLAY_FRAME)
			traffic_take(host, &traffic, &event);
		else
			RIG_CHECK(host, event.kind == PBOOT_OVERLAY_ROOM);
	}
	free(traffic.bytes);
	rig_leave(host);
}

START_TEST(frames_from_all_to_all)
{
	struct rig *rig = rig_open(sizes[_i], run_all_to_all);

	rig_run(rig);
}
END_TEST

/*
 * Host 19 takes nothing for a while; its way to host 0 leads over host 2.  What host 0 sends to it
 * finds no room in the end, and all of it arrives.  Host 18's frame to host 0 is not held up.
 */
enum { FLOOD_MOST = 10000, FLOOD_LAST = 7 };

/* Sends until there has been no room for a while. */
static uint32_t
flood_send(struct rig_host *host)
{
	static const uint8_t bytes[PBOOT_FRAME_DATA_BYTES];
	struct pboot_overlay_event event;
	uint32_t sent = 0;

	for (;;) {
		while (pboot_overlay_send(host->net, 19, 1, bytes, sizeof bytes) ==
		    PBOOT_OVERLAY_OK)
			RIG_CHECK(host, ++sent < FLOOD_MOST);
		if (!rig_next(host, &event, rig_ms(200)))
			return sent;
		RIG_CHECK(host, event.kind == PBOOT_OVERLAY_ROOM);
	}
}

static void
run_flood_sender(struct rig_host *host)
{
	const uint32_t sent = flood_send(host);
	enum pboot_overlay_result result;

	atomic_store(&host->shared->step[0], 1);
	RIG_CHECK(host, rig_expect(host, PBOOT_OVERLAY_FRAME).host == 18);
	atomic_store(&host->shared->go, 1);
	do {
		result = pboot_overlay_send(host->net, 19, FLOOD_LAST, &sent, sizeof sent);
		if (result == PBOOT_OVERLAY_AGAIN)
			rig_expect(host, PBOOT_OVERLAY_ROOM);
	} while (result != PBOOT_OVERLAY_OK);
}

static void
run_flood_receiver(struct rig_host *host)
{
	struct pboot_overlay_event event;
	uint32_t got = 0, sent;

	while (atomic_load(&host->shared->go) < 1)
		usleep(1000);
	while ((event = rig_expect(host, PBOOT_OVERLAY_FRAME)).frame_kind != FLOOD_LAST)
		got++;
	memcpy(&sent, event.bytes, sizeof sent);
	RIG_CHECK(host, sent == got);
}

static void
run_flood(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	if (host->self == 0)
		run_flood_sender(host);
	if (host->self == 19)
		run_flood_receiver(host);
	if (host->self == 18) {
		while (atomic_load(&host->shared->step[0]) < 1)
			usleep(1000);
		RIG_CHECK(host, pboot_overlay_send(host->net, 0, 2, "x", 1) == PBOOT_OVERLAY_OK);
	}
	rig_leave(host);
}

START_TEST(a_flood_is_bounded_and_holds_up_no_other_way)
{
	struct rig *rig = rig_open(20, run_flood);

	rig_run(rig);
}
END_TEST

/* ------------------------------------------------------------------- rules of calls --- */

static void
run_misuse(struct rig_host *host)
{
	struct pboot_overlay *net = host->net;
	static uint8_t bytes[PBOOT_FRAME_DATA_BYTES + 1];

	RIG_CHECK(host, pboot_overlay_send(net, 1 - host->self, 0, "", 0) == PBOOT_OVERLAY_AGAIN);
	RIG_CHECK(host, pboot_overlay_barrier(net) == PBOOT_OVERLAY_AGAIN);
	RIG_CHECK(host, pboot_overlay_connect(net, NULL, 0, 0) == PBOOT_OVERLAY_MISUSE);
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	RIG_CHECK(host, pboot_overlay_send(net, host->self, 0, "", 0) == PBOOT_OVERLAY_MISUSE);
	RIG_CHECK(host, pboot_overlay_send(net, 2, 0, "", 0) == PBOOT_OVERLAY_MISUSE);
	RIG_CHECK(host, pboot_overlay_send(net, 1 - host->self, 0, bytes, sizeof bytes) ==
	    PBOOT_OVERLAY_MISUSE);
	RIG_CHECK(host, pboot_overlay_allgather(net, bytes, PBOOT_FRAME_BLOB_BYTES + 1) ==
	    PBOOT_OVERLAY_MISUSE);
	RIG_CHECK(host, pboot_overlay_reaches(net, 0) && pboot_overlay_reaches(net, 1));
	pboot_overlay_close(net);
	RIG_CHECK(host, pboot_overlay_send(net, 1 - host->self, 0, "", 0) == PBOOT_OVERLAY_GONE);
	RIG_CHECK(host, pboot_overlay_barrier(net) == PBOOT_OVERLAY_GONE);
	rig_expect(host, PBOOT_OVERLAY_CLOSED);
}

START_TEST(calls_out_of_turn_are_refused)
{
	struct rig *rig = rig_open(2, run_misuse);

	rig_run(rig);
}
END_TEST

/* Who leaves first waits for the others, and what it has sent arrives. */
static void
run_leave_in_turn(struct rig_host *host)
{
	struct pboot_overlay_event event;
	uint32_t got = 0;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	if (host->self % 2) {
		RIG_CHECK(host, pboot_overlay_send(host->net, PBOOT_FRAME_ALL, 1, "bye", 3) ==
		    PBOOT_OVERLAY_OK);
		got++;
		pboot_overlay_close(host->net);
	}
	for (; got < host->count / 2; got++) {
		event = rig_expect(host, PBOOT_OVERLAY_FRAME);
		RIG_CHECK(host, event.len_bytes == 3);
	}
	usleep(host->self * 5000);
	rig_leave(host);
}

START_TEST(hosts_leave_in_any_order)
{
	struct rig *rig = rig_open(20, run_leave_in_turn);

	rig_run(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("job");
	const int count = sizeof sizes / sizeof *sizes;

	tcase_set_timeout(tests, 60.0 * (double)rig_ms(1) / 1e6);
	tcase_add_loop_test(tests, collectives_of_all_hosts, 0, count);
	tcase_add_loop_test(tests, frames_from_all_to_all, 0, count);
	tcase_add_test(tests, collectives_over_ipv6);
	tcase_add_test(tests, a_barrier_waits_for_the_last);
	tcase_add_test(tests, a_flood_is_bounded_and_holds_up_no_other_way);
	tcase_add_test(tests, calls_out_of_turn_are_refused);
	tcase_add_test(tests, hosts_leave_in_any_order);
	return unit_run("overlay_job", tests);
}
