/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Widths and speeds that ports report: the topology file gives what they
 * support.
 */
#include <errno.h>

#include "support.h"

/* LIDs by GUID: a 1, b 2, c 3, d 4, e 5, the switch 6. */
static const char fabric[] = "Switch 8 \"s\"\n"
			     "[1] \"a\"[1] # 4xEDR\n"
			     "[2] \"b\"[1] # 1xXDR\n"
			     "[3] \"c\"[1] # 2xHDR\n"
			     "[4] \"d\"[1] # 4xXDR\n"
			     "[5] \"e\"[1] # 12xQDR\n"
			     "Ca 1 \"a\"\nCa 1 \"b\"\nCa 1 \"c\"\nCa 1 \"d\"\n"
			     "Ca 1 \"e\"\n";

enum { SWITCH_LID = 6 };

static int setup(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, fabric, "a", NULL);
	*state = &bench;
	return 0;
}

static struct ibsa_port_info port_info(struct bench *bench, uint16_t lid,
				       uint8_t port)
{
	const struct ibsa_port_info want = { .endport_lid = lid,
					     .port_num = port };
	struct ibsa_port_info out;

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET,
				     &ibsa_port_info_record, &want,
				     IBSA_PORT_INFO_CM(endport_lid) |
					     IBSA_PORT_INFO_CM(port_num)),
			 0);
	assert_int_equal(ibsa_record_decode(&ibsa_port_info_record,
					    bench_record(bench, 0), 72, &out,
					    sizeof(out)),
			 0);
	return out;
}

static unsigned int path_rate(struct bench *bench, uint16_t dlid)
{
	const struct ibsa_path want = { .slid = 1, .dlid = dlid };

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &want,
				     IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)),
			 0);
	return (unsigned int)IBSA_GET(path, rate, bench_record(bench, 0));
}

static int set_rate(struct bench *bench, const char *node, unsigned int port,
		    const char *rate)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_RATE,
		.rate = rate,
	};

	return ibsa_fabric_port_set(bench->fabric, node, port, &change);
}

/* Source: IBA vol 1, 14.2.5.6, for the bits; rdma-core's libibmad for XDR. */
static void ports_support_what_the_file_says(void **state)
{
	static const struct {
		uint8_t width, width_active, ext, ext_active, ext2, ext_active2;
	} want[] = {
		{ 0x03, 0x02, 0x3, 0x2, 0x0, 0x0 }, /* 4xEDR */
		{ 0x01, 0x01, 0xf, 0x0, 0x1, 0x1 }, /* 1xXDR */
		{ 0x11, 0x10, 0x7, 0x4, 0x0, 0x0 }, /* 2xHDR */
		{ 0x13, 0x02, 0xf, 0x0, 0x1, 0x1 }, /* 4xXDR */
		{ 0x0b, 0x08, 0x0, 0x0, 0x0, 0x0 }, /* 12xQDR */
	};

	for (unsigned int i = 0; i < 2 * 5; i++) {
		const unsigned int at = i / 2;
		const uint16_t lid = (uint16_t)(i % 2 ? SWITCH_LID : at + 1);
		const struct ibsa_port_info info =
			port_info(*state, lid, (uint8_t)(i % 2 ? at + 1 : 1));

		assert_int_equal(info.link_width_supported, want[at].width);
		assert_int_equal(info.link_width_enabled, want[at].width);
		assert_int_equal(info.link_width_active, want[at].width_active);
		assert_int_equal(info.link_speed_supported, 7);
		assert_int_equal(info.link_speed_active, 4);
		assert_int_equal(info.link_speed_ext_supported, want[at].ext);
		assert_int_equal(info.link_speed_ext_active,
				 want[at].ext_active);
		assert_int_equal(info.link_speed_ext_supported2, want[at].ext2);
		assert_int_equal(info.link_speed_ext_active2,
				 want[at].ext_active2);
	}
	assert_int_equal(port_info(*state, 1, 1).capability_mask2, 0);
	assert_int_equal(port_info(*state, 2, 1).capability_mask2, 0x1c20);
	assert_int_equal(port_info(*state, 3, 1).capability_mask2, 0x30);
	assert_int_equal(port_info(*state, SWITCH_LID, 0).capability_mask2,
			 0x1c30);
}

/*
 * A switch port that is down has the values that smpquery shows on real
 * switches: 4X and 2.5 Gbps, and no extended speed.
 */
static void ports_that_are_down_report_what_real_ones_do(void **state)
{
	static const uint8_t ports[] = { 4, 8 };
	struct bench *bench = *state;

	bench_set_link(bench, "d", 1, false);
	for (size_t i = 0; i < sizeof(ports); i++) {
		const struct ibsa_port_info info = port_info(bench, SWITCH_LID,
							     ports[i]);

		assert_int_equal(info.port_state, IBSA_PORT_DOWN);
		assert_int_equal(info.link_width_supported & 0x03, 0x03);
		assert_int_equal(info.link_width_enabled & 0x03, 0x03);
		assert_int_equal(info.link_width_active, 0x02);
		assert_int_equal(info.link_speed_active, 0x1);
		assert_int_equal(info.link_speed_ext_active, 0);
		assert_int_equal(info.link_speed_ext_active2, 0);
		assert_int_equal(info.mtu_cap, 0);
	}
	bench_set_link(bench, "d", 1, true);
	assert_int_equal(port_info(bench, SWITCH_LID, 4).link_speed_ext_active2,
			 1);
}

static void link_runs_below_what_its_ends_support(void **state)
{
	struct bench *bench = *state;
	struct ibsa_port_info info;

	assert_int_equal(path_rate(bench, 4), 16);
	assert_int_equal(set_rate(bench, "d", 1, "1xSDR"), 0);
	assert_int_equal(bench_port_at(bench, "d").port_state,
			 IBSA_PORT_ACTIVE);
	assert_int_equal(path_rate(bench, 4), 2);
	assert_int_equal(path_rate(bench, 2), 16);
	for (unsigned int i = 0; i < 2; i++) {
		info = port_info(bench, i ? SWITCH_LID : 4, i ? 4 : 1);
		assert_int_equal(info.link_width_active, 1);
		assert_int_equal(info.link_width_supported, 0x13);
		assert_int_equal(info.link_speed_active, 1);
		assert_int_equal(info.link_speed_ext_active2, 0);
		assert_int_equal(info.link_speed_ext_supported2, 1);
	}
	/* When the link is up again, it has the rate that the test has set. */
	bench_set_link(bench, "d", 1, false);
	bench_set_link(bench, "d", 1, true);
	assert_int_equal(path_rate(bench, 4), 2);
	/* The other end of the cable is one half of a split port. */
	assert_int_equal(set_rate(bench, "d", 1, "2xHDR"), 0);
	assert_int_equal(port_info(bench, 4, 1).link_width_active, 0x10);
	assert_int_equal(path_rate(bench, 4), 16);
	assert_int_equal(set_rate(bench, "s", 4, "4xXDR"), 0);
	assert_int_equal(path_rate(bench, 4), 16);
	assert_int_equal(port_info(bench, 4, 1).link_speed_ext_active2, 1);
}

static void unsupported_rate_of_an_end_is_refused(void **state)
{
	static const struct {
		const char *node;
		unsigned int port;
		const char *rate;
		int err;
	} cases[] = {
		{ "a", 1, "12xSDR", -ERANGE },	 { "a", 1, "4xHDR", -ERANGE },
		{ "a", 1, "2xSDR", -ERANGE },	 { "s", 1, "8xEDR", -ERANGE },
		{ "a", 1, "12xXDR", -EINVAL },	 { "a", 1, "4xGDR", -EINVAL },
		{ "a", 1, "xSDR", -EINVAL },	 { "a", 1, "", -EINVAL },
		{ "a", 1, "1xSDR ", -EINVAL },	 { "a", 1, NULL, -EINVAL },
		{ "s", 0, "1xSDR", -EINVAL },	 { "s", 8, "1xSDR", -ENETDOWN },
		{ "none", 1, "1xSDR", -ENODEV }, { "a", 2, "1xSDR", -ENXIO },
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(set_rate(bench, cases[i].node, cases[i].port,
					  cases[i].rate),
				 cases[i].err);
	assert_int_equal(port_info(bench, 1, 1).link_width_active, 2);
	assert_int_equal(port_info(bench, 1, 1).link_speed_ext_active, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(ports_support_what_the_file_says),
		TEST(ports_that_are_down_report_what_real_ones_do),
		TEST(link_runs_below_what_its_ends_support),
		TEST(unsupported_rate_of_an_end_is_refused),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
