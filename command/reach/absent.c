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

/* Set the target to a rail that the host lacks. */
static int rail_set(const struct cli *cli, struct reach_targets *targets,
		    struct reach_target *target, const char *host,
		    const struct rail_finding *rail)
{
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

static int rails_get(struct target_resolver *resolver)
{
	if (resolver->has_rails)
		return CLI_DONE;
	resolver->has_rails = true;
	return rails_read(resolver->cli->client, &resolver->nodes,
			  &resolver->rails);
}

/*
 * Add the rails that the host of target @index lacks, and hosts like it have,
 * as further ports of the target.
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
	status = rails_get(resolver);
	while (status == CLI_DONE &&
	       rails_next(&resolver->rails, host, &at, &rail))
		if (rail.kind == IBSA_FINDING_RAIL_MISSING)
			status = rail_set(resolver->cli, targets,
					  reach_further_add(targets, index),
					  host, &rail);
	return status;
}

/*
 * Set target @index, which no node has, to the rail of which it is the name.
 * Return: the exit status; CLI_NO: the name is not that of a rail.
 */
static int rail_find(struct target_resolver *resolver,
		     struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];
	struct rail_finding rail;
	char host[HOST_TEXT];
	int status = strchr(target->what.name, '/') ? rails_get(resolver)
						    : CLI_NO;

	if (status == CLI_DONE &&
	    !rails_find_missing(&resolver->rails, target->what.name, host,
				&rail))
		status = CLI_NO;
	return status == CLI_DONE
		       ? rail_set(resolver->cli, targets, target, host, &rail)
		       : status;
}

int reach_absent_find(struct target_resolver *resolver,
		      struct reach_targets *targets, size_t index, int status)
{
	if (resolver->expected.topology)
		return expected_find(resolver, targets, index, status);
	if (!resolver->has_nodes)
		return status;
	return status == CLI_DONE ? rails_find(resolver, targets, index)
				  : rail_find(resolver, targets, index);
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
