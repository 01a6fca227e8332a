/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of ibsa page, which writes the data of a fabric into an HTML page. */
#ifndef COMMAND_PAGE_H
#define COMMAND_PAGE_H

#include "findings/fabric.h"
#include "graph/topology.h"

/*
 * Writes JSON (RFC 8259) that is valid inside a script element of HTML, whatever
 * the texts contain. @needs_comma: a comma must precede the next value, because
 * a value precedes it in the same object or array.
 */
struct page_json {
	FILE *file;
	bool needs_comma;
};

/*
 * Each function writes one value. @name is the member's name in an object,
 * which has lower-case letters and '_' only; NULL in an array.
 */
void page_open(struct page_json *json, const char *name, char bracket);
void page_close(struct page_json *json, char bracket);
void page_number(struct page_json *json, const char *name, uint64_t number);
void page_null(struct page_json *json, const char *name);

/* A text from outside, cleaned by ibsa__text_clean(). */
void page_text(struct page_json *json, const char *name, const char *text);

/* A text of 0x and this number of digits. */
void page_hex(struct page_json *json, const char *name, uint64_t number,
	      int digits);

/*
 * A port that the page shows: port 0 of a switch; of another node, a port that
 * has a GUID or a link.
 */
struct page_port {
	size_t node;
	unsigned int number;
	struct ibsa_topology_port port;
};

/**
 * struct page - what the page shows, and where it is written
 * @check: the topology and its findings; without a client if it has a file
 * @view:  the same topology, with the names of --node-name-map
 * @ports: @port_count ports, ordered by node and number
 * @by_guid: the same ports, ordered by port GUID
 * @here:  index of this port in @ports, or SIZE_MAX
 */
struct page {
	struct cli *cli;
	struct fabric_check check;
	struct topology_view view;
	struct page_port *ports;
	const struct page_port **by_guid;
	size_t port_count;
	size_t here;
	struct page_json json;
};

/*
 * Fill the members of @page about ports: @ports, @by_guid and @here. Return:
 * the exit status; a failure is printed.
 */
int page_ports_find(struct page *page);

/*
 * Return: the index in the member ports of @page, for a node index and port
 * number, or for a port GUID; SIZE_MAX: there is no such port.
 */
size_t page_port_find(const struct page *page, size_t node,
		      unsigned int number);
size_t page_port_find_guid(const struct page *page, uint64_t guid);

/* Write the nodes, ports, links and findings. */
void page_topology(struct page *page);

/*
 * Query and write the partitions, services, multicast groups, SMs and the
 * latency of the SA. If a query fails, a message is printed, which is also
 * written into the page. Return: the exit status; CLI_DONE unless the client is
 * lost or there is no memory.
 */
int page_records(struct page *page);

/* The page before and after its data; made of the files in command/page. */
extern const char page_head[];
extern const char page_tail[];

#endif
