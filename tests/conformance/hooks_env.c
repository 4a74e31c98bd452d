/* The environment's limit goes over the client's. */
#include "tests/conformance/hooks.h"

const char *gasnet_max_segsize_str = "64MB/P";

int
main(int argc, char **argv)
{
	pt_prepare(argv);
	setenv("GASNET_MAX_SEGSIZE", "8MB/P", 1);
	pt_init(&argc, &argv, 0);
	PT_EQ(gasnet_getMaxLocalSegmentSize(), 8 << 20);
	PT_EQ(gasnet_getMaxGlobalSegmentSize(), 8 << 20);
	attach_and_check(0);
	pt_finish();
}
