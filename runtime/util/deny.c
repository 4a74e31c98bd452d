#include "runtime/util/deny.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const psi_deny_features[] = {
	"subreaper", "pidfd", "vm_readv", "memfd", "tmpfile", "membarrier", "close_range", NULL,
};

static bool
deny_is_word(const char *list, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(list, word, len) == 0;
}

bool
psi_denied(const char *feature)
{
	return psi_deny_lists(getenv("PST_TEST_DENY"), feature);
}

const char *
psi_deny_unknown(void)
{
	const char *list = getenv("PST_TEST_DENY");

	while (list && *list) {
		size_t len = strcspn(list, ","), i, known = 0;

		for (i = 0; psi_deny_features[i]; i++)
			known += deny_is_word(list, len, psi_deny_features[i]);
		if (!known && len > 0)
			return list;
		list += len;
		list += *list == ',';
	}
	return NULL;
}
