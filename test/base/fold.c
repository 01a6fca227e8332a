/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fold_product() returns the same with and without 128-bit products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fold.h"
#include "test/support/random.h"

enum { PAIRS = 100000 };

/* The result is the lower half of the product xor its upper half. */
static void known_products_are_folded(void **state)
{
	(void)state;
	assert_true(fold_product_parts(0, UINT64_MAX) == 0);
	assert_true(fold_product_parts(3, 5) == 15);
	/* (2^64 - 1)^2 = 2^128 - 2^65 + 1 */
	assert_true(fold_product_parts(UINT64_MAX, UINT64_MAX) ==
		    (1 ^ UINT64_C(0xfffffffffffffffe)));
	/* 2^63 * 6 = 3 * 2^64 */
	assert_true(fold_product_parts(UINT64_C(1) << 63, 6) == 3);
	/* (2^32 + 1) * (2^32 - 1) = 2^64 - 1 */
	assert_true(fold_product_parts((UINT64_C(1) << 32) + 1, UINT32_MAX) ==
		    UINT64_MAX);
}

static void parts_give_the_whole_product(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		const uint64_t a = random_next(&seed);
		const uint64_t b = random_next(&seed) >> i % 64;

		assert_true(fold_product_parts(a, b) == fold_product(a, b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_products_are_folded),
		cmocka_unit_test(parts_give_the_whole_product),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
