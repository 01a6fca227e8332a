/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests through a responder, and the fabric's replies. */
#include "responder_rig.h"

enum { NODES = 4 }; /* with the switch */

static void reply_goes_to_the_requester(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival;

	responder_open(rig);
	assert_false(responder_is_readable(rig));
	assert_int_equal(ibsa_responder_timeout_ms(rig->responder), -1);
	arrival = responder_arrival(9, 77);
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, sizeof(arrival.mad));
	assert_true(responder_is_readable(rig));
	responder_pass(rig);
	assert_false(responder_is_readable(rig));

	responder_assert_sent_to(rig, 9, 77, IBSA_METHOD_GET_RESP);
	assert_int_equal(rig->len, PACKET_BYTES);
	assert_int_equal(responder_header(rig).id, SA_AGENT);
	assert_int_equal(responder_header(rig).timeout_ms, 0);
	assert_int_equal(responder_header(rig).retries, 0);
	assert_int_equal(IBSA_GET(sa_header, status, responder_mad(rig)), 0);
	assert_int_equal(IBSA_GET(sa_header, transaction_id,
				  responder_mad(rig)),
			 responder_get_info.transaction_id);
	assert_int_equal(responder_info(rig).requests, 1);
	assert_int_equal(responder_info(rig).answers, 1);
	assert_string_equal(responder_info(rig).device, "mlx5_0");
	assert_int_equal(responder_info(rig).port, 1);
	assert_int_equal(responder_info(rig).lid, 7);
}

/* The reply has the request's GRH with source and destination exchanged. */
static void answer_goes_along_the_grh(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(0, 1);
	struct umad_header header;

	responder_open(rig);
	arrival.header.grh_present = 1;
	arrival.header.gid_index = 2;
	arrival.header.hop_limit = 64;
	arrival.header.gid[0] = 0xfd;
	arrival.header.gid[15] = 5;
	arrival.header.pkey_index = 3;
	arrival.header.sl = 4;
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_pass(rig);
	assert_true(responder_sent(rig));
	header = responder_header(rig);
	assert_int_equal(header.grh_present, 1);
	assert_int_equal(header.gid_index, 2);
	assert_int_equal(header.hop_limit, 64);
	assert_memory_equal(header.gid, arrival.header.gid, 16);
	assert_int_equal(header.pkey_index, 3);
	assert_int_equal(header.sl, 4);
}

/* A request to an alias LID of the port is answered from the base LID. */
static void answer_comes_from_the_base_lid(void **state)
{
	struct responder_rig *rig = *state;
	struct responder_arrival arrival = responder_arrival(9, 77);

	responder_open(rig);
	arrival.header.path_bits = 1;
	responder_encode(&arrival, &responder_get_info);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_pass(rig);
	responder_assert_sent_to(rig, 9, 77, IBSA_METHOD_GET_RESP);
	assert_int_equal(responder_header(rig).path_bits, 0);
}

static void those_with_one_transaction_id_are_told_apart(void **state)
{
	struct responder_rig *rig = *state;
	struct ibsa__request table = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.transaction_id = responder_get_info.transaction_id,
	};

	responder_open(rig);
	responder_receive(rig, 9, 1, &responder_get_info);
	responder_receive(rig, 9, 2, &table);
	responder_receive(rig, 10, 1, &responder_get_info);
	responder_receive(rig, 9, 1, &responder_get_info);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	responder_assert_sent_to(rig, 9, 2, IBSA_METHOD_GET_TABLE_RESP);
	responder_assert_sent_to(rig, 10, 1, IBSA_METHOD_GET_RESP);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	assert_false(responder_sent(rig));
	assert_int_equal(responder_info(rig).requesters, 3);
}

/*
 * The responder writes a large answer to the umad file as one packet; the
 * kernel segments it and sends lost segments again.
 */
static void large_answer_is_one_packet_for_the_kernel_to_segment(void **state)
{
	struct responder_rig *rig = *state;
	const struct ibsa__request table = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
		.transaction_id = 1,
	};
	enum { BYTES = IBSA_SA_HEADER_BYTES + NODES * 112 };

	responder_open(rig);
	responder_receive(rig, 9, 1, &table);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_TABLE_RESP);
	assert_int_equal(rig->len, UMAD_HEADER_BYTES + BYTES);
	assert_int_equal(responder_header(rig).id, SA_AGENT);
	assert_int_equal(responder_header(rig).timeout_ms, 0);
	assert_int_equal(responder_header(rig).retries, 3);
	assert_int_equal(IBSA_GET(sa_header, rmpp_flags, responder_mad(rig)) &
				 IBSA_RMPP_ACTIVE,
			 IBSA_RMPP_ACTIVE);
	assert_false(responder_sent(rig));
}

static void faults_of_the_fabric_affect_requesters(void **state)
{
	struct responder_rig *rig = *state;
	struct ibsa_fault fault = { .kind = IBSA_FAULT_SILENCE,
				    .percent = 100 };
	struct ibsa_fabric_stats stats;

	responder_open(rig);
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_false(responder_sent(rig));
	fault.percent = 0;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	fault.kind = IBSA_FAULT_BUSY;
	fault.percent = 100;
	assert_int_equal(ibsa_fabric_fault(rig->fabric, &fault), 0);
	responder_receive(rig, 9, 1, &responder_get_info);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_GET_RESP);
	assert_int_equal(IBSA_GET(sa_header, status, responder_mad(rig)),
			 IBSA_STATUS_BUSY);
	ibsa_fabric_stats_get(rig->fabric, &stats);
	assert_int_equal(stats.unanswered, 1);
}

static void sa_that_moves_or_rests_is_followed(void **state)
{
	struct responder_rig *rig = *state;

	responder_open(rig);
	assert_int_equal(ibsa_fabric_sa_move(rig->fabric, "node3"), 0);
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_true(responder_sent(rig));
	ibsa_fabric_sa_set(rig->fabric, false);
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_false(responder_sent(rig));
	ibsa_fabric_sa_set(rig->fabric, true);
	responder_receive(rig, 9, 1, &responder_get_info);
	assert_true(responder_sent(rig));
}

/* A program of an older or a newer header has another size. */
static void counters_fit_into_smaller_and_larger_structs(void **state)
{
	const size_t smaller = offsetof(struct ibsa_responder_info, requesters);
	struct responder_rig *rig = *state;
	struct {
		struct ibsa_responder_info known;
		uint64_t later;
	} out;

	responder_open(rig);
	responder_receive(rig, 9, 1, &responder_get_info);
	memset(&out, 0xa5, sizeof(out));
	ibsa_responder_info_get_sized(rig->responder, &out.known, smaller);
	assert_int_equal(out.known.requests, 1);
	assert_int_equal(out.known.requesters, 0xa5a5a5a5a5a5a5a5);
	ibsa_responder_info_get_sized(rig->responder, &out.known, sizeof(out));
	assert_int_equal(out.known.requesters, 1);
	assert_int_equal(out.later, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(reply_goes_to_the_requester),
		IN_A_RIG(answer_goes_along_the_grh),
		IN_A_RIG(answer_comes_from_the_base_lid),
		IN_A_RIG(those_with_one_transaction_id_are_told_apart),
		IN_A_RIG(large_answer_is_one_packet_for_the_kernel_to_segment),
		IN_A_RIG(faults_of_the_fabric_affect_requesters),
		IN_A_RIG(sa_that_moves_or_rests_is_followed),
		IN_A_RIG(counters_fit_into_smaller_and_larger_structs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
