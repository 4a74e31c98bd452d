/* One line per table, in the order in which people read them. */
#include "runtime/settings/settings_tables.h"

const struct psi_setting_table *const psi_settings_lists[] = {
	&psi_settings_job,
	&psi_settings_launch,
	&psi_settings_conduits,
	&psi_settings_ibv,
	&psi_settings_wait,
	&psi_settings_receive,
	&psi_settings_memory,
	&psi_settings_debug,
	&psi_settings_tools,
	&psi_settings_rules,
	&psi_settings_payload,
	&psi_settings_reach,
	&psi_settings_processes,
	&psi_settings_threads,
	&psi_settings_teams,
	&psi_settings_coll,
	&psi_settings_offload,
	&psi_settings_exit,
	&psi_settings_counters,
	NULL,
};
