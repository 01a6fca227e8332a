/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client whose answers come from a capture. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/fail_alloc.h"
#include "common/frame.h"
#include "support.h"
#include "wire/mad.h"

enum { FILE_MAX = 1 << 16, LINK_ERF = 197, LINK_INFINIBAND = 247 };

/* A pcap file being written. */
struct capture {
	uint8_t bytes[FILE_MAX];
	size_t len;
	uint32_t link;
	bool is_little;	   /* its numbers are little-endian */
	unsigned int skip; /* leave out the packet with this number, from 1 */
	unsigned int count;
};

static void put(struct capture *capture, uint32_t value)
{
	uint8_t *out = capture->bytes + capture->len;

	for (int i = 0; i < 4; i++)
		out[capture->is_little ? i : 3 - i] = (uint8_t)(value >> 8 * i);
	capture->len += 4;
}

static void begin(struct capture *capture, uint32_t link, bool is_little)
{
	memset(capture, 0, sizeof(*capture));
	capture->link = link;
	capture->is_little = is_little;
	put(capture, 0xa1b2c3d4);
	capture->len += 12;
	put(capture, 65535);
	put(capture, link);
}

static void seen(const struct ibsa_packet *packet, void *arg)
{
	struct capture *capture = arg;
	const size_t erf = capture->link == LINK_ERF ? 16 : 0;

	if (++capture->count == capture->skip)
		return;
	assert_true(capture->len + 16 + erf + packet->len <= FILE_MAX);
	put(capture, 0);
	put(capture, 0);
	put(capture, (uint32_t)(erf + packet->len));
	put(capture, (uint32_t)(erf + packet->len));
	if (erf)
		capture->bytes[capture->len + 8] = 21;
	capture->len += erf;
	memcpy(capture->bytes + capture->len, packet->bytes, packet->len);
	capture->len += packet->len;
}

/* Write these bytes to a file. Return: its name. */
static const char *write_file(const uint8_t *bytes, size_t len)
{
	static char name[] = "/tmp/ibsa-replay-XXXXXX";
	int fd;

	memcpy(name + strlen(name) - 6, "XXXXXX", 6);
	fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
	return name;
}

static int open_bytes(const uint8_t *bytes, size_t len,
		      struct ibsa_error *error, struct ibsa_transport **out)
{
	const char *name = write_file(bytes, len);
	const int err = ibsa_replay_open(name, error, out);

	unlink(name);
	return err;
}

/* Replace the client of @bench by one of the capture. */
static void replay(struct bench *bench, const struct capture *capture)
{
	struct ibsa_error error = { "" };

	bench_stop(bench);
	memset(bench, 0, sizeof(*bench));
	if (open_bytes(capture->bytes, capture->len, &error, &bench->transport))
		fail_msg("%s", error.text);
}

static void start(struct bench *bench, struct capture *capture)
{
	bench_start_file(bench, "b.net", NULL, NULL);
	assert_int_equal(ibsa_fabric_tap(bench->fabric, seen, capture), 0);
}

static void query_paths(struct bench *bench, uint32_t tid)
{
	bench->next_tid = tid;
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	assert_int_equal(bench_exchange(bench), 0);
	assert_int_equal(bench_count(bench), 36);
}

/* Replayed and recorded answers differ only in the transaction ID. */
static void answers_are_as_recorded(void **state)
{
	static const struct {
		uint32_t link;
		bool is_little;
	} kinds[] = { { LINK_ERF, true },
		      { LINK_ERF, false },
		      { LINK_INFINIBAND, true },
		      { LINK_INFINIBAND, false } };
	struct capture *capture = malloc(sizeof(*capture));
	uint8_t before[4096];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ibsa_port_state port, recorded;
		struct bench bench;
		size_t len;

		begin(capture, kinds[i].link, kinds[i].is_little);
		start(&bench, capture);
		query_paths(&bench, 100);
		len = bench.answer.len;
		memcpy(before, bench.answer.mad, len);
		bench.transport->ops->port(bench.transport, &port,
					   sizeof(port));
		replay(&bench, capture);
		query_paths(&bench, 200);
		assert_int_equal(bench_id(&bench),
				 IBSA_GET(sa_header, transaction_id,
					  bench.request));
		assert_int_equal(bench.answer.len, len);
		assert_memory_equal(bench.answer.mad, before, 8);
		assert_memory_equal(bench.answer.mad + MAD_ATTRIBUTE,
				    before + MAD_ATTRIBUTE, len - 16);
		bench.transport->ops->port(bench.transport, &recorded,
					   sizeof(recorded));
		assert_int_equal(recorded.lid, port.lid);
		assert_int_equal(recorded.sm_lid, port.sm_lid);
		assert_memory_equal(&recorded.gid, &port.gid, 16);
		bench_stop(&bench);
	}
	free(capture);
}

static int query_path(struct bench *bench, uint16_t dlid, uint8_t unselected)
{
	const struct ibsa_path want = { .slid = 1,
					.dlid = dlid,
					.sl = unselected };

	return bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			   IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));
}

static void fields_not_selected_are_not_compared(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	struct bench bench;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 3), 0);
	replay(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 5), 0);
	assert_int_equal(query_path(&bench, 5, 3), IBSA_STATUS_NOT_RECORDED);
	bench_request(&bench, IBSA_METHOD_SET, 0x0035, 0);
	assert_int_equal(bench_exchange(&bench), IBSA_STATUS_NOT_RECORDED);
	assert_int_equal(bench.answer.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	bench_stop(&bench);
	free(capture);
}

static int query_speeds(struct bench *bench)
{
	const struct ibsa_port_info want = { .options = 0x80 };

	return bench_query(bench, IBSA_METHOD_GET_TABLE, &ibsa_port_info_record,
			   &want, IBSA_PORT_INFO_CM(options));
}

/*
 * The table without options has the records with them, unless a port runs at an
 * extended speed.
 */
static void a_table_is_that_with_extended_speeds_if_none_is_active(void **state)
{
	const struct ibsa_fabric_port_change qdr = {
		.mask = IBSA_CHANGE_RATE,
		.rate = "4xQDR",
	};
	struct capture *capture = malloc(sizeof(*capture));

	(void)state;
	for (int has_extended = 0; has_extended < 2; has_extended++) {
		struct ibsa_port_info port;
		struct bench bench;
		size_t count;

		begin(capture, LINK_ERF, true);
		start(&bench, capture);
		if (!has_extended)
			assert_int_equal(ibsa_fabric_port_set(bench.fabric,
							      "host-r3 mlx5_0",
							      1, &qdr),
					 0);
		bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0012, 0);
		assert_int_equal(bench_exchange(&bench), 0);
		count = bench_count(&bench);
		assert_true(count > 24);
		replay(&bench, capture);
		assert_int_equal(query_speeds(&bench),
				 has_extended ? IBSA_STATUS_NOT_RECORDED : 0);
		if (!has_extended) {
			assert_int_equal(bench_count(&bench), count);
			ibsa_port_info_record.decode(bench_record(&bench, 1),
						     &port);
			assert_int_equal(port.options, 0x80);
			assert_true(port.port_num && port.endport_lid);
		}
		bench_stop(&bench);
	}
	free(capture);
}

/* A link goes down between the requests, so the answers differ. */
static void repeated_requests_are_answered_in_order(void **state)
{
	static const int statuses[] = { 0, 0x0300, 0x0300 };
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	struct capture *capture = malloc(sizeof(*capture));
	struct bench bench;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 0), 0);
	assert_int_equal(ibsa_fabric_port_set(bench.fabric, "host-r2 mlx4_0", 0,
					      &down),
			 0);
	assert_int_equal(query_path(&bench, 4, 0), 0x0300);
	replay(&bench, capture);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(query_path(&bench, 4, 0), statuses[i]);
	bench_stop(&bench);
	free(capture);
}

static void request_without_a_recorded_answer_gets_none(void **state)
{
	const struct ibsa_fault fault = { .kind = IBSA_FAULT_SILENCE,
					  .percent = 100 };
	struct capture *capture = malloc(sizeof(*capture));
	struct bench bench;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	assert_int_equal(ibsa_fabric_fault(bench.fabric, &fault), 0);
	assert_int_equal(query_path(&bench, 4, 0), -1);
	replay(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 0), -1);
	bench_stop(&bench);
	free(capture);
}

static void answer_that_lacks_a_segment_is_dropped(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));

	(void)state;
	for (unsigned int skip = 2; skip <= 13; skip++) {
		struct bench bench;

		begin(capture, LINK_ERF, true);
		capture->skip = skip;
		start(&bench, capture);
		query_paths(&bench, 1);
		replay(&bench, capture);
		bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0035, 0);
		assert_int_equal(bench_exchange(&bench), -1);
		bench_stop(&bench);
	}
	free(capture);
}

/* However short the file is, its complete packets are used. */
static void file_may_end_anywhere(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	struct bench bench;
	size_t answered = 0;
	size_t opened = 0;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 0), 0);
	bench_stop(&bench);
	for (size_t len = 0; len <= capture->len; len++) {
		struct ibsa_error error = { "" };

		memset(&bench, 0, sizeof(bench));
		if (open_bytes(capture->bytes, len, &error, &bench.transport)) {
			assert_true(error.text[0] != '\0');
			continue;
		}
		opened++;
		answered += query_path(&bench, 4, 0) == 0;
		bench_stop(&bench);
	}
	assert_int_equal(answered, 1);
	assert_int_equal(opened, 1 + (capture->len - 24) / 2);
	free(capture);
}

static void refused(const void *bytes, size_t len, const char *what)
{
	struct ibsa_transport *transport = NULL;
	struct ibsa_error error = { "" };

	assert_int_equal(open_bytes(bytes, len, &error, &transport), -EINVAL);
	assert_null(transport);
	if (!strstr(error.text, what))
		fail_msg("\"%s\" does not say %s", error.text, what);
}

static void other_files_are_refused(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	struct ibsa_transport *transport = NULL;
	struct ibsa_error error = { "" };

	(void)state;
	refused("Ca 1 \"a\"\n", 9, "not a pcap file");
	refused("\x0a\x0d\x0d\x0a", 4, "editcap");
	begin(capture, 1, true);
	refused(capture->bytes, capture->len, "not a capture of InfiniBand");
	begin(capture, LINK_ERF, true);
	refused(capture->bytes, capture->len, "no requests to an SA");
	assert_int_equal(ibsa_replay_open(NULL, &error, &transport), -EINVAL);
	assert_int_equal(ibsa_replay_open("/nowhere/x", &error, &transport),
			 -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/x"));
	assert_int_equal(ibsa_replay_open("/nowhere/x", NULL, &transport),
			 -ENOENT);
	free(capture);
}

static void fd_is_readable_while_there_are_answers(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	const struct ibsa_address to = { .lid = 1, .qpn = 1 };
	struct pollfd fd = { .events = POLLIN };
	struct ibsa_gid_entry gid;
	struct bench bench;
	uint16_t pkey;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	assert_int_equal(query_path(&bench, 4, 0), 0);
	replay(&bench, capture);
	fd.fd = bench.transport->ops->fd(bench.transport);
	assert_int_equal(poll(&fd, 1, 0), 0);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(&bench);
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_int_equal(bench.transport->ops->wait(bench.transport, -1), 0);
	assert_true(bench_receive(&bench));
	assert_false(bench_receive(&bench));
	assert_int_equal(poll(&fd, 1, 0), 0);
	bench.transport->ops->wake(bench.transport);
	assert_false(bench_receive(&bench));
	assert_int_equal(bench.transport->ops->wait(bench.transport, -1), 0);
	assert_int_equal(bench.transport->ops->send(bench.transport, &to,
						    bench.request, 257, 0),
			 -EMSGSIZE);
	assert_int_equal(bench.transport->ops->gid(bench.transport, 0, &gid),
			 0);
	assert_int_equal(bench.transport->ops->gid(bench.transport, 1, &gid),
			 -ENODATA);
	assert_int_equal(bench.transport->ops->pkey(bench.transport, 0, &pkey),
			 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(bench.transport->ops->pkey(bench.transport, 1, &pkey),
			 -EINVAL);
	bench_stop(&bench);
	free(capture);
}

/* Record the requests of @node, and load the recording as a fabric. */
static struct ibsa_fabric *load_recorded(struct capture *capture,
					 const char *node, uint16_t pkey,
					 struct ibsa_port_state *out)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = &pkey,
		.pkey_count = 1,
	};
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric;
	struct bench bench;
	const char *name;

	begin(capture, LINK_ERF, true);
	bench_start_file(&bench, "b.net", node, NULL);
	assert_int_equal(ibsa_fabric_port_set(bench.fabric, node, 0, &change),
			 0);
	assert_int_equal(ibsa_fabric_tap(bench.fabric, seen, capture), 0);
	assert_int_equal(query_path(&bench, 4, 0), 0);
	bench.transport->ops->port(bench.transport, out, sizeof(*out));
	bench_stop(&bench);
	name = write_file(capture->bytes, capture->len);
	if (ibsa_fabric_load(name, NULL, &error, &fabric))
		fail_msg("%s", error.text);
	unlink(name);
	return fabric;
}

static void capture_is_a_fabric_of_one_port(void **state)
{
	static const char *const nodes[] = { NULL, "host-r2 mlx4_0" };
	struct capture *capture = malloc(sizeof(*capture));

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ibsa_port_state recorded;
		struct ibsa_fabric_info info;
		struct ibsa_fabric_port port;
		struct ibsa_fabric *fabric;

		fabric = load_recorded(capture, nodes[i], 0xffff, &recorded);
		assert_true((recorded.lid == recorded.sm_lid) == !nodes[i]);
		ibsa_fabric_info_get(fabric, &info);
		assert_int_equal(info.adapters, 1);
		assert_int_equal(info.links, 1);
		assert_int_equal(ibsa_fabric_port_at(fabric, 0, &port), 0);
		assert_int_equal(ibsa_fabric_port_at(fabric, 1, &port),
				 -ENOENT);
		assert_int_equal(port.state.port_state, IBSA_PORT_ACTIVE);
		assert_int_equal(port.state.lid, recorded.lid);
		assert_int_equal(port.state.sm_lid, recorded.sm_lid);
		ibsa_fabric_put(fabric);
	}
	free(capture);
}

/*
 * Two clients of one recording; the port's P_Key is that of a limited member.
 */
static void clients_of_a_capture_are_answered(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	struct ibsa_port_state port;
	struct bench bench = { .fabric = NULL };
	struct ibsa_fabric *fabric;

	(void)state;
	fabric = load_recorded(capture, "host-r2 mlx4_0", 0x7fff, &port);
	for (size_t i = 0; i < 2; i++) {
		uint16_t pkey;

		assert_int_equal(ibsa_fabric_attach(fabric, NULL, 0,
						    &bench.transport),
				 0);
		assert_int_equal(bench.transport->ops->pkey(bench.transport, 0,
							    &pkey),
				 0);
		assert_int_equal(pkey, 0x7fff);
		assert_int_equal(query_path(&bench, 4, 0), 0);
		bench_stop(&bench);
	}
	ibsa_fabric_put(fabric);
	free(capture);
}

static void capture_has_no_topology_to_choose_from(void **state)
{
	static const struct ibsa_fabric_options wrong[] = {
		{ .sa_node = "recorded" }, { .opa = true },
		{ .first_lid = 2 },	   { .gid_prefix = 1 },
		{ .no_sa = true },	   { .check = true },
		{ .partitions = "x" },	   { .profile = IBSA_SM_PROFILE_FEW },
		{ .no_opa_paths = true },
	};
	const struct ibsa_fabric_options right = { .virtual_clock = true,
						   .seed = 1,
						   .latency_us = 1 };
	struct capture *capture = malloc(sizeof(*capture));
	struct ibsa_error error = { "" };
	struct ibsa_port_state port;
	struct ibsa_fabric *fabric;
	const char *name;

	(void)state;
	ibsa_fabric_put(load_recorded(capture, NULL, 0xffff, &port));
	name = write_file(capture->bytes, capture->len);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(ibsa_fabric_load(name, &wrong[i], &error,
						  &fabric),
				 -EINVAL);
	assert_non_null(strstr(error.text, "is a capture"));
	assert_int_equal(ibsa_fabric_load(name, &right, NULL, &fabric), 0);
	ibsa_fabric_put(fabric);
	unlink(name);
	free(capture);
}

static void every_allocation_may_fail(void **state)
{
	struct capture *capture = malloc(sizeof(*capture));
	struct ibsa_transport *transport = NULL;
	struct bench bench;
	int err = -ENOMEM;

	(void)state;
	begin(capture, LINK_ERF, true);
	start(&bench, capture);
	query_paths(&bench, 1);
	bench_stop(&bench);
	for (long n = 0; err; n++) {
		struct ibsa_error error = { "" };

		fail_alloc_after(n);
		err = open_bytes(capture->bytes, capture->len, &error,
				 &transport);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_true(!err == !!transport);
	}
	transport->ops->close(transport);
	free(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_as_recorded),
		cmocka_unit_test(fields_not_selected_are_not_compared),
		cmocka_unit_test(
			a_table_is_that_with_extended_speeds_if_none_is_active),
		cmocka_unit_test(repeated_requests_are_answered_in_order),
		cmocka_unit_test(request_without_a_recorded_answer_gets_none),
		cmocka_unit_test(answer_that_lacks_a_segment_is_dropped),
		cmocka_unit_test(file_may_end_anywhere),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(fd_is_readable_while_there_are_answers),
		cmocka_unit_test(capture_is_a_fabric_of_one_port),
		cmocka_unit_test(clients_of_a_capture_are_answered),
		cmocka_unit_test(capture_has_no_topology_to_choose_from),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
