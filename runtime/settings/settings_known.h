/*
 * Names that appear in the environment of a job and are no settings of ours: knobs of other
 * conduits and other implementations of the interface (accepted, without effect), and what our
 * launcher tells its ranks.
 */
#ifndef PSI_SETTINGS_KNOWN_H
#define PSI_SETTINGS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/* True for such a name. */
bool psi_settings_is_foreign(const char *name);

/* Pattern number i (* is any text), or NULL past the last. */
const char *psi_settings_foreign_name(size_t i);

#endif
