/* The settings that a program without a conduit has; its archives hold this in place of all. */
#include "runtime/settings/settings_tables.h"

const struct psi_setting_table *const psi_settings_lists[] = {
	&psi_settings_job,
	&psi_settings_debug,
	&psi_settings_tools,
	NULL,
};
