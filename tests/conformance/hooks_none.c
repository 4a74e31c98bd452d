/* A client that defines none of the variables: the library's own stand, and may be set. */
#include "tests/conformance/hooks.h"

int
main(int argc, char **argv)
{
	pt_prepare(argv);
	PT_CHECK(gasnet_client_attach_hook == NULL);
	PT_EQ(gasnet_frozen, 0);
	gasnet_client_attach_hook = hook;
	pt_init(&argc, &argv, 0);
	attach_and_check(1);
	pt_finish();
}
