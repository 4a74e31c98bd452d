/* Plug-ins of conduits: the way from one installed directory to another, and what fits. */
#include "runtime/conduit/plugin.h"
#include "tests/unit/main.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

START_TEST(the_way_between_directories_goes_up_and_down)
{
	static const struct { const char *from, *to, *way; } rows[] = {
		{ "/usr/local/bin", "/usr/local/lib/penstock", "../lib/penstock" },
		{ "/usr/local/lib", "/usr/local/lib/penstock", "penstock" },
		{ "/usr/bin", "/usr/lib/x86_64/penstock", "../lib/x86_64/penstock" },
		{ "/opt/a/b/bin", "/opt/plugins", "../../../plugins" },
		{ "/opt/lib", "/opt/libexec", "../libexec" },
		{ "/opt/bin/", "/opt/lib", "../lib" },
		{ "/a", "/b", "../b" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char way[64];

		ck_assert(psi_plugin_way(rows[i].from, rows[i].to, way, sizeof way));
		ck_assert_str_eq(way, rows[i].way);
	}
}
END_TEST

START_TEST(a_way_that_is_too_long_is_none)
{
	char way[8];

	ck_assert(!psi_plugin_way("/usr/bin", "/usr/lib/penstock", way, sizeof way));
	ck_assert(!psi_plugin_way("/a/b/c/d/e/f", "/usr", way, sizeof way));
}
END_TEST

START_TEST(a_table_fits_by_number_and_size)
{
	struct psi_conduit_ops ops = { .abi = PSI_CONDUIT_ABI, .size_bytes = sizeof ops };
	char lack[PSI_PLUGIN_LACK_BYTES];

	ck_assert(psi_plugin_fits(&ops, "file", lack));
	ops.size_bytes -= 8;
	ck_assert(!psi_plugin_fits(&ops, "file", lack));
	ck_assert_ptr_eq(strstr(lack, "file is of ABI"), lack);
	ops.size_bytes += 8;
	ops.abi++;
	ck_assert(!psi_plugin_fits(&ops, "file", lack));
}
END_TEST

START_TEST(a_plugin_that_is_nowhere_is_told_with_the_places)
{
	char lack[PSI_PLUGIN_LACK_BYTES];

	setenv("PST_PLUGIN_DIR", "/nonexistent/of/the/user", 1);
	ck_assert_ptr_eq(psi_plugin_open("nosuch", lack), NULL);
	ck_assert_ptr_ne(strstr(lack, "penstock-nosuch.so is not in /nonexistent/of/the/user, /"),
	                 NULL);
}
END_TEST

/* This program has no object of a conduit and mode. */
START_TEST(the_network_is_that_of_the_setting_or_of_the_program)
{
	unsetenv("PST_CONDUIT");
	ck_assert_str_eq(psi_plugin_network(false), "smp");
	ck_assert_str_eq(psi_plugin_network(true), "ofi");
	setenv("PST_CONDUIT", "ofi", 1);
	ck_assert_str_eq(psi_plugin_network(false), "ofi");
}
END_TEST

START_TEST(a_launcher_that_was_moved_has_its_plugins_beside_it)
{
	char here[PATH_MAX], there[PATH_MAX];

	ck_assert(psi_plugin_directory_of("/opt/a/bin/launcher", here, sizeof here));
	ck_assert_ptr_eq(strstr(here, "/opt/a/bin/"), here);
	ck_assert(psi_plugin_directory_of("/opt/b/bin/launcher", there, sizeof there));
	ck_assert_str_eq(here + strlen("/opt/a"), there + strlen("/opt/b"));
	ck_assert(!psi_plugin_directory_of("/opt/a/bin/launcher", here, 8));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("plugin");

	tcase_add_test(tests, the_way_between_directories_goes_up_and_down);
	tcase_add_test(tests, a_way_that_is_too_long_is_none);
	tcase_add_test(tests, a_table_fits_by_number_and_size);
	tcase_add_test(tests, a_plugin_that_is_nowhere_is_told_with_the_places);
	tcase_add_test(tests, the_network_is_that_of_the_setting_or_of_the_program);
	tcase_add_test(tests, a_launcher_that_was_moved_has_its_plugins_beside_it);
	return unit_run("plug-ins of conduits", tests);
}
