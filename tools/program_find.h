/* What launchers need from a command line: numbers, and the program that it names. */
#ifndef TOOLS_PROGRAM_FIND_H
#define TOOLS_PROGRAM_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a decimal number within bounds; returns false if the text is anything else. */
bool program_number(const char *text, long least, long most, long *value_out);

/* Prints one line on stderr, "NAME: ...", and calls exit(2). */
void program_refuse(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
/* The name that messages begin with. */
extern const char *program_name;

/* Finds the path of the executable file that execvp would run for this word.  Returns 0 and a
 * malloced path, or an errno value: ENOENT, EACCES, EISDIR. */
int program_path(const char *word, char **path_out);

/* Does the same; if there is no such file, prints one line and calls exit(2). */
char *program_path_or_refuse(const char *word);

/* Looks for "$GASNet<name>: <value> $" in a file.  If it is there, writes the value and returns
 * true. */
bool program_string(const char *path, const char *name, char *value_out, size_t room);

/* Returns the path of the first word of a command that is an executable file of a client; malloced,
 * or NULL. */
char *program_client(char *const *command);

/* Ends the launcher with one line if the file was linked for a conduit of other launchers.  Its own
 * are those of PROGRAM_CONDUITS, "smp ofi", for which program_find.c is compiled. */
void program_check_conduit(const char *path);

#endif
