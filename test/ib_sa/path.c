/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ib_sa_path_rec_get(): errors, requests, callbacks. */
#include <limits.h>

#include "test/ib_sa/plug.h"
#include "wire/mad.h"

static const struct ibsa_port_state active = {
	.lid = 3,
	.sm_lid = PUPPET_SM_LID,
	.port_state = IBSA_PORT_ACTIVE,
};

/*
 * Check that a start call that failed has left no query, no callback and no
 * reference.
 */
static void assert_refused(struct rig *rig, uint8_t port,
			   enum sa_path_rec_type type, int err)
{
	struct sa_path_rec rec = { .rec_type = type };
	struct ib_sa_query *query = (struct ib_sa_query *)(uintptr_t)1;
	const unsigned long users = rig->client.users;
	struct told told = { 0 };

	assert_int_equal(ib_sa_path_rec_get(&rig->client, rig->device, port,
					    &rec, 0, RIG_TIMEOUT_MS, 0,
					    told_path, &told, &query),
			 err);
	assert_null(query);
	assert_int_equal(rig->client.users, users);
	assert_int_equal(ibsa_ib_device_dispatch(rig->device), 0);
	assert_int_equal(told.calls, 0);
}

static void record_of_another_type_is_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_ROCE_V1, -EINVAL);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_ROCE_V2, -EINVAL);
	assert_refused(&rig, 1, (enum sa_path_rec_type)4, -EINVAL);
	rig_stop(&rig);
}

static void port_that_is_not_there_is_refused(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_refused(&rig, 0, SA_PATH_REC_TYPE_IB, -ENODEV);
	assert_refused(&rig, 3, SA_PATH_REC_TYPE_IB, -ENODEV);
	assert_refused(&rig, 255, SA_PATH_REC_TYPE_IB, -ENODEV);
	/* The device is checked before the record's type, as in the kernel. */
	assert_refused(&rig, 3, SA_PATH_REC_TYPE_ROCE_V2, -ENODEV);
	rig_stop(&rig);
}

/*
 * Port 1 of node3 has no cable. As in the kernel, the record's type is checked
 * before the port's state.
 */
static void record_comes_before_the_state_of_the_port(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	ibsa_ib_device_put(rig.device);
	rig.device = rig_open(rig.fabric, "node3", true);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_ROCE_V1, -EINVAL);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_ROCE_V2, -EINVAL);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_OPA, -EAGAIN);
	assert_int_equal(opa_pr_query_possible(&rig.client, rig.device, 1,
					       NULL),
			 PR_IB_SUPPORTED);
	assert_int_equal(opa_pr_query_possible(&rig.client, rig.device, 3,
					       NULL),
			 PR_NOT_SUPPORTED);
	rig_stop(&rig);
}

static void client_that_is_not_registered_is_refused(void **state)
{
	static struct ib_sa_client never;
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_int_equal(rig_query_on(&never, rig.device, 1, 2, 1, told_path,
				      &told, &query),
			 -EINVAL);
	assert_null(query);
	ib_sa_unregister_client(&never);
	rig_stop(&rig);
}

/* A port without a cable is down, and may be up later. */
static void port_without_a_cable_is_eagain(void **state)
{
	struct rig rig;

	(void)state;
	rig_start(&rig);
	ibsa_ib_device_put(rig.device);
	rig.device = rig_open(rig.fabric, "node3", true);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	rig_stop(&rig);
}

/* Without a unicast LID of the SM, the address of the SA is not known. */
static void port_without_an_sm_is_eagain(void **state)
{
	struct ibsa_port_state port = active;
	struct plug plug;

	(void)state;
	port.sm_lid = 0;
	plug_start(&plug, &port);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	plug_stop(&plug);
	port.sm_lid = 0xc000;
	plug_start(&plug, &port);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	plug_stop(&plug);
	port = active;
	port.port_state = IBSA_PORT_DOWN;
	plug_start(&plug, &port);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	assert_int_equal(plug.puppet.sent_count, 0);
	plug_stop(&plug);
}

/* A call that returned -EAGAIN without an SM succeeds when there is an SM. */
static void port_is_usable_when_it_has_an_sm(void **state)
{
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	ibsa_fabric_sa_set(rig.fabric, false);
	assert_refused(&rig, 1, SA_PATH_REC_TYPE_IB, -EAGAIN);
	ibsa_fabric_sa_set(rig.fabric, true);
	assert_int_equal(ibsa_fabric_advance(rig.fabric, 1000000000), 0);
	(void)rig_query(&rig, 2, &told, &query);
	assert_int_equal(ibsa_ib_device_dispatch(rig.device), 0);
	if (!query)
		assert_true(rig_query(&rig, 2, &told, &query) >= 0);
	rig_run(&rig, &told);
	assert_int_equal(told.status, 0);
	rig_stop(&rig);
}

static void ethernet_has_no_sa(void **state)
{
	struct ibsa_port_state port = active;
	struct plug plug;

	(void)state;
	port.link = IBSA_LINK_ETHERNET;
	plug_start(&plug, &port);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_IB, -ENODEV);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_ROCE_V2, -ENODEV);
	plug_stop(&plug);
}

/*
 * The LID of the port is 0xC000: a unicast LID on OPA, but a multicast LID on
 * InfiniBand, which an InfiniBand path record must not contain as its SLID.
 */
static void opa_record_of_a_long_lid_is_refused(void **state)
{
	struct ibsa_port_state port = active;
	struct plug plug;

	(void)state;
	port.link = IBSA_LINK_OPA;
	port.lid = 0xc000;
	plug_start(&plug, &port);
	assert_int_equal(opa_pr_query_possible(&plug.rig.client,
					       plug.rig.device, 1, NULL),
			 PR_NOT_SUPPORTED);
	assert_refused(&plug.rig, 1, SA_PATH_REC_TYPE_OPA, -EINVAL);
	plug_stop(&plug);
}

/*
 * A request with DGID, SGID and NumbPath equals the request that another
 * program has sent to OpenSM.
 */
static int captured_query(struct plug *plug, struct told *told,
			  struct ib_sa_query **query)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	uint8_t captured[PUPPET_BYTES];
	int id;

	plug_vector("27_path_get.req.hex", captured);
	memcpy(&rec.dgid, captured + 64, sizeof(rec.dgid));
	memcpy(&rec.sgid, captured + 80, sizeof(rec.sgid));
	rec.numb_path = captured[56 + 49];
	told->device = plug->rig.device;
	id = ib_sa_path_rec_get(&plug->rig.client, plug->rig.device, 1, &rec,
				IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
					IB_SA_PATH_REC_NUMB_PATH,
				RIG_TIMEOUT_MS, 0, told_path, told, query);
	/* The record was copied. */
	memset(&rec, 0xff, sizeof(rec));
	return id;
}

/*
 * A Get has a zero SM_Key, modifier, RMPP header and attribute offset, and goes
 * to the SM's LID, QP 1, at the SM's SL.
 */
static void request_is_the_captured_one(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	assert_int_equal(captured_query(&plug, &told, &query), 0);
	plug_run(&plug, 0);
	plug_assert_sent(&plug, 0, "27_path_get.req.hex");
	assert_int_equal(plug.puppet.sent[0].address.lid, PUPPET_SM_LID);
	assert_int_equal(plug.puppet.sent[0].address.qpn, 1);
	assert_int_equal(plug.puppet.sent[0].address.sl, 2);
	plug_stop(&plug);
}

/*
 * The callback gets a captured reply of OpenSM with the values that saquery
 * would print.
 */
static void answer_is_the_captured_one(void **state)
{
	struct told told = { 0 };
	struct ib_sa_query *query;
	uint8_t answer[PUPPET_BYTES];
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	assert_int_equal(captured_query(&plug, &told, &query), 0);
	plug_run(&plug, 0);
	plug_answer(&plug, 0, answer,
		    plug_vector("27_path_get.rsp.hex", answer));
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.status, 0);
	assert_memory_equal(&told.path.dgid, answer + IBSA_SA_HEADER_BYTES + 8,
			    16);
	assert_memory_equal(&told.path.sgid, answer + IBSA_SA_HEADER_BYTES + 24,
			    16);
	assert_int_equal(told.path.ib.dlid, htobe16(6));
	assert_int_equal(told.path.ib.slid, htobe16(5));
	assert_int_equal(told.path.reversible, 1);
	assert_int_equal(told.path.numb_path, 0);
	assert_int_equal(told.path.pkey, htobe16(0x802a));
	assert_int_equal(told.path.mtu_selector, IB_SA_EQ);
	assert_int_equal(told.path.mtu, 4);
	assert_int_equal(told.path.rate_selector, IB_SA_EQ);
	assert_int_equal(told.path.rate, 7);
	assert_int_equal(told.path.packet_life_time_selector, IB_SA_EQ);
	assert_int_equal(told.path.packet_life_time, 18);
	assert_int_equal(told.path.rec_type, SA_PATH_REC_TYPE_IB);
	assert_true(told.has_reply);
	assert_int_equal(told.reply.tries, 1);
	assert_null(ibsa_last_reply(plug.rig.device));
	plug_stop(&plug);
}

/*
 * For any error status of the SA, the callback gets -EINVAL and the record of
 * the SA's MAD; the status itself is in the reply.
 */
static void status_of_the_sa_is_einval(void **state)
{
	static const uint16_t statuses[] = { 0x0004, 0x000c, 0x0100,
					     0x0200, 0x0300, 0x0400,
					     0x0500, 0x0600, 0x0700 };
	struct ib_sa_query *query;
	uint8_t answer[PUPPET_BYTES];
	struct plug plug;
	size_t len;

	(void)state;
	plug_start(&plug, NULL);
	len = plug_vector("28_path_get_unknown_dgid.rsp.hex", answer);
	for (unsigned int i = 0; i < 9; i++) {
		struct told told = { 0 };

		assert_true(captured_query(&plug, &told, &query) >= 0);
		plug_run(&plug, 0);
		ibsa_put_be16(answer + MAD_STATUS, statuses[i]);
		plug_answer(&plug, i, answer, len);
		assert_int_equal(told.status, -EINVAL);
		assert_true(told.has_resp);
		assert_memory_equal(&told.path.dgid,
				    answer + IBSA_SA_HEADER_BYTES + 8, 16);
		assert_int_equal(told.path.numb_path, 1);
		assert_int_equal(told.reply.err, 0);
		assert_int_equal(told.reply.status, statuses[i]);
	}
	plug_stop(&plug);
}

/* BUSY is retried until the query's timeout. */
static void sa_that_stays_busy_is_einval(void **state)
{
	struct ib_sa_query *query;
	struct told told = { 0 };
	uint8_t answer[PUPPET_BYTES];
	struct plug plug;
	size_t len;

	(void)state;
	plug_start(&plug, NULL);
	len = plug_vector("28_path_get_unknown_dgid.rsp.hex", answer);
	ibsa_put_be16(answer + MAD_STATUS, IBSA_STATUS_BUSY);
	assert_int_equal(captured_query(&plug, &told, &query), 0);
	plug_run(&plug, 0);
	plug_answer(&plug, 0, answer, len);
	assert_int_equal(told.calls, 0);
	plug_run(&plug, RIG_TIMEOUT_MS);
	assert_int_equal(told.status, -EINVAL);
	assert_int_equal(told.reply.status, IBSA_STATUS_BUSY);
	plug_stop(&plug);
}

/*
 * If a request cannot be sent, or a reply is malformed, the callback gets -EIO.
 */
static void broken_send_and_broken_answer_are_eio(void **state)
{
	struct told sent = { 0 }, answered = { 0 };
	struct ib_sa_query *query;
	uint8_t answer[PUPPET_BYTES];
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	plug.puppet.send_err = -EPERM;
	assert_int_equal(captured_query(&plug, &sent, &query), 0);
	plug_run(&plug, 0);
	assert_int_equal(sent.status, -EIO);
	assert_false(sent.has_resp);
	assert_int_equal(sent.reply.err, -EPERM);
	plug.puppet.send_err = 0;
	assert_int_equal(captured_query(&plug, &answered, &query), 0);
	plug_run(&plug, 0);
	plug_vector("27_path_get.rsp.hex", answer);
	plug_answer(&plug, 0, answer, 56 + 63);
	assert_int_equal(answered.status, -EIO);
	assert_false(answered.has_resp);
	assert_int_equal(answered.reply.err, -EPROTO);
	plug_stop(&plug);
}

/* A device that is removed flushes its queries, as in the kernel. */
static void removed_device_ends_queries(void **state)
{
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	plug.puppet.send_err = -ENODEV;
	assert_int_equal(captured_query(&plug, &told, &query), 0);
	plug_run(&plug, 0);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.status, -EINTR);
	assert_false(told.has_resp);
	assert_int_equal(told.reply.err, -ENODEV);
	plug_stop(&plug);
}

/*
 * Without a reply, the query ends at its timeout, not earlier, and at most a
 * tenth later. All tries have one id, so a late reply to any of them counts.
 */
static void query_ends_at_its_timeout(void **state)
{
	static const unsigned long totals_ms[] = { 1, 50, 1000, 3000, 60000 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		const unsigned int ms = (unsigned int)totals_ms[i];
		struct ib_sa_query *query;
		struct told told = { 0 };
		struct plug plug;

		plug_start(&plug, NULL);
		told.device = plug.rig.device;
		assert_int_equal(rig_query_on(&plug.rig.client, plug.rig.device,
					      1, 2, ms, told_path, &told,
					      &query),
				 0);
		plug_run(&plug, 0);
		for (unsigned int at = 1; at < ms; at++)
			plug_run(&plug, 1);
		assert_int_equal(told.calls, 0);
		plug_run(&plug, ms / 10 + 1);
		assert_int_equal(told.calls, 1);
		assert_int_equal(told.status, -ETIMEDOUT);
		assert_false(told.has_resp);
		assert_int_equal(told.reply.tries, plug.puppet.sent_count);
		for (unsigned int n = 1; n < plug.puppet.sent_count; n++)
			assert_memory_equal(puppet_sent(&plug.puppet, n)->mad,
					    plug.puppet.sent[0].mad, 256);
		plug_stop(&plug);
	}
}

/*
 * A timeout of 0 ms counts as 1 ms, and a query with the longest timeout can be
 * cancelled.
 */
static void zero_and_huge_timeouts_are_accepted(void **state)
{
	static const unsigned long odd_ms[] = { 0, UINT_MAX, ULONG_MAX };
	struct ib_sa_query *query;
	struct plug plug;
	int id;

	(void)state;
	plug_start(&plug, NULL);
	for (int i = 0; i < 3; i++) {
		struct told told = { 0 };

		told.device = plug.rig.device;
		id = rig_query_on(&plug.rig.client, plug.rig.device, 1, 2,
				  odd_ms[i], told_path, &told, &query);
		assert_true(id >= 0);
		plug_run(&plug, 0);
		assert_int_equal(told.calls, 0);
		plug_run(&plug, 2);
		assert_int_equal(told.calls, !odd_ms[i]);
		ib_sa_cancel_query(id, query);
		plug_run(&plug, 0);
		assert_int_equal(told.calls, 1);
		assert_int_equal(told.status, odd_ms[i] ? -EINTR : -ETIMEDOUT);
	}
	plug_stop(&plug);
}

/*
 * Without a callback, the request is still sent, and unregistering waits for
 * its end; without a query pointer, it cannot be cancelled.
 */
static void callback_and_query_may_be_left_out(void **state)
{
	struct ibsa_fabric_stats stats;
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_int_equal(rig_query_on(&rig.client, rig.device, 1, 2,
				      RIG_TIMEOUT_MS, NULL, NULL, NULL),
			 0);
	assert_int_equal(rig_query_on(&rig.client, rig.device, 3, 2,
				      RIG_TIMEOUT_MS, NULL, NULL, NULL),
			 -ENODEV);
	ib_sa_unregister_client(&rig.client);
	ibsa_fabric_stats_get(rig.fabric, &stats);
	assert_int_equal(stats.requests, 1);
	rig_stop(&rig);
}

static int masked_query(struct plug *plug, ib_sa_comp_mask mask)
{
	struct sa_path_rec rec = { .numb_path = 1 };
	struct ib_sa_query *query;

	return ib_sa_path_rec_get(&plug->rig.client, plug->rig.device, 1, &rec,
				  mask, 1000, 0, NULL, NULL, &query);
}

/*
 * Only the bits of <rdma/ib_sa.h> are accepted: not bits of the modern
 * interface's mask, which is in host byte order.
 */
static void undefined_mask_bits_are_refused(void **state)
{
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	for (unsigned int n = 0; n < 64; n++) {
		const bool is_defined = n <= 22 && n != 7;

		assert_int_equal(masked_query(&plug, IB_SA_COMP_MASK(n)) ==
					 -EINVAL,
				 !is_defined);
	}
	assert_int_equal(masked_query(&plug, ~(ib_sa_comp_mask)0), -EINVAL);
	if (IBSA_PATH_CM(dlid) != IB_SA_PATH_REC_DLID)
		assert_int_equal(masked_query(&plug,
					      IBSA_PATH_CM(dlid) |
						      IBSA_PATH_CM(slid)),
				 -EINVAL);
	plug_stop(&plug);
}

/* The worker still meets deadlines. */
static void port_that_cannot_be_waited_for_times_out(void **state)
{
	struct sa_path_rec rec = { .numb_path = 1 };
	struct ib_sa_query *query;
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	plug_start_unwaitable(&plug);
	assert_int_equal(ib_sa_path_rec_get(&plug.rig.client, plug.rig.device,
					    1, &rec, IB_SA_PATH_REC_NUMB_PATH,
					    10, 0, told_path, &told, &query),
			 0);
	ib_sa_unregister_client(&plug.rig.client);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.status, -ETIMEDOUT);
	plug_stop(&plug);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_of_another_type_is_refused),
		cmocka_unit_test(port_that_is_not_there_is_refused),
		cmocka_unit_test(record_comes_before_the_state_of_the_port),
		cmocka_unit_test(client_that_is_not_registered_is_refused),
		cmocka_unit_test(port_without_a_cable_is_eagain),
		cmocka_unit_test(port_without_an_sm_is_eagain),
		cmocka_unit_test(port_is_usable_when_it_has_an_sm),
		cmocka_unit_test(ethernet_has_no_sa),
		cmocka_unit_test(opa_record_of_a_long_lid_is_refused),
		cmocka_unit_test(request_is_the_captured_one),
		cmocka_unit_test(answer_is_the_captured_one),
		cmocka_unit_test(status_of_the_sa_is_einval),
		cmocka_unit_test(sa_that_stays_busy_is_einval),
		cmocka_unit_test(broken_send_and_broken_answer_are_eio),
		cmocka_unit_test(removed_device_ends_queries),
		cmocka_unit_test(query_ends_at_its_timeout),
		cmocka_unit_test(zero_and_huge_timeouts_are_accepted),
		cmocka_unit_test(port_that_cannot_be_waited_for_times_out),
		cmocka_unit_test(callback_and_query_may_be_left_out),
		cmocka_unit_test(undefined_mask_bits_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
