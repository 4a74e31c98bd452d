#include "runtime/util/copy.h"

#include <string.h>

void
psi_copy(void *dst, const void *src, size_t len_bytes)
{
	if (len_bytes)
		memcpy(dst, src, len_bytes);
}
