/* The table by which the headers' inlines reach peers. */
#ifndef PSI_INLINE_H
#define PSI_INLINE_H

/* open shows the job's table to the inlines, close an empty one again. */
void psi_inline_open(void);
void psi_inline_close(void);

#endif
