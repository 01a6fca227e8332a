/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses topology files: the output of ibnetdiscover, and the shorter form
 * that ibsim accepts. This file handles lines, nodes and includes;
 * net_parse_link.c handles ports and cables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/read_file.h"
#include "topology/net_check.h"

static int read_lines(struct net_parser *parser, const char *text, size_t len);

int ibsa__net_parse_fail(struct net_parser *parser, int err, const char *format,
			 ...)
{
	char what[192];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return ibsa__fail(parser->error, err, "%.60s:%u: %s",
			  parser->source->name, parser->line, what);
}

static int out_of_memory(struct net_parser *parser)
{
	return ibsa__fail(parser->error, -ENOMEM, "%.60s: out of memory",
			  parser->source->name);
}

/*
 * Begin to parse a text. If @owned is not NULL, it is the text's memory and is
 * freed with it.
 */
static int push_source(struct net_parser *parser, const char *name, char *owned)
{
	const size_t len = strlen(name) + 1;
	struct source *source = ibsa__calloc(1, sizeof(*source) + len);

	if (!source)
		return ibsa__fail(parser->error, -ENOMEM, "out of memory");
	memcpy(source->name, name, len);
	source->owned = owned;
	source->next = parser->sources;
	parser->sources = source;
	parser->source = source;
	parser->line = 0;
	return 0;
}

/*
 * Write the message for a file that cannot be read. -ENXIO is the error of
 * open(2) for a socket.
 */
static int read_failed(const char *path, int err, struct ibsa_error *error)
{
	if (err == -ENXIO)
		return ibsa__fail(error, -EINVAL,
				  "%.100s is not a file but a socket or a "
				  "device; a fabric server is named unix:PATH",
				  path);
	return ibsa__fail(error, err, "cannot read %.100s: %s", path,
			  strerror(-err));
}

/* Parse the file @path, which is the main file or an included one. */
static int parse_file(struct net_parser *parser, const char *path)
{
	size_t len = 0;
	char *text = NULL;
	int err = ibsa__read_file(path, &text, &len);

	if (err)
		return read_failed(path, err, parser->error);
	err = push_source(parser, path, text);
	if (err) {
		ibsa__free(text);
		return err;
	}
	return read_lines(parser, text, len);
}

/*
 * Return: the path of an included file, which the caller frees. A name without
 * a leading slash is relative to the directory of the including file.
 */
static char *include_path(const struct net_parser *parser, struct slice file)
{
	const char *slash = strrchr(parser->source->name, '/');
	const size_t dir = file.text[0] == '/' || !slash
				   ? 0
				   : (size_t)(slash - parser->source->name + 1);
	char *path = ibsa__calloc(dir + file.len + 1, 1);

	if (path) {
		memcpy(path, parser->source->name, dir);
		memcpy(path + dir, file.text, file.len);
	}
	return path;
}

static int parse_include(struct net_parser *parser, struct cursor line)
{
	const struct source *outer = parser->source;
	const unsigned int outer_line = parser->line;
	struct slice file;
	char *path;
	int err;

	if (!outer->owned)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"an include line works only in a file, not in a text");
	if (parser->depth == NET_INCLUDE_DEPTH_MAX)
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "includes are nested more than %d "
					    "deep; does a file include itself?",
					    NET_INCLUDE_DEPTH_MAX);
	if (parser->includes == NET_INCLUDES_MAX)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"more than %d files are included; does "
			"a file include itself?",
			NET_INCLUDES_MAX);
	ibsa__cursor_skip_blanks(&line);
	if (!ibsa__cursor_quoted(&line, &file)) {
		while (line.end > line.at && cursor_is_blank(line.end[-1]))
			line.end--;
		file = (struct slice){ line.at, (size_t)(line.end - line.at) };
	}
	if (!file.len)
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "a file name must follow include");
	path = include_path(parser, file);
	if (!path)
		return out_of_memory(parser);
	parser->depth++;
	parser->includes++;
	err = parse_file(parser, path);
	parser->depth--;
	parser->source = outer;
	parser->line = outer_line;
	ibsa__free(path);
	return err;
}

/*
 * Parse the description in the comment after a node's id, for example: #
 * "description" base port 0 lid 2 lmc 0. A description may contain quotes, so
 * the last quote of the line ends it.
 */
static struct slice take_description(struct cursor *line)
{
	const char *hash = memchr(line->at, '#',
				  (size_t)(line->end - line->at));
	struct cursor rest = { hash ? hash + 1 : line->end, line->end };
	const char *close;

	ibsa__cursor_skip_blanks(&rest);
	if (rest.at == rest.end || *rest.at != '"')
		return (struct slice){ NULL, 0 };
	close = memrchr(rest.at, '"', (size_t)(rest.end - rest.at));
	line->at = close + 1;
	if (close == rest.at)
		return (struct slice){ NULL, 0 };
	return (struct slice){ rest.at + 1, (size_t)(close - rest.at - 1) };
}

/*
 * Parse the number after @word in a line's comment into @out; 0 if there is
 * none. Return: false: it is out of range.
 */
static bool comment_number(struct cursor line, const char *word, uint64_t max,
			   uint64_t *out)
{
	*out = 0;
	if (!ibsa__cursor_find(&line, word))
		return true;
	ibsa__cursor_skip_blanks(&line);
	return !ibsa__cursor_number(&line, 10, out) || *out <= max;
}

/* Store the line of the next node. */
static int node_line_store(struct net_parser *parser)
{
	const size_t count = parser->net.node_count;

	if (ARRAY_GROW(parser->node_lines, parser->node_line_room, count + 1))
		return out_of_memory(parser);
	parser->node_lines[count] = (struct node_line){
		.source = parser->source,
		.line = parser->line,
		.zero_guid = parser->attributes.zero_guid,
	};
	return 0;
}

static int parsed_node_add(struct net_parser *parser, struct net_node *node,
			   struct slice id, struct slice name)
{
	int err = node_line_store(parser);

	if (err)
		return err;

	node->id = ibsa__net_string(&parser->net, id.text, id.len);
	node->name = node->id;
	if (node->id && name.len)
		node->name = ibsa__net_string(&parser->net, name.text,
					      name.len);
	if (!node->name)
		return out_of_memory(parser);
	err = ibsa__net_node_add(&parser->net, node, &parser->node);
	if (err == -EEXIST)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"the node id \"%.64s\" is used twice; "
			"node ids must differ",
			node->id);
	if (err == -ENOSPC)
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "too many nodes or ports: a subnet "
					    "has at most %d nodes",
					    NET_NODES_MAX);
	return err ? out_of_memory(parser) : 0;
}

int ibsa__net_parse_lid(struct net_parser *parser, struct cursor line,
			struct net_port *port)
{
	uint64_t lid;
	uint64_t lmc;

	if (!comment_number(line, "lid", parser->lid_max, &lid) ||
	    !comment_number(line, "lmc", 7, &lmc))
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"the LID or the LMC in this line is too "
			"large: a LID is at most %" PRIu32 ", an LMC at most 7",
			parser->lid_max);
	port->lid = (uint32_t)lid;
	port->lmc = (uint8_t)lmc;
	return 0;
}

/*
 * Parse what follows a switch's description, which belongs to port 0 of the
 * switch: its kind, base or enhanced, its LID and LMC.
 */
static int parse_switch_port(struct net_parser *parser, struct cursor line)
{
	struct net_node *node = &parser->net.nodes[parser->node];
	struct cursor rest = line;

	node->has_enhanced_port0 = ibsa__cursor_find(&rest, "enhanced port 0");
	return ibsa__net_parse_lid(parser, line,
				   &parser->net.ports[node->first_port]);
}

/*
 * Parse the line of a node, for example: Switch 24 "S-..." # "description"
 * base port 0 lid 2 lmc 0
 */
static int parse_node(struct net_parser *parser, struct cursor line,
		      uint8_t type)
{
	struct net_node node = {
		.type = type,
		.guid = parser->attributes.guid,
		.image_guid = parser->attributes.image_guid,
		.vendor = parser->attributes.vendor,
		.device = parser->attributes.device,
	};
	uint64_t ports;
	struct slice id;
	int err;

	ibsa__cursor_skip_blanks(&line);
	if (!ibsa__cursor_number(&line, 10, &ports) || !ports ||
	    ports > NET_NODE_PORTS_MAX)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"the number of ports, 1 to %d, must "
			"follow the node's type",
			NET_NODE_PORTS_MAX);
	ibsa__cursor_skip_blanks(&line);
	if (!ibsa__cursor_quoted(&line, &id) || !id.len)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"a node id in quotes must follow the "
			"number of ports");
	node.port_count = (uint8_t)ports;
	err = parsed_node_add(parser, &node, id, take_description(&line));
	parser->attributes = (struct node_attributes){ 0 };
	if (!err)
		err = ibsa__net_parse_slot(parser, line,
					   &parser->net.nodes[parser->node]);
	if (err || type != IBSA_NODE_SWITCH)
		return err;
	return parse_switch_port(parser, line);
}

enum attribute {
	ATTRIBUTE_VENDOR,
	ATTRIBUTE_DEVICE,
	ATTRIBUTE_IMAGE_GUID,
	ATTRIBUTE_GUID,
	ATTRIBUTE_WIDTH,
	ATTRIBUTE_SPEED,
};

/* clang-format off */
static const struct {
	const char *name;
	enum attribute attribute;
} attributes[] = {
	{ "vendid=", ATTRIBUTE_VENDOR },
	{ "devid=", ATTRIBUTE_DEVICE },
	{ "sysimgguid=", ATTRIBUTE_IMAGE_GUID },
	{ "switchguid=", ATTRIBUTE_GUID },
	{ "caguid=", ATTRIBUTE_GUID },
	{ "hcaguid=", ATTRIBUTE_GUID },
	{ "hcaguids=", ATTRIBUTE_GUID },
	{ "rtguid=", ATTRIBUTE_GUID },
	{ "width=", ATTRIBUTE_WIDTH },
	{ "speed=", ATTRIBUTE_SPEED },
};

static const struct {
	const char *name;
	uint8_t type;
} node_words[] = {
	{ "Switch", IBSA_NODE_SWITCH },
	{ "Ca", IBSA_NODE_CA },
	{ "Hca", IBSA_NODE_CA },
	{ "Rt", IBSA_NODE_ROUTER },
};

/*
 * First words of lines that are ignored: ibsim's console commands, and
 * headings in ibnetdiscover's output that is grouped by chassis.
 */
static const char *const ignored_words[] = {
	"do", "module", "pdebug", "Chassis", "Non-Chassis", "Topology",
	"Hostname:",
};
/* clang-format on */

/*
 * Parse the rest of a line name=NUMBER, after the name @index of the table: an
 * attribute of the next node or of the links after the line.
 */
static int set_attribute(struct net_parser *parser, struct cursor line,
			 size_t index)
{
	struct node_attributes *const of = &parser->attributes;
	uint64_t value;

	ibsa__cursor_skip_blanks(&line);
	if (!ibsa__cursor_number(&line, 0, &value))
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "a number must follow %s",
					    attributes[index].name);
	switch (attributes[index].attribute) {
	case ATTRIBUTE_VENDOR:
		of->vendor = (uint32_t)value & 0xffffff;
		break;
	case ATTRIBUTE_DEVICE:
		of->device = (uint32_t)value & 0xffff;
		break;
	case ATTRIBUTE_IMAGE_GUID:
		of->image_guid = value;
		break;
	case ATTRIBUTE_GUID:
		of->guid = value;
		of->zero_guid = (struct source_line){
			.source = value ? NULL : parser->source,
			.line = parser->line,
		};
		break;
	case ATTRIBUTE_WIDTH:
		parser->rate.width = (uint8_t)ibsa__width_of_lanes(value);
		if (parser->rate.width == WIDTH_UNKNOWN)
			return ibsa__net_parse_fail(
				parser, -EINVAL,
				"a width must be 1, 2, 4, 8 "
				"or 12 lanes");
		break;
	case ATTRIBUTE_SPEED:
		parser->rate.speed = (uint8_t)ibsa__speed_of_bits(value);
		if (parser->rate.speed == SPEED_UNKNOWN)
			return ibsa__net_parse_fail(
				parser, -EINVAL,
				"a speed must be a sum of 1 "
				"(SDR), 2 (DDR) and 4 (QDR)");
		break;
	}
	return 0;
}

/*
 * Skip @word in a line if a blank or the end of the line follows it. Return:
 * whether it was skipped.
 */
static bool word_skip(struct cursor *line, const char *word)
{
	struct cursor here = *line;

	if (!cursor_take(&here, word))
		return false;
	if (here.at < here.end && !cursor_is_blank(*here.at))
		return false;
	*line = here;
	return true;
}

static bool is_ignored(struct cursor line)
{
	const size_t count = sizeof(ignored_words) / sizeof(ignored_words[0]);

	if (line.at == line.end || *line.at == '#')
		return true;
	for (size_t i = 0; i < count; i++) {
		if (word_skip(&line, ignored_words[i]))
			return true;
	}
	return false;
}

/*
 * Whether @line is a line of ibnetdiscover -l, -H, -S or -R, or of its report
 * of ports (-p).
 */
static bool is_of_list(struct cursor line)
{
	static const char *const words[] = { "Switch", "Ca", "Router",
					     "SW",     "CA", "RT" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct cursor here = line;

		if (!word_skip(&here, words[i]))
			continue;
		ibsa__cursor_skip_blanks(&here);
		return i >= 3 || cursor_take(&here, ":");
	}
	return false;
}

static int parse_line(struct net_parser *parser, struct cursor line)
{
	const size_t attribute_count = sizeof(attributes) /
				       sizeof(attributes[0]);
	const size_t node_count = sizeof(node_words) / sizeof(node_words[0]);
	int shown;

	ibsa__cursor_skip_blanks(&line);
	shown = line.end - line.at < 40 ? (int)(line.end - line.at) : 40;
	if (line.at < line.end && *line.at == '[')
		return ibsa__net_parse_port(parser, line);
	for (size_t i = 0; i < attribute_count; i++) {
		if (cursor_take(&line, attributes[i].name))
			return set_attribute(parser, line, i);
	}
	if (is_of_list(line))
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"this is a list of nodes or ports, "
			"which has no links; run ibnetdiscover "
			"without -l, -H, -S, -R and -p");
	for (size_t i = 0; i < node_count; i++) {
		if (word_skip(&line, node_words[i].name))
			return parse_node(parser, line, node_words[i].type);
	}
	if (word_skip(&line, "include"))
		return parse_include(parser, line);
	if (is_ignored(line))
		return 0;
	return ibsa__net_parse_fail(
		parser, -EINVAL,
		"\"%.*s\" is not a line of a topology; "
		"expected a node, a port, an attribute such as "
		"caguid=NUMBER, or a # comment",
		shown, line.at);
}

static int read_lines(struct net_parser *parser, const char *text, size_t len)
{
	const char *const end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct cursor line = { text, newline ? newline : end };
		int err;

		parser->line++;
		if (memchr(line.at, '\0', (size_t)(line.end - line.at)))
			return ibsa__net_parse_fail(
				parser, -EINVAL,
				"the file contains a NUL byte; it "
				"is not a text file");
		err = parse_line(parser, line);
		if (err)
			return err;
		text = newline ? newline + 1 : end;
	}
	return 0;
}

static void free_sources(struct net_parser *parser)
{
	while (parser->sources) {
		struct source *source = parser->sources;

		parser->sources = source->next;
		ibsa__free(source->owned);
		ibsa__free(source);
	}
}

static int read_text(struct net_parser *parser, const struct net_input *from)
{
	int err = push_source(parser, from->path ? from->path : "(text)", NULL);

	return err ? err : read_lines(parser, from->text, from->len);
}

/* Write the message for two nodes with one GUID, at the line of the second. */
static int twins_refuse(struct net_parser *parser, const uint32_t twins[2])
{
	const struct net_node *nodes = parser->net.nodes;
	const struct node_line *first = &parser->node_lines[twins[0]];
	char file[64] = "line ";

	parser->source = parser->node_lines[twins[1]].source;
	parser->line = parser->node_lines[twins[1]].line;
	if (first->source != parser->source)
		snprintf(file, sizeof(file), "%.60s:", first->source->name);
	return ibsa__net_parse_fail(
		parser, -EINVAL,
		"\"%.32s\" and \"%.32s\" (%s%u) have the same "
		"GUID; GUIDs must differ",
		nodes[twins[1]].id, nodes[twins[0]].id, file, first->line);
}

static int parse_guids(struct net_parser *parser)
{
	uint32_t twins[2];
	int err = ibsa__net_guids_assign(&parser->net, twins);

	if (err == -EEXIST)
		return twins_refuse(parser, twins);
	return err ? out_of_memory(parser) : 0;
}

int ibsa__net_read(const struct net_input *from, struct ibsa_error *error,
		   struct net *out)
{
	struct net_parser parser = {
		.error = error,
		.node = NET_NONE,
		.lid_max = from->lid_max,
		.has_check = from->has_check,
		.has_unknown_rates = from->has_unknown_rates,
	};
	int err = from->text ? read_text(&parser, from)
			     : parse_file(&parser, from->path);

	if (!err)
		err = ibsa__net_parse_links(&parser);
	if (!err)
		err = parse_guids(&parser);
	if (!err && from->has_check && ibsa__net_check(&parser))
		err = out_of_memory(&parser);
	free_sources(&parser);
	ibsa__free(parser.port_lines);
	ibsa__free(parser.node_lines);
	if (err)
		ibsa__net_done(&parser.net);
	else
		*out = parser.net;
	return err;
}
