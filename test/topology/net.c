/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of topology files: which are valid, and the messages for others. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "rig.h"
#include "topology/net.h"

static int parse(const char *text, size_t len, struct ibsa_error *error,
		 struct net *out)
{
	const struct net_input input = {
		.text = text,
		.len = len,
		.lid_max = UINT16_MAX,
	};

	return ibsa__net_read(&input, error, out);
}

/*
 * Check that the text is refused with a message that contains all these parts.
 */
static void refused(const char *text, const char *line, const char *what)
{
	struct ibsa_error error = { "" };
	struct net net;

	assert_int_equal(parse(text, strlen(text), &error, &net), -EINVAL);
	if (!strstr(error.text, line) || !strstr(error.text, what))
		fail_msg("\"%s\" says neither \"%s\" nor \"%s\"", error.text,
			 line, what);
}

static void output_of_ibnetdiscover_is_parsed(void **state)
{
	static const char text[] =
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
		"do Unlink \"h\"\nChassis 1 (guid 0x1070)\n";
	const struct net_node *node;
	const struct net_port *port;
	struct ibsa_error error;
	struct net net;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &error, &net), 0);
	assert_int_equal(net.node_count, 3);
	assert_int_equal(net.cable_count, 2);
	assert_int_equal(net.nodes[0].type, IBSA_NODE_SWITCH);
	assert_string_equal(net.nodes[0].name, "Quantum 'x' #1 \\(a)");
	assert_int_equal(net.ports[net.nodes[0].first_port].lid, 5);
	assert_true(net.nodes[0].has_enhanced_port0);
	assert_int_equal(net.nodes[2].type, IBSA_NODE_ROUTER);
	node = &net.nodes[ibsa__net_node_find(&net, "h 4xSDR")];
	assert_string_equal(node->id, "H-0000000000002000");
	assert_int_equal(node->guid, 0x2000);
	assert_int_equal(node->device, 0x101b);
	port = &net.ports[node->first_port + 1];
	assert_int_equal(port->guid, 0x2001);
	assert_int_equal(port->lid, 2);
	assert_int_equal(port->rate.width, WIDTH_4X);
	assert_int_equal(port->rate.speed, SPEED_HDR);
	assert_int_equal(port->cable, net.nodes[0].first_port + 1);
	ibsa__net_done(&net);
}

/* Nodes without a GUID get those of ibsim, which files of routing roots name. */
static void nodes_get_the_guids_of_ibsim(void **state)
{
	static const char text[] = "Switch 8 \"s1\"\n[1] \"a\"[1]\nCa 2 \"a\"\n"
				   "Switch 8 \"s2\"\nHca 2 \"b\"\n";
	static const uint64_t guids[] = { 0x200000, 0x100000, 0x200001,
					  0x100003 };
	struct ibsa_error error;
	struct net net;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &error, &net), 0);
	assert_int_equal(net.node_count, 4);
	for (uint32_t i = 0; i < net.node_count; i++)
		assert_int_equal(net.nodes[i].guid, guids[i]);
	ibsa__net_done(&net);
}

/* The message shows an indented line without its blanks and up to its end. */
static void message_shows_a_bad_line_to_its_end(void **state)
{
	(void)state;
	refused("        bad\nCa 1 \"a\"\n", ":1:", "\"bad\" is not a line");
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
	refused("Ca 1 \"a\" # \"a\" pci=18:00.0\n", ":1:", "0000:18:00.0");
	refused("Ca 1 \"a\" # \"a\" pci=0000:18:20.0\n", ":1:", "pci=");
	refused("Ca 1 \"a\" # \"a\" pci=0000:18:00.8\n", ":1:", "pci=");
	refused("Ca 1 \"a\" # \"a\" pci=0000:18:00.0/..\n", ":1:", "pci=");
	refused("Ca 1 \"a\" # \"a\" pci=0000:00:00.0\n", ":1:", "pci=");
	refused("Ca 1 \"a\" # \"a\" numa=255\n", ":1:", "0 to 254");
	refused("Ca 1 \"a\" # \"a\" numa=-1\n", ":1:", "numa=");
}

/* The slot of an adapter is in the comment of its line, not in its name. */
static void slot_of_an_adapter_is_parsed(void **state)
{
	static const char text[] =
		"Ca 1 \"a\" # \"a numa=9\" pci=00c1:18:1f.7 numa=1\n"
		"Ca 1 \"b\" # \"b pci=x\"\n"
		"Ca 1 \"c\" # \"c\" numa=0\r\n";
	struct ibsa_error error;
	struct net net;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &error, &net), 0);
	assert_int_equal(net.nodes[0].pci, net_pci(0xc1, 0x18, 0x1f, 7));
	assert_int_equal(net.nodes[0].numa, 2);
	assert_int_equal(net.nodes[1].pci, 0);
	assert_int_equal(net.nodes[1].numa, 0);
	assert_int_equal(net.nodes[2].numa, 1);
	ibsa__net_done(&net);
}

static void file_with_a_nul_byte_is_refused(void **state)
{
	static const char text[] = "Ca 1 \"a\0b\"\n";
	struct ibsa_error error;
	struct net net;

	(void)state;
	assert_int_equal(parse(text, sizeof(text) - 1, &error, &net), -EINVAL);
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
		struct net *out)
{
	char path[256];
	const struct net_input input = {
		.path = path,
		.lid_max = UINT16_MAX,
	};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return ibsa__net_read(&input, error, out);
}

static void files_are_included_from_beside_them(void **state)
{
	char dir[] = "/tmp/ibsa-topology-XXXXXX";
	struct ibsa_error error;
	struct net net;

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_file(dir, "outer", "include inner\nCa 1 \"a\"\n[1] \"b\"\n");
	write_file(dir, "inner", "Ca 1 \"b\"\n");
	write_file(dir, "self", "include \"self\"\n");
	write_file(dir, "lost", "include nowhere\n");
	write_file(dir, "wrong", "# fine\nCa 1 \"a\"\ninclude bad\n");
	write_file(dir, "bad", "\nCa 1 \"a\"\n");

	assert_int_equal(load(dir, "outer", &error, &net), 0);
	assert_string_equal(net.nodes[0].id, "b");
	ibsa__net_done(&net);
	assert_int_equal(load(dir, "self", &error, &net), -EINVAL);
	assert_non_null(strstr(error.text, "itself"));
	assert_int_equal(load(dir, "lost", &error, &net), -ENOENT);
	assert_non_null(strstr(error.text, "nowhere"));
	assert_int_equal(load(dir, "wrong", &error, &net), -EINVAL);
	assert_non_null(strstr(error.text, "/bad:2:"));
	assert_int_equal(load(dir, "none", &error, &net), -ENOENT);
	assert_int_equal(load(dir, ".", &error, &net), -EISDIR);

	remove_file(dir, "outer");
	remove_file(dir, "inner");
	remove_file(dir, "self");
	remove_file(dir, "lost");
	remove_file(dir, "wrong");
	remove_file(dir, "bad");
	rmdir(dir);
}

/* Return: the code of the rate of the given cable. */
static unsigned int rate_of(const char *cable)
{
	struct ibsa_error error;
	struct link_rate rate;
	struct net net;
	char text[256];

	snprintf(text, sizeof(text),
		 "Ca 1 \"a\"\n[1] \"b\"[1] %s\nCa 1 \"b\"\n", cable);
	assert_int_equal(parse(text, strlen(text), &error, &net), 0);
	rate = net.ports[net.nodes[0].first_port + 1].rate;
	ibsa__net_done(&net);
	return ibsa__rate_code(ibsa__rate_rank(rate.width, rate.speed));
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
	refused("Ca 1 \"a\"\n[1] \"b\"[1] 4xEDR state=Initial\n", ":2:",
		"\"Initial\" is not a state of a port: use Down, Init, Armed");
	refused("Ca 1 \"a\"\n[1] \"b\"[1] state=\n", ":2:", "\"\" is not a");
	refused("width=3\n", ":1:", "1, 2, 4, 8 or 12");
	refused("speed=8\n", ":1:", "sum of 1");
}

static void a_wrong_file_is_explained(void **state)
{
	struct ibsa_topology *topology = NULL;
	struct ibsa_error error = { "" };

	(void)state;
	assert_int_equal(ibsa_topology_load("/dev/null/none", &error,
					    &topology),
			 -ENOTDIR);
	assert_non_null(strstr(error.text, "/dev/null/none"));
	assert_int_equal(ibsa_topology_load(__FILE__, NULL, &topology),
			 -EINVAL);
	assert_int_equal(ibsa_topology_parse("Ca 1 \"a\"\nx", 10, "a.net",
					     &error, &topology),
			 -EINVAL);
	assert_non_null(strstr(error.text, "a.net:2: \"x\" is not a line"));
	assert_null(topology);
}

/*
 * Lists of ibnetdiscover that have no links, and texts without a line about a
 * node, are refused.
 */
static void a_file_without_a_topology_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} files[] = {
		{ "", "(text): there is no node" },
		{ "# Topology file\n#\n", "(text): there is no node" },
		{ "# Topology file\rCa\t1 \"a\"\r",
		  "(text): there is no node" },
		{ "Ca\t : 0x10 ports 1 devid 0x0 vendid 0x0 \"a\"\n",
		  "(text):1: this is a list of nodes" },
		{ "Router\t : 0x10 ports 1\n", "(text):1: this is a list" },
		{ "SW     5  3 0x12 4x NDR - CA    18  1 0x13 ( 'a' - 'b' )\n",
		  "without -l, -H, -S, -R and -p" },
	};
	struct ibsa_topology *topology = NULL;
	struct ibsa_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *text = files[i].text;

		assert_int_equal(ibsa_topology_parse(text, strlen(text), NULL,
						     &error, &topology),
				 -EINVAL);
		assert_non_null(strstr(error.text, files[i].error));
		assert_null(topology);
	}
}

/*
 * A topology leaves unknown values unknown; a fabric replaces them by defaults.
 */
static void a_link_without_a_rate_has_none(void **state)
{
	static const char *const rates[] = { "", "# lid 1 4x???",
					     "# \"a\" ????? s=0 w=0 v=1",
					     "# ??EDR" };
	struct ibsa_topology_port port;
	struct ibsa_topology *topology;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		snprintf(text, sizeof(text),
			 "Ca 1 \"a\"\n[1] \"b\"[1] %s\nCa 1 \"b\"\n", rates[i]);
		assert_int_equal(ibsa_topology_parse(text, strlen(text), NULL,
						     NULL, &topology),
				 0);
		assert_int_equal(ibsa_topology_port_at(topology, 0, 1, &port),
				 0);
		assert_true(port.has_link);
		assert_int_equal(port.rate, 0);
		assert_int_equal(port.lanes, 0);
		assert_string_equal(port.speed, "");
		ibsa_topology_free(topology);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_of_ibnetdiscover_is_parsed),
		cmocka_unit_test(nodes_get_the_guids_of_ibsim),
		cmocka_unit_test(slot_of_an_adapter_is_parsed),
		cmocka_unit_test(message_shows_a_bad_line_to_its_end),
		cmocka_unit_test(mistakes_are_refused_with_their_line),
		cmocka_unit_test(file_with_a_nul_byte_is_refused),
		cmocka_unit_test(files_are_included_from_beside_them),
		cmocka_unit_test(rates_are_read_in_every_form),
		cmocka_unit_test(unknown_rates_in_files_are_refused),
		cmocka_unit_test(a_wrong_file_is_explained),
		cmocka_unit_test(a_file_without_a_topology_is_refused),
		cmocka_unit_test(a_link_without_a_rate_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
