/* What PST_NET_IFACE names, and which interfaces that is. */
#include "runtime/util/net_wish.h"
#include "tests/unit/main.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static bool
takes(const char *text, const char *iface, const char *host)
{
	const struct psi_net_wish wish = psi_net_wish_parse(text);
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_storage address;

	memset(&address, 0, sizeof address);
	if (host && inet_pton(AF_INET, host, &four.sin_addr) == 1)
		memcpy(&address, &four, sizeof four);
	else if (host && inet_pton(AF_INET6, host, &six.sin6_addr) == 1)
		memcpy(&address, &six, sizeof six);
	return psi_net_wish_takes(&wish, iface, host ? (struct sockaddr *)&address : NULL);
}

START_TEST(a_name_is_the_interface_s)
{
	ck_assert(takes("eth0", "eth0", "10.1.2.3"));
	ck_assert(takes("eth0", "eth0", NULL));
	ck_assert(!takes("eth0", "eth01", "10.1.2.3"));
	ck_assert(!takes("10.1.2", "eth0", "10.1.2.3"));
	ck_assert(takes("10.1.0.0/33", "10.1.0.0/33", NULL));
	ck_assert(!takes("10.1.0.0/33", "eth0", "10.1.2.3"));
	ck_assert(!takes("10.1.0.0/", "eth0", "10.1.2.3"));
	ck_assert(!takes("10.1.0.0/-1", "eth0", "10.1.2.3"));
}
END_TEST

START_TEST(an_address_is_itself)
{
	ck_assert(takes("10.1.2.3", "eth0", "10.1.2.3"));
	ck_assert(!takes("10.1.2.3", "eth0", "10.1.2.4"));
	ck_assert(!takes("10.1.2.3", "eth0", NULL));
	ck_assert(takes("fd00::1", "eth0", "fd00::1"));
	ck_assert(!takes("fd00::1", "eth0", "10.1.2.3"));
}
END_TEST

START_TEST(a_network_is_all_of_its_addresses)
{
	ck_assert(takes("10.1.0.0/16", "eth0", "10.1.255.3"));
	ck_assert(!takes("10.1.0.0/16", "eth0", "10.2.0.3"));
	ck_assert(takes("10.1.2.128/25", "eth0", "10.1.2.200"));
	ck_assert(!takes("10.1.2.128/25", "eth0", "10.1.2.100"));
	ck_assert(takes("0.0.0.0/0", "eth0", "192.0.2.1"));
	ck_assert(!takes("0.0.0.0/0", "eth0", "fd00::1"));
	ck_assert(takes("fd00:1::/32", "eth0", "fd00:1::7"));
	ck_assert(!takes("fd00:1::/32", "eth0", "fd00:2::7"));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("net_wish");

	tcase_add_test(tests, a_name_is_the_interface_s);
	tcase_add_test(tests, an_address_is_itself);
	tcase_add_test(tests, a_network_is_all_of_its_addresses);
	return unit_run("net_wish", tests);
}
