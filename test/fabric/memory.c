/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The embedded fabric with the n-th allocation failing, for every n. */
#include <errno.h>
#include <stdlib.h>

#include "../support/fail_alloc.h"
#include "support.h"
#include "wire/mad.h"

static const struct ibsa_fabric_options options = {
	.virtual_clock = true,
	.check = true,
};

/* The leak checker detects memory that is left. */
static void every_allocation_of_a_load_may_fail(void **state)
{
	struct ibsa_transport *transport = NULL;
	struct ibsa_fabric *fabric = NULL;
	size_t len;
	char *text = bench_read("fabrics", "b.net", &len);
	int err = -ENOMEM;

	(void)state;
	for (long n = 0; err; n++) {
		struct ibsa_error error = { "" };

		fail_alloc_after(n);
		err = ibsa_fabric_parse(text, len, &options, &error, &fabric);
		if (err)
			assert_non_null(strstr(error.text, "memory"));
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!fabric);
	}
	fail_alloc_after(0);
	err = ibsa_fabric_attach(fabric, NULL, 0, &transport);
	fail_alloc_after(-1);
	assert_int_equal(err, -ENOMEM);
	assert_null(transport);
	ibsa_fabric_put(fabric);
	free(text);
}

/* Either the send fails, or the SA answers with status "no resources", or its
 * answer is lost. */
static int query_in_need(struct bench *bench)
{
	const struct ibsa_address to = { .lid = 1, .qpn = 1 };
	int err;

	ibsa_put_be64(bench->request + MAD_TID, bench->next_tid++);
	err = bench->transport->ops->send(bench->transport, &to, bench->request,
					  256, 10);
	if (err) {
		assert_int_equal(err, -ENOMEM);
		return err;
	}
	if (!bench_receive(bench))
		return -ENOMEM;
	return (int)IBSA_GET(sa_header, status, bench->answer.mad);
}

static void every_allocation_of_an_answer_may_fail(void **state)
{
	struct bench bench;
	int status = -1;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, &options);
	bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	for (long n = 0; status; n++) {
		fail_alloc_after(n);
		status = query_in_need(&bench);
		fail_alloc_after(-1);
		assert_true(status == 0 || status == -ENOMEM ||
			    status == IBSA_STATUS_NO_RESOURCES);
	}
	assert_int_equal(bench_count(&bench), 36);
	bench_stop(&bench);
}

/* Send a Set with each of its allocations failing. */
static void set_in_need(struct bench *bench, const struct ibsa_record *record,
			const void *value, uint64_t mask)
{
	int status = -1;

	bench_request(bench, IBSA_METHOD_SET, record->attribute, mask);
	assert_int_equal(
		ibsa_record_encode(record, value, record->host_size,
				   bench->request + IBSA_SA_HEADER_BYTES, 200),
		0);
	for (long n = 0; status; n++) {
		fail_alloc_after(n);
		status = query_in_need(bench);
		fail_alloc_after(-1);
		assert_true(!status || status == -ENOMEM ||
			    status == IBSA_STATUS_NO_RESOURCES);
	}
}

static void every_allocation_of_a_membership_may_fail(void **state)
{
	struct ibsa_mcmember group = {
		.mgid.raw = { 0xff, 0x15, 1 },
		.port_gid.raw = { 0xfe, 0x80, [8] = 0, 0x08, 0xf1, 0x04, 0x03,
				  0x98, 0x00, 0x11 },
		.pkey = 0xffff,
		.join_state = 1,
	};
	const uint64_t mask = ibsa_mcmember_record.mask &
			      ~(IBSA_MCMEMBER_CM(mtu) | IBSA_MCMEMBER_CM(rate) |
				IBSA_MCMEMBER_CM(mtu_selector) |
				IBSA_MCMEMBER_CM(rate_selector));
	struct bench bench;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, &options);
	for (uint8_t i = 0; i < 9; i++) {
		group.mgid.raw[15] = i;
		set_in_need(&bench, &ibsa_mcmember_record, &group, mask);
	}
	ibsa_put_be64(bench.request + MAD_SM_KEY, 1);
	bench.request[MAD_METHOD] = IBSA_METHOD_GET_TABLE;
	ibsa_put_be64(bench.request + MAD_COMPONENT_MASK, 0);
	assert_int_equal(bench_exchange(&bench), 0);
	assert_int_equal(bench_count(&bench), 9);
	bench_stop(&bench);
}

static void every_allocation_of_an_alias_may_fail(void **state)
{
	const uint64_t address = IBSA_GUID_INFO_CM(lid) |
				 IBSA_GUID_INFO_CM(block_num);
	struct ibsa_guid_info info = { .block_num = 1 };
	struct bench bench;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, &options);
	for (uint16_t lid = 1; lid < 7; lid++) {
		/* LIDs 2 and 3 are switches, which have no block 1. */
		if (lid == 2 || lid == 3)
			continue;
		info.lid = lid;
		set_in_need(&bench, &ibsa_guid_info_record, &info,
			    address | UINT64_C(0xff) * IBSA_GUID_INFO_CM(guid));
	}
	bench_stop(&bench);
}

static void every_allocation_with_faults_may_fail(void **state)
{
	static const uint16_t settable[] = { 0x0031, 0x0003 };
	struct bench bench;

	(void)state;
	for (long n = 0; n < 40; n++) {
		bench_start_file(&bench, "b.net", NULL, &options);
		for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
			const struct ibsa_fault fault = {
				(enum ibsa_fault_kind)kind,
				40,
				0,
				3,
			};

			assert_int_equal(
				ibsa_fabric_fault(bench.fabric, &fault), 0);
		}
		fail_alloc_after(n);
		for (int i = 0; i < 60; i++) {
			const struct ibsa_address to = { .lid = 1, .qpn = 1 };
			int err;

			bench_request(&bench, IBSA_METHOD_SET, settable[i % 2],
				      3);
			ibsa_put_be64(bench.request + IBSA_SA_HEADER_BYTES,
				      (uint64_t)i);
			bench.request[IBSA_SA_HEADER_BYTES + 23] = 1;
			err = bench.transport->ops->send(bench.transport, &to,
							 bench.request, 256, 0);
			assert_true(!err || err == -ENOMEM);
			(void)bench_receive(&bench);
		}
		fail_alloc_after(-1);
		bench_stop(&bench);
	}
}

/* Subscribe, listen, and receive a Report, with the n-th allocation failing. */
static int report_in_need(struct bench *bench, long n)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct ibsa_transport_ops *ops = bench->transport->ops;
	const struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 3,
		.trap_number = 65,
		.producer_type = 4,
	};
	int status;

	assert_int_equal(ops->listen(bench->transport, true), 0);
	bench_request(bench, IBSA_METHOD_SET, 0x0003, 0);
	assert_int_equal(ibsa_record_encode(
				 &ibsa_inform_info_record, &info, sizeof(info),
				 bench->request + IBSA_SA_HEADER_BYTES, 200),
			 0);
	fail_alloc_after(n);
	status = query_in_need(bench);
	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r3 mlx5_0",
					      1, &down),
			 0);
	fail_alloc_after(-1);
	return status;
}

/* Without memory, a Report is lost, or comes with the next try. */
static void every_allocation_of_a_report_may_fail(void **state)
{
	bool is_told = false;

	(void)state;
	for (long n = 0; !is_told; n++) {
		struct ibsa_fabric_stats stats;
		struct bench bench;
		int status;

		assert_in_range(n, 0, 20);
		bench_start_file(&bench, "b.net", NULL, &options);
		status = report_in_need(&bench, n);
		assert_true(status == 0 || status == -ENOMEM ||
			    status == IBSA_STATUS_NO_RESOURCES);
		is_told = bench_receive(&bench);
		assert_int_equal(ibsa_fabric_advance(bench.fabric, 200000000),
				 0);
		ibsa_fabric_stats_get(bench.fabric, &stats);
		assert_int_equal(bench_receive(&bench),
				 stats.reports - stats.reports_unanswered);
		bench_stop(&bench);
	}
}

/*
 * Of all changes, only a P_Key table needs memory; without memory nothing
 * changes.
 */
static void every_allocation_of_a_change_may_fail(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0xffff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS | IBSA_CHANGE_LID | IBSA_CHANGE_LMC |
			IBSA_CHANGE_LINK | IBSA_CHANGE_REREGISTER,
		.lid = 0x400,
		.lmc = 7,
		.pkeys = pkeys,
		.pkey_count = 2,
	};
	struct ibsa_port_state before;
	struct ibsa_port_state after;
	struct bench bench;
	int err;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, &options);
	bench.transport->ops->port(bench.transport, &before, sizeof(before));
	fail_alloc_after(0);
	err = ibsa_fabric_port_set(bench.fabric, NULL, 0, &change);
	fail_alloc_after(-1);
	assert_int_equal(err, -ENOMEM);
	bench.transport->ops->port(bench.transport, &after, sizeof(after));
	assert_memory_equal(&before, &after, sizeof(after));
	fail_alloc_after(1);
	err = ibsa_fabric_port_set(bench.fabric, NULL, 0, &change);
	fail_alloc_after(-1);
	assert_int_equal(err, 0);
	bench.transport->ops->port(bench.transport, &after, sizeof(after));
	assert_int_equal(after.lid, 0x400);
	assert_int_equal(after.port_state, IBSA_PORT_DOWN);
	assert_int_equal(after.pkey_index, 1);
	bench_stop(&bench);
}

static void sa_moves_without_memory(void **state)
{
	static const char pair[] = "Switch 2 \"t\"\n[1] \"b\"[1]\n"
				   "[2] \"c\"[1]\n"
				   "Ca 1 \"b\"\nCa 1 \"c\"\n";
	struct ibsa_port_state port;
	struct bench bench;
	int err;

	(void)state;
	bench_start_text(&bench, pair, "c", &options);
	fail_alloc_after(0);
	err = ibsa_fabric_sa_move(bench.fabric, "b");
	fail_alloc_after(-1);
	assert_int_equal(err, 0);
	bench.transport->ops->port(bench.transport, &port, sizeof(port));
	assert_int_equal(port.port_state, IBSA_PORT_ACTIVE);
	assert_true(port.lid && port.sm_lid);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_of_a_load_may_fail),
		cmocka_unit_test(every_allocation_of_an_answer_may_fail),
		cmocka_unit_test(every_allocation_of_a_membership_may_fail),
		cmocka_unit_test(every_allocation_of_an_alias_may_fail),
		cmocka_unit_test(every_allocation_with_faults_may_fail),
		cmocka_unit_test(every_allocation_of_a_report_may_fail),
		cmocka_unit_test(every_allocation_of_a_change_may_fail),
		cmocka_unit_test(sa_moves_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
