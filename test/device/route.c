/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes between GIDs in a network namespace of the test, where ip(8) creates
 * an interface and its routes. */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "device/route.h"
#include "test/support/own_root.h"

static const char *const commands[] = {
	"ip link set lo up",
	/* The kernel may support only one of these interface types. */
	"ip link add eth0 type dummy 2>/dev/null || "
	"ip link add eth0 type veth peer name eth1 2>/dev/null || "
	"ip link add eth0 type bridge",
	"ip link set eth0 up",
	"ip address add 10.1.0.1/24 dev eth0",
	"ip route add 10.2.0.0/24 via 10.1.1.1 dev eth0 onlink",
	"ip -6 address add fd00:1::1/64 dev eth0 nodad",
	"ip -6 route add fd00:2::/64 via fe80::2 dev eth0 onlink",
	"ip -6 route add unreachable fd00:3::/64",
};

static struct ibsa_gid gid_of(const char *text)
{
	struct ibsa_gid gid = { .raw = { [10] = 0xff, 0xff } };
	bool is_ipv6 = strchr(text, ':');

	assert_int_equal(inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text,
				   is_ipv6 ? gid.raw : gid.raw + 12),
			 1);
	return gid;
}

static int route_find(const char *source, const char *destination,
		      struct ibsa__route *out)
{
	const struct ibsa_gid from = gid_of(source);
	const struct ibsa_gid to = gid_of(destination);

	return ibsa__route_find(&from, &to, if_nametoindex("eth0"), out);
}

static void assert_found(const char *source, const char *destination,
			 bool is_routed)
{
	struct ibsa__route route = { 0 };

	assert_int_equal(route_find(source, destination, &route), 0);
	assert_int_equal(route.ifindex, if_nametoindex("eth0"));
	assert_int_equal(route.is_routed, is_routed);
}

static void neighbour_is_reached_without_gateway(void **state)
{
	(void)state;
	assert_found("10.1.0.1", "10.1.0.9", false);
	assert_found("fd00:1::1", "fd00:1::9", false);
}

static void other_network_is_reached_by_a_gateway(void **state)
{
	(void)state;
	assert_found("10.1.0.1", "10.2.0.9", true);
	assert_found("fd00:1::1", "fd00:2::9", true);
}

static void error_of_the_lookup_is_passed_on(void **state)
{
	const struct ibsa__route before = { .ifindex = 77 };
	struct ibsa__route route = before;

	(void)state;
	assert_int_equal(route_find("fd00:1::1", "fd00:3::9", &route),
			 -EHOSTUNREACH);
	assert_int_equal(route_find("fd00:1::1", "fd00:4::9", &route),
			 -ENETUNREACH);
	assert_memory_equal(&route, &before, sizeof(route));
}

static int route_check(const char *source, const char *destination,
		       uint32_t ifindex, bool is_roce_v2)
{
	const struct ibsa_gid from = gid_of(source);
	const struct ibsa_gid to = gid_of(destination);

	return ibsa__route_check(&from, &to, ifindex, is_roce_v2);
}

static void gateway_is_for_the_second_version_alone(void **state)
{
	const uint32_t eth0 = if_nametoindex("eth0");

	(void)state;
	assert_int_equal(route_check("10.1.0.1", "10.1.0.9", eth0, false), 0);
	assert_int_equal(route_check("10.1.0.1", "10.1.0.9", eth0, true), 0);
	assert_int_equal(route_check("10.1.0.1", "10.2.0.9", eth0, false),
			 -EINVAL);
	assert_int_equal(route_check("10.1.0.1", "10.2.0.9", eth0, true), 0);
	assert_int_equal(route_check("fd00:1::1", "fd00:2::9", eth0, false),
			 -EINVAL);
	assert_int_equal(route_check("fd00:1::1", "fd00:2::9", eth0, true), 0);
	assert_int_equal(route_check("fd00:1::1", "fd00:3::9", eth0, true),
			 -EHOSTUNREACH);
	assert_int_equal(route_check("10.1.0.1", "10.1.0.9", 9999, true),
			 -ENODEV);
}

static void path_needs_one_family_and_an_interface(void **state)
{
	const uint32_t eth0 = if_nametoindex("eth0");

	(void)state;
	assert_int_equal(route_check("10.1.0.1", "fd00:1::1", eth0, true),
			 -EINVAL);
	assert_int_equal(route_check("fd00:1::1", "10.1.0.1", eth0, true),
			 -EINVAL);
	assert_int_equal(route_check("10.1.0.1", "10.1.0.9", 0, true), -EINVAL);
}

static bool is_libnl_missing;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);

void *__wrap_dlopen(const char *name, int flags)
{
	return is_libnl_missing ? NULL : __real_dlopen(name, flags);
}

static void library_that_is_not_installed_is_an_error(void **state)
{
	(void)state;
	is_libnl_missing = true;
	assert_int_equal(route_check("10.1.0.1", "10.1.0.9",
				     if_nametoindex("eth0"), true),
			 -ELIBACC);
	is_libnl_missing = false;
}

/* Exit with 77 if namespaces or ip(8) are not available. */
static void own_network_make(void)
{
	if ((geteuid() && !own_root()) || unshare(CLONE_NEWNET)) {
		perror("no network name space of one's own");
		exit(77);
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!system(commands[i]))
			continue;
		fprintf(stderr, "failed: %s\n", commands[i]);
		exit(77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbour_is_reached_without_gateway),
		cmocka_unit_test(other_network_is_reached_by_a_gateway),
		cmocka_unit_test(error_of_the_lookup_is_passed_on),
		cmocka_unit_test(gateway_is_for_the_second_version_alone),
		cmocka_unit_test(path_needs_one_family_and_an_interface),
		cmocka_unit_test(library_that_is_not_installed_is_an_error),
	};

	own_network_make();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
