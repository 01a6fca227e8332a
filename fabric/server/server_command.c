/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the text commands that change the fabric of a fabric server, or read
 * its counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fabric/server/server.h"

/* A text command while it runs, and the buffer for its output. */
struct command {
	struct ibsa_fabric_server *server;
	struct ibsa_error *error;
	char *out;
	size_t room;
	size_t used;
};

static void stat_put(struct command *command, const char *name, uint64_t value)
{
	char *at = command->out + command->used;
	const size_t room = command->room - command->used;
	int len;

	if (!room)
		return;
	len = snprintf(at, room, "%s %" PRIu64 "\n", name, value);
	command->used += len < 0 || (size_t)len >= room ? room - 1
							: (size_t)len;
}

/*
 * Skip the word @word at the beginning of @line. Return: the rest of @line, or
 * NULL if it does not begin with @word.
 */
static const char *word_skip(const char *line, const char *word)
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

int ibsa__change_failed(const char *what, int err, struct ibsa_error *error)
{
	switch (err) {
	case -ENODEV:
		return ibsa__fail(
			error, err,
			"cannot find %.128s: the fabric has no such node",
			what);
	case -ENXIO:
		return ibsa__fail(error, err,
				  "the fabric has no port %.128s: the node "
				  "has no port with that number",
				  what);
	case -ENETDOWN:
		return ibsa__fail(error, err, "no cable is connected to %.128s",
				  what);
	default:
		return ibsa__fail(error, err, "%.128s: %s", what,
				  ibsa__errno_text(-err).bytes);
	}
}

static int link_set(struct command *command, const char *node,
		    unsigned int port, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	return ibsa_fabric_port_set(command->server->fabric, node, port,
				    &change);
}

int ibsa__port_name_split(const char *text, char node[NODE_MAX_CHARS],
			  unsigned int *port, struct ibsa_error *error)
{
	const char *slash = strrchr(text, '/');
	unsigned long number;
	char *end;

	if (!slash || slash == text || slash - text >= NODE_MAX_CHARS ||
	    slash[1] < '0' || slash[1] > '9')
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not a port: write NODE/PORT, "
				  "such as node1/1",
				  text);
	number = strtoul(slash + 1, &end, 10);
	if (!number && !*end)
		return ibsa__fail(
			error, -EINVAL,
			"'%.64s' has no cable: give a port number from "
			"1 on",
			text);
	if (*end || number > UINT8_MAX)
		return ibsa__fail(error, -EINVAL,
				  "'%.64s' is not a port: write NODE/PORT, "
				  "such as node1/1",
				  text);
	memcpy(node, text, (size_t)(slash - text));
	node[slash - text] = '\0';
	*port = (unsigned int)number;
	return 0;
}

static int command_link_speed(struct command *command, const char *args)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_RATE };
	const char *rate = strrchr(args, ' ');
	char port_name[NODE_MAX_CHARS + 8];
	char node[NODE_MAX_CHARS];
	unsigned int port = 0;
	int err;

	if (!rate || rate - args >= (ptrdiff_t)sizeof(port_name))
		return ibsa__fail(command->error, -EINVAL,
				  "link speed needs NODE/PORT and a rate, "
				  "such as node1/1 1xSDR");
	snprintf(port_name, sizeof(port_name), "%.*s", (int)(rate - args),
		 args);
	err = ibsa__port_name_split(port_name, node, &port, command->error);
	if (err)
		return err;
	change.rate = rate + 1;
	err = ibsa_fabric_port_set(command->server->fabric, node, port,
				   &change);
	if (err == -EINVAL)
		return ibsa__fail(
			command->error, err,
			"%.24s is not a rate of a link: use " RATE_CHOICES,
			change.rate);
	if (err == -ERANGE)
		return ibsa__fail(command->error, -EINVAL,
				  "%.128s and the port at the other end of its "
				  "cable do not both support %.24s",
				  port_name, change.rate);
	return err ? ibsa__change_failed(port_name, err, command->error) : 0;
}

static int command_link(struct command *command, const char *args)
{
	const char *up = word_skip(args, "up");
	const char *speed = word_skip(args, "speed");
	const char *port_name = up ? up : word_skip(args, "down");
	char node[NODE_MAX_CHARS];
	unsigned int port = 0;
	int err;

	if (speed)
		return command_link_speed(command, speed);
	if (!port_name)
		return ibsa__fail(command->error, -EINVAL,
				  "link needs 'up NODE/PORT', 'down NODE/PORT' "
				  "or 'speed NODE/PORT RATE'");
	err = ibsa__port_name_split(port_name, node, &port, command->error);
	if (err)
		return err;
	err = link_set(command, node, port, up);
	return err ? ibsa__change_failed(port_name, err, command->error) : 0;
}

/* Take all links of a node down or up. Ports without a cable are skipped. */
static int node_set_links(struct command *command, uint32_t node, bool up)
{
	const struct topology *topo =
		&command->server->fabric->first.subnet.topo;
	const struct topo_node *at = &topo->nodes[node];

	for (unsigned int i = 1; i <= at->port_count; i++) {
		int err;

		if (topo->ports[at->first_port + i].cable == NO_INDEX)
			continue;
		err = link_set(command, at->id, i, up);
		if (err)
			return ibsa__change_failed(at->id, err, command->error);
	}
	return 0;
}

static int command_node(struct command *command, const char *args)
{
	const char *add = word_skip(args, "add");
	const char *name = add ? add : word_skip(args, "remove");
	uint32_t node;

	if (!name || !*name)
		return ibsa__fail(command->error, -EINVAL,
				  "node needs 'add NODE' or 'remove NODE'");
	node = ibsa__topology_find(&command->server->fabric->first.subnet.topo,
				   name);
	if (node == NO_INDEX)
		return ibsa__change_failed(name, -ENODEV, command->error);
	return node_set_links(command, node, add);
}

static int command_sm(struct command *command, const char *args)
{
	struct ibsa_fabric *fabric = command->server->fabric;
	const char *node = word_skip(args, "move");
	const char *start = word_skip(args, "start");
	const char *stop = word_skip(args, "stop");
	int err;

	if (fabric->first.subnet.is_bare)
		return ibsa__fail(
			command->error, -EOPNOTSUPP,
			"the fabric has no embedded SM: it was "
			"started with --sa none, or loaded with no_sa");
	if (start ? !*start : stop && !*stop) {
		ibsa_fabric_sa_set(fabric, start);
		return 0;
	}
	if (!node || !*node)
		return ibsa__fail(command->error, -EINVAL,
				  "sm needs 'move NODE', 'start' or 'stop'");
	err = ibsa_fabric_sa_move(fabric, node);
	if (err == -ENETDOWN)
		return ibsa__fail(command->error, err,
				  "the SM cannot move to %.128s: none of its "
				  "ports has a link that is up",
				  node);
	return err ? ibsa__change_failed(node, err, command->error) : 0;
}

static int command_fault(struct command *command, const char *args)
{
	struct ibsa_fabric *fabric = command->server->fabric;
	struct ibsa_fault fault = { .percent = 0 };
	int err;

	if (!strcmp(args, "none")) {
		for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
			fault.kind = (enum ibsa_fault_kind)kind;
			(void)!ibsa_fabric_fault(fabric, &fault);
		}
		return 0;
	}
	err = ibsa_fault_parse(args, &fault, command->error);
	return err ? err : ibsa_fabric_fault(fabric, &fault);
}

static int command_errors(struct command *command, const char *args)
{
	return ibsa__fabric_errors(command->server->fabric, args,
				   command->error);
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

static int command_stats(struct command *command, const char *args)
{
	struct ibsa_fabric_server_stats counts;
	struct ibsa_fabric_stats stats;

	if (*args)
		return ibsa__fail(command->error, -EINVAL,
				  "stats takes no argument");
	ibsa_fabric_server_stats_get(command->server, &counts);
	ibsa_fabric_stats_get(command->server->fabric, &stats);
	stat_put(command, "clients", counts.clients);
	stat_put(command, "accepted", counts.accepted);
	stat_put(command, "disconnected", counts.disconnected);
	stat_put(command, "packets_in", counts.packets_in);
	stat_put(command, "packets_out", counts.packets_out);
	stat_put(command, "packets_refused", counts.packets_refused);
	stat_put(command, "requests", stats.requests);
	stat_put(command, "answers", stats.answers);
	stat_put(command, "unanswered", stats.unanswered);
	stat_put(command, "most_in_flight", stats.most_in_flight);
	stat_put(command, "reports", stats.reports);
	stat_put(command, "reports_unanswered", stats.reports_unanswered);
	for (int i = 0; i < IBSA_DROP_REASONS; i++)
		stat_put(command, drop_names[i], stats.drops[i]);
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		char name[32];

		snprintf(name, sizeof(name), "faults_%s",
			 ibsa__fault_name((enum ibsa_fault_kind)kind));
		stat_put(command, name, stats.faults[kind]);
	}
	return 0;
}

static int command_sysfs(struct command *command, const char *args)
{
	return ibsa__fabric_tree(command->server->fabric, args, command->out,
				 command->room, command->error);
}

/*
 * @only_reads: the command changes nothing, and clients need not get the states
 * of ports after it
 */
static const struct {
	const char *name;
	int (*run)(struct command *command, const char *args);
	bool only_reads;
} commands[] = {
	{ "link", command_link, false },     { "node", command_node, false },
	{ "sm", command_sm, false },	     { "fault", command_fault, false },
	{ "errors", command_errors, false }, { "stats", command_stats, true },
	{ "sysfs", command_sysfs, true },
};

bool ibsa__fabric_command_changes(const char *line)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].only_reads && word_skip(line, commands[i].name))
			return false;
	return true;
}

int ibsa_fabric_server_command(struct ibsa_fabric_server *server,
			       const char *line, char *out, size_t room,
			       struct ibsa_error *error)
{
	struct command command = {
		.server = server,
		.error = error,
		.out = out,
		.room = room,
	};

	if (room)
		*out = '\0';
	if (!ibsa__server_is_ours(server->server))
		return ibsa__fail(error, -EINVAL,
				  "the server belongs to the parent process");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *args = word_skip(line, commands[i].name);
		int err;

		if (!args)
			continue;
		err = commands[i].run(&command, args);
		if (commands[i].only_reads)
			return err;
		ibsa__server_changed(server->server);
		/*
		 * The program may poll the server's fd instead of waiting in
		 * the server: make the fd readable.
		 */
		ibsa_fabric_server_wake(server);
		return err;
	}
	return ibsa__fail(error, -EINVAL,
			  "unknown command '%.64s': use link, node, sm, "
			  "fault, errors, stats or sysfs",
			  line);
}
