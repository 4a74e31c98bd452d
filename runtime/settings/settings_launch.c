/* What launchers read, which ranks are told of for the table of settings alone: penstock-run and
 * gasnetrun_ofi in tools/, jobs over ssh in bootstrap/ssh/. */
#include "runtime/settings/settings_tables.h"

static const struct psi_setting rows[] = {
	{ .name = "GASNET_OFI_SPAWNER", .kind = PSI_SETTING_TEXT,
	  .help = "how gasnetrun_ofi starts ranks: ssh, mpi, pmi or fork; unset: pmi in an "
	          "allocation of Slurm, else ssh" },
	{ .name = "GASNET_IBV_SPAWNER", .kind = PSI_SETTING_TEXT,
	  .help = "the same of gasnetrun_ibv" },
	{ .name = "GASNET_SPAWN_CONTROL", .kind = PSI_SETTING_TEXT,
	  .help = "the same of each of them, where its own is unset" },
	{ .name = "MPIRUN_CMD", .kind = PSI_SETTING_TEXT,
	  .help = "command by which gasnetrun_ofi starts ranks by mpi, such as mpirun -np %N %C: "
	          "%N is the number of ranks, %C the program and its arguments" },
	{ .name = "PMIRUN_CMD", .kind = PSI_SETTING_TEXT,
	  .help = "the same for pmi, such as srun -n %N %C" },
	{ .name = "GASNET_SSH_NODEFILE", .kind = PSI_SETTING_TEXT,
	  .help = "hosts of a job: a file, of whose lines the first words are names; the first "
	          "that is set of this, the next two and those of batch systems counts" },
	{ .name = "GASNET_SSH_SERVERS", .kind = PSI_SETTING_TEXT,
	  .help = "names of hosts, between blanks or commas" },
	{ .name = "GASNET_NODEFILE", .kind = PSI_SETTING_TEXT, .help = "a file of hosts" },
	{ .name = "GASNET_SSH_CMD", .kind = PSI_SETTING_TEXT, .default_text = "ssh",
	  .help = "command that starts ranks on other hosts, perhaps with options" },
	{ .name = "GASNET_SSH_OPTIONS", .kind = PSI_SETTING_TEXT,
	  .help = "more options for it, between blanks" },
	{ .name = "GASNET_SSH_REMOTE_PATH", .kind = PSI_SETTING_TEXT,
	  .help = "directory in which ranks start there; unset: that of the launcher" },
	{ .name = "GASNET_SSH_KEEPDUP", .kind = PSI_SETTING_BOOL, .default_text = "0",
	  .help = "a host that is named twice is used twice" },
	{ .name = "GASNET_SSH_OUT_DEGREE", .kind = PSI_SETTING_INT, .default_text = "32",
	  .min = 0, .max = 65535,
	  .help = "has no effect: the launcher itself starts the ranks of all hosts, at once" },
};

const struct psi_setting_table psi_settings_launch = PSI_SETTING_TABLE("Launchers", rows);
