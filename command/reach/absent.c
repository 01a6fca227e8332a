/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the targets of ibsa reach that the SA does not show. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/host.h"
#include "reach/resolver.h"

/* Set the target to @port, which --expect has and the SA does not show. */
static int set_absent(struct target_resolver *resolver,
		      struct reach_targets *targets,
		      struct reach_target *target, const struct ibsa_node *port)
{
	if (!target)
		return CLI_DEVICE;
	target->absence = malloc(sizeof(*target->absence));
	if (!target->absence)
		return no_memory();
	expected_explain(resolver->cli, &resolver->expected, &resolver->nodes,
			 port, target->absence);
	target->missing = target->absence->code;
	targets->absent_count++;
	return reach_node_set(target, port);
}

static int expected_find(struct target_resolver *resolver,
			 struct reach_targets *targets, size_t index,
			 int status)
{
	struct reach_target *target = &targets->all[index];
	struct node_ports absent;
	char line_text[32];
	size_t i = 0;
	int found = expected_absent(&resolver->expected, &resolver->nodes,
				    target->what.name, &absent);

	if (status == CLI_NO && !absent.count)
		name_absent_explain(resolver->cli,
				    reach_where(target, line_text),
				    target->what.name);
	if (status == CLI_NO && absent.count) {
		status = set_absent(resolver, targets, target, &absent.all[0]);
		i++;
	}
	for (; i < absent.count && status == CLI_DONE && !found; i++)
		status = set_absent(resolver, targets,
				    reach_further_add(targets, index),
				    &absent.all[i]);
	node_ports_free(&absent);
	return found ? found : status;
}

/*
 * Add a rail that the host of target @index lacks, as a further port of the
 * target.
 */
static int rail_add(const struct cli *cli, struct reach_targets *targets,
		    size_t index, const char *host,
		    const struct rail_finding *rail)
{
	struct reach_target *target = reach_further_add(targets, index);
	struct ibsa_node node = { .node_type = IBSA_NODE_CA };

	if (!target)
		return CLI_DEVICE;
	target->absence = calloc(1, sizeof(*target->absence));
	if (!target->absence)
		return no_memory();
	rails_reason(cli, rail, target->absence);
	target->missing = target->absence->code;
	snprintf(node.node_description, sizeof(node.node_description),
		 "%.32s %.31s", host, rail->device);
	targets->absent_count++;
	return reach_node_set(target, &node);
}

/* Add the rails that the host of target @index lacks, and hosts like it have.
 */
static int rails_find(struct target_resolver *resolver,
		      struct reach_targets *targets, size_t index)
{
	const char *node = targets->all[index].node;
	struct rail_finding rail;
	char host[HOST_TEXT];
	size_t at = 0;
	int status = CLI_DONE;

	/* Without an adapter in the description, there are no rails. */
	if (!node || !*ibsa__host_device(node) ||
	    strcasecmp(host_of(node, host), targets->all[index].what.name) != 0)
		return CLI_DONE;
	if (!resolver->has_rails)
		status = rails_read(resolver->cli->client, &resolver->nodes,
				    &resolver->rails);
	resolver->has_rails = true;
	while (status == CLI_DONE &&
	       rails_next(&resolver->rails, host, &at, &rail))
		if (rail.kind == IBSA_FINDING_RAIL_MISSING)
			status = rail_add(resolver->cli, targets, index, host,
					  &rail);
	return status;
}

int reach_absent_find(struct target_resolver *resolver,
		      struct reach_targets *targets, size_t index, int status)
{
	if (resolver->expected.topology)
		return expected_find(resolver, targets, index, status);
	return status == CLI_DONE && resolver->has_nodes
		       ? rails_find(resolver, targets, index)
		       : status;
}

int reach_absent_take(struct target_resolver *resolver,
		      struct reach_targets *targets)
{
	struct node_ports absent = { .count = 0 };
	int status = CLI_DONE;

	if (resolver->expected.topology)
		status = expected_absent(&resolver->expected, &resolver->nodes,
					 NULL, &absent);
	for (size_t i = 0; i < absent.count && status == CLI_DONE; i++) {
		const struct ibsa_node *port = &absent.all[i];
		struct reach_target *target = reach_target_add(targets);

		if (target)
			target->text = strdup(port->node_description);
		status = target && target->text
				 ? set_absent(resolver, targets, target, port)
				 : no_memory();
	}
	node_ports_free(&absent);
	return status;
}
