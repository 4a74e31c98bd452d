/*
 * Conduits that are plug-ins: shared objects penstock-NAME.so, opened at run time, so that programs
 * do not depend on the libraries of networks.
 */
#ifndef PSI_PLUGIN_H
#define PSI_PLUGIN_H

#include "runtime/conduit/conduit.h"

enum { PSI_PLUGIN_LACK_BYTES = 900 };

/*
 * Opens the plug-in of a conduit and returns its operations, whose ABI and size fit; they stay as
 * long as the process.  NULL after one line's text in lack: there is none, a library that it needs
 * is missing, it is of another release, or the program is static.  It is sought in PST_PLUGIN_DIR
 * if that is set, else where it was installed, beside libpenstock.so, and beside the launcher.
 */
const struct psi_conduit_ops *psi_plugin_open(const char *name, char lack[PSI_PLUGIN_LACK_BYTES]);

/* The name of the network that the job uses between ranks that share no memory, or "smp": that of
 * PST_CONDUIT, else that of the conduit which the program is linked for; `hosts': the job has
 * several, and smp is no answer unless PST_CONDUIT says so. */
const char *psi_plugin_network(bool hosts);

/* The directories in which the library's plug-ins may lie, in order; false past the last.  An empty
 * text is a place that there is not. */
bool psi_plugin_directory_at(unsigned i, char *directory_out, size_t bytes);

/* The directory of plug-ins that belongs to a launcher, also if both were moved.  Absolute paths;
 * false: it does not fit. */
bool psi_plugin_directory_of(const char *launcher, char *directory_out, size_t bytes);

/* Does a table of operations fit this library?  If not, writes so of the file that it is from. */
bool psi_plugin_fits(const struct psi_conduit_ops *ops, const char *file,
                     char lack[PSI_PLUGIN_LACK_BYTES]);

/* The way from one directory to another by the names alone: "../lib/penstock".  Both are absolute.
 * False: it is longer than `bytes'. */
bool psi_plugin_way(const char *from, const char *to, char *way_out, size_t bytes);

#endif
