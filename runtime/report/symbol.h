/*
 * Which function an address of code belongs to, for lines that are put together in a signal
 * handler: nothing here locks, allocates or uses stdio.
 */
#ifndef PSI_SYMBOL_H
#define PSI_SYMBOL_H

#include <stdint.h>

struct psi_line;

/*
 * Appends "function+0x12 (object+0x4f12)"; without the function where the object's file has no
 * symbols or may not be read, and "0x7f00..." alone where no object is known.  What stands behind
 * object+ is what `addr2line -e object' takes.
 */
void psi_symbol_describe(struct psi_line *line, uintptr_t code);

#endif
