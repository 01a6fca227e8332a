/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports and cables of a topology file. */
#include <errno.h>
#include <stdio.h>

#include <ibsa/text.h>
#include <ibsa/types.h>

#include "base/array.h"
#include "base/error.h"
#include "topology/net_parse.h"

/*
 * Parse a port number in brackets, which may be followed by the number printed
 * on a chassis: [3][ext 7].
 */
static bool take_port_number(struct cursor *line, uint64_t *out)
{
	uint64_t external;

	if (!cursor_take(line, "[") || !ibsa__cursor_number(line, 10, out) ||
	    !cursor_take(line, "]"))
		return false;
	if (!cursor_take(line, "[ext "))
		return true;
	return ibsa__cursor_number(line, 10, &external) &&
	       cursor_take(line, "]");
}

/* (guid), if present. */
static bool take_guid(struct cursor *line, uint64_t *out)
{
	if (!cursor_take(line, "("))
		return true;
	return ibsa__cursor_number(line, 16, out) && cursor_take(line, ")");
}

/* Whether a word has the form of a rate, such as 4xQDR, 4x??? or ?????. */
static bool is_rate(struct cursor word)
{
	uint64_t lanes;

	return cursor_take(&word, "??") ||
	       (ibsa__cursor_number(&word, 10, &lanes) &&
		cursor_take(&word, "x"));
}

/*
 * Handle an invalid rate: it is an error, unless findings are recorded, or
 * unknown rates are accepted and the word contains ?. ibnetdiscover writes ?
 * in place of a width or speed that the port does not have.
 */
static int take_odd_rate(struct net_parser *parser, struct cursor word,
			 struct port_line *out)
{
	const int len = (int)(word.end - word.at);

	out->has_odd_rate = true;
	if (parser->has_check ||
	    (parser->has_unknown_rates && memchr(word.at, '?', (size_t)len)))
		return 0;
	return ibsa__net_parse_fail(
		parser, -EINVAL,
		is_rate(word) ? "%.*s is not a rate: use " RATE_CHOICES
			      : "%.*s: w is 1, 2, 4, 8 or 12 lanes; "
				"s is a sum of 1 (SDR), 2 (DDR) and "
				"4 (QDR), or 0 (QDR); e is a sum of 1 "
				"(FDR), 2 (EDR), 4 (HDR), 8 (NDR) and "
				"32 (XDR), or 0",
		len < 24 ? len : 24, word.at);
}

/*
 * Parse one of ibsim's options w=12 (lanes), s=2 (speed bits) and e=2
 * (extended speed bits; 0: none). Return: false: the value is unknown.
 */
static bool take_option(struct cursor word, struct link_rate *out)
{
	uint64_t value;
	const char name = *word.at++;

	if (!cursor_take(&word, "=") || !ibsa__cursor_number(&word, 0, &value))
		return true;
	switch (name) {
	case 'w':
		out->width = (uint8_t)ibsa__width_of_lanes(value);
		return out->width != WIDTH_UNKNOWN;
	case 's':
		out->speed = (uint8_t)ibsa__speed_of_bits(value);
		return out->speed != SPEED_UNKNOWN;
	case 'e':
		if (value)
			out->speed = (uint8_t)ibsa__speed_of_ext_bits(value);
		return out->speed != SPEED_UNKNOWN || !value;
	default:
		return true;
	}
}

/*
 * Parse a state, such as state=Init. A program other than ibsa does not write
 * such a word, so another value is an error.
 */
static int take_state(struct net_parser *parser, struct cursor word,
		      struct net_port *port)
{
	const size_t len = (size_t)(word.end - word.at);

	for (uint8_t i = IBSA_PORT_DOWN; i <= IBSA_PORT_ACTIVE; i++) {
		const char *name = ibsa_code_name(IBSA_SHOW_port_state, i);

		if (strlen(name) != len || memcmp(name, word.at, len) != 0)
			continue;
		port->state = i;
		return 0;
	}
	return ibsa__net_parse_fail(parser, -EINVAL,
				    "\"%.*s\" is not a state of a port: use "
				    "Down, Init, Armed or Active",
				    len < 24 ? (int)len : 24, word.at);
}

/*
 * Parse one word after the remote port. Other words after a rate are ignored:
 * ibnetdiscover -f repeats the rate as s= and w= with the codes of PortInfo,
 * which differ from those of ibsim's options.
 */
static int take_word(struct net_parser *parser, struct cursor word,
		     struct port_line *out)
{
	const size_t len = (size_t)(word.end - word.at);
	const bool is_rate_word = is_rate(word);
	struct link_rate rate = out->rate;

	if (cursor_take(&word, "state="))
		return take_state(parser, word, &parser->net.ports[out->port]);
	if (!is_rate_word && out->has_rate_word)
		return 0;
	out->has_rate_word = is_rate_word;
	if (is_rate_word ? !ibsa__rate_parse(word.at, len, &rate)
			 : !take_option(word, &rate))
		return take_odd_rate(parser, word, out);
	out->rate = rate;
	return 0;
}

/*
 * Parse the words after the remote port in the line of a port; they may be in
 * any order.
 */
static int take_words(struct net_parser *parser, struct cursor line,
		      struct port_line *out)
{
	int err = 0;

	while (ibsa__cursor_skip_blanks(&line), !err && line.at < line.end) {
		struct cursor word = { line.at, line.at };

		while (word.end < line.end && !cursor_is_blank(*word.end))
			word.end++;
		line.at = word.end;
		err = take_word(parser, word, out);
	}
	return err;
}

/*
 * Parse LIDs in the comment of a port's line, for example: # lid 4 lmc 0
 * "description" lid 2 4xSDR. LID and LMC before the description belong to this
 * port, those after it to the other end.
 */
static int take_lid(struct net_parser *parser, struct cursor line,
		    struct net_port *port)
{
	const char *quote = memchr(line.at, '"', (size_t)(line.end - line.at));
	const struct cursor own = { line.at, quote ? quote : line.end };

	return ibsa__net_parse_lid(parser, own, port);
}

static int port_line_store(struct net_parser *parser,
			   const struct port_line *line)
{
	if (ARRAY_GROW(parser->port_lines, parser->port_line_room,
		       parser->port_line_count + 1))
		return ibsa__fail(parser->error, -ENOMEM, "out of memory");
	parser->port_lines[parser->port_line_count++] = *line;
	return 0;
}

/*
 * Parse the port number and GUID after a remote node's id; without a number,
 * the port is 1.
 */
static int take_remote(struct net_parser *parser, struct cursor *line,
		       struct port_line *out)
{
	uint64_t number = 1;

	ibsa__cursor_skip_blanks(line);
	if (!ibsa__cursor_quoted(line, &out->remote))
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "the node id of the other end, in "
					    "quotes, must follow the port");
	if (line->at < line->end && *line->at == '[' &&
	    (!take_port_number(line, &number) || !number))
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"the port of the other end must be a "
			"number from 1 on, in brackets");
	if (!take_guid(line, &out->remote_guid))
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "a GUID in parentheses must be "
					    "hexadecimal");
	out->remote_port = number > UINT16_MAX ? UINT16_MAX : (uint16_t)number;
	return 0;
}

static int take_local(struct net_parser *parser, struct cursor *line,
		      struct port_line *out)
{
	const struct net_node *node = &parser->net.nodes[parser->node];
	uint64_t number;

	if (!take_port_number(line, &number) || !number)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"a port must be a number from 1 on, in "
			"brackets");
	if (number > node->port_count)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"\"%.48s\" has %d ports and no port "
			"%llu; correct one of the numbers",
			node->id, node->port_count, (unsigned long long)number);
	if (!take_guid(line, &out->guid))
		return ibsa__net_parse_fail(parser, -EINVAL,
					    "a GUID in parentheses must be "
					    "hexadecimal");
	out->port = node->first_port + (uint32_t)number;
	if (out->guid)
		parser->net.ports[out->port].guid = out->guid;
	return 0;
}

int ibsa__net_parse_port(struct net_parser *parser, struct cursor line)
{
	struct port_line out = {
		.source = parser->source,
		.line = parser->line,
	};
	int err;

	if (parser->node == NET_NONE)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"a port must follow its node, a line "
			"such as Switch 8 \"name\"");
	err = take_local(parser, &line, &out);
	if (!err)
		err = take_remote(parser, &line, &out);
	if (err)
		return err;
	if (parser->net.nodes[parser->node].type != IBSA_NODE_SWITCH)
		err = take_lid(parser, line, &parser->net.ports[out.port]);
	if (err)
		return err;
	/*
	 * Skip the description in the comment, which may contain words that
	 * look like a rate.
	 */
	for (const char *at = line.end; at > line.at; at--) {
		if (at[-1] == '"') {
			line.at = at;
			break;
		}
	}
	out.rate = parser->rate;
	err = take_words(parser, line, &out);
	return err ? err : port_line_store(parser, &out);
}

const char *ibsa__net_port_text(const struct net *net, uint32_t index,
				char out[NET_PORT_TEXT])
{
	const struct net_port *port = &net->ports[index];

	snprintf(out, NET_PORT_TEXT, "\"%.48s\"[%u]", net->nodes[port->node].id,
		 port->number);
	return out;
}

/*
 * Connect both ends of a cable. @line is the line of one end. If the other end
 * has a line, too, both must agree.
 */
static int cable_connect(struct net_parser *parser,
			 const struct port_line *line, uint32_t far)
{
	struct net *net = &parser->net;
	struct net_port *a = &net->ports[line->port];
	struct net_port *b = &net->ports[far];
	char a_text[NET_PORT_TEXT];
	char b_text[NET_PORT_TEXT];
	char taken_text[NET_PORT_TEXT];

	if (a->cable == far && b->cable == line->port)
		return 0;
	if (line->port == far)
		return ibsa__net_parse_fail(
			parser, -EINVAL, "port %s is cabled to itself",
			ibsa__net_port_text(net, far, a_text));
	if (a->cable == NET_NONE && b->cable == NET_NONE) {
		a->cable = far;
		b->cable = line->port;
		net->cable_count++;
		return 0;
	}
	ibsa__net_port_text(net, line->port, a_text);
	ibsa__net_port_text(net, far, b_text);
	if (a->cable != NET_NONE)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"%s is connected to %s in this line and to %s in "
			"another; a port has one cable",
			a_text, b_text,
			ibsa__net_port_text(net, a->cable, taken_text));
	return ibsa__net_parse_fail(
		parser, -EINVAL,
		"%s is connected to %s in this line, but that "
		"port is connected to %s; both ends must agree",
		a_text, b_text, ibsa__net_port_text(net, b->cable, taken_text));
}

static int port_line_connect(struct net_parser *parser,
			     const struct port_line *line)
{
	struct net *net = &parser->net;
	const uint32_t index = ibsa__net_node_by_id(net, line->remote.text,
						    line->remote.len);
	const int shown = line->remote.len < 64 ? (int)line->remote.len : 64;
	const struct net_node *node;

	if (index == NET_NONE)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"there is no node \"%.*s\"; add it, "
			"or remove this line",
			shown, line->remote.text);
	node = &net->nodes[index];
	if (line->remote_port > node->port_count)
		return ibsa__net_parse_fail(
			parser, -EINVAL,
			"\"%.48s\" has %d ports and no port "
			"%d; correct one of the numbers",
			node->id, node->port_count, line->remote_port);
	if (line->remote_guid && node->type != IBSA_NODE_SWITCH)
		net->ports[node->first_port + line->remote_port].guid =
			line->remote_guid;
	return cable_connect(parser, line,
			     node->first_port + line->remote_port);
}

static uint8_t rate_min(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

/*
 * Set the rate of a link to the lower rate in its two lines. A line without a
 * rate does not limit it. The line of one end may give the width, and the line
 * of the other end the speed.
 */
static int link_set_rate(struct net_parser *parser,
			 const struct port_line *line)
{
	struct net *net = &parser->net;
	struct net_port *a = &net->ports[line->port];
	struct net_port *b = &net->ports[a->cable];

	a->rate.width = rate_min(a->rate.width, line->rate.width);
	a->rate.speed = rate_min(a->rate.speed, line->rate.speed);
	b->rate = a->rate;
	if (!a->rate.width || !a->rate.speed ||
	    ibsa__rate_rank(a->rate.width, a->rate.speed))
		return 0;
	return ibsa__net_parse_fail(parser, -EINVAL,
				    "%ux%s is not a rate: use " RATE_CHOICES,
				    ibsa__lanes_of_width(a->rate.width),
				    ibsa__speed_name(a->rate.speed));
}

/* ibsim's default for links without a rate. */
static void set_default_rates(struct net *net)
{
	for (uint32_t i = 0; i < net->port_count; i++) {
		struct link_rate *rate = &net->ports[i].rate;

		if (!rate->width)
			rate->width = WIDTH_4X;
		if (!rate->speed)
			rate->speed = SPEED_SDR;
	}
}

int ibsa__net_parse_links(struct net_parser *parser)
{
	int err = 0;

	for (size_t i = 0; i < parser->port_line_count && !err; i++) {
		const struct port_line *line = &parser->port_lines[i];

		parser->source = line->source;
		parser->line = line->line;
		err = port_line_connect(parser, line);
		if (!err)
			err = link_set_rate(parser, line);
	}
	if (!parser->has_unknown_rates)
		set_default_rates(&parser->net);
	return err;
}
