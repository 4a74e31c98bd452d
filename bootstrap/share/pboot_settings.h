/* The settings that launcher and keeper read themselves.  Their rows stand in the runtime's
 * tables. */
#ifndef PBOOT_SETTINGS_H
#define PBOOT_SETTINGS_H

#include "bootstrap/share/pboot_store.h"

#include <stdbool.h>
#include <stdint.h>

/* Ends the process with one line and status 2 where a value makes no sense; before any rank is
 * started, so that it is said once. */
void pboot_settings_check(void);

/* total, max, min and factor are the texts of GASNET_EXITTIMEOUT*, NULL if unset; a text that is no
 * number of seconds counts as unset, and its index (0 to 3) goes to *bad_out, else -1. */
uint64_t pboot_settings_grace_of(uint32_t size, const char *const texts[4], int *bad_out);

/* GASNET_EXITTIMEOUT*: the time that ranks of a job of this size have to end. */
uint64_t pboot_settings_grace_ns(uint32_t size);

/* PST_SHM */
enum pboot_shm pboot_settings_shm(void);

/* PST_HUGEPAGES: never, by advice, or pages of the kernel's pool. */
enum pboot_huge { PBOOT_HUGE_NO, PBOOT_HUGE_THP, PBOOT_HUGE_POOL };
enum pboot_huge pboot_settings_huge(void);

/* PST_TEST_HANDOVER */
bool pboot_settings_by_socket(void);

/* PST_DEATH_SIGNAL */
int pboot_settings_death_signal(void);

#endif
