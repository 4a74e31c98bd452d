/* Settings of starting, running and ending a job; their users are the launcher and the runtime. */
#include "runtime/settings/settings_tables.h"

#include "bootstrap/bootstrap.h"
#include "runtime/util/deny.h"

static const char *const spawners[] = { "fork", NULL };
static const char *const shm_kinds[] = { "memfd", "posix", "sysv", "mmap", NULL };
static const char *const huge_pages[] = { "no", "thp", "hugetlb", NULL };
static const char *const handovers[] = { "inherit", "socket", NULL };
static const char *const programs[] = { "same", "any", NULL };

static const struct psi_setting job_rows[] = {
	{ .name = "GASNET_PSHM_NODES",
	  .kind = PSI_SETTING_INT,
	  .unit = "ranks",
	  .min = 1,
	  .max = PBOOT_RANKS_MAX,
	  .help = "ranks of a program that is started without a launcher; unset: 1, with a "
	          "warning" },
	{ .name = "GASNET_SMP_SPAWNER",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "fork",
	  .choices = spawners,
	  .help = "how ranks on one host are started" },
	{ .name = "PST_SHM",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "memfd",
	  .choices = shm_kinds,
	  .help = "kind of shared memory" },
	{ .name = "PST_HUGEPAGES",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "thp",
	  .choices = huge_pages,
	  .help = "huge pages for segments of 2 MB and more: none, by advice to the kernel, or of "
	          "its pool, in which case a segment of memfd that the pool has no room for takes "
	          "others" },
	{ .name = "PST_TEST_HANDOVER",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "inherit",
	  .choices = handovers,
	  .help = "how ranks get the shared memory: inherited descriptors, or the "
		  "keeper's socket" },
	{ .name = "PST_TEST_DENY",
	  .kind = PSI_SETTING_SET,
	  .default_text = "",
	  .choices = psi_deny_features,
	  .help = "kernel features to do without, so that the fallbacks can be tested" },
	{ .name = "PST_DEATH_SIGNAL",
	  .kind = PSI_SETTING_INT,
	  .default_text = PBOOT_DEATH_SIGNAL,
	  .min = PBOOT_DEATH_SIGNAL_LEAST,
	  .max = PBOOT_DEATH_SIGNAL_MOST,
	  .help = "number of the real-time signal that tells a rank of the death of its keeper" },
	{ .name = "PST_HOST_LIMIT",
	  .kind = PSI_SETTING_TIME,
	  .default_text = PBOOT_HOST_LIMIT,
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "a host of the job from whose keeper nothing is heard for this time is lost, "
		  "and the job ends; at least 1; 0: never" },
	{ .name = "PST_START_LIMIT",
	  .kind = PSI_SETTING_TIME,
	  .default_text = PBOOT_START_LIMIT,
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "ranks that a process manager starts wait for the last one for this time at "
		  "most, and then the job ends; at least 1; 0: for ever" },
	{ .name = "PST_PROGRAMS",
	  .kind = PSI_SETTING_CHOICE,
	  .default_text = "same",
	  .choices = programs,
	  .help = "hosts of a job run the same program, or any" },
	{ .name = "PST_TEST_HOST",
	  .kind = PSI_SETTING_TEXT,
	  .help = "ranks with different texts take themselves to be on different hosts" },
	{ .name = "GASNET_CATCH_EXIT",
	  .kind = PSI_SETTING_BOOL,
	  .default_text = "1",
	  .help = "exit() or a return from main in one rank ends the job" },
	{ .name = "GASNET_EXITTIMEOUT",
	  .kind = PSI_SETTING_TIME,
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "time that ranks have to end by themselves; unset: computed from "
		  "the next three" },
	{ .name = "GASNET_EXITTIMEOUT_MAX",
	  .kind = PSI_SETTING_TIME,
	  .default_text = "1.5",
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "upper bound of the computed time" },
	{ .name = "GASNET_EXITTIMEOUT_MIN",
	  .kind = PSI_SETTING_TIME,
	  .default_text = "0.5",
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "constant part of the computed time" },
	{ .name = "GASNET_EXITTIMEOUT_FACTOR",
	  .kind = PSI_SETTING_TIME,
	  .default_text = "0.005",
	  .unit = "s",
	  .max = PBOOT_GRACE_MAX_S,
	  .help = "part of the computed time for each rank" },
	{ .name = "GASNET_TMPDIR",
	  .kind = PSI_SETTING_TEXT,
	  .help = "directory for temporary files; unset: TMPDIR, then /tmp" },
	{ .name = "GASNET_QUIET",
	  .kind = PSI_SETTING_BOOL,
	  .default_text = "0",
	  .help = "leave out warnings" },
	{ .name = "GASNET_SPAWN_VERBOSE",
	  .kind = PSI_SETTING_BOOL,
	  .default_text = "0",
	  .help = "say which processes are started, and with which memory" },
	{ .name = "GASNET_VERBOSEENV",
	  .kind = PSI_SETTING_BOOL,
	  .default_text = "0",
	  .help = "rank 0 prints each setting as it is read, and what the conduit uses" },
};

const struct psi_setting_table psi_settings_job = PSI_SETTING_TABLE("Jobs", job_rows);

static const struct psi_setting wait_rows[] = {
	{ .name = "PST_SLEEP_MAX", .kind = PSI_SETTING_TIME, .default_text = "10", .unit = "ms",
	  .help = "a sleeping rank looks again after this time at the latest; 0: only when woken" },
	{ .name = "PST_HANG_REPORT", .kind = PSI_SETTING_TIME, .default_text = "30", .unit = "s",
	  .help = "a wait longer than this prints once what all ranks do; 0: never" },
	{ .name = "PST_SPREAD", .kind = PSI_SETTING_BOOL, .default_text = "1",
	  .help = "where ranks share CPUs, one that waits on a CPU with more than its share of "
		  "them moves to another that its affinity mask allows; the mask is narrowed for "
		  "that, and then as before" },
	{ .name = "PST_TURNS", .kind = PSI_SETTING_BOOL, .default_text = "1",
	  .help = "where three to eight ranks share a CPU, those that wait there yield in the "
		  "order of their ranks, by the slices of Linux 6.18, and with PST_SPREAD are "
		  "dealt out to the CPUs one by one" },
};

const struct psi_setting_table psi_settings_wait = PSI_SETTING_TABLE("Waiting", wait_rows);
