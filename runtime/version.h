/*
 * Which Penstock this is.
 */
#ifndef PSI_VERSION_H
#define PSI_VERSION_H

/* The version as text, for instance "0.1.0"; lives as long as the library. */
__attribute__((visibility("default"))) const char *pst_version(void);

#endif
