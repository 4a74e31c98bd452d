/* Jobs of keepers of which some die, stop, do not fit or do not come. */
#include "tests/unit/main.h"
#include "tests/unit/overlay_rig.h"

#include "runtime/util/clock.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What a host expects, set before the fork. */
static struct {
	uint32_t victim;
	enum pboot_overlay_loss loss;
	const char *texts[4];		/* parts of why; NULL: no more */
} expected;

static void
check_loss(const struct rig_host *host, const struct pboot_overlay_event *event)
{
	unsigned i;

	if (event->host != expected.victim || event->loss != expected.loss)
		rig_fail(host, "host %u is lost by %d, not host %u by %d: %s", event->host,
		    event->loss, expected.victim, expected.loss, event->why);
	for (i = 0; i < 4 && expected.texts[i]; i++)
		if (!strstr(event->why, expected.texts[i]))
			rig_fail(host, "'%s' is not in: %s", expected.texts[i], event->why);
	RIG_CHECK(host, pboot_tree_parent(event->host) == event->witness ||
	    pboot_tree_parent(event->witness) == event->host);
	RIG_CHECK(host, !pboot_overlay_reaches(host->net, event->host));
	RIG_CHECK(host, pboot_overlay_reaches(host->net, event->witness));
}

/* What is behind the lost host is out of reach, and all that is before it within. */
static void
check_reach(const struct rig_host *host)
{
	const uint32_t victim = expected.victim;
	uint32_t i;

	for (i = 0; i < host->count; i++)
		RIG_CHECK(host, i == victim || pboot_overlay_reaches(host->net, i) ==
		    (pboot_tree_branch(victim, i) == pboot_tree_branch(victim, host->self)));
}

/* Idles, hears of the loss, and of it once; then leaves with those it can reach. */
static void
run_survivor(struct rig_host *host)
{
	struct pboot_overlay_event event;

	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	atomic_store(&host->shared->step[host->self], 1);
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	atomic_store(&host->shared->step[host->self], 2);
	check_loss(host, &event);
	check_reach(host);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_GONE);
	RIG_CHECK(host, pboot_overlay_send(host->net, expected.victim, 0, "", 0) ==
	    PBOOT_OVERLAY_GONE);
	rig_idle_until(host, 1);
	rig_leave(host);
}

static const struct {
	uint32_t count, victim;
} deaths[] = { { 2, 0 }, { 2, 1 }, { 9, 0 }, { 9, 5 }, { 20, 1 }, { 20, 19 }, { 20, 0 } };

/* Of a death that the kernel sees all hosts know within 2 s. */
START_TEST(every_host_hears_of_a_death)
{
	struct rig *rig = rig_open(deaths[_i].count, run_survivor);
	uint64_t died;

	expected.victim = deaths[_i].victim;
	expected.loss = PBOOT_OVERLAY_BY_KERNEL;
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	died = psi_now_ns();
	kill(rig->pid[expected.victim], SIGKILL);
	rig_await_step(rig, 2, expected.victim);
	ck_assert_uint_lt(psi_now_ns() - died, rig_ms(2000));
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, expected.victim);
	rig_close(rig);
}
END_TEST

START_TEST(every_host_hears_of_a_silence)
{
	struct rig *rig = rig_open(deaths[_i].count, run_survivor);

	expected.victim = deaths[_i].victim;
	expected.loss = PBOOT_OVERLAY_BY_SILENCE;
	expected.texts[0] = "has heard nothing";
	rig->limit_ns = rig_ms(500);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	kill(rig->pid[expected.victim], SIGSTOP);
	rig_await_step(rig, 2, expected.victim);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, expected.victim);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------- false alarms --- */

static void
run_barrier_after(struct rig_host *host)
{
	rig_expect(host, PBOOT_OVERLAY_CONNECTED);
	atomic_store(&host->shared->step[host->self], 1);
	rig_idle_until(host, 1);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_OK);
	rig_expect(host, PBOOT_OVERLAY_PASSED);
	rig_leave(host);
}

START_TEST(a_short_stop_is_no_loss)
{
	struct rig *rig = rig_open(10, run_barrier_after);
	unsigned i;

	rig->limit_ns = rig_ms(1500);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	for (i = 0; i < 3; i++) {
		kill(rig->pid[1], SIGSTOP);
		usleep((useconds_t)(rig_ms(500) / 1000));
		kill(rig->pid[1], SIGCONT);
		usleep((useconds_t)(rig_ms(200) / 1000));
	}
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* As by Ctrl-Z, for longer than the limit.  No host ran, so none was silent. */
START_TEST(a_stop_of_all_is_no_loss)
{
	struct rig *rig = rig_open(10, run_barrier_after);
	uint32_t i;

	rig->limit_ns = rig_ms(600);
	rig_start(rig);
	rig_await_step(rig, 1, rig->count);
	for (i = 0; i < rig->count; i++)
		kill(rig->pid[i], SIGSTOP);
	usleep((useconds_t)(rig_ms(1500) / 1000));
	for (i = 0; i < rig->count; i++)
		kill(rig->pid[i], SIGCONT);
	usleep((useconds_t)(rig_ms(300) / 1000));
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

/* ------------------------------------------------------------------- no tree --- */

static void
run_unconnected(struct rig_host *host)
{
	struct pboot_overlay_event event;

	if (host->self == expected.victim) {
		rig_expect(host, PBOOT_OVERLAY_LOST);
		return;
	}
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	check_loss(host, &event);
	RIG_CHECK(host, pboot_overlay_barrier(host->net) == PBOOT_OVERLAY_GONE);
	rig_leave(host);
}

START_TEST(a_host_of_another_version_is_named)
{
	struct rig *rig = rig_open(10, run_unconnected);

	rig->other_version = expected.victim = 9;
	expected.loss = PBOOT_OVERLAY_BY_VERSION;
	expected.texts[0] = "node1 has Penstock 1.2.3 (protocol 1)";
	expected.texts[1] = "node9 has 9.9.9 (protocol 1)";
	rig_run(rig);
}
END_TEST

START_TEST(a_host_that_does_not_come_is_named)
{
	struct rig *rig = rig_open(10, run_unconnected);

	rig->absent = expected.victim = 9;
	rig->absent_listens = true;
	rig->connect_ns = rig_ms(1000);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node9 has not connected to node1";
	rig_run(rig);
}
END_TEST

START_TEST(a_parent_that_does_not_come_is_named)
{
	struct rig *rig = rig_open(2, run_unconnected);

	rig->absent = expected.victim = 0;
	rig->absent_listens = true;
	rig->connect_ns = rig_ms(1000);
	rig->handshake_ns = rig_ms(400);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node1 could not connect to node0: it does not answer";
	rig_run(rig);
}
END_TEST

/* A keeper that has ended refuses connections, and nobody waits for the deadline. */
static const struct {
	uint32_t count, victim;
	const char *text;
} ended[] = {
	{ 10, 9, "the keeper of node9 has ended before it connected to node1" },
	{ 2, 1, "the keeper of node1 has ended before it connected to node0" },
	{ 2, 0, "node1 could not connect to node0: Connection refused" },
};

START_TEST(a_host_that_has_ended_is_named_soon)
{
	struct rig *rig = rig_open(ended[_i].count, run_unconnected);
	const uint64_t began = psi_now_ns();

	rig->absent = expected.victim = ended[_i].victim;
	rig->connect_ns = rig_ms(1000000);
	expected.loss = PBOOT_OVERLAY_BY_KERNEL;
	expected.texts[0] = ended[_i].text;
	rig_run(rig);
	ck_assert_uint_lt(psi_now_ns() - began, rig_ms(2000));
}
END_TEST

START_TEST(a_host_with_another_secret_is_kept_out)
{
	struct rig *rig = rig_open(3, run_unconnected);

	rig->other_secret = expected.victim = 2;
	rig->connect_ns = rig_ms(1000);
	expected.loss = PBOOT_OVERLAY_BY_DEADLINE;
	expected.texts[0] = "node2 has not connected to node0";
	rig_run(rig);
}
END_TEST

/* Hosts that come after the job has failed hear why, and do not wait for the deadline. */
static void
run_latecomer(struct rig_host *host)
{
	struct pboot_overlay_event event;

	if (host->self == 2) {
		atomic_store(&host->shared->step[2], 1);
		while (atomic_load(&host->shared->go) == 0)
			usleep(1000);
	}
	if (host->self == expected.victim) {
		rig_expect(host, PBOOT_OVERLAY_LOST);
		return;
	}
	event = rig_expect(host, PBOOT_OVERLAY_LOST);
	atomic_store(&host->shared->step[host->self], 2);
	check_loss(host, &event);
	rig_leave(host);
}

START_TEST(a_host_that_comes_late_hears_of_the_loss)
{
	struct rig *rig = rig_open(4, run_latecomer);

	rig->other_version = expected.victim = 3;
	rig->connect_ns = rig_ms(1000000);
	expected.loss = PBOOT_OVERLAY_BY_VERSION;
	rig_start(rig);
	rig_await_step(rig, 1, 3);
	usleep(50000);
	atomic_store(&rig->shared->go, 1);
	rig_finish(rig, rig->count);
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("loss");
	const int count = sizeof deaths / sizeof *deaths;

	tcase_set_timeout(tests, 60.0 * (double)rig_ms(1) / 1e6);
	tcase_add_loop_test(tests, every_host_hears_of_a_death, 0, count);
	tcase_add_loop_test(tests, every_host_hears_of_a_silence, 0, count);
	tcase_add_test(tests, a_short_stop_is_no_loss);
	tcase_add_test(tests, a_stop_of_all_is_no_loss);
	tcase_add_test(tests, a_host_of_another_version_is_named);
	tcase_add_test(tests, a_host_that_does_not_come_is_named);
	tcase_add_test(tests, a_parent_that_does_not_come_is_named);
	tcase_add_loop_test(tests, a_host_that_has_ended_is_named_soon, 0,
	    sizeof ended / sizeof *ended);
	tcase_add_test(tests, a_host_with_another_secret_is_kept_out);
	tcase_add_test(tests, a_host_that_comes_late_hears_of_the_loss);
	return unit_run("overlay_loss", tests);
}
