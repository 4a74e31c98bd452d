/* The tables, each defined next to the code that uses its rows. */
#ifndef PSI_SETTINGS_TABLES_H
#define PSI_SETTINGS_TABLES_H

#include "runtime/settings/settings.h"

extern const struct psi_setting_table psi_settings_job;		/* settings_core.c */
extern const struct psi_setting_table psi_settings_launch;	/* settings_launch.c */
extern const struct psi_setting_table psi_settings_conduits;	/* plugin.c */
extern const struct psi_setting_table psi_settings_ibv;		/* conduit/ibv_settings.c */
extern const struct psi_setting_table psi_settings_wait;	/* settings_core.c */
extern const struct psi_setting_table psi_settings_receive;	/* wait/receive_thread.c */
extern const struct psi_setting_table psi_settings_memory;	/* memlimits.c */
extern const struct psi_setting_table psi_settings_debug;	/* settings_debug.c */
extern const struct psi_setting_table psi_settings_tools;	/* tools/ticks.c */
extern const struct psi_setting_table psi_settings_rules;	/* rules.c */
extern const struct psi_setting_table psi_settings_payload;	/* rules_payload.c */
extern const struct psi_setting_table psi_settings_reach;	/* reach.c */
extern const struct psi_setting_table psi_settings_processes;	/* queries.c */
extern const struct psi_setting_table psi_settings_threads;	/* threads_run.c */
extern const struct psi_setting_table psi_settings_teams;	/* team_create.c */
extern const struct psi_setting_table psi_settings_coll;	/* coll/tuning.c */
extern const struct psi_setting_table psi_settings_offload;	/* offload/provider.c */
extern const struct psi_setting_table psi_settings_exit;	/* exit.c */
extern const struct psi_setting_table psi_settings_counters;	/* report_counters.c */

#endif
