/* Commands that users give as templates, in MPIRUN_CMD or PMIRUN_CMD. */
#ifndef TOOLS_TEMPLATE_H
#define TOOLS_TEMPLATE_H

#include <stdint.h>

/* The words, which end with a NULL, of the command that starts the ranks by the template of a
 * variable; NULL if it is unset.  Ends the launcher with one line if it is no template. */
char **template_command(const char *variable, uint32_t size, char *const *command);

#endif
