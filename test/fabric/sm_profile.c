/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SM profiles other than OpenSM's. */
#include <errno.h>

#include "support.h"
#include "wire/mad.h"

static const char hosts[] = "Switch 8 \"switch1\"\n"
			    "[1] \"node1\"[1]\n"
			    "[2] \"node2\"[1]\n"
			    "Ca 1 \"node1\"\n"
			    "Ca 1 \"node2\"\n";

enum { ATTR_PKEY_TABLE = 0x0033 };

static void start(struct bench *bench, enum ibsa_sm_profile profile)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.profile = profile,
	};

	bench_start_text(bench, hosts, "node2", &options);
}

static int query_nodes(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, ibsa_node_record.attribute,
		      0);
	return bench_exchange(bench);
}

static void busy_sa_answers_some_and_refuses_others(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench, IBSA_SM_PROFILE_BUSY);
	for (int i = 0; i < 16; i++)
		assert_int_equal(query_nodes(&bench), 0);
	assert_int_equal(query_nodes(&bench), IBSA_STATUS_BUSY);
	assert_int_equal(bench.answer.len, IBSA_MAD_BYTES);
	assert_int_equal(query_nodes(&bench), IBSA_STATUS_BUSY);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 1000000), 0);
	assert_int_equal(query_nodes(&bench), 0);
	bench_stop(&bench);
}

static void send_nodes(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, ibsa_node_record.attribute,
		      0);
	bench_send(bench);
}

/* Return: the number of answers with @status that have arrived. */
static unsigned int count_answers(struct bench *bench, int status)
{
	unsigned int count = 0;

	while (bench_receive(bench)) {
		assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad),
				 status);
		count++;
	}
	return count;
}

/* 64 requests wait, and are answered one by one; two more find no place. */
static void slow_sa_serves_one_request_at_a_time(enum ibsa_sm_profile profile)
{
	enum { BACKLOG = 64, PER_MS = 16, NS_PER_MS = 1000000 };
	const bool is_busy = profile == IBSA_SM_PROFILE_FULL;
	struct bench bench;

	start(&bench, profile);
	for (int i = 0; i < BACKLOG; i++)
		send_nodes(&bench);
	assert_int_equal(count_answers(&bench, 0), 0);
	send_nodes(&bench);
	send_nodes(&bench);
	assert_int_equal(count_answers(&bench, IBSA_STATUS_BUSY),
			 is_busy ? 2 : 0);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, NS_PER_MS / PER_MS),
			 0);
	assert_int_equal(count_answers(&bench, 0), 1);
	send_nodes(&bench); /* to the place that is free now */
	for (int i = PER_MS; i <= BACKLOG; i += PER_MS) {
		assert_int_equal(ibsa_fabric_advance(bench.fabric, NS_PER_MS),
				 0);
		assert_int_equal(count_answers(&bench, 0), PER_MS);
	}
	bench_stop(&bench);
}

static void slow_sa_drops_what_finds_no_place(void **state)
{
	(void)state;
	slow_sa_serves_one_request_at_a_time(IBSA_SM_PROFILE_SLOW);
}

static void full_sa_refuses_what_finds_no_place(void **state)
{
	(void)state;
	slow_sa_serves_one_request_at_a_time(IBSA_SM_PROFILE_FULL);
}

static int query_pkeys(struct bench *bench, uint64_t sm_key)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, ATTR_PKEY_TABLE, 0);
	ibsa_put_be64(bench->request + MAD_SM_KEY, sm_key);
	return bench_exchange(bench);
}

static int subscribe(struct bench *bench, uint16_t trap)
{
	const struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 3,
		.trap_number = trap,
		.qpn = 1,
		.resp_time_value = 19,
		.producer_type = 4,
	};

	return bench_query(bench, IBSA_METHOD_SET, &ibsa_inform_info_record,
			   &info, 0);
}

static void silent_sa_drops_what_others_refuse(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench, IBSA_SM_PROFILE_SILENT);
	assert_int_equal(query_pkeys(&bench, 0), -1);
	assert_int_equal(query_pkeys(&bench, 1), 0);
	assert_int_equal(subscribe(&bench, 257), -1);
	assert_int_equal(subscribe(&bench, 64), 0);
	bench_stop(&bench);
	start(&bench, IBSA_SM_PROFILE_OPENSM);
	assert_int_equal(query_pkeys(&bench, 0), IBSA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe(&bench, 257), IBSA_STATUS_REQ_INVALID);
	bench_stop(&bench);
}

static void sa_with_few_subscriptions_has_room_for_32(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench, IBSA_SM_PROFILE_FEW);
	for (uint16_t i = 0; i < 32; i++)
		assert_int_equal(subscribe(&bench, 1000 + i), 0);
	assert_int_equal(subscribe(&bench, 2000), IBSA_STATUS_NO_RESOURCES);
	/*
	 * A subscription that exists already does not count against the limit.
	 */
	assert_int_equal(subscribe(&bench, 1000), 0);
	bench_stop(&bench);
	start(&bench, IBSA_SM_PROFILE_OPENSM);
	for (uint16_t i = 0; i < 40; i++)
		assert_int_equal(subscribe(&bench, 1000 + i), 0);
	bench_stop(&bench);
}

static void unknown_sm_profile_is_refused(void **state)
{
	const struct ibsa_fabric_options options = {
		.profile = (enum ibsa_sm_profile)IBSA_SM_PROFILES,
	};
	struct ibsa_fabric *fabric = NULL;
	struct ibsa_error error = { "" };

	(void)state;
	assert_int_equal(ibsa_fabric_parse(hosts, strlen(hosts), &options,
					   &error, &fabric),
			 -EINVAL);
	assert_non_null(strstr(error.text, "unknown SM profile"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_sa_answers_some_and_refuses_others),
		cmocka_unit_test(slow_sa_drops_what_finds_no_place),
		cmocka_unit_test(full_sa_refuses_what_finds_no_place),
		cmocka_unit_test(silent_sa_drops_what_others_refuse),
		cmocka_unit_test(sa_with_few_subscriptions_has_room_for_32),
		cmocka_unit_test(unknown_sm_profile_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
