/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of topology files, while it reads. */
#ifndef SIM_TOPOLOGY_PARSE_H
#define SIM_TOPOLOGY_PARSE_H

#include "sim/topology/cursor.h"
#include "sim/topology/topology.h"

/* A text being read, kept until all links have been followed. */
struct source {
	struct source *next;
	char *owned; /* the text, if we read it from a file */
	char name[];
};

/* One line that says where a port's cable goes. */
struct port_line {
	const struct source *source;
	struct slice remote;
	uint64_t guid; /* as the line has it; 0: it has none */
	uint64_t remote_guid;
	uint32_t line;
	uint32_t port; /* index */
	uint16_t remote_port;
	struct link_rate rate;
	bool has_odd_rate; /* one that is not understood */
};

/* A line of a source, which is NULL for none. */
struct place {
	const struct source *source;
	uint32_t line;
};

/* The line that a node stands in, and the one that gives it GUID 0. */
struct node_line {
	const struct source *source;
	uint32_t line;
	struct place zero_guid;
};

/* What the lines ahead of a node say of it; 0 if they do not. */
struct node_attributes {
	uint64_t guid;
	struct place zero_guid;
	uint64_t image_guid;
	uint32_t vendor;
	uint32_t device;
};

struct parser {
	struct topology topo;
	struct ibsa_error *error;
	struct source *sources;
	const struct source *source; /* being read */
	unsigned int line;
	unsigned int depth;
	unsigned int includes;
	uint32_t lid_max;
	struct node_attributes attributes; /* of the next node */
	uint32_t node;			   /* that port lines belong to */
	struct link_rate rate;		   /* of links that do not say */
	bool has_check; /* what can be read all the same is a finding */
	struct port_line *port_lines;
	size_t port_line_count;
	size_t port_line_room;
	struct node_line *node_lines; /* of each node */
	size_t node_line_room;
};

/* Room for "the node's id"[port] in a sentence. */
enum { PORT_TEXT = 72 };

/* Refuse what stands at the current line. Return: @err. */
int ibsa__parse_fail(struct parser *parser, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* All of a file; @out is the caller's to free. Return: 0 or an error. */
int ibsa__read_file(const char *path, char **out, size_t *out_len);

/* "the node's id"[port], for a sentence. Return: @out. */
const char *ibsa__port_text(const struct topology *topo, uint32_t index,
			    char out[PORT_TEXT]);

/* One line that begins with "[": a port and its cable. */
int ibsa__parse_port(struct parser *parser, struct cursor line);

/* Follow the cables of all port lines. */
int ibsa__parse_links(struct parser *parser);

#endif
