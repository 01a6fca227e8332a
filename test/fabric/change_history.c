/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults and changes of a fabric are the same in each run with one seed. */
#include "change_rig.h"

/*
 * Return: a checksum over everything that a client receives during faults and
 * changes with this seed.
 */
static uint64_t history(uint64_t seed)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = seed,
						     .latency_us = 100 };
	struct bench bench;
	uint64_t sum = 0;

	bench_start_text(&bench, change_fabric, "b", &options);
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		const struct ibsa_fault fault = { (enum ibsa_fault_kind)kind,
						  20, 0, 3 };

		assert_int_equal(ibsa_fabric_fault(bench.fabric, &fault), 0);
	}
	for (int round = 0; round < 300; round++) {
		const struct ibsa_port_state port = bench_port(&bench);

		bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
		bench_send(&bench);
		assert_int_equal(ibsa_fabric_advance(bench.fabric, MS / 2), 0);
		if (round % 7 == 0)
			bench_set_link(&bench, "b", 1, round % 2);
		if (round % 31 == 0)
			assert_int_equal(ibsa_fabric_sa_move(bench.fabric,
							     round % 2 ? "a"
								       : "c"),
					 0);
		sum = bench_mix(sum, &port, sizeof(port));
		while (bench_receive(&bench))
			sum = bench_mix(sum, bench.answer.mad,
					bench.answer.len);
	}
	bench_stop(&bench);
	return sum;
}

static void same_seed_is_the_same_history(void **state)
{
	(void)state;
	assert_true(history(1) == history(1));
	assert_true(history(1) != history(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_is_the_same_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
