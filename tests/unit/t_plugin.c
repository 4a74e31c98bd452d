/* Plug-ins of conduits: the way from one installed directory to another, and what fits. */
#include "runtime/conduit/plugin.h"
#include "penstock.h"
#include "tests/unit/main.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

START_TEST(a_table_fits_by_number_size_and_release)
{
	struct psi_conduit_ops ops = { .abi = PSI_CONDUIT_ABI, .size_bytes = sizeof ops,
		                       .release = pst_version() };
	char lack[PSI_PLUGIN_LACK_BYTES];

	ck_assert(psi_plugin_fits(&ops, "file", lack));
	ops.size_bytes -= 8;
	ck_assert(!psi_plugin_fits(&ops, "file", lack));
	ck_assert_ptr_eq(strstr(lack, "file is of ABI"), lack);
	ops.size_bytes += 8;
	ops.release = "0.0.0";
	ck_assert(!psi_plugin_fits(&ops, "file", lack));
	ck_assert_ptr_eq(strstr(lack, "file is of release 0.0.0, and this library of"), lack);
	ops.abi++;
	ck_assert(!psi_plugin_fits(&ops, "file", lack));
	ck_assert_ptr_eq(strstr(lack, "file is of ABI"), lack);
}
END_TEST

START_TEST(a_plugin_that_is_nowhere_is_told_with_the_places)
{
	char lack[PSI_PLUGIN_LACK_BYTES];

	setenv("PST_PLUGIN_DIR", "/nonexistent/of/the/user", 1);
	ck_assert_ptr_eq(psi_plugin_open("nosuch", lack), NULL);
	ck_assert_ptr_ne(strstr(lack, "penstock-nosuch.so is not in /nonexistent/of/the/user; "),
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
	setenv("PST_CONDUIT", "ibv", 1);
	ck_assert_str_eq(psi_plugin_network(false), "ibv");
	ck_assert_str_eq(psi_plugin_network(true), "ibv");
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

/* Makes penstock-rude.so, which takes a signal when it is loaded; false without a compiler. */
static bool
rude_plugin_make(const char *directory)
{
	const char *compiler = getenv("TEST_CC");
	char command[PATH_MAX + 512];

	snprintf(command, sizeof command,
	         "{ echo '#include <signal.h>'; echo 'static void end(int sig) { (void)sig; }'; "
	         "echo '__attribute__((constructor)) static void take(void) "
	         "{ signal(SIGTERM, end); signal(SIGUSR2, end); }'; } | "
	         "%s -shared -fPIC -x c - -o '%s/penstock-rude.so'",
	         compiler ? compiler : "cc", directory);
	return system(command) == 0;
}

static void
on_usr2(int sig)
{
	(void)sig;
}

START_TEST(what_a_plugin_brings_takes_no_signals)
{
	char directory[] = "/tmp/penstock-test.XXXXXX", file[PATH_MAX], lack[PSI_PLUGIN_LACK_BYTES];
	struct sigaction action;

	ck_assert_ptr_ne(mkdtemp(directory), NULL);
	ck_assert(rude_plugin_make(directory));
	setenv("PST_PLUGIN_DIR", directory, 1);
	signal(SIGTERM, SIG_DFL);
	signal(SIGUSR2, on_usr2);
	ck_assert_ptr_eq(psi_plugin_open("rude", lack), NULL);
	ck_assert_ptr_ne(strstr(lack, "is no conduit: it lacks prude_ops"), NULL);
	ck_assert(sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	ck_assert(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == on_usr2);
	snprintf(file, sizeof file, "%s/penstock-rude.so", directory);
	ck_assert(unlink(file) == 0 && rmdir(directory) == 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("plugin");

	tcase_set_timeout(tests, 60);	/* one of them compiles */
	tcase_add_test(tests, the_way_between_directories_goes_up_and_down);
	tcase_add_test(tests, a_way_that_is_too_long_is_none);
	tcase_add_test(tests, a_table_fits_by_number_size_and_release);
	tcase_add_test(tests, a_plugin_that_is_nowhere_is_told_with_the_places);
	tcase_add_test(tests, the_network_is_that_of_the_setting_or_of_the_program);
	tcase_add_test(tests, a_launcher_that_was_moved_has_its_plugins_beside_it);
	tcase_add_test(tests, what_a_plugin_brings_takes_no_signals);
	return unit_run("plug-ins of conduits", tests);
}
