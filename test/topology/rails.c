/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about hosts whose adapters are not as those of hosts like them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "test/support/fail_alloc.h"
#include "test/topology/rig.h"

enum { HOSTS = 8, RAILS = 8 };

/* The cable of a rail: its switch, and its rate. NULL: there is no adapter. */
struct cable {
	const char *leaf;
	const char *rate;
};

/* Hosts gpu1 to gpu8 with adapters mlx5_0 to mlx5_7; each rail has a leaf. */
struct pod {
	struct cable cables[HOSTS][RAILS];
	unsigned int hosts;
	unsigned int rails;
};

static const char *const leaves[] = { "leaf0", "leaf1", "leaf2",
				      "leaf3", "leaf4", "leaf5",
				      "leaf6", "leaf7", "other" };

static void pod_make(struct pod *pod, unsigned int hosts, unsigned int rails)
{
	*pod = (struct pod){ .hosts = hosts, .rails = rails };
	for (unsigned int h = 0; h < hosts; h++) {
		for (unsigned int r = 0; r < rails; r++)
			pod->cables[h][r] = (struct cable){ leaves[r],
							    "4xNDR" };
	}
}

static bool leaf_has_cable(const struct pod *pod, const char *leaf)
{
	for (unsigned int h = 0; h < pod->hosts; h++)
		for (unsigned int r = 0; r < pod->rails; r++)
			if (pod->cables[h][r].leaf == leaf)
				return true;
	return false;
}

/* A switch without a cable would be a finding of its own. */
static void pod_write(const struct pod *pod, FILE *out)
{
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		if (leaf_has_cable(pod, leaves[i]))
			fprintf(out, "Switch 64 \"%s\" # \"%s\"\n", leaves[i],
				leaves[i]);
	for (unsigned int h = 0; h < pod->hosts; h++) {
		for (unsigned int r = 0; r < pod->rails; r++) {
			const struct cable *cable = &pod->cables[h][r];

			if (!cable->leaf)
				continue;
			fprintf(out, "Ca 1 \"h%u-%u\" # \"gpu%u mlx5_%u\"\n", h,
				r, h + 1, r);
			fprintf(out, "[1] \"%s\"[%u] # %s\n", cable->leaf,
				1 + h + (cable->leaf == leaves[r] ? 0 : 20 + r),
				cable->rate);
		}
	}
}

static struct ibsa_topology *pod_topology(const struct pod *pod)
{
	struct ibsa_topology *topology;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	pod_write(pod, out);
	fclose(out);
	assert_int_equal(ibsa_topology_parse(text, len, NULL, NULL, &topology),
			 0);
	free(text);
	return topology;
}

/* The members of a finding name the rail that its sentence does. */
static void rail_check(const struct ibsa_finding *finding)
{
	char words[64];

	if (finding->kind != IBSA_FINDING_RAIL_MISSING) {
		assert_null(finding->missing_device);
		assert_int_equal(finding->missing_port, 0);
		return;
	}
	snprintf(words, sizeof(words), " no %s, ", finding->missing_device);
	assert_non_null(strstr(finding->what.text, words));
	assert_int_equal(finding->missing_port, 1);
}

/* Check that a pod has these findings, each once, and no other. */
static void pod_expect(const struct pod *pod, ...)
{
	struct ibsa_topology *topology = pod_topology(pod);
	struct ibsa_finding finding;
	const char *sentence;
	size_t i = 0;
	va_list sentences;

	assert_int_equal(ibsa_topology_check(topology, NULL), 0);
	va_start(sentences, pod);
	while ((sentence = va_arg(sentences, const char *))) {
		char text[400];

		assert_int_equal(
			ibsa_topology_finding_at(topology, i++, &finding), 0);
		snprintf(text, sizeof(text), "%s: %s", finding.name,
			 finding.what.text);
		assert_string_equal(text, sentence);
		assert_true(finding.guid);
		rail_check(&finding);
	}
	va_end(sentences);
	if (!ibsa_topology_finding_at(topology, i, &finding))
		fail_msg("also: %s", finding.what.text);
	ibsa_topology_free(topology);
}

static void hosts_that_are_alike_have_no_finding(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod_expect(&pod, NULL);
}

static void an_adapter_that_the_others_have_is_missing(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod.cables[4][3].leaf = NULL;
	pod_expect(&pod,
		   "rail-missing: gpu5 has no mlx5_3, but 7 of 8 hosts like "
		   "it have",
		   NULL);
	pod.cables[1][3].leaf = NULL;
	pod_expect(&pod,
		   "rail-missing: gpu2 has no mlx5_3, but 6 of 8 hosts like "
		   "it have",
		   "rail-missing: gpu5 has no mlx5_3, but 6 of 8 hosts like "
		   "it have",
		   NULL);
}

static void an_adapter_that_many_hosts_lack_is_not_missing(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	for (unsigned int h = 0; h < 3; h++)
		pod.cables[h][3].leaf = NULL;
	pod_expect(&pod, NULL);
}

/* Hosts with two of eight adapters are others, not broken ones. */
static void hosts_with_few_of_the_adapters_are_others(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	for (unsigned int r = 2; r < RAILS; r++)
		pod.cables[0][r].leaf = NULL;
	pod_expect(&pod, NULL);
}

static void cables_that_are_exchanged_are_crossed(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod.cables[2][3].leaf = leaves[4];
	pod.cables[2][4].leaf = leaves[3];
	pod_expect(&pod,
		   "rail-crossed: gpu3 mlx5_3 port 1 is connected to leaf4, "
		   "but 7 of 8 hosts like it to leaf3",
		   "rail-crossed: gpu3 mlx5_4 port 1 is connected to leaf3, "
		   "but 7 of 8 hosts like it to leaf4",
		   NULL);
}

static void two_cables_of_a_host_with_two_adapters_are_crossed(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, 4, 2);
	pod.cables[3][0].leaf = leaves[1];
	pod.cables[3][1].leaf = leaves[0];
	pod_expect(&pod,
		   "rail-crossed: gpu4 mlx5_0 port 1 is connected to leaf1, "
		   "but 3 of 4 hosts like it to leaf0",
		   "rail-crossed: gpu4 mlx5_1 port 1 is connected to leaf0, "
		   "but 3 of 4 hosts like it to leaf1",
		   NULL);
}

static void an_adapter_at_another_switch_is_apart(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod.cables[7][0].leaf = leaves[RAILS];
	pod_expect(&pod,
		   "rail-apart: gpu8 mlx5_0 port 1 is connected to other, but "
		   "7 of 8 hosts like it to leaf0",
		   NULL);
}

/* Hosts of two units, each with its own switches, are not compared. */
static void units_have_their_own_switches(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, 4);
	for (unsigned int h = 4; h < HOSTS; h++) {
		for (unsigned int r = 0; r < 4; r++)
			pod.cables[h][r].leaf = leaves[4 + r];
	}
	pod_expect(&pod, NULL);
	pod.cables[5][2].leaf = leaves[2];
	pod_expect(&pod,
		   "rail-apart: gpu6 mlx5_2 port 1 is connected to leaf2, but "
		   "3 of 4 hosts like it to leaf6",
		   NULL);
}

static void a_slower_link_than_the_others_is_slow(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod.cables[0][7].rate = "4xHDR";
	pod_expect(&pod,
		   "rail-slow: gpu1 mlx5_7 port 1 to leaf7 port 1 runs at "
		   "4xHDR, but at 7 of 8 hosts like it at 4xNDR",
		   NULL);
	pod.cables[0][7].rate = "4xXDR";
	pod_expect(&pod, NULL);
}

/* Hosts of an older kind have the same names, but are slower throughout. */
static void hosts_that_are_slower_throughout_are_others(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	for (unsigned int r = 0; r < RAILS; r++)
		pod.cables[0][r].rate = "4xHDR";
	pod_expect(&pod, NULL);
}

/* The adapters have two ports, but mlx5_1 of the last host has one. */
static void a_port_that_the_others_have_is_missing(void **state)
{
	struct ibsa_topology *topology;
	struct ibsa_finding finding;
	char text[2048];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		char second[32] = "";

		if (i < 7)
			snprintf(second, sizeof(second), "[2] \"h%d\"[2]\n", i);
		len += (size_t)snprintf(
			text + len, sizeof(text) - len,
			"Ca %d \"h%d\" # \"gpu%d mlx5_%d\"\n"
			"Switch 8 \"leaf%d\"\n[1] \"h%d\"[1]\n%s",
			i == 7 ? 1 : 2, i, 1 + i / 2, i % 2, i, i, second);
	}
	assert_int_equal(ibsa_topology_parse(text, len, NULL, NULL, &topology),
			 0);
	assert_int_equal(ibsa_topology_check(topology, NULL), 0);
	for (size_t i = 0;; i++) {
		assert_int_equal(
			ibsa_topology_finding_at(topology, i, &finding), 0);
		if (finding.kind == IBSA_FINDING_RAIL_MISSING)
			break;
	}
	assert_string_equal(finding.what.text,
			    "gpu4 has no mlx5_1 port 2, but 3 of 4 hosts like "
			    "it have");
	assert_string_equal(finding.missing_device, "mlx5_1");
	assert_int_equal(finding.missing_port, 2);
	ibsa_topology_free(topology);
}

static void three_hosts_are_too_few(void **state)
{
	struct pod pod;

	(void)state;
	pod_make(&pod, 3, RAILS);
	pod.cables[0][0].leaf = NULL;
	pod_expect(&pod, NULL);
}

/* Units of hosts with a leaf switch for each rail, and what one of them lacks. */
struct units {
	unsigned int count;
	unsigned int hosts; /* of a unit; 0: UNIT_HOSTS */
	unsigned int lost;  /* bits: the rails that the hosts of unit 2 lack */
	const char *lost_rate; /* that of these rails in the other units */
	const char *lost_leaf; /* NULL: a switch for each unit */
	unsigned int only_at;  /* 0: all hosts lack them; else this one */
	bool shares_leaf;      /* rail 4 is at the leaf switch of rail 3 */
};

enum { UNIT_HOSTS = 4, UNIT_RAILS = 5 };

static unsigned int units_hosts(const struct units *units)
{
	return units->hosts ? units->hosts : UNIT_HOSTS;
}

/* Return: the leaf switch of a unit at which a rail is. */
static unsigned int units_leaf(const struct units *units, unsigned int rail)
{
	return units->shares_leaf && rail == 4 ? 3 : rail;
}

/* Whether unit 2 has no host at its leaf switch @leaf. */
static bool units_lack_leaf(const struct units *units, unsigned int leaf)
{
	bool has_rail = false;

	for (unsigned int r = 0; r < UNIT_RAILS; r++)
		has_rail |= units_leaf(units, r) == leaf &&
			    !(units->lost >> r & 1);
	return !has_rail;
}

static void units_host_write(const struct units *units, unsigned int unit,
			     unsigned int host, FILE *out)
{
	const unsigned int id = unit * units_hosts(units) + host + 1;

	for (unsigned int r = 0; r < UNIT_RAILS; r++) {
		const bool is_lost = units->lost >> r & 1;

		if (is_lost && unit == 2 &&
		    (!units->only_at || units->only_at == id))
			continue;
		fprintf(out, "Ca 1 \"h%u-%u\" # \"gpu%02u mlx5_%u\"\n", id, r,
			id, r);
		if (is_lost && units->lost_leaf)
			fprintf(out, "[1] \"%s\"[%u] # %s\n", units->lost_leaf,
				id, units->lost_rate);
		else
			fprintf(out, "[1] \"leaf%u-%u\"[%u] # %s\n", unit,
				units_leaf(units, r), 1 + host + 8 * r,
				is_lost ? units->lost_rate : "4xNDR");
	}
}

/* A leaf switch without hosts is not in the fabric. */
static void units_write(const struct units *units, FILE *out)
{
	if (units->lost_leaf)
		fprintf(out, "Switch 64 \"%s\"\n", units->lost_leaf);
	for (unsigned int u = 0; u < units->count; u++) {
		for (unsigned int r = 0; r < UNIT_RAILS; r++)
			if (units_leaf(units, r) == r &&
			    (!units_lack_leaf(units, r) ||
			     (!units->lost_leaf && (u != 2 || units->only_at))))
				fprintf(out, "Switch 64 \"leaf%u-%u\"\n", u, r);
		for (unsigned int h = 0; h < units_hosts(units); h++)
			units_host_write(units, u, h, out);
	}
}

/* Return: the topology of the units, with its findings. */
static struct ibsa_topology *units_check(const struct units *units)
{
	struct ibsa_topology *topology;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	units_write(units, out);
	fclose(out);
	assert_int_equal(ibsa_topology_parse(text, len, NULL, NULL, &topology),
			 0);
	free(text);
	assert_int_equal(ibsa_topology_check(topology, NULL), 0);
	return topology;
}

static void a_leaf_that_a_unit_lacks_is_one_cause(void **state)
{
	const struct units units = { .count = 4,
				     .lost = 1 << 3,
				     .lost_rate = "4xNDR" };
	struct ibsa_topology *topology = units_check(&units);
	struct ibsa_finding finding;
	char text[300];

	(void)state;
	assert_int_equal(ibsa_topology_finding_at(topology, 0, &finding), 0);
	assert_int_equal(finding.kind, IBSA_FINDING_RAIL_MISSING);
	assert_int_equal(finding.guid, 0);
	assert_string_equal(finding.missing_device, "mlx5_3");
	assert_string_equal(
		finding.what.text,
		"the leaf switch of mlx5_3 of gpu09 and 3 other hosts is "
		"missing: they have no mlx5_3, but the hosts of 3 of 4 groups "
		"have");
	for (unsigned int i = 1; i <= UNIT_HOSTS; i++) {
		assert_int_equal(
			ibsa_topology_finding_at(topology, i, &finding), 0);
		snprintf(text, sizeof(text),
			 "gpu%02u has no mlx5_3, nor has any of the 4 hosts at "
			 "its leaf switches",
			 8 + i);
		assert_string_equal(finding.what.text, text);
		assert_string_equal(finding.missing_device, "mlx5_3");
		assert_true(finding.guid);
	}
	assert_int_equal(ibsa_topology_finding_at(topology, 1 + UNIT_HOSTS,
						  &finding),
			 -ENOENT);
	ibsa_topology_free(topology);
}

static void every_allocation_may_fail(void **state)
{
	const struct units units = { .count = 4,
				     .lost = 1 << 3,
				     .lost_rate = "4xNDR" };
	struct ibsa_topology *topology = units_check(&units);
	struct ibsa_finding finding;
	int err = -ENOMEM;

	(void)state;
	for (long n = 0; err; n++) {
		fail_alloc_after(n);
		err = ibsa_topology_check(topology, NULL);
		fail_alloc_after(-1);
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(ibsa_topology_finding_at(topology, 0,
							  &finding),
				 err ? -ENOENT : 0);
	}
	ibsa_topology_free(topology);
}

/* Return: the number of findings of a topology, which is freed. */
static size_t findings_count(struct ibsa_topology *topology)
{
	struct ibsa_finding finding;
	size_t count = 0;

	while (!ibsa_topology_finding_at(topology, count, &finding))
		count++;
	ibsa_topology_free(topology);
	return count;
}

/* In a large fabric, few hosts lack the rail: each has one finding. */
static void a_leaf_of_many_units_is_one_cause(void **state)
{
	const struct units units = { .count = 12,
				     .lost = 1 << 0,
				     .lost_rate = "4xNDR" };

	(void)state;
	assert_int_equal(findings_count(units_check(&units)), 1 + UNIT_HOSTS);
}

/* Each host has one finding for each of two leaf switches. */
static void two_leaves_of_a_unit_are_two_causes(void **state)
{
	const struct units units = { .count = 12,
				     .lost = 1 << 1 | 1 << 3,
				     .lost_rate = "4xNDR" };

	(void)state;
	assert_int_equal(findings_count(units_check(&units)),
			 2 * (1 + UNIT_HOSTS));
}

/* Two hosts do not show that they had a leaf switch of their own. */
static void a_unit_of_two_hosts_is_too_small(void **state)
{
	const struct units units = {
		.count = 4, .hosts = 2, .lost = 1 << 3, .lost_rate = "4xNDR"
	};
	struct ibsa_topology *topology = units_check(&units);
	struct ibsa_finding finding;

	(void)state;
	assert_int_equal(ibsa_topology_finding_at(topology, 0, &finding), 0);
	assert_string_equal(finding.what.text,
			    "gpu05 has no mlx5_3, but 6 of 8 hosts like it "
			    "have");
	assert_int_equal(findings_count(topology), 2);
}

static void units_expect_none(const struct units *units)
{
	struct ibsa_topology *topology = units_check(units);
	struct ibsa_finding finding;

	if (!ibsa_topology_finding_at(topology, 0, &finding))
		fail_msg("%s", finding.what.text);
	ibsa_topology_free(topology);
}

/* Two other units are too few; adapters for storage are not in all units. */
static void a_unit_with_another_equipment_lacks_nothing(void **state)
{
	(void)state;
	units_expect_none(&(struct units){
		.count = 3, .lost = 1 << 3, .lost_rate = "4xNDR" });
	units_expect_none(&(struct units){
		.count = 4, .lost = 1 << 4, .lost_rate = "4xHDR" });
	units_expect_none(&(struct units){ .count = 4,
					   .lost = 1 << 4,
					   .lost_rate = "4xNDR",
					   .lost_leaf = "storage" });
}

/* The leaf switch is there, with another rail of the same hosts. */
static void a_leaf_with_another_rail_is_not_missing(void **state)
{
	(void)state;
	units_expect_none(&(struct units){ .count = 4,
					   .lost = 1 << 3,
					   .lost_rate = "4xNDR",
					   .shares_leaf = true });
}

static void a_dead_rail_of_a_unit_is_that_of_a_host(void **state)
{
	const struct units units = {
		.count = 4, .lost = 1 << 3, .lost_rate = "4xNDR", .only_at = 10
	};
	struct ibsa_topology *topology = units_check(&units);
	struct ibsa_finding finding;

	(void)state;
	assert_int_equal(ibsa_topology_finding_at(topology, 0, &finding), 0);
	assert_string_equal(finding.what.text,
			    "gpu10 has no mlx5_3, but 15 of 16 hosts like it "
			    "have");
	assert_int_equal(ibsa_topology_finding_at(topology, 1, &finding),
			 -ENOENT);
	ibsa_topology_free(topology);
}

/* With an expected topology, hosts are not compared. */
static void an_expected_topology_replaces_the_comparison(void **state)
{
	struct ibsa_topology *topology;
	struct ibsa_finding finding;
	struct pod pod;

	(void)state;
	pod_make(&pod, HOSTS, RAILS);
	pod.cables[4][3].leaf = NULL;
	topology = pod_topology(&pod);
	assert_int_equal(ibsa_topology_check(topology, topology), 0);
	assert_int_equal(ibsa_topology_finding_at(topology, 0, &finding),
			 -ENOENT);
	ibsa_topology_free(topology);
}

/*
 * Four hosts with three adapters, of which the last lacks one, and a switch of
 * which the SA returns the first @ports PortInfoRecords.
 */
static void partial_expect(uint8_t ports, const char *sentence)
{
	enum { LEAF = 12 };
	struct ibsa_topology *topology;
	struct ibsa_finding finding;

	assert_int_equal(ibsa_topology_new(&topology), 0);
	for (uint16_t i = 0; i < 11; i++) {
		char name[32];

		snprintf(name, sizeof(name), "gpu%d mlx5_%d", 1 + i / 3, i % 3);
		assert_int_equal(rig_node(topology, IBSA_NODE_CA,
					  (uint16_t)(1 + i), name),
				 0);
	}
	assert_int_equal(rig_node(topology, IBSA_NODE_SWITCH, LEAF, "leaf"), 0);
	for (uint8_t i = 1; i <= ports; i++) {
		struct ibsa_port_info port = rig_edr(LEAF, i);

		port.port_state = IBSA_PORT_DOWN;
		assert_int_equal(rig_port(topology, &port), 0);
	}
	assert_int_equal(ibsa_topology_finish(topology), 0);
	assert_int_equal(ibsa_topology_check(topology, NULL), 0);
	assert_int_equal(ibsa_topology_finding_at(topology, 0, &finding), 0);
	assert_string_equal(finding.what.text, sentence);
	ibsa_topology_free(topology);
}

static void a_port_that_the_sa_hides_is_not_missing_for_certain(void **state)
{
	(void)state;
	partial_expect(36, "gpu4 has no mlx5_2, but 3 of 4 hosts like it have");
	partial_expect(0, "gpu4 has no mlx5_2, but 3 of 4 hosts like it have");
	partial_expect(35, "gpu4 has no mlx5_2, or the SA does not show it, "
			   "but 3 of 4 hosts like it have");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_that_are_alike_have_no_finding),
		cmocka_unit_test(an_adapter_that_the_others_have_is_missing),
		cmocka_unit_test(
			an_adapter_that_many_hosts_lack_is_not_missing),
		cmocka_unit_test(hosts_with_few_of_the_adapters_are_others),
		cmocka_unit_test(cables_that_are_exchanged_are_crossed),
		cmocka_unit_test(
			two_cables_of_a_host_with_two_adapters_are_crossed),
		cmocka_unit_test(an_adapter_at_another_switch_is_apart),
		cmocka_unit_test(units_have_their_own_switches),
		cmocka_unit_test(a_slower_link_than_the_others_is_slow),
		cmocka_unit_test(hosts_that_are_slower_throughout_are_others),
		cmocka_unit_test(a_port_that_the_others_have_is_missing),
		cmocka_unit_test(three_hosts_are_too_few),
		cmocka_unit_test(a_leaf_that_a_unit_lacks_is_one_cause),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(a_leaf_of_many_units_is_one_cause),
		cmocka_unit_test(two_leaves_of_a_unit_are_two_causes),
		cmocka_unit_test(a_unit_of_two_hosts_is_too_small),
		cmocka_unit_test(a_unit_with_another_equipment_lacks_nothing),
		cmocka_unit_test(a_leaf_with_another_rail_is_not_missing),
		cmocka_unit_test(a_dead_rail_of_a_unit_is_that_of_a_host),
		cmocka_unit_test(an_expected_topology_replaces_the_comparison),
		cmocka_unit_test(
			a_port_that_the_sa_hides_is_not_missing_for_certain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
