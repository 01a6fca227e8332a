/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The embedded SA against OpenSM: requests that OpenSM 3.3.23 answered on
 * test/data/fabrics/b.net are sent again, and the answers are compared byte by
 * byte. Each allowed difference has its reason here.
 */
#include <stdlib.h>

#include "../support/port_links.h"
#include "support.h"
#include "wire/mad.h"

enum { BYTES_MAX = 8192 };

/* Convert the file's hexadecimal digits to bytes. */
static size_t read_hex(const char *vector, const char *kind, uint8_t *out)
{
	char name[128];
	size_t len;
	char *text;
	size_t count = 0;

	snprintf(name, sizeof(name), "%s.%s.hex", vector, kind);
	text = bench_read("vectors", name, &len);
	for (const char *at = text; *at; at++) {
		unsigned int byte;

		if (*at == '\n')
			continue;
		assert_int_equal(sscanf(at, "%2x", &byte), 1);
		assert_true(count < BYTES_MAX);
		out[count++] = (uint8_t)byte;
		at++;
	}
	free(text);
	return count;
}

/* The client's node, and the subnet prefix, of the vectors. */
static int start(void **state)
{
	static struct bench bench;
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.gid_prefix = UINT64_C(0xfec0000000001234),
		.partitions = TEST_DATA "/fabrics/b.partitions.conf",
	};

	bench_start_file(&bench, "b.net", "host-r3 mlx5_0", &options);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	bench_stop(*state);
	return 0;
}

/*
 * Send the request of a captured exchange. Return: the answer's status; -1: no
 * answer.
 */
static int replay(struct bench *bench, const char *vector)
{
	assert_int_equal(read_hex(vector, "req", bench->request),
			 IBSA_MAD_BYTES);
	return bench_exchange(bench);
}

/*
 * The captured RMPP header is as OpenSM passes it to its kernel, which fills it
 * in; the receiver's kernel shows it filled in.
 */
static void check_rmpp(const struct bench *bench)
{
	struct ibsa_sa_header header;
	const size_t data = bench->answer.len - IBSA_SA_HEADER_BYTES;
	const size_t segments = data ? (data + 199) / 200 : 1;

	assert_int_equal(
		ibsa_record_decode(&ibsa_sa_header_record, bench->answer.mad,
				   bench->answer.len, &header, sizeof(header)),
		0);
	assert_int_equal(header.rmpp_version, 1);
	assert_int_equal(header.rmpp_type, IBSA_RMPP_TYPE_DATA);
	assert_int_equal(header.rmpp_flags, segments == 1 ? 7 : 3);
	assert_int_equal(header.rmpp_status, 0);
	assert_int_equal(header.rmpp_segment, 1);
	assert_int_equal(header.rmpp_length, data + 20 * segments);
}

/*
 * The upper half of the transaction ID is the transport's: the simulator of the
 * vectors wrote into it.
 */
static void check_header(const struct bench *bench, const uint8_t *want)
{
	const bool is_table = want[3] == IBSA_METHOD_GET_TABLE_RESP;
	const uint8_t *have = bench->answer.mad;

	assert_memory_equal(have, want, 8);
	assert_memory_equal(have + 12, want + 12, 12);
	if (is_table && !IBSA_GET(sa_header, status, want))
		check_rmpp(bench);
	else
		assert_memory_equal(have + 24, want + 24, 12);
	assert_memory_equal(have + 36, want + 36, 20);
}

/*
 * @adapt changes the vector where OpenSM differs; @level clears differences in
 *    both.
 */
static void check_levelled(struct bench *bench, const char *vector,
			   void (*adapt)(uint8_t *answer, size_t len),
			   void (*level)(uint8_t *answer, size_t len))
{
	uint8_t want[BYTES_MAX];
	uint8_t have[BYTES_MAX];
	size_t len;

	assert_true(replay(bench, vector) >= 0);
	len = read_hex(vector, "rsp", want);
	if (adapt)
		adapt(want, len);
	assert_int_equal(bench->answer.len, len);
	check_header(bench, want);
	memcpy(have, bench->answer.mad, len);
	if (level) {
		level(want, len);
		level(have, len);
	}
	for (size_t i = IBSA_SA_HEADER_BYTES; i < len; i++) {
		if (have[i] != want[i])
			fail_msg("%s: byte %zu is 0x%02x, not 0x%02x", vector,
				 i, have[i], want[i]);
	}
}

static void check_all(struct bench *bench, const char *vector,
		      void (*adapt)(uint8_t *answer, size_t len))
{
	check_levelled(bench, vector, adapt, NULL);
}

static void nodes_are_as_opensm_says(void **state)
{
	check_all(*state, "02_node_all", NULL);
	check_all(*state, "03_node_lid5", NULL);
	check_all(*state, "04_node_bylid_name", NULL);
	check_all(*state, "26_node_get_too_many", NULL);
}

/* ibsim's ports support more widths and speeds than its topology file gives. */
static void clear_links(uint8_t *answer, size_t len)
{
	enum { STRIDE = 72 };

	for (size_t at = IBSA_SA_HEADER_BYTES; at + STRIDE <= len; at += STRIDE)
		port_links_clear(answer + at);
}

static void ports_are_as_opensm_says(void **state)
{
	check_levelled(*state, "05_portinfo_all", NULL, clear_links);
	check_levelled(*state, "06_portinfo_lid3_port23", NULL, clear_links);
	check_levelled(*state, "07_portinfo_issm", NULL, clear_links);
}

static void paths_are_as_opensm_says(void **state)
{
	check_all(*state, "08_path_all", NULL);
	check_all(*state, "09_path_slid5_dlid1", NULL);
	check_all(*state, "10_path_gids", NULL);
	check_all(*state, "11_path_pkey_sl", NULL);
	check_all(*state, "12_path_mtu_rate", NULL);
	check_all(*state, "27_path_get", NULL);
	check_all(*state, "28_path_get_unknown_dgid", NULL);
	check_all(*state, "29_path_gettable_nosource", NULL);
}

static void links_are_as_opensm_says(void **state)
{
	check_all(*state, "13_link_all", NULL);
	check_all(*state, "14_link_from2", NULL);
}

/*
 * Without QoS, OpenSM returns 0 for the virtual lanes:
 * put those of the embedded SA into its answer.
 */
static void known_lanes(uint8_t *answer, size_t len)
{
	static const uint8_t lanes[] = { 0x01, 0x23, 0x45, 0x67,
					 0x89, 0xab, 0xcd, 0xe7 };
	enum { TABLE = 8, STRIDE = 16 };

	for (size_t at = IBSA_SA_HEADER_BYTES; at + STRIDE <= len; at += STRIDE)
		memcpy(answer + at + TABLE, lanes, sizeof(lanes));
}

static void lanes_are_of_the_ports_that_opensm_says(void **state)
{
	check_all(*state, "15_sl2vl_lid2", known_lanes);
}

/* OpenSM writes the block number in the wrong byte order. */
static void turned_blocks(uint8_t *answer, size_t len)
{
	enum { BLOCK = 2, STRIDE = 72 };

	for (size_t at = IBSA_SA_HEADER_BYTES; at + STRIDE <= len;
	     at += STRIDE) {
		const uint8_t first = answer[at + BLOCK];

		answer[at + BLOCK] = answer[at + BLOCK + 1];
		answer[at + BLOCK + 1] = first;
	}
}

static void pkeys_are_as_opensm_says(void **state)
{
	check_all(*state, "16_pkey_lid5_trusted", turned_blocks);
	check_all(*state, "16_pkey_lid5_untrusted", NULL);
}

static void class_port_info_is_as_opensm_says(void **state)
{
	check_all(*state, "01_classportinfo", NULL);
}

/*
 * The requests are sent in the order in which they were captured: the answer to
 * each depends on the requests before.
 */
static void services_are_as_opensm_says(void **state)
{
	check_all(*state, "19_service_none", NULL);
	check_all(*state, "20_service_set", NULL);
	check_all(*state, "21_service_all", NULL);
	check_all(*state, "22_service_get_by_id", NULL);
	check_all(*state, "23_service_get_by_name", NULL);
	check_all(*state, "24_service_delete", NULL);
	check_all(*state, "25_service_get_gone", NULL);
}

static void subscriptions_are_as_opensm_says(void **state)
{
	check_all(*state, "34_informinfo_subscribe", NULL);
	check_all(*state, "35_informinfo_records", NULL);
	check_all(*state, "36_informinfo_unsubscribe", NULL);
	check_all(*state, "37_informinfo_get_unsupported", NULL);
}

static void groups_are_as_opensm_says(void **state)
{
	check_all(*state, "17_mcmember_groups", NULL);
}

static void memberships_are_as_opensm_says(void **state)
{
	check_all(*state, "31_mcm_create", NULL);
	check_all(*state, "32_mcm_bygid", NULL);
	check_all(*state, "32b_mcmember_trusted", NULL);
	check_all(*state, "33_mcm_leave", NULL);
}

static void guids_are_as_opensm_says(void **state)
{
	check_all(*state, "41_guidinfo_all", NULL);
	check_all(*state, "42_guidinfo_set", NULL);
	check_all(*state, "43_guidinfo_lid5_block0", NULL);
	check_all(*state, "44_guidinfo_set_own", NULL);
	check_all(*state, "45_guidinfo_delete", NULL);
}

/*
 * Whether OpenSM defines a byte after the SA header: not the count, and of the
 * details only the GID or LID.
 */
static bool is_defined(const uint8_t *notice, size_t at)
{
	const bool is_gid = notice[5] >= 64 && notice[5] <= 67;

	if (at < 10 || at >= 64)
		return at != 8 && at != 9;
	return is_gid ? at >= 16 && at < 32 : at < 12;
}

/* Check that the next Report equals the captured one, and answer it. */
static void check_report(struct bench *bench, const char *vector)
{
	uint8_t want[BYTES_MAX];

	assert_int_equal(read_hex(vector, "rsp", want), IBSA_MAD_BYTES);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	check_header(bench, want);
	for (size_t i = IBSA_SA_HEADER_BYTES; i < IBSA_MAD_BYTES; i++) {
		if (is_defined(want + IBSA_SA_HEADER_BYTES,
			       i - IBSA_SA_HEADER_BYTES))
			assert_int_equal(bench->answer.mad[i], want[i]);
	}
	memcpy(bench->request, bench->answer.mad, IBSA_MAD_BYTES);
	bench->request[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	bench_send(bench);
}

/* Join or leave the group that the captured Reports are about. */
static void change_group(struct bench *bench, uint8_t method, uint8_t states)
{
	struct ibsa_mcmember member = {
		.mgid = { { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 7 } },
		.qkey = 0xb1b,
		.pkey = 0xffff,
		.join_state = states,
	};
	struct ibsa_port_state port;
	uint8_t *room = bench_request(
		bench, method, ibsa_mcmember_record.attribute,
		IBSA_MCMEMBER_CM(mgid) | IBSA_MCMEMBER_CM(port_gid) |
			IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(tclass) |
			IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(sl) |
			IBSA_MCMEMBER_CM(flow_label) |
			IBSA_MCMEMBER_CM(join_state));

	bench->transport->ops->port(bench->transport, &port, sizeof(port));
	member.port_gid = port.gid;
	assert_int_equal(ibsa_record_encode(&ibsa_mcmember_record, &member,
					    sizeof(member), room,
					    IBSA_SA_DATA_BYTES),
			 0);
	bench_send(bench);
}

/* Check that the answer, which comes after the Reports, has status 0. */
static void check_success(struct bench *bench)
{
	assert_true(bench_receive(bench));
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad), 0);
}

static void set_link(struct bench *bench, bool is_up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = is_up,
	};

	assert_int_equal(ibsa_fabric_port_set(bench->fabric, "host-r2 mlx4_0",
					      1, &change),
			 0);
}

/* Replay in the captured order, and so with the same transaction IDs. */
static void reports_are_as_opensm_sends_them(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(bench->transport->ops->listen(bench->transport, true),
			 0);
	assert_int_equal(replay(bench, "34_informinfo_subscribe"), 0);
	change_group(bench, IBSA_METHOD_SET, 1);
	check_report(bench, "52_report_66");
	check_success(bench);
	change_group(bench, IBSA_METHOD_DELETE, 1);
	check_report(bench, "53_report_67");
	check_success(bench);
	change_group(bench, IBSA_METHOD_SET, 8);
	assert_true(bench_receive(bench));
	check_success(bench);
	set_link(bench, false);
	check_report(bench, "54_report_128");
	check_report(bench, "51_report_65");
	set_link(bench, true);
	assert_true(bench_receive(bench));
	check_report(bench, "50_report_64");
	assert_false(bench_receive(bench));
}

static void dropped_requests_are_those_of_opensm(void **state)
{
	assert_int_equal(replay(*state, "38_node_set_unsupported"), -1);
	assert_int_equal(replay(*state, "39_unknown_attribute"), -1);
	assert_int_equal(replay(*state, "40_wrong_smkey"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(ports_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(paths_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(links_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(
			lanes_are_of_the_ports_that_opensm_says, start, stop),
		cmocka_unit_test_setup_teardown(pkeys_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(
			class_port_info_is_as_opensm_says, start, stop),
		cmocka_unit_test_setup_teardown(services_are_as_opensm_says,
						start, stop),
		cmocka_unit_test_setup_teardown(
			subscriptions_are_as_opensm_says, start, stop),
		cmocka_unit_test_setup_teardown(groups_are_as_opensm_says,
						start, stop),
		cmocka_unit_test_setup_teardown(memberships_are_as_opensm_says,
						start, stop),
		cmocka_unit_test_setup_teardown(guids_are_as_opensm_says, start,
						stop),
		cmocka_unit_test_setup_teardown(
			reports_are_as_opensm_sends_them, start, stop),
		cmocka_unit_test_setup_teardown(
			dropped_requests_are_those_of_opensm, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
