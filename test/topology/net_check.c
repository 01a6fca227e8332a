/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about topology files that are valid. */
#include <stdlib.h>

#include "rig.h"
#include "topology/net.h"

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

static struct net load(const char *text)
{
	const struct net_input input = {
		.text = text,
		.len = strlen(text),
		.lid_max = UINT16_MAX,
		.has_check = true,
	};
	struct ibsa_error error;
	struct net net;

	if (ibsa__net_read(&input, &error, &net))
		fail_msg("%s", error.text);
	return net;
}

/* Check that there is one finding, at @line, whose text contains @what. */
static void found(const char *text, enum ibsa_finding_kind kind,
		  unsigned int line, const char *what)
{
	struct net net = load(text);
	struct ibsa_error sentence;

	assert_int_equal(net.finding_count, 1);
	assert_int_equal(net.findings[0].kind, kind);
	assert_int_equal(net.findings[0].line, line);
	assert_string_equal(net.findings[0].file, "(text)");
	ibsa__net_finding_text(&net, &net.findings[0], &sentence);
	if (!strstr(sentence.text, what))
		fail_msg("\"%s\" does not say %s", sentence.text, what);
	ibsa__net_done(&net);
}

static void nothing_found(const char *text)
{
	struct net net = load(text);

	assert_int_equal(net.finding_count, 0);
	ibsa__net_done(&net);
}

static void nothing_is_found_in_a_plain_file(void **state)
{
	(void)state;
	nothing_found(PLAIN);
}

static void cable_of_one_end_is_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 4xEDR\nCa 1 \"c\"\n",
	      IBSA_FINDING_ONE_DIRECTION, 14,
	      "\"s\"[3] lists a cable to \"c\"[1]");
}

/*
 * In the short form of a topology file, each cable is listed at one end only.
 */
static void cables_of_one_end_are_usual_in_short_files(void **state)
{
	(void)state;
	nothing_found("Switch 8 \"s\"\n[1] \"a\"\n[2] \"b\"\n"
		      "Ca 1 \"a\"\nCa 1 \"b\"\n");
}

static void ends_that_differ_in_rate_are_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 4xEDR\nCa 1 \"c\"\n[1] \"s\"[3] 4xQDR\n",
	      IBSA_FINDING_RATE_DIFFERS, 16,
	      "\"c\"[1] has a rate of 4xQDR, but the other end \"s\"[3] has 4xEDR");
}

static void cable_without_a_rate_is_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1]\nCa 1 \"c\"\n[1] \"s\"[3] 9xFOO\n",
	      IBSA_FINDING_NO_RATE, 16, "using 4xSDR");
}

/* An unknown rate counts as missing if other lines have rates. */
static void unknown_rate_is_a_finding(void **state)
{
	static const char pair[] = "Switch 4 \"s\"\n[1] \"a\"[1]%s\nCa 1 "
				   "\"a\"\n[1] \"s\"[1]%s\n";
	static const char *const odd[] = { " 5xEDR", " 4xFOO", " w=5", " 4x" };
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		snprintf(text, sizeof(text), pair, "", odd[i]);
		found(text, IBSA_FINDING_NO_RATE, 4, "rate is unknown");
		snprintf(text, sizeof(text), pair, odd[i], "");
		found(text, IBSA_FINDING_NO_RATE, 2, "using 4xSDR");
	}
}

static void words_unlike_a_rate_are_ignored(void **state)
{
	(void)state;
	nothing_found("Switch 4 \"s\"\n[1] \"a\"[1] # 5xEDR \"x\" 0x5 12 "
		      "x x4 4 w lid 3\nCa 1 \"a\"\n");
}

static void node_with_guid_zero_is_found(void **state)
{
	(void)state;
	found("sysimgguid=0x1\ncaguid=0x0\ndevid=1\nCa 1 \"a\"\n"
	      "[1] \"s\"[1]\nSwitch 4 \"s\"\n[1] \"a\"[1]\n",
	      IBSA_FINDING_NO_GUID, 2, "\"a\" has GUID 0; using 0x00");
	found("Ca 1 \"a\"\n[1] \"s\"[1]\nswitchguid=0\n"
	      "Switch 4 \"s\"\n[1] \"a\"[1]\n",
	      IBSA_FINDING_NO_GUID, 3, "\"s\" has GUID 0");
}

static void narrow_cable_is_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 1xEDR\nCa 1 \"c\"\n[1] \"s\"[3] 1xEDR\n",
	      IBSA_FINDING_NARROW, 16, "1x wide, most cables 4x");
}

static void parallel_cables_that_differ_are_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 4xEDR\n[4] \"c\"[2] 4xQDR\n"
		    "Ca 2 \"c\"\n[1] \"s\"[3] 4xEDR\n[2] \"s\"[4] 4xQDR\n",
	      IBSA_FINDING_PARALLEL_DIFFERS, 15,
	      "\"s\"[4] runs at 4xQDR, but \"s\"[3]");
}

static void port_with_two_guids_is_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1](fe) 4xEDR\n"
		    "Ca 1 \"c\"\n[1](ff) \"s\"[3] 4xEDR\n",
	      IBSA_FINDING_GUID_DIFFERS, 16,
	      "GUID 0x00000000000000ff here, 0x00000000000000fe in another line");
}

static void node_without_a_cable_is_found(void **state)
{
	(void)state;
	found(PLAIN "Ca 1 \"c\"\n", IBSA_FINDING_NO_CABLE, 14,
	      "\"c\" has no cable");
}

static void nodes_apart_are_found(void **state)
{
	(void)state;
	found(PLAIN "Ca 1 \"c\"\n[1] \"d\"[1] 4xEDR\n"
		    "Ca 1 \"d\"\n[1] \"c\"[1] 4xEDR\n",
	      IBSA_FINDING_APART, 14, "\"c\", one of 2 connected nodes");
}

static void adapters_of_one_name_are_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 4xEDR\n"
		    "Ca 1 \"c\" # \"two\"\n[1] \"s\"[3] 4xEDR\n",
	      IBSA_FINDING_SAME_NAME, 15, "\"c\" has the description of \"b\"");
}

static void ports_that_want_one_lid_are_found(void **state)
{
	(void)state;
	found(PLAIN "[3] \"c\"[1] 4xEDR\n"
		    "Ca 1 \"c\"\n[1] \"s\"[3] # lid 4 lmc 0 \"sw\" lid 3 "
		    "4xEDR\n",
	      IBSA_FINDING_SAME_LID, 16, "has LID 4, which \"a\"[1]");
}

/*
 * At most 65536 findings are recorded. This file would cause more: two for each
 * of its nodes.
 */
static void findings_have_a_limit(void **state)
{
	enum { NODES = 40000, LINE = 40 };
	char *text = calloc(NODES + 1, LINE);
	struct net net;
	size_t len = (size_t)sprintf(text, "Ca 1 \"a\"\n[1] \"b\"\n"
					   "Ca 1 \"b\"\n[1] \"a\"\n");

	(void)state;
	for (int i = 0; i < NODES; i++)
		len += (size_t)sprintf(text + len, "Ca 1 \"c%d\" # \"c\"\n", i);
	net = load(text);
	assert_int_equal(net.finding_count, 65536);
	ibsa__net_done(&net);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_a_plain_file),
		cmocka_unit_test(cable_of_one_end_is_found),
		cmocka_unit_test(cables_of_one_end_are_usual_in_short_files),
		cmocka_unit_test(ends_that_differ_in_rate_are_found),
		cmocka_unit_test(cable_without_a_rate_is_found),
		cmocka_unit_test(unknown_rate_is_a_finding),
		cmocka_unit_test(words_unlike_a_rate_are_ignored),
		cmocka_unit_test(node_with_guid_zero_is_found),
		cmocka_unit_test(narrow_cable_is_found),
		cmocka_unit_test(parallel_cables_that_differ_are_found),
		cmocka_unit_test(port_with_two_guids_is_found),
		cmocka_unit_test(node_without_a_cable_is_found),
		cmocka_unit_test(nodes_apart_are_found),
		cmocka_unit_test(adapters_of_one_name_are_found),
		cmocka_unit_test(ports_that_want_one_lid_are_found),
		cmocka_unit_test(findings_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
