/* A client that defines all of the variables: the library uses the client's. */
#include "tests/conformance/hooks.h"

void (*gasnet_client_attach_hook)(void *segbase, uintptr_t segsize) = hook;
const char *gasnet_max_segsize_str = "24MB/P";
uint64_t gasnet_max_segsize = (uint64_t)48 << 20;
volatile int gasnet_frozen;

int
main(int argc, char **argv)
{
	pt_prepare(argv);
	unsetenv("GASNET_MAX_SEGSIZE");
	pt_init(&argc, &argv, 0);
	PT_EQ(gasnet_getMaxLocalSegmentSize(), 24 << 20);
	attach_and_check(1);
	pt_finish();
}
