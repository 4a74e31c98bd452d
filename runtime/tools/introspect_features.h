/* Kernel features that are used where they exist. */
#ifndef PSI_INTROSPECT_FEATURES_H
#define PSI_INTROSPECT_FEATURES_H

#include <stdbool.h>

struct psi_feature {
	const char *name;	/* as in PST_TEST_DENY */
	bool (*works)(void);	/* tries it; changes nothing */
	const char *purpose;	/* what it is good for */
	const char *fallback;	/* what is done without it */
};

/* Ends with a row without a name. */
extern const struct psi_feature psi_features[];

#endif
