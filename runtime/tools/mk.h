/* Classes of memory kinds, for gex_MK_Create and for people. */
#ifndef PSI_MK_H
#define PSI_MK_H

struct psi_mk_class {
	const char *name;       /* as after GEX_MK_CLASS_ */
	const char *what;
	const char *lack;       /* why it is not available; NULL: it is */
};

/* Rows by gex_MK_Class_t; the last one has no name. */
extern const struct psi_mk_class psi_mk_classes[];

#endif
