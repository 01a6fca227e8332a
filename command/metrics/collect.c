/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collects the values of ibsa metrics, those of the subnet manager first. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "graph/rails.h"
#include "metrics/metrics.h"
#include "metrics/options.h"
#include "session/own_port.h"

static void node_note(const struct ibsa_reply *reply, void *arg)
{
	struct metrics *metrics = arg;
	struct metrics_sm *sm = &metrics->sm;
	struct ibsa_node node;

	answers_count(&metrics->answers, reply->err, reply->status);
	if (ibsa_reply_decode(reply, 0, &node, sizeof(node)) != 0)
		return;
	sm->guid = node.port_guid;
	memcpy(sm->node, node.node_description, sizeof(node.node_description));
}

static void sms_note(const struct ibsa_reply *reply, void *arg)
{
	struct metrics *metrics = arg;
	struct metrics_sm *sm = &metrics->sm;
	struct ibsa_sm_info info;

	answers_count(&metrics->answers, reply->err, reply->status);
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &info, sizeof(info)) != 0)
			continue;
		if (info.sm_state < METRICS_SM_STATES)
			sm->by_state[info.sm_state]++;
		if (info.lid != sm->lid)
			continue;
		sm->is_listed = true;
		sm->guid = info.guid;
		sm->priority = info.priority;
		sm->state = info.sm_state;
	}
}

/*
 * Find the name of the SM by its NodeRecord: an SA may return SMInfoRecords
 * only to requests with the SM_Key.
 */
static void metrics_sm_read(struct metrics *metrics,
			    const struct port_check *at)
{
	const uint32_t lid = at->port->state.sm_lid;
	const struct ibsa_node match = { .lid = (uint16_t)lid };
	const struct ibsa_query node = {
		.record = &ibsa_node_record,
		.match = &match,
		.mask = IBSA_NODE_CM(lid),
	};
	const struct ibsa_query sms = {
		.record = &ibsa_sm_info_record,
		.method = IBSA_METHOD_GET_TABLE,
	};

	metrics->sm.lid = lid;
	if (lid && lid <= IBSA_LID_UNICAST_MAX &&
	    ibsa_query_wait(at->client, &node, node_note, metrics) != 0)
		metrics->sm.guid = 0;
	metrics->sm.has_list = ibsa_query_wait(at->client, &sms, sms_note,
					       metrics) == 0;
}

/* Return: the exit status. */
static int peers_take(struct node_check *check)
{
	const int status = peers_parse(check);

	if (status != CLI_DONE || check->peer_count <= METRICS_PEERS_MAX)
		return status;
	return fail_usage("more than %d peers: each is a time series; give "
			  "fewer peers",
			  METRICS_PEERS_MAX);
}

const struct port_check *metrics_port(const struct metrics *metrics)
{
	const struct node_check *check = &metrics->check;

	for (size_t i = 0; check->ports && i < check->machine.count; i++)
		if (check->ports[i].client)
			return &check->ports[i];
	return NULL;
}

struct topology_wait {
	struct answers *answers;
	struct ibsa_topology *topology;
	struct ibsa_error why;
	int err;
	bool has_ended;
};

static void topology_take(int err, struct ibsa_topology *topology,
			  const struct ibsa_reply *reply, void *arg)
{
	struct topology_wait *wait = arg;

	wait->has_ended = true;
	wait->topology = topology;
	wait->err = err;
	answers_count(wait->answers, reply->err, reply->status);
	if (err && err != -ENOMEM)
		ibsa_reply_explain(reply, &wait->why);
}

static void findings_count(struct metrics_fabric *fabric,
			   const struct ibsa_topology *topology)
{
	struct ibsa_finding finding;

	for (size_t i = 0; ibsa_topology_finding_at(topology, i, &finding) == 0;
	     i++)
		fabric->findings[finding.kind]++;
}

static void findings_name(struct metrics_fabric *fabric,
			  const struct ibsa_topology *topology,
			  enum ibsa_severity severity)
{
	struct ibsa_finding finding;

	for (size_t i = 0; fabric->named_count < METRICS_NAMED_MAX &&
			   ibsa_topology_finding_at(topology, i, &finding) == 0;
	     i++)
		if (finding.severity == severity)
			fabric->named[fabric->named_count++] = finding;
}

/* Set the roles of this machine's ports that the fabric tells. */
static void roles_set(struct metrics *metrics, const struct port_check *at,
		      struct ibsa_topology *topology)
{
	const struct rails rails = { .topology = topology,
				     .is_borrowed = true };
	struct ibsa_topology_node node;
	char host[HOST_TEXT];
	unsigned int port;
	size_t index;

	if (ibsa_topology_lid_find(topology, at->port->state.lid, &index,
				   &port) == 0 &&
	    ibsa_topology_node_at(topology, index, &node) == 0)
		rails_roles_set(at->client, &rails, host_of(node.name, host),
				metrics->check.machine.ports,
				metrics->check.machine.count);
}

/*
 * Read the fabric through the client of the port @at. @at is NULL if no port
 * has an SA that answers: nothing is read then. Return: whether the fabric was
 * read. If not, a message is printed, except that with @at NULL there is no
 * message if reading the ports has failed.
 */
static bool fabric_read(struct metrics *metrics, const struct port_check *at)
{
	struct topology_wait wait = { .answers = &metrics->answers };
	int err;

	if (!at) {
		if (metrics->is_complete)
			complain("cannot read the fabric: no port of this "
				 "machine receives a reply from an SA; see "
				 "ibsa doctor");
		return false;
	}
	err = ibsa_topology_read(at->client, NULL, topology_take, &wait);
	while (!err && !wait.has_ended)
		(void)ibsa_wait(at->client, -1);
	if (!err)
		err = wait.err;
	if (wait.topology)
		err = ibsa_topology_check(wait.topology, metrics->expected);
	if (wait.topology && !err &&
	    own_port_in_topology(metrics->cli, at->client, wait.topology,
				 &wait.why)) {
		metrics->fabric.is_known = true;
		roles_set(metrics, at, wait.topology);
		ibsa_topology_info_get(wait.topology, &metrics->fabric.info);
		findings_count(&metrics->fabric, wait.topology);
		findings_name(&metrics->fabric, wait.topology,
			      IBSA_SEVERITY_CRITICAL);
		findings_name(&metrics->fabric, wait.topology,
			      IBSA_SEVERITY_WARNING);
	} else {
		complain("cannot read the fabric: %s",
			 *wait.why.text ? wait.why.text : strerror(-err));
	}
	ibsa_topology_free(wait.topology);
	return metrics->fabric.is_known;
}

int metrics_collect(struct cli *cli, const struct ibsa_topology *expected,
		    struct metrics *out)
{
	const int64_t start = now_ns();
	const struct port_check *at;
	struct ibsa_error error;
	int status;

	*out = (struct metrics){
		.cli = cli,
		.expected = expected,
		.check = { .cli = cli, .options = &metrics_own(cli)->node },
	};
	out->check.answers = &out->answers;
	status = peers_take(&out->check);
	if (status != CLI_DONE)
		return status;
	status = node_check_run(&out->check, &error);
	if (status != CLI_DONE && error.text[0])
		complain("%s", error.text);
	if (status == CLI_DONE && out->check.why.text[0]) {
		complain("%s", out->check.why.text);
		status = CLI_DEVICE;
	}
	at = metrics_port(out);
	out->is_complete = status == CLI_DONE;
	if (at)
		metrics_sm_read(out, at);
	if (cli->arg_count == 1)
		out->is_complete &= fabric_read(out, at);
	out->seconds = (double)(now_ns() - start) / 1e9;
	return status;
}

void metrics_end(struct metrics *metrics)
{
	node_check_end(&metrics->check);
}
