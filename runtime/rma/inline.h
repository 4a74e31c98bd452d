/* The table by which the headers' inlines reach peers. */
#ifndef PSI_INLINE_H
#define PSI_INLINE_H

/* It becomes visible; and it is that of no job again. */
void psi_inline_open(void);
void psi_inline_close(void);

#endif
