/* The name of this host, for people; "localhost" if the kernel has none.  Any thread; asked
 * once. */
#ifndef PSI_UTIL_HOSTNAME_H
#define PSI_UTIL_HOSTNAME_H

const char *psi_hostname(void);

#endif
