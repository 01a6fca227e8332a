/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names are found in each locale. strcasecmp() and strncasecmp() are replaced
 * by functions that behave as the C library's in a Turkish locale, where "i" is
 * not the lower case of "I".
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/text.h>

#include "common/host.h"

static int turkish_lower(char c)
{
	return c >= 'A' && c <= 'Z' && c != 'I' ? c - 'A' + 'a' : c;
}

int strncasecmp(const char *a, const char *b, size_t len)
{
	for (; len; a++, b++, len--) {
		const int order = turkish_lower(*a) - turkish_lower(*b);

		if (order || !*a)
			return order;
	}
	return 0;
}

int strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, INT_MAX);
}

static void records_are_found_in_a_turkish_locale(void **state)
{
	(void)state;
	assert_int_not_equal(strcasecmp("I", "i"), 0);
	assert_ptr_equal(ibsa_record_find("portinforecord"),
			 &ibsa_port_info_record);
	assert_ptr_equal(ibsa_record_find("pir"), &ibsa_port_info_record);
	assert_null(ibsa_record_find("portinforecor"));
}

static void hosts_match_in_a_turkish_locale(void **state)
{
	(void)state;
	assert_int_equal(ibsa__host_match("NODEI", "nodei mlx5_0"), 3);
	assert_int_equal(ibsa__host_match("NODEI/I0", "nodei i0"), 1);
	assert_int_equal(ibsa__host_match("NODEI", "nodej mlx5_0"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_found_in_a_turkish_locale),
		cmocka_unit_test(hosts_match_in_a_turkish_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
