/* A client that defines only the older, numeric limit. */
#include "tests/conformance/hooks.h"

uint64_t gasnet_max_segsize = (uint64_t)16 << 20;

int
main(int argc, char **argv)
{
	pt_prepare(argv);
	unsetenv("GASNET_MAX_SEGSIZE");
	pt_init(&argc, &argv, 0);
	PT_LE(gasnet_getMaxLocalSegmentSize(), 16 << 20);
	PT_LE(1 << 20, gasnet_getMaxLocalSegmentSize());
	attach_and_check(0);
	pt_finish();
}
