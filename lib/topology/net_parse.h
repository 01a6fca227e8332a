/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of the topology parser. */
#ifndef TOPOLOGY_NET_PARSE_H
#define TOPOLOGY_NET_PARSE_H

#include "topology/net.h"
#include "text/cursor.h"

/*
 * A text that is being parsed. The text stays in memory until the cables of all
 * port lines have been connected.
 */
struct source {
	struct source *next;
	/*
	 * Memory of the text, if the parser has read it from a file; otherwise
	 * NULL.
	 */
	char *owned;
	char name[];
};

/*
 * A line of a topology file that contains a port and the other end of its
 * cable.
 */
struct port_line {
	const struct source *source;
	struct slice remote;
	/* The GUID in the line of the port; 0: the line has none. */
	uint64_t guid;
	uint64_t remote_guid;
	uint32_t line;
	uint32_t port; /* index */
	uint16_t remote_port;
	struct link_rate rate;
	/* The line contains a rate such as 4xQDR. */
	bool has_rate_word;
	/* The line contains a rate that is invalid or unknown. */
	bool has_odd_rate;
};

/*
 * A line of a topology file, for error messages; if the member source is NULL,
 * there is no line.
 */
struct source_line {
	const struct source *source;
	uint32_t line;
};

/*
 * The line of a node in the topology file, and the line that states 0 as its
 * GUID, if there is one.
 */
struct node_line {
	const struct source *source;
	uint32_t line;
	struct source_line zero_guid;
};

/*
 * Attributes of the next node, such as its GUID, from the lines before the
 * node's line. 0: not given.
 */
struct node_attributes {
	uint64_t guid;
	struct source_line zero_guid;
	uint64_t image_guid;
	uint32_t vendor;
	uint32_t device;
};

struct net_parser {
	struct net net;
	struct ibsa_error *error;
	struct source *sources;
	const struct source *source; /* being parsed */
	unsigned int line;
	unsigned int depth;
	unsigned int includes;
	uint32_t lid_max;
	struct node_attributes attributes; /* of the next node */
	/* Index of the node to which the following port lines belong. */
	uint32_t node;
	struct link_rate rate; /* of links without a rate */
	bool has_check; /* record findings instead of errors where possible */
	/*
	 * A link without a rate in the file has an unknown rate, not ibsim's
	 * default.
	 */
	bool has_unknown_rates;
	struct port_line *port_lines;
	size_t port_line_count;
	size_t port_line_room;
	struct node_line *node_lines; /* of each node */
	size_t node_line_room;
};

/* Size of a buffer for the text "node id"[port] in a message. */
enum { NET_PORT_TEXT = 72 };

/*
 * Set an error with the name of the current file and the line number. Return:
 * @err.
 */
int ibsa__net_parse_fail(struct net_parser *parser, int err, const char *format,
			 ...) __attribute__((format(printf, 3, 4)));

/*
 * Store the LID and LMC in the comment of a line, if it contains them. Return:
 * 0; -EINVAL.
 */
int ibsa__net_parse_lid(struct net_parser *parser, struct cursor line,
			struct net_port *port);

/*
 * Store the slot of the adapter, if the comment of a node's line gives it:
 * pci=0000:18:00.0 and numa=0. Return: 0; -EINVAL.
 */
int ibsa__net_parse_slot(struct net_parser *parser, struct cursor line,
			 struct net_node *node);

/* Write a port as "node id"[port] into @out, for a message. Return: @out. */
const char *ibsa__net_port_text(const struct net *net, uint32_t index,
				char out[NET_PORT_TEXT]);

/*
 * Parse a line of a topology file that begins with "[": a port and its cable.
 */
int ibsa__net_parse_port(struct net_parser *parser, struct cursor line);

/* Connect the cables of all port lines. */
int ibsa__net_parse_links(struct net_parser *parser);

#endif
