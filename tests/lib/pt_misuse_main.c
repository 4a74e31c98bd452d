/* main of the programs that are a table of wrong acts. */
#include "tests/lib/pt_misuse.h"

int
main(int argc, char **argv)
{
	return pt_misuse_main(argc, argv, &pt_misuse_acts);
}
