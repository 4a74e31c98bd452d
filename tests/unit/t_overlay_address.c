/* Addresses: their text, and which of this host's is chosen. */
#include "bootstrap/overlay/pboot_overlay_address.h"
#include "tests/unit/main.h"

#include <netinet/in.h>
#include <string.h>

static const char *const good[] = {
	"127.0.0.1:1",
	"255.255.255.255:65535",
	"[::1]:4000",
	"[2001:db8:1:2:3:4:5:6]:65535",
	"[1111:2222:3333:4444:5555:6666:7777:8888]:65535",
};

START_TEST(text_is_read_and_written_alike)
{
	char text[PBOOT_ADDRESS_BYTES];
	struct pboot_address address;
	unsigned i;

	for (i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(pboot_address_parse(good[i], &address), "%s", good[i]);
		ck_assert(pboot_address_format(&address, text));
		ck_assert_str_eq(text, good[i]);
	}
}
END_TEST

static const char *const bad[] = {
	"", ":", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
	"127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:1 ", " 127.0.0.1:1", "127.0.0.1:00000000001",
	"127.0.0:1", "127.0.0.256:1", "[127.0.0.1]:1", "::1:1", "[::1]", "[::1]:", "[::1:1", "[]:1",
	"[:1", "[:]:1", "]:1", "[::1]1:1", "[::1%lo]:1", "localhost:1",
	"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd]:1",
};

START_TEST(what_is_no_address_is_refused)
{
	struct pboot_address address;
	unsigned i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!pboot_address_parse(bad[i], &address), "'%s' was taken", bad[i]);
}
END_TEST

/* Every way of naming the loopback interface, which every host has. */
START_TEST(the_interface_that_was_named)
{
	static const char *const names[] = { "lo", "127.0.0.1", "127.0.0.1/32", "127.0.0.0/8",
		"127.1.2.3/8", "126.0.0.0/7" };
	char why[PBOOT_ADDRESS_WHY_BYTES], text[PBOOT_ADDRESS_BYTES];
	struct pboot_address address;
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		ck_assert_msg(pboot_address_choose(names[i], NULL, &address, why), "%s: %s",
		    names[i], why);
		ck_assert(pboot_address_format(&address, text));
		ck_assert_str_eq(text, "127.0.0.1:0");
	}
}
END_TEST

START_TEST(a_name_that_nothing_has_is_said)
{
	static const char *const names[] = { "nosuch0", "240.0.0.0/4", "127.0.0.0/33",
		"127.0.0.0/-1", "127.0.0.0/", "128.0.0.0/8", "ff00::/8" };
	char why[PBOOT_ADDRESS_WHY_BYTES];
	struct pboot_address address;
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		ck_assert_msg(!pboot_address_choose(names[i], NULL, &address, why), "%s", names[i]);
		ck_assert_ptr_nonnull(strstr(why, names[i]));
		ck_assert_ptr_nonnull(strstr(why, "PST_NET_IFACE"));
	}
}
END_TEST

/* Whatever goes to an address of this host goes over loopback. */
START_TEST(the_address_from_which_another_is_reached)
{
	char why[PBOOT_ADDRESS_WHY_BYTES], text[PBOOT_ADDRESS_BYTES];
	struct pboot_address address;

	ck_assert(pboot_address_choose(NULL, "127.0.0.1", &address, why));
	ck_assert(pboot_address_format(&address, text));
	ck_assert_str_eq(text, "127.0.0.1:0");
	ck_assert(pboot_address_choose("", "127.0.0.1:99", &address, why));
	ck_assert(pboot_address_format(&address, text));
	ck_assert_str_eq(text, "127.0.0.1:0");
}
END_TEST

/* With nothing said it is never loopback; a host that has nothing else is told so. */
START_TEST(without_a_name_no_loopback)
{
	char why[PBOOT_ADDRESS_WHY_BYTES], text[PBOOT_ADDRESS_BYTES];
	struct pboot_address address;

	if (pboot_address_choose(NULL, NULL, &address, why)) {
		ck_assert(pboot_address_format(&address, text));
		ck_assert_ptr_null(strstr(text, "127."));
		ck_assert_ptr_null(strstr(text, "[::1]"));
	} else {
		ck_assert_ptr_nonnull(strstr(why, "PST_NET_IFACE"));
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("address");

	tcase_add_test(tests, text_is_read_and_written_alike);
	tcase_add_test(tests, what_is_no_address_is_refused);
	tcase_add_test(tests, the_interface_that_was_named);
	tcase_add_test(tests, a_name_that_nothing_has_is_said);
	tcase_add_test(tests, the_address_from_which_another_is_reached);
	tcase_add_test(tests, without_a_name_no_loopback);
	return unit_run("overlay_address", tests);
}
