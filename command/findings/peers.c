/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check node: checks whether the SA has paths to a list of peers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "common/host.h"
#include "findings/node.h"
#include "output/fields.h"
#include "base/file_read.h"
#include "names/nodes.h"
#include "session/opa.h"
#include "session/own_port.h"
#include "session/query_wait.h"

enum { PEERS_MAX = 65536 };

/* Add a peer. An error message begins with @where, such as "FILE, line 3: ". */
static int peer_add(struct node_check *check, const char *text,
		    const char *where)
{
	struct ibsa_error error;
	struct peer *peer;

	if (check->peer_count == PEERS_MAX)
		return fail_usage("more than %d peers; give fewer", PEERS_MAX);
	peer = list_add(&check->peers, &check->peer_count, sizeof(*peer));
	if (!peer)
		return no_memory();
	peer->text = strdup(text);
	if (!peer->text)
		return no_memory();
	if (target_parse_any(peer->text, &peer->what, &error) == 0)
		return CLI_DONE;
	return fail_usage("%s%s", where, error.text);
}

/* Add the peer in a line, unless the line is wrong, for the reason @why. */
static int line_add(struct node_check *check, const char *text, const char *why,
		    unsigned long number)
{
	char where[320];

	snprintf(where, sizeof(where),
		 "%.256s, line %lu: ", check->options->peers, number);
	if (why)
		return fail_usage("%s%s", where, why);
	return *text ? peer_add(check, text, where) : CLI_DONE;
}

static int file_parse(struct node_check *check, const char *path)
{
	struct lines lines;
	int status = lines_open(&lines, "--peers", path,
				check->cli->open.deadline_ms);
	const char *text, *why;

	if (status != CLI_DONE)
		return status;
	while (status == CLI_DONE && (text = lines_next(&lines, &why)))
		status = line_add(check, text, why, lines.number);
	lines_close(&lines);
	return status;
}

int peers_parse(struct node_check *check)
{
	const struct cli *cli = check->cli;
	int status = CLI_DONE;

	for (int i = 2; i < cli->arg_count && status == CLI_DONE; i++)
		status = peer_add(check, cli->args[i], "");
	if (check->options->peers && status == CLI_DONE)
		status = file_parse(check, check->options->peers);
	return status;
}

static bool is_opa(const struct ibsa_port_state *port)
{
	return port->link == IBSA_LINK_OPA;
}

int peers_fit(const struct node_check *check)
{
	const struct machine *machine = &check->machine;
	struct ibsa_error error;
	struct target target;
	bool has_opa = false;

	for (size_t i = 0; i < machine->count; i++)
		has_opa |= is_opa(&machine->ports[i].state);
	for (size_t i = 0; i < check->peer_count && !has_opa; i++) {
		if (target_parse(check->peers[i].text, &target, &error) == 0)
			continue;
		return fail_usage("%s", error.text);
	}
	return CLI_DONE;
}

void peers_free(struct node_check *check)
{
	for (size_t i = 0; i < check->peer_count; i++)
		free(check->peers[i].text);
	free(check->peers);
}

/* A port of a peer, to which one of this machine's ports must have a path. */
struct trip {
	struct peer *peer;
	char device[64 + 1]; /* of the peer, or "" */
	/*
	 * the SA of the querying port has a NodeRecord of the peer's port;
	 * false if the peer is given by a GID or GUID, because no NodeRecord is
	 * queried then
	 */
	bool is_local;
	int reach;
	int err;
	uint16_t status;
	unsigned int tries;
};

/* The ports that one port of this machine must reach. */
struct trips {
	struct node_check *check;
	const struct port_check *from;
	struct ibsa_port_state own;
	/* The SA's NodeRecords, which are needed if a peer is given by name. */
	struct ibsa_node *nodes;
	size_t node_count;
	struct trip *all;
	size_t count;
	struct ibsa_gid *gids; /* of each trip */
	size_t gid_count;
	size_t left;	       /* without an answer */
	struct ibsa_error why; /* a query failed */
};

static void nodes_take(const struct ibsa_reply *reply, void *arg)
{
	struct trips *trips = arg;

	ibsa_reply_explain(reply, &trips->why);
	answers_count(trips->check->answers, reply->err, reply->status);
	if (ibsa_reply_outcome(reply) != IBSA_OUTCOME_OK)
		return;
	trips->check->out_of_memory |= !records_decode(reply, &trips->nodes,
						       &trips->node_count);
}

static int trip_nodes_query(struct trips *trips)
{
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct ibsa_client *client = trips->from->client;
	const int err = ibsa_query_wait(client, &query, nodes_take, trips);

	if (err || own_port_in_nodes(trips->check->cli, client, trips->nodes,
				     trips->node_count, &trips->why))
		return err;
	return -EPROTO;
}

static void trip_add(struct trips *trips, struct peer *peer,
		     const struct ibsa_node *node, const struct ibsa_gid *gid)
{
	const char *device = node ? ibsa__host_device(node->node_description)
				  : "";
	struct ibsa_gid *to = list_add(&trips->gids, &trips->gid_count,
				       sizeof(*to));
	struct trip *trip =
		to ? list_add(&trips->all, &trips->count, sizeof(*trip)) : NULL;

	if (!trip) {
		trips->check->out_of_memory = true;
		return;
	}
	*trip = (struct trip){ .peer = peer, .is_local = node != NULL };
	snprintf(trip->device, sizeof(trip->device), "%s", device);
	*to = *gid;
	peer->is_known = true;
}

static void port_trip_add(struct trips *trips, struct peer *peer,
			  const struct ibsa_node *node)
{
	const struct ibsa_gid gid = fields_guid_gid(&trips->own.gid,
						    node->port_guid);

	trip_add(trips, peer, node, &gid);
}

static bool has_device(const struct ibsa_node *node, const char *device)
{
	return strcmp(ibsa__host_device(node->node_description), device) == 0;
}

/*
 * Add the ports of a peer that is given by name: the ports whose device has
 * the same name as this machine's device; if there are none, all ports of the
 * peer.
 */
static void name_trips_add(struct trips *trips, struct peer *peer)
{
	const char *own = trips->from->port->device;
	struct node_ports ports;
	bool has_same = false;

	if (ibsa_host_select(trips->nodes, trips->node_count, peer->what.name,
			     &ports.all, &ports.count) != 0) {
		trips->check->out_of_memory = true;
		return;
	}
	if (!trips->check->is_wrong &&
	    node_ports_check(&ports, "", peer->what.name) != CLI_DONE)
		trips->check->is_wrong = true;
	for (size_t i = 0; i < ports.count; i++)
		has_same |= has_device(&ports.all[i], own);
	for (size_t i = 0; i < ports.count; i++)
		if (!has_same || has_device(&ports.all[i], own))
			port_trip_add(trips, peer, &ports.all[i]);
	node_ports_free(&ports);
}

/*
 * Add the port with a peer's LID. NodeRecords have no room for a LID of more
 * than 16 bits: on Omni-Path a GID encodes it, and on InfiniBand no port has
 * it. Return: 0, even if no port has the LID; or the error of the query.
 */
static int lid_trip_add(struct trips *trips, struct peer *peer, uint32_t lid)
{
	const struct ibsa_gid gid = opa_gid_of_lid(&trips->own.gid, lid);
	const struct ibsa_node match = { .lid = (uint16_t)lid };
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = &match,
		.mask = IBSA_NODE_CM(lid),
	};
	struct ibsa_node node;
	int err = 0;

	if (lid < IBSA_LID_PERMISSIVE)
		err = ibsa_query_one(trips->from->client, &query, &trips->why,
				     &node, sizeof(node));
	else if (is_opa(&trips->own))
		trip_add(trips, peer, NULL, &gid);
	if (!err && lid < IBSA_LID_PERMISSIVE)
		port_trip_add(trips, peer, &node);
	return err == -ENOENT ? 0 : err;
}

static int peer_trips_add(struct trips *trips, struct peer *peer)
{
	struct target what = peer->what;
	struct ibsa_gid gid = what.gid;
	struct ibsa_error error;

	if (is_opa(&trips->own))
		(void)target_parse_opa(peer->text, &what, &error);
	switch (what.kind) {
	case TARGET_NAME:
		name_trips_add(trips, peer);
		return 0;
	case TARGET_LID:
		return lid_trip_add(trips, peer, what.lid);
	case TARGET_GUID:
		gid = fields_guid_gid(&trips->own.gid, what.guid);
		break;
	case TARGET_SELF:
		gid = trips->own.gid;
		break;
	default:
		break;
	}
	trip_add(trips, peer, NULL, &gid);
	return 0;
}

static void trip_note(const struct ibsa_reach_answer *answer, void *arg)
{
	struct trips *trips = arg;
	struct trip *trip = &trips->all[answer->index];

	trip->reach = answer->reach;
	trip->err = answer->err;
	trip->status = answer->status;
	trip->tries = answer->tries;
	trips->left = answer->left;
	answers_count(trips->check->answers, answer->err, answer->status);
	if (answer->reach == IBSA_REACH_YES)
		trip->peer->is_reached = true;
	progress_count(&trips->check->progress, trips->count - trips->left,
		       trips->count);
}

/* Send the queries for all paths. Return: 0; or the error from sending one. */
static int trip_paths_query(struct trips *trips)
{
	int err = 0;

	if (trips->count == 0 || trips->check->out_of_memory)
		return 0;
	trips->left = trips->count;
	err = ibsa_reach_start(trips->from->client, NULL, trips->gids,
			       trips->count, trip_note, trips, NULL);
	if (err)
		return err;
	while (trips->left)
		(void)ibsa_wait(trips->from->client, -1);
	return 0;
}

/*
 * Report a missing path. If the SA of the querying port has no record of the
 * peer's port, nothing is reported: the peer's port may be in the subnet of
 * another port of this machine.
 */
static void trip_report(struct trips *trips, const struct trip *trip)
{
	const struct machine_port *port = trips->from->port;
	char from[MACHINE_PORT_TEXT], to[IBSA_VALUE_TEXT];
	char device[IBSA_VALUE_TEXT];

	if (trip->reach != IBSA_REACH_NO || !trip->is_local)
		return;
	trip->peer->is_reported = true;
	node_finding_add(trips->check, IBSA_FINDING_PEER_UNREACHABLE, port,
			 trip->peer->text, "no path from %s to %s%s%s",
			 machine_port_text(port, from),
			 fields_clean(trip->peer->text, to),
			 trip->device[0] ? " " : "",
			 fields_clean(trip->device, device));
}

/*
 * Report how many paths the SA did not answer for, with the reason of the
 * first one.
 */
static void unknown_report(struct trips *trips)
{
	const struct machine_port *port = trips->from->port;
	char from[MACHINE_PORT_TEXT];
	size_t count = 0;
	const struct trip *first = NULL;
	struct ibsa_error why;

	for (size_t i = trips->count; i-- > 0;) {
		if (trips->all[i].reach != IBSA_REACH_UNKNOWN)
			continue;
		first = &trips->all[i];
		first->peer->is_reported = true;
		first->peer->is_unknown = true;
		count++;
	}
	if (!first)
		return;
	ibsa_reply_explain(&(struct ibsa_reply){ .err = first->err,
						 .tries = first->tries },
			   &why);
	node_finding_add(trips->check, IBSA_FINDING_NO_SA, port, NULL,
			 "%zu of %zu queries for paths from %s failed, "
			 "the first with: %s",
			 count, trips->count, machine_port_text(port, from),
			 first->err ? why.text
				    : ibsa_status_text(first->status));
}

static bool has_names(const struct node_check *check)
{
	for (size_t i = 0; i < check->peer_count; i++)
		if (check->peers[i].what.kind == TARGET_NAME)
			return true;
	return false;
}

static void query_failed(struct trips *trips, int err)
{
	char from[MACHINE_PORT_TEXT];

	node_finding_add(trips->check, IBSA_FINDING_NO_SA, trips->from->port,
			 NULL, "the peers cannot be checked from %s: %s",
			 machine_port_text(trips->from->port, from),
			 *trips->why.text ? trips->why.text : strerror(-err));
	for (size_t i = 0; i < trips->check->peer_count; i++)
		trips->check->peers[i].is_unknown = true;
}

/* Find the ports of all peers, and query the paths to them. */
static int trips_run(struct trips *trips)
{
	struct node_check *check = trips->check;
	int err = ibsa_port_get(trips->from->client, false, &trips->own);

	if (!err && has_names(check))
		err = trip_nodes_query(trips);
	for (size_t i = 0; i < check->peer_count && !err; i++)
		err = peer_trips_add(trips, &check->peers[i]);
	return err || check->is_wrong ? err : trip_paths_query(trips);
}

/*
 * Check all peers from one port of this machine. Return: whether the paths
 * could be queried.
 */
static bool port_peers_check(struct node_check *check,
			     const struct port_check *from)
{
	struct trips trips = { .check = check, .from = from };
	int err = trips_run(&trips);

	if (err)
		query_failed(&trips, err);
	for (size_t i = 0; i < trips.count && !err; i++)
		trip_report(&trips, &trips.all[i]);
	if (!err)
		unknown_report(&trips);
	free(trips.nodes);
	free(trips.all);
	free(trips.gids);
	return !err;
}

/* The check, and the peer of which absent ports are reported. */
struct absent_peer {
	struct node_check *check;
	const struct peer *peer;
};

static void absence_add(const char *detail, void *arg)
{
	const struct absent_peer *absent = arg;

	node_finding_add(absent->check, IBSA_FINDING_PEER_UNREACHABLE, NULL,
			 absent->peer->text, "%s", detail);
}

/*
 * Report where the topology of --expect has the ports of a peer that the SA
 * does not show. Return: whether a port was reported.
 */
static bool absence_report(struct node_check *check, const struct peer *peer)
{
	struct absent_peer absent = { check, peer };
	struct port_check *from = check->ports;
	size_t count;

	if (!check->expected.topology || peer->what.kind != TARGET_NAME)
		return false;
	while (from < check->ports + check->machine.count && !from->client)
		from++;
	if (from == check->ports + check->machine.count)
		return false;
	check->cli->client = from->client;
	count = expected_tell(check->cli, &check->expected, peer->what.name,
			      absence_add, &absent);
	/* A client that cannot wait any more has been closed. */
	from->client = check->cli->client;
	check->cli->client = NULL;
	return count;
}

static void unreached_add(struct node_check *check, const struct peer *peer)
{
	char clean[IBSA_VALUE_TEXT];

	fields_clean(peer->text, clean);
	if (peer->is_known)
		node_finding_add(check, IBSA_FINDING_PEER_UNREACHABLE, NULL,
				 peer->text, "no path to %s", clean);
	else if (absence_report(check, peer))
		return;
	else if (peer->what.kind == TARGET_LID)
		node_finding_add(check, IBSA_FINDING_PEER_UNREACHABLE, NULL,
				 peer->text,
				 "no SA shows a port with the LID %u",
				 (unsigned int)peer->what.lid);
	else
		node_finding_add(check, IBSA_FINDING_PEER_UNREACHABLE, NULL,
				 peer->text,
				 "no SA shows a node with the name '%s'%s",
				 clean,
				 strpbrk(peer->text, "*?[")
					 ? ", and a peer is not a pattern: "
					   "name each host"
					 : "");
}

/* Report the peers to which no port of this machine has a path. */
static void unreached_report(struct node_check *check)
{
	for (size_t i = 0; i < check->peer_count; i++)
		if (!check->peers[i].is_reached && !check->peers[i].is_reported)
			unreached_add(check, &check->peers[i]);
}

void peers_check(struct node_check *check)
{
	bool is_complete = true;
	size_t asked = 0;

	if (check->peer_count == 0)
		return;
	for (size_t i = 0; i < check->machine.count && !check->is_wrong; i++) {
		if (!check->ports[i].client)
			continue;
		is_complete &= port_peers_check(check, &check->ports[i]);
		asked++;
	}
	if (asked && is_complete)
		unreached_report(check);
	if (!asked && !check->why.text[0])
		node_finding_add(
			check, IBSA_FINDING_PEER_UNREACHABLE, NULL, NULL,
			"%zu %s not checked: no port can query an SA",
			check->peer_count,
			check->peer_count == 1 ? "peer was" : "peers were");
}
