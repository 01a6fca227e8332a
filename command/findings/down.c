/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges the ports of this machine that are down. Such a port may be unused,
 * for example because it has no cable; but if the hosts like this one have the
 * rail, the rail is missing here.
 */
#include <stdlib.h>
#include <string.h>

#include "findings/node.h"
#include "graph/neighbors.h"

enum { SUBNETS_MAX = 4 };

/*
 * Report those ports that are down although the hosts like this one have the
 * rail, unless the file of roles says that they have no cable.
 */
static void lost_rails_report(struct node_check *check,
			      const struct port_check *from)
{
	struct neighbors neighbors;
	struct rail_finding rail;
	char more[sizeof(rail.what.text) + 2];
	size_t index = 0;

	if (neighbors_read(from->client, &from->port->state.gid, &neighbors))
		while (rails_next(&neighbors.rails, neighbors.host, &index,
				  &rail))
			for (size_t i = 0; i < check->machine.count; i++) {
				struct port_check *at = &check->ports[i];

				if (!at->is_doubtful ||
				    at->port->is_role_given ||
				    rail.kind != IBSA_FINDING_RAIL_MISSING ||
				    strcmp(at->port->device, rail.device) != 0)
					continue;
				snprintf(more, sizeof(more), "; %s",
					 rail.what.text);
				port_down_add(check, at->port, more);
				role_set_by_peers(&check->machine.ports[i]);
				at->is_doubtful = false;
			}
	neighbors_free(&neighbors);
}

static bool has_doubtful(const struct node_check *check)
{
	for (size_t i = 0; i < check->machine.count; i++)
		if (check->ports[i].is_doubtful &&
		    !check->ports[i].port->is_role_given)
			return true;
	return false;
}

/* Whether the port is in the same subnet as a port before it in the list. */
static bool is_seen(const struct node_check *check, size_t index)
{
	const uint8_t *own = check->ports[index].port->state.gid.raw;

	for (size_t i = 0; i < index; i++)
		if (check->ports[i].client &&
		    memcmp(check->ports[i].port->state.gid.raw, own, 8) == 0)
			return true;
	return false;
}

/*
 * Compare this host with the other hosts of each subnet, until no port that is
 * down is left to judge.
 */
static void peers_compare(struct node_check *check)
{
	size_t subnets = 0;

	for (size_t i = 0; i < check->machine.count && has_doubtful(check) &&
			   subnets < SUBNETS_MAX;
	     i++) {
		if (!check->ports[i].client || is_seen(check, i))
			continue;
		lost_rails_report(check, &check->ports[i]);
		subnets++;
	}
}

static bool has_active(const struct node_check *check)
{
	for (size_t i = 0; i < check->machine.count; i++)
		if (machine_port_is_active(check->ports[i].port))
			return true;
	return false;
}

/*
 * Judge a port that is down and was not reported as a missing rail: if it was
 * up before and has no given role, it is a warning; otherwise it is unused.
 */
static void rest_judge(struct node_check *check, struct port_check *at)
{
	if (!at->port->was_up || at->port->is_role_given) {
		at->left_out =
			"it is down, and nothing shows that it should be up";
		if (at->port->is_role_given)
			at->left_out = at->port->role_reason;
		return;
	}
	port_down_add(check, at->port, "; it was up before");
	if (check->count)
		check->findings[check->count - 1].finding.severity =
			IBSA_SEVERITY_WARNING;
}

void down_ports_check(struct node_check *check)
{
	const bool is_alone = !has_active(check);

	if (!is_alone)
		peers_compare(check);
	for (size_t i = 0; i < check->machine.count; i++) {
		struct port_check *at = &check->ports[i];

		if (!at->is_doubtful)
			continue;
		at->is_doubtful = false;
		if (is_alone)
			port_down_add(check, at->port, "");
		else
			rest_judge(check, at);
	}
}
