/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topology files: which are valid, and the messages for the others. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

static struct ibsa_fabric *parse(const char *text)
{
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric = NULL;

	if (ibsa_fabric_parse(text, strlen(text), NULL, &error, &fabric))
		fail_msg("%s", error.text);
	return fabric;
}

/*
 * Check that the topology file is refused with a message that contains all
 * these parts.
 */
static void refused(const char *text, const char *line, const char *what)
{
	struct ibsa_error error = { "" };
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(text, strlen(text), NULL, &error,
					   &fabric),
			 -EINVAL);
	assert_null(fabric);
	if (!strstr(error.text, line) || !strstr(error.text, what))
		fail_msg("\"%s\" says neither \"%s\" nor \"%s\"", error.text,
			 line, what);
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

static void output_of_ibnetdiscover_is_parsed(void **state)
{
	struct ibsa_fabric *fabric = parse(
		"#\n# Topology file: generated on Mon Jan  1 00:00:00 2024\n"
		"#\n# Initiated from node 0002c9 port 0002c9\n\n"
		"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x1070\n"
		"switchguid=0x1070(1070)\n"
		"Switch\t41 \"S-0000000000001070\"\t\t# \"Quantum 'x' #1 \\(a)\" "
		"enhanced port 0 lid 5 lmc 0\n"
		"[1][ext 7]\t\"H-0000000000002000\"[1](2001) \t\t# \"h 4xSDR\" "
		"lid 2 4xHDR\r\n"
		"[2]\t\"R-0000000000003000\"[1](3001) \t\t# \"router\" lid 3 "
		"2xNDR vlmax 4\n\n"
		"vendid=0x2c9\ndevid=0x101b\nsysimgguid=0x2000\ncaguid=0x2000\n"
		"Ca\t1 \"H-0000000000002000\"\t\t# \"h 4xSDR\"\n"
		"[1](2001) \t\"S-0000000000001070\"[1][ext 7]\t\t# lid 2 lmc 0 "
		"\"Quantum\" lid 5 4xHDR\n\n"
		"rtguid=0x3000\nRt\t1 \"R-0000000000003000\"\t\t# \"router\"\n"
		"[1](3001) \t\"S-0000000000001070\"[2]\t\t# lid 3 lmc 0 "
		"\"Quantum\" lid 5 2xNDR\n"
		"do Unlink \"h\"\nChassis 1 (guid 0x1070)\n");

	(void)state;
	assert_string_equal(port_at(fabric, 0).node, "h 4xSDR");
	assert_int_equal(port_at(fabric, 0).guid, 0x2001);
	assert_int_equal(port_at(fabric, 0).state.lid, 2);
	assert_int_equal(port_at(fabric, 0).state.sm_lid, 2);
	ibsa_fabric_put(fabric);
}

static void nodes_out_of_reach_are_not_in_the_subnet(void **state)
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
	assert_int_equal(info.lids, 2);
	assert_int_equal(port_at(bench.fabric, 2).state.lid, 0);
	assert_int_equal(port_at(bench.fabric, 2).state.port_state,
			 IBSA_PORT_INIT);
	assert_int_equal(port_at(bench.fabric, 2).state.sm_lid, 0);
	bench_stop(&bench);
}

static void mistakes_are_refused_with_their_line(void **state)
{
	(void)state;
	refused("Ca 1 \"a\"\nCa 1 \"a\"\n", ":2:", "used twice");
	refused("Ca 1 \"a\"\n[2] \"a\"[1]\n", ":2:", "no port 2");
	refused("Ca 1 \"a\"\n[1] \"b\"[3]\nCa 2 \"b\"\n", ":2:", "no port 3");
	refused("Ca 1 \"a\"\n[1] \"b\"[1]\n", ":2:", "no node \"b\"");
	refused("Ca 1 \"a\"\n[1] \"a\"[1]\n", ":2:", "itself");
	refused("Ca 1 \"a\"\n[1] \"b\"[1]\nCa 2 \"b\"\n[1] \"c\"[1]\n"
		"Ca 1 \"c\"\n",
		":4:", "one cable");
	refused("Ca 1 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\nCa 1 \"c\"\n"
		"[1] \"b\"[1]\n",
		":5:", "must agree");
	refused("[1] \"a\"[1]\n", ":1:", "must follow its node");
	refused("\n\nhello\n", ":3:", "\"hello\" is not a line");
	refused("Ca \"a\"\n", ":1:", "number of ports");
	refused("Ca 255 \"a\"\n", ":1:", "1 to 254");
	refused("Ca 1 a\n", ":1:", "in quotes");
	refused("Ca 1 \"a\"\n[1] b\n", ":2:", "in quotes");
	refused("Ca 1 \"a\"\n[x] \"b\"\n", ":2:", "in brackets");
	refused("Ca 1 \"a\"\n[1](zz) \"b\"\n", ":2:", "hexadecimal");
	refused("Ca 1 \"a\"\n[1] \"b\"[0]\n", ":2:", "from 1 on");
	refused("vendid=x\n", ":1:", "a number must follow vendid=");
	refused("Ca 1 \"a\"\n[1] \"b\"[1] # lid 70000\n", ":2:", "65535");
	refused("Switch 1 \"a\" # \"\" lid 1 lmc 9\n",
		":1:", "an LMC at most 7");
	refused("caguid=1\nCa 1 \"a\"\ncaguid=1\nCa 1 \"b\"\n",
		":4:", "(line 2)");
	refused("include x\n", ":1:", "only in a file");
	refused("Switch 1 \"s\"\n", "(text): ", "no channel adapter");
	refused("Ca 1 \"a\"\n", "(text): ", "has no cable");
	refused("", "(text): ", "no channel adapter");
}

static void file_with_a_nul_byte_is_refused(void **state)
{
	static const char text[] = "Ca 1 \"a\0b\"\n";
	struct ibsa_fabric *fabric;
	struct ibsa_error error;

	(void)state;
	assert_int_equal(ibsa_fabric_parse(text, sizeof(text) - 1, NULL, &error,
					   &fabric),
			 -EINVAL);
	assert_non_null(strstr(error.text, "NUL"));
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

static void remove_file(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static int load(const char *dir, const char *name, struct ibsa_error *error,
		struct ibsa_fabric **out)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return ibsa_fabric_load(path, NULL, error, out);
}

static void files_are_included_from_beside_them(void **state)
{
	char dir[] = "/tmp/ibsa-topology-XXXXXX";
	struct ibsa_fabric *fabric;
	struct ibsa_error error;

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_file(dir, "outer", "include inner\nCa 1 \"a\"\n[1] \"b\"\n");
	write_file(dir, "inner", "Ca 1 \"b\"\n");
	write_file(dir, "self", "include \"self\"\n");
	write_file(dir, "lost", "include nowhere\n");
	write_file(dir, "wrong", "# fine\nCa 1 \"a\"\ninclude bad\n");
	write_file(dir, "bad", "\nCa 1 \"a\"\n");

	assert_int_equal(load(dir, "outer", &error, &fabric), 0);
	assert_string_equal(port_at(fabric, 0).node, "b");
	ibsa_fabric_put(fabric);
	assert_int_equal(load(dir, "self", &error, &fabric), -EINVAL);
	assert_non_null(strstr(error.text, "itself"));
	assert_int_equal(load(dir, "lost", &error, &fabric), -ENOENT);
	assert_non_null(strstr(error.text, "nowhere"));
	assert_int_equal(load(dir, "wrong", &error, &fabric), -EINVAL);
	assert_non_null(strstr(error.text, "/bad:2:"));
	assert_int_equal(load(dir, "none", &error, &fabric), -ENOENT);
	assert_int_equal(ibsa_fabric_load(dir, NULL, &error, &fabric), -EISDIR);
	assert_int_equal(ibsa_fabric_load(NULL, NULL, &error, &fabric),
			 -EINVAL);
	assert_non_null(strstr(error.text, "is missing"));

	remove_file(dir, "outer");
	remove_file(dir, "inner");
	remove_file(dir, "self");
	remove_file(dir, "lost");
	remove_file(dir, "wrong");
	remove_file(dir, "bad");
	rmdir(dir);
}

/* Return: the rate of the path from a to b over the given cable. */
static unsigned int rate_of(const char *cable)
{
	const struct ibsa_path want = { .slid = 1, .dlid = 2 };
	struct bench bench;
	char text[256];
	unsigned int rate;

	snprintf(text, sizeof(text),
		 "Ca 1 \"a\"\n[1] \"b\"[1] %s\nCa 1 \"b\"\n", cable);
	bench_start_text(&bench, text, "a", NULL);
	assert_int_equal(bench_query(&bench, IBSA_METHOD_GET, &ibsa_path_record,
				     &want,
				     IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)),
			 0);
	rate = (unsigned int)IBSA_GET(path, rate, bench_record(&bench, 0));
	bench_stop(&bench);
	return rate;
}

static void rates_are_read_in_every_form(void **state)
{
	(void)state;
	assert_int_equal(rate_of(""), 3);
	assert_int_equal(rate_of("# lid 0 lmc 0 \"b\" lid 0 4xQDR"), 7);
	assert_int_equal(rate_of("# \"4xSDR\" lid 0 2xNDR"), 17);
	assert_int_equal(rate_of("# 4xFDR10"), 7);
	assert_int_equal(rate_of("# 4xFDR"), 12);
	assert_int_equal(rate_of("# 2xFDR"), 19);
	assert_int_equal(rate_of("# 1xEDR"), 15);
	assert_int_equal(rate_of("# 8xHDR"), 21);
	assert_int_equal(rate_of("# 12xNDR"), 24);
	assert_int_equal(rate_of("# 1xXDR"), 17);
	assert_int_equal(rate_of("# 2xXDR"), 21);
	assert_int_equal(rate_of("# 4xXDR"), 23);
	assert_int_equal(rate_of("# 8xXDR"), 25);
	assert_int_equal(rate_of("w=12"), 4);
	assert_int_equal(rate_of("w=1 s=1"), 2);
	assert_int_equal(rate_of("s=3"), 6);
	assert_int_equal(rate_of("s=0"), 7);
	assert_int_equal(rate_of("w=4 e=2"), 16);
	assert_int_equal(rate_of("w=4 e=32"), 23);
	assert_int_equal(rate_of("w=4 e=47 s=7"), 7);
	/*
	 * ibnetdiscover -f adds codes of PortInfo, which do not change the
	 * rate.
	 */
	assert_int_equal(rate_of("# \"b\" lid 2 4xEDR s=4 w=2 v=4"), 16);
	assert_int_equal(rate_of("# \"b\" lid 2 2xHDR s=4 w=16 v=4"), 16);
}

/* An unknown rate is not replaced by another one. */
static void unknown_rates_in_files_are_refused(void **state)
{
	static const char *const odd[] = {
		"# 4x???",   "# 4xGDR",	  "# 3xEDR", "# 12xXDR",    "# 4x",
		"# 400xEDR", "w=12 e=32", "# ?????", "# ??EDR s=4",
	};
	static const char *const options[] = { "w=3", "w=0", "s=8", "e=16" };
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		snprintf(text, sizeof(text),
			 "Ca 1 \"a\"\n[1] \"b\"[1] %s\n"
			 "Ca 1 \"b\"\n",
			 odd[i]);
		refused(text, ":2:", "is not a rate");
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		snprintf(text, sizeof(text), "Ca 1 \"a\"\n[1] \"b\"[1] %s\n",
			 options[i]);
		refused(text, options[i], "1, 2, 4, 8 or 12 lanes");
	}
	refused("width=3\n", ":1:", "1, 2, 4, 8 or 12");
	refused("speed=8\n", ":1:", "sum of 1");
}

/* The message shows an indented line without its blanks and up to its end. */
static void message_shows_a_bad_line_to_its_end(void **state)
{
	(void)state;
	refused("        bad\nCa 1 \"a\"\n", ":1:", "\"bad\" is not a line");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_form_needs_ids_and_ports_only),
		cmocka_unit_test(lids_are_as_opensm_gives_them),
		cmocka_unit_test(lids_of_the_file_stay_unless_taken),
		cmocka_unit_test(output_of_ibnetdiscover_is_parsed),
		cmocka_unit_test(nodes_out_of_reach_are_not_in_the_subnet),
		cmocka_unit_test(mistakes_are_refused_with_their_line),
		cmocka_unit_test(message_shows_a_bad_line_to_its_end),
		cmocka_unit_test(file_with_a_nul_byte_is_refused),
		cmocka_unit_test(files_are_included_from_beside_them),
		cmocka_unit_test(rates_are_read_in_every_form),
		cmocka_unit_test(unknown_rates_in_files_are_refused),
		cmocka_unit_test(ports_have_the_rate_of_their_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
