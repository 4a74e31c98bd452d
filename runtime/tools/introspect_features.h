/* Kernel features that are used where they exist. */
#ifndef PSI_INTROSPECT_FEATURES_H
#define PSI_INTROSPECT_FEATURES_H

#include <stdbool.h>

struct psi_feature {
	const char *name;	/* as in PST_TEST_DENY */
	bool (*works)(void);	/* tries it; changes nothing */
	const char *purpose;	/* what the library uses it for */
	const char *fallback;	/* what the library does without it */
};

/* Ends with a row without a name. */
extern const struct psi_feature psi_features[];

#endif
