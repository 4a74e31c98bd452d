/*
 * Kernel features that are optional at run time.  PST_TEST_DENY names some, comma separated, and
 * the code then behaves as on a kernel without them; so the fallbacks can be tested anywhere.
 */
#ifndef PSI_UTIL_DENY_H
#define PSI_UTIL_DENY_H

#include <stdbool.h>
#include <string.h>

/* Is word among those of a comma-separated list?  list may be NULL.  For conduits, which get the
 * text of PST_TEST_DENY from the runtime's table of services. */
static inline bool
psi_deny_lists(const char *list, const char *word)
{
	const size_t word_len = strlen(word);

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == word_len && memcmp(list, word, len) == 0)
			return true;
		list += len;
		list += *list == ',';
	}
	return false;
}

/* Known: subreaper pidfd vm_readv memfd tmpfile membarrier close_range.  Any thread, any time;
 * reads the environment. */
bool psi_denied(const char *feature);

/* Their names; NULL ends the list. */
extern const char *const psi_deny_features[];

/* The first word of PST_TEST_DENY that names no feature, or NULL; the caller may print it. */
const char *psi_deny_unknown(void);

#endif
