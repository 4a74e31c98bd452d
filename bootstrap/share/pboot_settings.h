/* The settings that launcher and keeper read themselves.  The runtime's tables have their rows. */
#ifndef PBOOT_SETTINGS_H
#define PBOOT_SETTINGS_H

#include "bootstrap/share/pboot_memory.h"

#include <stdbool.h>
#include <stdint.h>

#define PBOOT_SECOND_NS UINT64_C(1000000000)

/* Is a value bad?  If so, writes the line that says so. */
enum { PBOOT_FAULT_BYTES = 512 };
bool pboot_settings_fault(char text_out[PBOOT_FAULT_BYTES]);

/* Ends the process with that line and status 2 if a value is bad.  It is called before ranks are
 * started, so the line comes once. */
void pboot_settings_check(void);

/* Returns the grace that four texts give: GASNET_EXITTIMEOUT, its _MAX, _MIN and _FACTOR, NULL if
 * unset.  A text that is no number of seconds counts as unset, and *bad_out is its index (0 to 3).
 * *bad_out is 4 if MIN is above MAX, else -1. */
uint64_t pboot_settings_grace_of(uint32_t size, const char *const texts[4], int *bad_out);

/* GASNET_EXITTIMEOUT*: the time that ranks of a job of this size have to end. */
uint64_t pboot_settings_grace_ns(uint32_t size);

/* PST_SHM */
enum pboot_shm pboot_settings_shm(void);

/* PST_HUGEPAGES: no huge pages, advice to the kernel, or pages of the kernel's pool. */
enum pboot_huge { PBOOT_HUGE_NO, PBOOT_HUGE_THP, PBOOT_HUGE_POOL };
enum pboot_huge pboot_settings_huge(void);

/* PST_TEST_HANDOVER */
bool pboot_settings_by_socket(void);

/* PST_HOST_LIMIT: how long a host of the job may be silent. */
uint64_t pboot_settings_host_limit_ns(void);

/* PST_NET_PORTS: the first and the last; both 0: any.  False: a bad value. */
bool pboot_settings_net_ports(uint16_t *first_out, uint16_t *last_out);

/* PST_START_LIMIT: how long ranks that an engine starts wait for the last one; 0: a bad value. */
uint64_t pboot_settings_start_limit_ns(void);

/* PST_PROGRAMS: may hosts run different programs? */
bool pboot_settings_programs_may_differ(void);

/* PST_DEATH_SIGNAL */
int pboot_settings_death_signal(void);

#endif
