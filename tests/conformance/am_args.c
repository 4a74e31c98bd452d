/* Each of 0 to 16 arguments arrives as it was sent: EX calls, requests and replies. */
#include "tests/conformance/am_args_ex.h"

int
main(int argc, char **argv)
{
	args_main(&argc, &argv, 0);
	return 0;
}
