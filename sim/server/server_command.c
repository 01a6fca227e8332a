/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of text that change a served fabric, or ask what it has counted. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/server/server.h"

enum { NAME_MAX_CHARS = 256 };

/* A command that is being carried out. */
struct order {
	struct ibsa_fabric_server *server;
	struct ibsa_error *error;
	char *out;
	size_t room;
	size_t used;
};

static void put(struct order *order, const char *name, uint64_t value)
{
	char *at = order->out + order->used;
	const size_t room = order->room - order->used;
	int len;

	if (!room)
		return;
	len = snprintf(at, room, "%s %" PRIu64 "\n", name, value);
	order->used += len < 0 || (size_t)len >= room ? room - 1 : (size_t)len;
}

/* The rest of a line if it begins with @word, else NULL. */
static const char *after(const char *line, const char *word)
{
	const size_t len = strlen(word);

	line += strspn(line, " \t");
	if (strncmp(line, word, len) != 0)
		return NULL;
	line += len;
	if (*line && *line != ' ' && *line != '\t')
		return NULL;
	return line + strspn(line, " \t");
}

static int change_failed(struct order *order, const char *what, int err)
{
	char reason[64];

	switch (err) {
	case -ENODEV:
		return ibsa__fail(order->error, err,
				  "there is no %.128s in the fabric", what);
	case -ENXIO:
		return ibsa__fail(order->error, err,
				  "there is no port %.128s in the fabric: its "
				  "node has none of that number",
				  what);
	case -ENETDOWN:
		return ibsa__fail(order->error, err, "%.128s has no cable",
				  what);
	default:
		return ibsa__fail(order->error, err, "%.128s: %s", what,
				  ibsa__errno_text(-err, reason,
						   sizeof(reason)));
	}
}

static int set_link(struct order *order, const char *node, unsigned int port,
		    bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	return ibsa_fabric_port_set(order->server->fabric, node, port, &change);
}

/* NODE/PORT, the last slash of it. 0 or -EINVAL. */
static int place_split(struct order *order, const char *text,
		       char node[NAME_MAX_CHARS], unsigned int *port)
{
	const char *slash = strrchr(text, '/');
	unsigned long number;
	char *end;

	if (!slash || slash == text || slash - text >= NAME_MAX_CHARS ||
	    slash[1] < '0' || slash[1] > '9')
		return ibsa__fail(order->error, -EINVAL,
				  "%.64s is no NODE/PORT", text);
	number = strtoul(slash + 1, &end, 10);
	if (*end || number > UINT8_MAX)
		return ibsa__fail(order->error, -EINVAL,
				  "%.64s is no NODE/PORT", text);
	memcpy(node, text, (size_t)(slash - text));
	node[slash - text] = '\0';
	*port = (unsigned int)number;
	return 0;
}

static int order_link_speed(struct order *order, const char *args)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_RATE };
	const char *rate = strrchr(args, ' ');
	char place[NAME_MAX_CHARS + 8];
	char node[NAME_MAX_CHARS];
	unsigned int port = 0;
	int err;

	if (!rate || rate - args >= (ptrdiff_t)sizeof(place))
		return ibsa__fail(order->error, -EINVAL,
				  "link speed needs NODE/PORT and a rate, as "
				  "node1/1 1xSDR");
	snprintf(place, sizeof(place), "%.*s", (int)(rate - args), args);
	err = place_split(order, place, node, &port);
	if (err)
		return err;
	change.rate = rate + 1;
	err = ibsa_fabric_port_set(order->server->fabric, node, port, &change);
	if (err == -EINVAL)
		return ibsa__fail(
			order->error, err,
			"%.24s is not a rate of a link: it must be " RATE_CHOICES,
			change.rate);
	if (err == -ERANGE)
		return ibsa__fail(order->error, -EINVAL,
				  "%.128s and the port at the other end of its "
				  "cable do not both support %.24s",
				  place, change.rate);
	return err ? change_failed(order, place, err) : 0;
}

static int order_link(struct order *order, const char *args)
{
	const char *up = after(args, "up");
	const char *speed = after(args, "speed");
	const char *place = up ? up : after(args, "down");
	char node[NAME_MAX_CHARS];
	unsigned int port = 0;
	int err;

	if (speed)
		return order_link_speed(order, speed);
	if (!place)
		return ibsa__fail(order->error, -EINVAL,
				  "link needs up or down, and NODE/PORT; or "
				  "speed, NODE/PORT and a rate");
	err = place_split(order, place, node, &port);
	if (err)
		return err;
	err = set_link(order, node, port, up);
	return err ? change_failed(order, place, err) : 0;
}

/* Set all links of a node. Ports without a cable have none. */
static int set_links(struct order *order, uint32_t node, bool up)
{
	const struct topology *topo = &order->server->fabric->subnet.topo;
	const struct topo_node *at = &topo->nodes[node];

	for (unsigned int i = 1; i <= at->port_count; i++) {
		int err;

		if (topo->ports[at->first_port + i].cable == SIM_NONE)
			continue;
		err = set_link(order, at->id, i, up);
		if (err)
			return change_failed(order, at->id, err);
	}
	return 0;
}

static int order_node(struct order *order, const char *args)
{
	const char *add = after(args, "add");
	const char *name = add ? add : after(args, "remove");
	uint32_t node;

	if (!name || !*name)
		return ibsa__fail(order->error, -EINVAL,
				  "node needs add or remove, and NODE");
	node = ibsa__topology_find(&order->server->fabric->subnet.topo, name);
	if (node == SIM_NONE)
		return change_failed(order, name, -ENODEV);
	return set_links(order, node, add);
}

static int order_sm(struct order *order, const char *args)
{
	struct ibsa_fabric *fabric = order->server->fabric;
	const char *node = after(args, "move");
	const char *start = after(args, "start");
	const char *stop = after(args, "stop");
	int err;

	if (fabric->subnet.is_bare)
		return ibsa__fail(order->error, -EOPNOTSUPP,
				  "the fabric has no SM of its own");
	if (start ? !*start : stop && !*stop) {
		ibsa_fabric_sa_set(fabric, start);
		return 0;
	}
	if (!node || !*node)
		return ibsa__fail(order->error, -EINVAL,
				  "sm needs move NODE, start or stop");
	err = ibsa_fabric_sa_move(fabric, node);
	return err ? change_failed(order, node, err) : 0;
}

static int order_fault(struct order *order, const char *args)
{
	struct ibsa_fabric *fabric = order->server->fabric;
	struct ibsa_fault fault = { .percent = 0 };
	int err;

	if (!strcmp(args, "none")) {
		for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
			fault.kind = (enum ibsa_fault_kind)kind;
			(void)!ibsa_fabric_fault(fabric, &fault);
		}
		return 0;
	}
	err = ibsa_fault_parse(args, &fault, order->error);
	return err ? err : ibsa_fabric_fault(fabric, &fault);
}

static const char *const drop_names[IBSA_DROP_REASONS] = {
	[IBSA_DROP_NO_ROUTE] = "drops_no_route",
	[IBSA_DROP_PORT_DOWN] = "drops_port_down",
	[IBSA_DROP_NO_LID] = "drops_no_lid",
	[IBSA_DROP_HOP_LIMIT] = "drops_hop_limit",
	[IBSA_DROP_NO_AGENT] = "drops_no_agent",
	[IBSA_DROP_PKEY] = "drops_pkey",
	[IBSA_DROP_QUEUE_FULL] = "drops_queue_full",
};

static int order_stats(struct order *order, const char *args)
{
	const struct ibsa_fabric_server_stats *served = &order->server->stats;
	struct ibsa_fabric_stats stats;

	if (*args)
		return ibsa__fail(order->error, -EINVAL,
				  "stats takes no argument");
	ibsa_fabric_stats_get(order->server->fabric, &stats);
	put(order, "clients", served->clients);
	put(order, "accepted", served->accepted);
	put(order, "disconnected", served->disconnected);
	put(order, "packets_in", served->packets_in);
	put(order, "packets_out", served->packets_out);
	put(order, "packets_refused", served->packets_refused);
	put(order, "requests", stats.requests);
	put(order, "answers", stats.answers);
	put(order, "unanswered", stats.unanswered);
	put(order, "lost", stats.lost);
	put(order, "dropped", stats.dropped);
	put(order, "most_in_flight", stats.most_in_flight);
	put(order, "reports", stats.reports);
	put(order, "reports_unanswered", stats.reports_unanswered);
	for (int i = 0; i < IBSA_DROP_REASONS; i++)
		put(order, drop_names[i], stats.drops[i]);
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		char name[32];

		snprintf(name, sizeof(name), "faults_%s",
			 ibsa__fault_name((enum ibsa_fault_kind)kind));
		put(order, name, stats.faults[kind]);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct order *order, const char *args);
} orders[] = {
	{ "link", order_link },	  { "node", order_node },   { "sm", order_sm },
	{ "fault", order_fault }, { "stats", order_stats },
};

int ibsa_fabric_server_command(struct ibsa_fabric_server *server,
			       const char *line, char *out, size_t room,
			       struct ibsa_error *error)
{
	struct order order = {
		.server = server,
		.error = error,
		.out = out,
		.room = room,
	};

	if (room)
		*out = '\0';
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const char *args = after(line, orders[i].name);
		int err;

		if (!args)
			continue;
		err = orders[i].run(&order, args);
		server->has_changed = true;
		return err;
	}
	return ibsa__fail(error, -EINVAL,
			  "%.64s is no command: they are link, node, sm, fault "
			  "and stats",
			  line);
}
