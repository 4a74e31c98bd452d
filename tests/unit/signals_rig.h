/* A child that is rank 3 of host node7, as the tests of signals and of stacks start it. */
#ifndef SIGNALS_RIG_H
#define SIGNALS_RIG_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/unit/capture.h"

/* What the hooks answer: 8192 bytes that are a segment, or NULL; is there a keeper? */
extern const char *rig_segment;
extern bool rig_has_keeper;

/* Installs what a rank installs. */
void rig_open_all(void);
/* The same, then a fault at address 0x10. */
void rig_touch_null(void);
/* Did the child end by that signal? */
void rig_check_ended(const struct pt_child *child, int number);
unsigned rig_lines_of(const char *text);

#endif
