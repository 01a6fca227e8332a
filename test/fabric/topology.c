/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics made from topology files, and a walk over their nodes and ports. */
#include <errno.h>

#include "support.h"

/* Two adapters on a switch, in the format of ibnetdiscover. */
#define PLAIN                                                                \
	"caguid=0x10\nCa 1 \"a\" # \"one\"\n"                                \
	"[1](11) \"s\"[1] # lid 4 lmc 0 \"sw\" lid 3 4xEDR\n"                \
	"vendid=0x2c9\ndevid=0x1013\nsysimgguid=0x1f\ncaguid=0x20\n"         \
	"Ca 2 \"b\" # \"two\"\n"                                             \
	"[2](22) \"s\"[2] # lid 5 lmc 0 \"sw\" lid 3 4xEDR\n"                \
	"switchguid=0x30\nSwitch 8 \"s\" # \"sw\" base port 0 lid 3 lmc 0\n" \
	"[1] \"a\"[1](11) # \"one\" lid 4 4xEDR\n"                           \
	"[2] \"b\"[2](22) # \"two\" lid 5 4xEDR\n"

static struct ibsa_fabric *parse(const char *text)
{
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric = NULL;

	if (ibsa_fabric_parse(text, strlen(text), NULL, &error, &fabric))
		fail_msg("%s", error.text);
	return fabric;
}

static struct ibsa_fabric_port port_at(struct ibsa_fabric *fabric, size_t index)
{
	struct ibsa_fabric_port port;

	assert_int_equal(ibsa_fabric_port_at(fabric, index, &port), 0);
	return port;
}

static void short_form_needs_ids_and_ports_only(void **state)
{
	struct ibsa_fabric *fabric = parse("Switch 8 \"s\"\n"
					   "[1] \"a\"\n"
					   "[2] \"b\"[2]\n"
					   "\n"
					   "Hca 1 \"a\"\n"
					   "Ca 2 \"b\"\n"
					   "[2] \"s\"[2]\n");
	struct ibsa_fabric_info info;
	struct ibsa_fabric_port port;

	(void)state;
	ibsa_fabric_info_get(fabric, &info);
	assert_int_equal(info.nodes, 3);
	assert_int_equal(info.adapters, 2);
	assert_int_equal(info.switches, 1);
	assert_int_equal(info.links, 2);
	assert_int_equal(info.lids, 3);
	assert_string_equal(port_at(fabric, 0).node, "a");
	assert_int_equal(port_at(fabric, 0).guid, 0x100001);
	assert_int_equal(port_at(fabric, 1).state.port_state, IBSA_PORT_DOWN);
	assert_int_equal(port_at(fabric, 2).number, 2);
	assert_int_equal(port_at(fabric, 2).guid, 0x100004);
	assert_int_equal(ibsa_fabric_port_at(fabric, 3, &port), -ENOENT);
	ibsa_fabric_put(fabric);
}

/* LIDs of the SA's port, then of all others in the order of GUIDs. */
static void lids_are_as_opensm_gives_them(void **state)
{
	struct bench bench;

	(void)state;
	bench_start_file(&bench, "b.net", NULL, NULL);
	assert_int_equal(port_at(bench.fabric, 0).state.lid, 1);
	assert_int_equal(port_at(bench.fabric, 1).state.lid, 0);
	assert_int_equal(port_at(bench.fabric, 2).state.lid, 4);
	assert_int_equal(port_at(bench.fabric, 3).state.lid, 5);
	assert_int_equal(port_at(bench.fabric, 4).state.lid, 0);
	assert_int_equal(port_at(bench.fabric, 5).state.lid, 6);
	assert_int_equal(port_at(bench.fabric, 5).state.sm_lid, 1);
	bench_stop(&bench);
}

static void lids_of_the_file_stay_unless_taken(void **state)
{
	struct ibsa_fabric *fabric = parse(
		"caguid=0x10\nCa 1 \"a\"\n[1](11) \"s\"[1] # lid 9 lmc 0\n"
		"caguid=0x20\nCa 1 \"b\"\n[1](21) \"s\"[2] # lid 9 lmc 0\n"
		"caguid=0x30\nCa 1 \"c\"\n[1](31) \"s\"[3] # lid 65000 "
		"lmc 0 \"x lid 7\" lid 3 4xEDR\n"
		"caguid=0x40\nCa 1 \"d\"\n[1](41) \"s\"[4] # lid 8 lmc 2\n"
		"switchguid=0x50\n"
		"Switch 4 \"s\" # \"odd \"name\" lid\" base port 0 lid 3 "
		"lmc 0\n");

	(void)state;
	assert_int_equal(port_at(fabric, 0).state.lid, 9);
	assert_int_equal(port_at(fabric, 1).state.lid, 1);
	assert_int_equal(port_at(fabric, 2).state.lid, 2);
	/*
	 * With an LMC of 2, the LIDs 8 to 11 would include a LID that is in
	 * use.
	 */
	assert_int_equal(port_at(fabric, 3).state.lid, 4);
	assert_int_equal(port_at(fabric, 3).state.lmc, 2);
	ibsa_fabric_put(fabric);
}

static void nodes_that_no_cable_connects_are_in_other_subnets(void **state)
{
	struct bench bench;
	struct ibsa_fabric_info info;

	(void)state;
	bench_start_text(&bench,
			 "Ca 1 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\n"
			 "Ca 1 \"c\"\n[1] \"d\"[1]\nCa 1 \"d\"\n",
			 "c", NULL);
	ibsa_fabric_info_get(bench.fabric, &info);
	assert_int_equal(info.nodes, 4);
	assert_int_equal(info.lids, 4);
	assert_int_equal(port_at(bench.fabric, 2).state.lid, 1);
	assert_int_equal(port_at(bench.fabric, 2).state.port_state,
			 IBSA_PORT_ACTIVE);
	assert_int_equal(port_at(bench.fabric, 2).state.sm_lid, 1);
	bench_stop(&bench);
}

/* Linux drivers/infiniband/core/sysfs.c, rate_show(), has the texts. */
static void ports_have_the_rate_of_their_link(void **state)
{
	struct ibsa_fabric *fabric = parse("Switch 8 \"s\"\n"
					   "[1] \"a\"[1] # 1xSDR\n"
					   "[2] \"b\"[1] # 4xFDR10\n"
					   "[3] \"c\"[1] # 12xNDR\n"
					   "[4] \"d\"[1] # 4xXDR\n"
					   "[5] \"e\"[1] # 8xXDR\n"
					   "Ca 2 \"a\"\n"
					   "Ca 1 \"b\"\n"
					   "Ca 1 \"c\"\n"
					   "Ca 1 \"d\"\n"
					   "Ca 1 \"e\"\n");

	(void)state;
	assert_string_equal(port_at(fabric, 0).rate, "2.5 Gb/sec (1X SDR)");
	assert_string_equal(port_at(fabric, 1).rate, "");
	assert_string_equal(port_at(fabric, 2).rate, "40 Gb/sec (4X FDR10)");
	assert_string_equal(port_at(fabric, 3).rate, "1200 Gb/sec (12X NDR)");
	assert_string_equal(port_at(fabric, 4).rate, "800 Gb/sec (4X XDR)");
	assert_string_equal(port_at(fabric, 5).rate, "1600 Gb/sec (8X XDR)");
	ibsa_fabric_put(fabric);
}

/*
 * Check that the topology is refused with a message that contains @what after
 * the name of the text.
 */
static void refused(const char *text, const char *what)
{
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(text, strlen(text), NULL, &error,
					   &fabric),
			 -EINVAL);
	assert_null(fabric);
	if (!strstr(error.text, "(text)") || !strstr(error.text, what))
		fail_msg("\"%s\" does not say \"%s\"", error.text, what);
}

static void topology_without_an_sa_is_refused(void **state)
{
	(void)state;
	refused("Switch 1 \"s\"\n", "no channel adapter");
	refused("Ca 1 \"a\"\n", "has no cable");
	refused("", "no channel adapter");
	refused("Ca 1 \"a\"\n[1] \"b\"[1] # 4x???\nCa 1 \"b\"\n",
		":2: 4x??? is not a rate");
}

static void file_that_cannot_be_read_is_refused(void **state)
{
	struct ibsa_fabric *fabric = NULL;
	struct ibsa_error error;

	(void)state;
	assert_int_equal(ibsa_fabric_load("/", NULL, &error, &fabric), -EISDIR);
	assert_int_equal(ibsa_fabric_load("/none", NULL, &error, &fabric),
			 -ENOENT);
	assert_int_equal(ibsa_fabric_load(NULL, NULL, &error, &fabric),
			 -EINVAL);
	assert_non_null(strstr(error.text, "the path is NULL"));
	assert_null(fabric);
}

static void findings_are_recorded_only_on_request(void **state)
{
	static const char text[] = PLAIN "Ca 1 \"c\"\n";
	const struct ibsa_fabric_options options = { .check = true };
	struct ibsa_fabric *fabric = parse(text);
	struct ibsa_fabric_finding finding;
	struct ibsa_error error;

	(void)state;
	assert_int_equal(ibsa_fabric_finding_at(fabric, 0, &finding), -ENOENT);
	ibsa_fabric_put(fabric);
	assert_int_equal(ibsa_fabric_parse(text, strlen(text), &options, &error,
					   &fabric),
			 0);
	assert_int_equal(ibsa_fabric_finding_at(fabric, 0, &finding), 0);
	assert_int_equal(finding.kind, IBSA_FINDING_NO_CABLE);
	assert_string_equal(finding.name,
			    ibsa_finding_name(IBSA_FINDING_NO_CABLE));
	assert_string_equal(finding.file, "(text)");
	assert_int_equal(finding.line, 14);
	assert_string_equal(finding.what.text, "\"c\" has no cable");
	assert_int_equal(ibsa_fabric_finding_at(fabric, 1, &finding), -ENOENT);
	ibsa_fabric_put(fabric);
}

static void nodes_are_walked_in_the_order_of_the_file(void **state)
{
	struct ibsa_fabric *fabric = parse(PLAIN);
	struct ibsa_fabric_node node;

	(void)state;
	assert_int_equal(ibsa_fabric_node_at(fabric, 1, &node), 0);
	assert_string_equal(node.id, "b");
	assert_string_equal(node.name, "two");
	assert_int_equal(node.guid, 0x20);
	assert_int_equal(node.image_guid, 0x1f);
	assert_int_equal(node.vendor, 0x2c9);
	assert_int_equal(node.device, 0x1013);
	assert_int_equal(node.type, IBSA_NODE_CA);
	assert_int_equal(node.port_count, 2);
	assert_int_equal(ibsa_fabric_node_at(fabric, 2, &node), 0);
	assert_int_equal(node.type, IBSA_NODE_SWITCH);
	assert_int_equal(ibsa_fabric_node_at(fabric, 3, &node), -ENOENT);
	assert_string_equal(node.id, "s");
	ibsa_fabric_put(fabric);
}

static void cables_are_walked_along(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	struct ibsa_fabric *fabric = parse(PLAIN);
	struct ibsa_fabric_end end;

	(void)state;
	assert_int_equal(ibsa_fabric_end_at(fabric, 1, 2, &end), 0);
	assert_true(end.has_cable);
	assert_true(end.is_up);
	assert_int_equal(end.guid, 0x22);
	assert_int_equal(end.file_lid, 5);
	assert_int_equal(end.far_node, 2);
	assert_int_equal(end.far_port, 2);
	assert_int_equal(end.lanes, 4);
	assert_string_equal(end.speed, "EDR");
	assert_int_equal(ibsa_fabric_port_set(fabric, "two", 2, &down), 0);
	assert_int_equal(ibsa_fabric_end_at(fabric, 1, 2, &end), 0);
	assert_true(end.has_cable);
	assert_false(end.is_up);
	assert_int_equal(ibsa_fabric_end_at(fabric, 1, 1, &end), 0);
	assert_false(end.has_cable);
	assert_int_equal(ibsa_fabric_end_at(fabric, 2, 0, &end), 0);
	assert_int_equal(end.file_lid, 3);
	assert_int_equal(end.guid, 0x30);
	assert_int_equal(ibsa_fabric_end_at(fabric, 1, 3, &end), -ENOENT);
	assert_int_equal(ibsa_fabric_end_at(fabric, 3, 0, &end), -ENOENT);
	ibsa_fabric_put(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_form_needs_ids_and_ports_only),
		cmocka_unit_test(lids_are_as_opensm_gives_them),
		cmocka_unit_test(lids_of_the_file_stay_unless_taken),
		cmocka_unit_test(
			nodes_that_no_cable_connects_are_in_other_subnets),
		cmocka_unit_test(ports_have_the_rate_of_their_link),
		cmocka_unit_test(topology_without_an_sa_is_refused),
		cmocka_unit_test(file_that_cannot_be_read_is_refused),
		cmocka_unit_test(findings_are_recorded_only_on_request),
		cmocka_unit_test(nodes_are_walked_in_the_order_of_the_file),
		cmocka_unit_test(cables_are_walked_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
