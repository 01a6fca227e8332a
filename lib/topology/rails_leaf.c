/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds leaf switches that are missing, from what the SA shows of hosts: all hosts
 * of a group, which are at the same leaf switches, lack the rail that the hosts
 * of other groups have at a leaf switch of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "topology/rails.h"

enum { GROUP_HOSTS = 3 }; /* fewer are not a group */

/* A host: its rails, and the leaf switches of these, sorted. */
struct host {
	uint32_t rail; /* the first */
	uint32_t rail_count;
	const uint32_t *leaves;
	uint32_t leaf_count;
};

struct group {
	const struct host *hosts;
	uint32_t count;
};

struct groups {
	struct audit *audit;
	uint32_t *leaves; /* of all hosts, as many as rails */
	struct host *hosts;
	uint32_t host_count;
	struct group *all;
	uint32_t count;
	uint32_t *group_of; /* of each rail: 1 + its group; 0: none */
	uint32_t *rail_of;  /* of each port: 1 + its rail; 0: none */
};

static int numbers_order(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int hosts_order(const void *a, const void *b)
{
	const struct host *x = a;
	const struct host *y = b;
	const uint32_t count = x->leaf_count;

	if (count != y->leaf_count)
		return count < y->leaf_count ? -1 : 1;
	for (uint32_t i = 0; i < count; i++) {
		if (x->leaves[i] != y->leaves[i])
			return x->leaves[i] < y->leaves[i] ? -1 : 1;
	}
	return (x->rail > y->rail) - (x->rail < y->rail);
}

/* Return: the leaf switch of a rail, or TOPOLOGY_NONE. */
static uint32_t leaf_of(const struct audit *audit, uint32_t rail)
{
	const struct ibsa_topology *now = audit->check->now;
	const uint32_t far = port_at(audit, rail)->far;

	return far != TOPOLOGY_NONE && node_is_switch(now, now->ports[far].node)
		       ? now->ports[far].node
		       : TOPOLOGY_NONE;
}

/* Add the host whose first rail is @first. Return: the rail after its rails. */
static uint32_t host_add(struct groups *groups, uint32_t first)
{
	const struct audit *audit = groups->audit;
	const struct rail *rails = audit->rails;
	uint32_t *leaves = &groups->leaves[first];
	uint32_t count = 0;
	uint32_t unique = 0;
	uint32_t end = first;

	for (; end < audit->rail_count &&
	       !ibsa__rails_host_order(&rails[first], &rails[end]);
	     end++) {
		groups->rail_of[rails[end].port] = 1 + end;
		if (leaf_of(audit, end) != TOPOLOGY_NONE)
			leaves[count++] = leaf_of(audit, end);
	}
	qsort(leaves, count, sizeof(*leaves), numbers_order);
	for (uint32_t i = 0; i < count; i++)
		if (!unique || leaves[unique - 1] != leaves[i])
			leaves[unique++] = leaves[i];
	groups->hosts[groups->host_count++] = (struct host){
		.rail = first,
		.rail_count = end - first,
		.leaves = leaves,
		.leaf_count = unique,
	};
	return end;
}

static bool is_same_group(const struct host *a, const struct host *b)
{
	return a->leaf_count == b->leaf_count &&
	       memcmp(a->leaves, b->leaves,
		      a->leaf_count * sizeof(*a->leaves)) == 0;
}

/* Add the group of @count hosts, unless it is too small. */
static void group_add(struct groups *groups, const struct host *hosts,
		      uint32_t count)
{
	if (count < GROUP_HOSTS || hosts->leaf_count < 2)
		return;
	groups->all[groups->count++] = (struct group){ hosts, count };
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < hosts[i].rail_count; k++)
			groups->group_of[hosts[i].rail + k] = groups->count;
}

static void groups_make(struct groups *groups)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < groups->audit->rail_count;)
		i = host_add(groups, i);
	if (groups->host_count)
		qsort(groups->hosts, groups->host_count, sizeof(*groups->hosts),
		      hosts_order);
	for (uint32_t i = 1; i <= groups->host_count; i++) {
		const struct host *host = &groups->hosts[first];

		if (i < groups->host_count &&
		    is_same_group(host, host + i - first))
			continue;
		group_add(groups, host, i - first);
		first = i;
	}
}

static int traits_order(const void *a, const void *b)
{
	const struct trait *x = a;
	const struct trait *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Set the traits of a group: the names of the rails that at least one host has.
 * Return: the number of traits.
 */
static uint32_t names_set(const struct groups *groups,
			  const struct group *group, struct trait *traits)
{
	const struct audit *audit = groups->audit;
	uint32_t count = 0;
	uint32_t unique = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct host *host = &group->hosts[i];

		for (uint32_t k = 0; k < host->rail_count; k++)
			traits[count++] = (struct trait){
				.id = audit->rails[host->rail + k].name,
				.mark = audit->rails[host->rail + k].name,
				.owner = host->rail + k,
			};
	}
	qsort(traits, count, sizeof(*traits), traits_order);
	for (uint32_t i = 0; i < count; i++)
		if (!unique || traits[unique - 1].id != traits[i].id)
			traits[unique++] = traits[i];
	return unique;
}

static const struct group *group_of(const struct groups *groups, uint32_t rail)
{
	return &groups->all[groups->group_of[rail] - 1];
}

/*
 * Whether all rails at the leaf switch of @rail have its name, and are of its
 * group. Hosts that are in no group do not count.
 */
static bool has_own_leaf(const struct groups *groups, uint32_t rail)
{
	const struct audit *audit = groups->audit;
	const struct ibsa_topology *now = audit->check->now;
	const uint32_t leaf = leaf_of(audit, rail);

	if (leaf == TOPOLOGY_NONE)
		return false;
	for (uint32_t i = now->nodes[leaf].first_port;
	     i < node_ports_end(now, leaf); i++) {
		const uint32_t far = now->ports[i].far;
		const uint32_t at = far == TOPOLOGY_NONE ? 0
							 : groups->rail_of[far];

		if (at && groups->group_of[at - 1] &&
		    (groups->group_of[at - 1] != groups->group_of[rail] ||
		     audit->rails[at - 1].name != audit->rails[rail].name))
			return false;
	}
	return true;
}

/*
 * Whether more than half of the rails of the host of @rail have its rate, or no
 * rate is known: the hosts of a group may lack adapters for storage.
 */
static bool has_usual_rate(const struct groups *groups, uint32_t rail)
{
	const struct audit *audit = groups->audit;
	const struct host *host = group_of(groups, rail)->hosts;
	const struct link_rate rate = port_at(audit, rail)->is.rate;
	uint32_t same = 0;

	for (uint32_t i = host->rail; i < host->rail + host->rail_count; i++) {
		const struct link_rate other = port_at(audit, i)->is.rate;

		same += other.width == rate.width && other.speed == rate.speed;
	}
	return 2 * same > host->rail_count;
}

/* Report that a host of the group has no rail like @rail. */
static int host_report(struct audit *audit, const struct group *group,
		       const struct host *host, uint32_t rail)
{
	const struct ibsa_topology *now = audit->check->now;
	char name[NAME_TEXT];
	char text[PORT_TEXT];
	int err = ARRAY_GROW(audit->told, audit->told_room,
			     audit->told_count + 1)
			  ? -ENOMEM
			  : 0;

	if (err)
		return err;
	audit->told[audit->told_count++] = (uint64_t)host->rail << 32 |
					   audit->rails[rail].name;
	err = ibsa__check_finding_add(
		audit->check, IBSA_FINDING_RAIL_MISSING,
		node_of(now, port_at(audit, host->rail))->guid, 0,
		"%s has no %s%s, nor has any of the %u hosts at its leaf switches",
		ibsa__rails_host_text(audit, host->rail, name),
		ibsa__rails_text(audit, rail, text),
		audit->is_partial ? ", or the SA does not show it" : "",
		group->count);
	if (!err)
		ibsa__rails_missing_set(audit, rail);
	return err;
}

/* Report the leaf switch, which is about no node, and what each host lacks. */
static int group_report(const struct peer_lack *lack, void *arg)
{
	const struct groups *groups = arg;
	struct audit *audit = groups->audit;
	const uint32_t rail = lack->trait->owner;
	const struct group *group = group_of(groups,
					     lack->peer->traits[0].owner);
	char name[NAME_TEXT];
	char text[PORT_TEXT];
	int err;

	if (!has_own_leaf(groups, rail) || !has_usual_rate(groups, rail))
		return 0;
	err = ibsa__check_finding_add(
		audit->check, IBSA_FINDING_RAIL_MISSING, 0, 0,
		"the leaf switch of %s of %s and %u other hosts is missing%s: "
		"they have no %s, but the hosts of %u of %u groups have",
		ibsa__rails_text(audit, rail, text),
		ibsa__rails_host_text(audit, group->hosts[0].rail, name),
		group->count - 1,
		audit->is_partial ? ", or the SA does not show it" : "", text,
		lack->have, lack->peers);
	if (!err)
		ibsa__rails_missing_set(audit, rail);
	for (uint32_t i = 0; i < group->count && !err; i++)
		err = host_report(audit, group, &group->hosts[i], rail);
	return err;
}

/* Compare the names of the rails of the groups. */
static int groups_compare(struct groups *groups)
{
	struct audit *audit = groups->audit;
	struct trait *traits = audit->traits;
	uint32_t count = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		struct peer *peer = &audit->hosts[count];

		peer->traits = traits;
		peer->count = names_set(groups, &groups->all[i], traits);
		if (peer->count > PEER_TRAITS)
			continue;
		traits += peer->count;
		count++;
	}
	return ibsa__peers_compare(audit->hosts, count, audit->name_count,
				   group_report, groups);
}

int ibsa__rails_leaves(struct audit *audit)
{
	const size_t rails = audit->rail_count + 1u;
	struct groups groups = {
		.audit = audit,
		.leaves = ibsa__calloc(rails, sizeof(*groups.leaves)),
		.hosts = ibsa__calloc(rails, sizeof(*groups.hosts)),
		.all = ibsa__calloc(rails, sizeof(*groups.all)),
		.group_of = ibsa__calloc(rails, sizeof(*groups.group_of)),
		.rail_of = ibsa__calloc(audit->check->now->port_count + 1u,
					sizeof(*groups.rail_of)),
	};
	int err = groups.leaves && groups.hosts && groups.all &&
				  groups.group_of && groups.rail_of
			  ? 0
			  : -ENOMEM;

	if (!err) {
		groups_make(&groups);
		err = groups_compare(&groups);
	}
	ibsa__free(groups.leaves);
	ibsa__free(groups.hosts);
	ibsa__free(groups.all);
	ibsa__free(groups.group_of);
	ibsa__free(groups.rail_of);
	return err;
}
