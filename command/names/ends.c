/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the ports that a target of ibsa path stands for, and pairs of ports. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ibsa/device.h>

#include "base/list.h"
#include "common/host.h"
#include "session/opa.h"
#include "session/query_wait.h"
#include "names/ends.h"
#include "output/fields.h"

static int end_add(struct ends *ends, const struct end *end)
{
	return list_put(&ends->all, &ends->count, end, sizeof(*end));
}

static int port_add(struct ends *ends, const struct ibsa_gid *own,
		    const struct ibsa_node *node)
{
	struct end end = {
		.gid = fields_guid_gid(own, node->port_guid),
		.port = node->node_type == IBSA_NODE_CA && node->num_ports > 1
				? node->local_port_num
				: 0,
	};

	snprintf(end.node, sizeof(end.node), "%s", node->node_description);
	snprintf(end.device, sizeof(end.device), "%s",
		 ibsa__host_device(node->node_description));
	return end_add(ends, &end);
}

static int ports_add(struct ends *ends, const struct ibsa_gid *own,
		     const struct node_ports *ports)
{
	int status = CLI_DONE;

	for (size_t i = 0; i < ports->count && status == CLI_DONE; i++)
		status = port_add(ends, own, &ports->all[i]);
	return status;
}

/* Add the active ports of this machine that are in the subnet of @own. */
static int machine_ports(const struct ibsa_gid *own, struct ends *out)
{
	struct ibsa_device_list *list;
	int status = CLI_DONE;

	if (ibsa_devices_read(&list) != 0)
		return CLI_DONE;
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		for (size_t k = 0; k < device->port_count; k++) {
			const struct ibsa_port *port =
				ibsa_device_port_at(device, k);
			struct end end = { .gid = port->state->gid };

			if (port->err || !port->umad[0] ||
			    ibsa_port_gsi(list, port, NULL) ||
			    port->state->link == IBSA_LINK_ETHERNET ||
			    port->state->port_state != IBSA_PORT_ACTIVE ||
			    memcmp(&end.gid, own, sizeof(own->raw) / 2) != 0)
				continue;
			snprintf(end.device, sizeof(end.device), "%s",
				 device->name);
			if (status == CLI_DONE)
				status = end_add(out, &end);
		}
	}
	ibsa_devices_free(list);
	return status;
}

/* Whether -C names a host instead of an adapter, or is not given. */
static bool names_host(const char *name, const char *description)
{
	const size_t len = strcspn(description, " ");

	return !name || !*name ||
	       (strlen(name) == len &&
		strncasecmp(name, description, len) == 0);
}

/*
 * Find the ports of the host that @own belongs to, whose record is @node.
 * @nodes: all nodes; or NULL.
 */
static int host_ports(struct cli *cli, const struct nodes *nodes,
		      const struct ibsa_gid *own, const struct ibsa_node *node,
		      struct ends *out)
{
	const char *name = cli->open.device ? cli->open.device
					    : secure_getenv("IBSA_NODE");
	char host[sizeof(node->node_description)];
	struct node_ports ports;
	int status;

	if (!node || !node->node_description[0])
		return CLI_DONE;
	/* A description without a device is that of a host's only adapter. */
	if (cli->open.port || !names_host(name, node->node_description) ||
	    !ibsa__host_device(node->node_description)[0])
		return port_add(out, own, node);
	snprintf(host, sizeof(host), "%.*s",
		 (int)strcspn(node->node_description, " "),
		 node->node_description);
	status = nodes_find(cli, nodes, "", host, &ports);
	if (status == CLI_DONE)
		status = ports_add(out, own, &ports);
	node_ports_free(&ports);
	return status;
}

static int fabric_ports(struct cli *cli, const struct nodes *nodes,
			const struct ibsa_gid *own, struct ends *out)
{
	const uint64_t guid = fields_gid_guid(own);
	const struct ibsa_node match = { .port_guid = guid };
	struct nodes one = { .count = 0 };
	int status = nodes ? CLI_DONE
			   : nodes_query(cli, &match, IBSA_NODE_CM(port_guid),
					 &one);

	if (status == CLI_DONE)
		status = host_ports(cli, nodes, own,
				    nodes_at(nodes ? nodes : &one, guid), out);
	nodes_free(&one);
	return status;
}

/* Whether the ports belong to more than one device. */
static bool has_adapters(const struct ends *ends)
{
	for (size_t i = 1; i < ends->count; i++)
		if (strcmp(ends->all[i].device, ends->all[0].device) != 0)
			return true;
	return false;
}

int ends_own(struct cli *cli, const struct nodes *nodes, struct ends *out)
{
	const char *fabric = cli->open.fabric ? cli->open.fabric
					      : secure_getenv("IBSA_FABRIC");
	const bool is_named = cli->open.device || cli->open.port;
	struct end end = { .lid = 0 };
	int status;

	*out = (struct ends){ .count = 0 };
	status = own_gid_get(cli, &end.gid);
	if (status == CLI_DONE && fabric && *fabric)
		status = fabric_ports(cli, nodes, &end.gid, out);
	else if (status == CLI_DONE && !is_named)
		status = machine_ports(&end.gid, out);
	else if (status == CLI_DONE && cli->open.device)
		snprintf(end.device, sizeof(end.device), "%s",
			 cli->open.device);
	if (status == CLI_DONE && !has_adapters(out)) {
		if (out->count)
			memcpy(end.device, out->all[0].device,
			       sizeof(end.device));
		ends_free(out);
		status = end_add(out, &end);
	}
	return status;
}

static int guid_add(struct cli *cli, uint64_t guid, struct ends *out)
{
	struct end end = { .lid = 0 };
	struct ibsa_gid own;
	int status = own_gid_get(cli, &own);

	if (status != CLI_DONE)
		return status;
	end.gid = fields_guid_gid(&own, guid);
	return end_add(out, &end);
}

static int name_add(struct cli *cli, const struct nodes *nodes,
		    const char *name, struct ends *out)
{
	struct node_ports ports = { .count = 0 };
	struct ibsa_gid own;
	int status = own_gid_get(cli, &own);

	if (status == CLI_DONE)
		status = nodes_find(cli, nodes, "", name, &ports);
	if (status == CLI_DONE)
		status = ports_add(out, &own, &ports);
	node_ports_free(&ports);
	return status;
}

int ends_find(struct cli *cli, const struct nodes *nodes,
	      const struct target *target, struct ends *out)
{
	struct end end = { .lid = target->lid, .gid = target->gid };

	*out = (struct ends){ .count = 0 };
	switch (target->kind) {
	case TARGET_SELF:
		return ends_own(cli, nodes, out);
	case TARGET_NAME:
		return name_add(cli, nodes, target->name, out);
	case TARGET_GUID:
		return guid_add(cli, target->guid, out);
	default:
		return end_add(out, &end);
	}
}

void ends_free(struct ends *ends)
{
	free(ends->all);
	*ends = (struct ends){ .count = 0 };
}

/* Source: Linux, sa_convert_path_opa_to_ib(). */
int ends_to_gids(struct cli *cli, struct ends *ends, size_t count)
{
	struct ibsa_gid own;
	bool is_long = false;
	int status;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < ends[i].count; k++)
			is_long |= ends[i].all[k].lid > IBSA_LID_UNICAST_MAX;
	if (!is_long)
		return CLI_DONE;
	status = own_gid_get(cli, &own);
	for (size_t i = 0; i < count && status == CLI_DONE; i++) {
		for (size_t k = 0; k < ends[i].count; k++) {
			struct end *end = &ends[i].all[k];

			if (!end->lid)
				continue;
			end->gid = opa_gid_of_lid(&own, end->lid);
			end->lid = 0;
		}
	}
	return status;
}

static bool is_same_device(const struct end *src, const struct end *dst)
{
	return src->device[0] && strcmp(src->device, dst->device) == 0;
}

struct ends_pairs ends_pair(const struct ends *src, const struct ends *dst,
			    bool is_all)
{
	struct ends_pairs pairs = { .src = src, .dst = dst };

	for (size_t i = 0; i < src->count && !is_all; i++)
		for (size_t k = 0; k < dst->count; k++)
			pairs.is_by_device |= is_same_device(&src->all[i],
							     &dst->all[k]);
	return pairs;
}

bool ends_has_pair(const struct ends_pairs *pairs, const struct end *src,
		   const struct end *dst)
{
	return !pairs->is_by_device || is_same_device(src, dst);
}
