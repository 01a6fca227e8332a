/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subscriptions through a responder, and the Reports for each subscription. */
#include "responder_rig.h"
#include "wire/mad.h"

/*
 * Subscribe as the requester at @lid, or end its subscription. Requesters that
 * share one node end only their own subscriptions.
 */
static void subscribe(struct responder_rig *rig, uint16_t lid, bool on)
{
	const struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = on,
		.type = 0xffff,
		.trap_number = 65,
		.qpn = 1,
		.producer_type = 0xffffff,
	};
	const struct ibsa__request request = {
		.record = &ibsa_inform_info_record,
		.match = &info,
		.method = IBSA_METHOD_SET,
		.transaction_id = 5,
	};

	responder_receive(rig, lid, 1, &request);
	responder_assert_sent_to(rig, lid, 1, IBSA_METHOD_GET_RESP);
	assert_int_equal(IBSA_GET(sa_header, status, responder_mad(rig)), 0);
}

static void set_node3(struct responder_rig *rig, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(rig->fabric, "node3", 1, &change),
			 0);
	responder_pass(rig);
}

/*
 * Count the Reports that still wait for a ReportResp. Stopping the SA discards
 * them and counts them as unanswered.
 */
static uint64_t count_waiting(struct responder_rig *rig)
{
	struct ibsa_fabric_stats before, after;

	ibsa_fabric_stats_get(rig->fabric, &before);
	ibsa_fabric_sa_set(rig->fabric, false);
	ibsa_fabric_sa_set(rig->fabric, true);
	ibsa_fabric_stats_get(rig->fabric, &after);
	return after.reports_unanswered - before.reports_unanswered;
}

/*
 * Let the ReportResp arrive as the kernel delivers it: with the kernel's agent
 * number in the upper half of the TransactionID.
 */
static void answer_report(struct responder_rig *rig, uint16_t lid)
{
	struct responder_arrival arrival = responder_arrival(lid, 1);

	memcpy(arrival.mad, responder_mad(rig), sizeof(arrival.mad));
	arrival.mad[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	ibsa_put_be32(arrival.mad + MAD_TID, 0xabcd);
	responder_arrive(&arrival, sizeof(arrival.mad));
	responder_pass(rig);
}

static void reports_go_to_the_subscriber(void **state)
{
	struct responder_rig *rig = *state;

	responder_open(rig);
	subscribe(rig, 9, true);
	subscribe(rig, 10, true);
	set_node3(rig, false);
	responder_assert_sent_to(rig, 10, 1, IBSA_METHOD_REPORT);
	/*
	 * The Report has a timeout and is sent by the agent of the requests: so
	 * the kernel delivers its ReportResp, by the TransactionID, to this
	 * agent.
	 */
	assert_int_equal(responder_header(rig).id, CLIENT_AGENT);
	assert_in_range(responder_header(rig).timeout_ms, 100, 199);
	assert_int_equal(rig->len, PACKET_BYTES);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_REPORT);
	assert_false(responder_sent(rig));
	assert_int_equal(responder_info(rig).reports, 2);
	answer_report(rig, 9);
	assert_int_equal(count_waiting(rig), 1);
}

static void subscription_is_ended_by_its_subscriber(void **state)
{
	struct responder_rig *rig = *state;

	responder_open(rig);
	subscribe(rig, 9, true);
	subscribe(rig, 10, true);
	subscribe(rig, 10, false);
	set_node3(rig, false);
	responder_assert_sent_to(rig, 9, 1, IBSA_METHOD_REPORT);
	assert_false(responder_sent(rig));
	answer_report(rig, 9);
	assert_int_equal(count_waiting(rig), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_RIG(reports_go_to_the_subscriber),
		IN_A_RIG(subscription_is_ended_by_its_subscriber),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
