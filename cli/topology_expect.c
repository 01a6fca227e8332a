/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology from the output of ibsa topology -j: records as those from which the
 * output was made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/records.h>
#include <ibsa/sa.h>
#include <ibsa/text.h>

#include "json_read.h"
#include "topology.h"

enum { NAME_BYTES = 65, SPEED_BYTES = 8 };

/* One end of a link, or a node without a link. */
struct end {
	uint64_t node_guid;
	uint64_t port_guid;
	uint64_t node_type;
	uint64_t num_ports;
	uint64_t port;
	uint64_t lid;
	uint64_t lmc;
	char name[NAME_BYTES];
};

/* A row: this end and its peer. */
struct row {
	struct end ends[2];
	uint64_t
		count; /* of the ends that report the link; 0: there is no link */
	char width[SPEED_BYTES];
	char speed[SPEED_BYTES];
};

struct expect {
	const char *path;
	struct row row; /* being read */
	struct row *rows;
	size_t count;
	size_t room;
	struct ibsa_topology *topology;
};

/* Results of the reader's functions. */
enum { EXPECT_MEMORY = 1, EXPECT_NUMBER, EXPECT_MEMBER };

/* Numbers by name; those of the peer have the prefix "peer_". */
static uint64_t *number_of(struct row *row, const char *name)
{
	static const struct {
		const char *name;
		size_t at;
	} numbers[] = {
		{ "node_guid", offsetof(struct end, node_guid) },
		{ "port_guid", offsetof(struct end, port_guid) },
		{ "node_type", offsetof(struct end, node_type) },
		{ "num_ports", offsetof(struct end, num_ports) },
		{ "port", offsetof(struct end, port) },
		{ "lid", offsetof(struct end, lid) },
		{ "lmc", offsetof(struct end, lmc) },
	};
	const bool is_peer = strncmp(name, "peer_", 5) == 0;
	char *end = (char *)&row->ends[is_peer];

	if (strcmp(name, "ends") == 0)
		return &row->count;
	name += is_peer ? 5 : 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (*name == *numbers[i].name &&
		    strcmp(name, numbers[i].name) == 0)
			return (uint64_t *)(void *)(end + numbers[i].at);
	return NULL;
}

static int member_take(const char *name, const char *value, void *arg)
{
	struct expect *expect = arg;
	struct row *row = &expect->row;
	uint64_t *number = number_of(row, name);

	if (!value)
		return 0;
	if (number)
		return ibsa_number_parse(value, 64, number) == 0
			       ? 0
			       : EXPECT_NUMBER;
	if (strcmp(name, "node") == 0)
		snprintf(row->ends[0].name, NAME_BYTES, "%s", value);
	else if (strcmp(name, "peer") == 0)
		snprintf(row->ends[1].name, NAME_BYTES, "%s", value);
	else if (strcmp(name, "width") == 0)
		snprintf(row->width, SPEED_BYTES, "%s", value);
	else if (strcmp(name, "speed") == 0)
		snprintf(row->speed, SPEED_BYTES, "%s", value);
	return 0;
}

static bool end_is_complete(const struct end *end)
{
	return end->node_guid && end->node_type && end->lid &&
	       end->lid <= UINT16_MAX && end->lmc <= IBSA_LMC_MAX &&
	       end->port <= UINT8_MAX && end->num_ports <= UINT8_MAX;
}

static int row_take(void *arg)
{
	struct expect *expect = arg;
	const struct row row = expect->row;

	expect->row = (struct row){ .count = 0 };
	if (!end_is_complete(&row.ends[0]) ||
	    (row.count &&
	     (!end_is_complete(&row.ends[1]) || !row.ends[0].port)))
		return EXPECT_MEMBER;
	if (expect->count == expect->room) {
		const size_t room = 2 * expect->room + 64;
		struct row *rows = reallocarray(expect->rows, room,
						sizeof(*rows));

		if (!rows)
			return EXPECT_MEMORY;
		expect->rows = rows;
		expect->room = room;
	}
	expect->rows[expect->count++] = row;
	return 0;
}

/* A switch has one NodeRecord, an adapter one for each port. */
static int by_record(const void *a, const void *b)
{
	const struct end *x = a;
	const struct end *y = b;

	if (x->node_guid != y->node_guid)
		return x->node_guid < y->node_guid ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

static int node_add(struct expect *expect, const struct end *end)
{
	struct ibsa_node node = {
		.lid = (uint16_t)end->lid,
		.node_type = (uint8_t)end->node_type,
		.num_ports = (uint8_t)end->num_ports,
		.node_guid = end->node_guid,
		.port_guid = end->port_guid,
		.local_port_num = (uint8_t)end->port,
	};

	memcpy(node.node_description, end->name, sizeof(end->name));
	return ibsa_topology_add(expect->topology, &ibsa_node_record, &node);
}

static int nodes_add(struct expect *expect)
{
	struct end *ends = calloc(2 * expect->count + 1, sizeof(*ends));
	size_t count = 0;
	int err = ends ? 0 : -ENOMEM;

	for (size_t i = 0; i < expect->count && !err; i++) {
		ends[count++] = expect->rows[i].ends[0];
		if (expect->rows[i].count)
			ends[count++] = expect->rows[i].ends[1];
	}
	if (count)
		qsort(ends, count, sizeof(*ends), by_record);
	for (size_t i = 0; i < count && !err; i++)
		if (i == 0 || by_record(&ends[i - 1], &ends[i]) != 0)
			err = node_add(expect, &ends[i]);
	free(ends);
	return err;
}

/* The active width and speed of a PortInfo. IBA vol 1, 14.2.5.6. */
static void rate_set(const struct row *row, struct ibsa_port_info *port)
{
	static const struct {
		const char *text;
		uint8_t bit;
	} widths[] = { { "1x", 1 },
		       { "4x", 2 },
		       { "8x", 4 },
		       { "12x", 8 },
		       { "2x", 16 } };
	static const struct {
		const char *text;
		uint8_t bit, ext, ext2;
	} speeds[] = {
		{ "SDR", 1, 0, 0 }, { "DDR", 2, 0, 0 }, { "QDR", 4, 0, 0 },
		{ "FDR", 4, 1, 0 }, { "EDR", 4, 2, 0 }, { "HDR", 4, 4, 0 },
		{ "NDR", 4, 8, 0 }, { "XDR", 4, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (strcmp(row->width, widths[i].text) == 0)
			port->link_width_active = widths[i].bit;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		if (strcmp(row->speed, speeds[i].text) != 0)
			continue;
		port->link_speed_active = speeds[i].bit;
		port->link_speed_ext_active = speeds[i].ext;
		port->link_speed_ext_active2 = speeds[i].ext2;
	}
}

static int port_add(struct expect *expect, const struct row *row, int index)
{
	const struct end *end = &row->ends[index];
	const bool is_switch = end->node_type == IBSA_NODE_SWITCH;
	struct ibsa_port_info port = {
		.endport_lid = (uint16_t)end->lid,
		.port_num = (uint8_t)end->port,
		.lid = is_switch ? 0 : (uint16_t)end->lid,
		.lmc = is_switch ? 0 : (uint8_t)end->lmc,
	};

	rate_set(row, &port);
	return ibsa_topology_add(expect->topology, &ibsa_port_info_record,
				 &port);
}

static int link_add(struct expect *expect, const struct end *from,
		    const struct end *to)
{
	const struct ibsa_link link = {
		.from_lid = (uint16_t)from->lid,
		.from_port = (uint8_t)from->port,
		.to_lid = (uint16_t)to->lid,
		.to_port = (uint8_t)to->port,
	};

	return ibsa_topology_add(expect->topology, &ibsa_link_record, &link);
}

static int row_add(struct expect *expect, const struct row *row)
{
	int err;

	if (!row->count)
		return 0;
	err = port_add(expect, row, 0);
	if (!err)
		err = port_add(expect, row, 1);
	if (!err)
		err = link_add(expect, &row->ends[0], &row->ends[1]);
	if (!err && row->count > 1)
		err = link_add(expect, &row->ends[1], &row->ends[0]);
	return err;
}

static int topology_make(struct expect *expect, struct ibsa_topology **out)
{
	int err = ibsa_topology_new(&expect->topology);

	if (!err)
		err = nodes_add(expect);
	for (size_t i = 0; i < expect->count && !err; i++)
		err = row_add(expect, &expect->rows[i]);
	if (!err)
		err = ibsa_topology_finish(expect->topology);
	if (err) {
		ibsa_topology_free(expect->topology);
		complain("out of memory");
		return CLI_DEVICE;
	}
	*out = expect->topology;
	return CLI_DONE;
}

static int result_explain(const struct expect *expect, int result, size_t line)
{
	if (result == EXPECT_MEMORY) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	complain(
		"--expect: %s:%zu: %s; write the file with ibsa topology -j or "
		"--net",
		expect->path, line,
		result == JSON_MALFORMED ? "the JSON is malformed"
		: result == EXPECT_NUMBER
			? "a member is not a number"
			: "an object lacks a member, or the "
			  "value of a member is out of range");
	return CLI_USAGE;
}

static int json_load(const char *path, char *text, struct ibsa_topology **out)
{
	struct expect expect = { .path = path };
	const struct json_reader reader = {
		.member = member_take,
		.end = row_take,
		.arg = &expect,
	};
	size_t line;
	int result = json_read(text, &reader, &line);
	int status = result ? result_explain(&expect, result, line)
			    : topology_make(&expect, out);

	free(expect.rows);
	return status;
}

/* Read a whole file. Return: the exit status; a failure is printed. */
static int file_read(const char *path, char **out)
{
	FILE *file = fopen(path, "re");
	size_t size = 0;
	ssize_t len = 0;

	*out = NULL;
	if (file)
		len = getdelim(out, &size, '\0', file);
	if (!file || (len < 0 && ferror(file))) {
		complain("--expect: cannot read '%s': %s", path,
			 strerror(errno));
		if (file)
			fclose(file);
		return CLI_USAGE;
	}
	fclose(file);
	if (len >= 0)
		return CLI_DONE;
	complain("--expect: '%s' is empty", path);
	return CLI_USAGE;
}

int topology_expect_load(const char *path, struct ibsa_topology **out)
{
	struct ibsa_error error = { .text = "" };
	char *text;
	int status = file_read(path, &text);
	int err;

	if (status == CLI_DONE && strchr("[{", text[strspn(text, " \t\r\n")])) {
		status = json_load(path, text, out);
	} else if (status == CLI_DONE) {
		err = ibsa_topology_load(path, &error, out);
		if (err)
			complain("--expect: %s", error.text);
		status = err ? CLI_USAGE : CLI_DONE;
	}
	free(text);
	return status;
}
