/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A responder with its n-th allocation failing. */
#include "responder_rig.h"
#include "test/support/fail_alloc.h"

static void short_memory_does_no_harm(void **state)
{
	struct responder_rig *rig = *state;
	int err = -ENOMEM;

	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_responder_open(rig->fabric, &responder_at_node2,
					  NULL, &rig->responder);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(n < 200);
	}
	for (long n = 0; n < 4; n++) {
		fail_alloc_after(n);
		responder_receive(rig, 9, 1, &responder_get_info);
		fail_alloc_after(-1);
	}
	assert_int_equal(responder_info(rig).requests, 4);
	assert_true(responder_info(rig).unprocessed +
			    responder_info(rig).refused >
		    0);
	while (responder_sent(rig))
		;
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_true(responder_sent(rig));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(short_memory_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
