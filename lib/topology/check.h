/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the check of a topology share. */
#ifndef TOPOLOGY_CHECK_H
#define TOPOLOGY_CHECK_H

#include "topology/state.h"

enum {
	FINDINGS_MAX = 1 << 16,
	NAME_TEXT = 72, /* bytes of a name in a sentence */
	PORT_TEXT = 96,
};

/* A check of the topology @now; @then is the expected topology, or NULL. */
struct check {
	struct ibsa_topology *now;
	const struct ibsa_topology *then;
	/*
	 * For each node of @then: the index in @now of the node with the same
	 * GUID, or TOPOLOGY_NONE.
	 */
	uint32_t *now_of;
	uint32_t *then_of;		       /* the reverse */
	const struct graph_port *first_hidden; /* or NULL */
	/*
	 * For each port of @now: whether a finding about @then already
	 * explains its link.
	 */
	bool *is_explained;
	/*
	 * For each island of @then: whether @now has a node of it; true of all
	 * if @now has no node of @then.
	 */
	bool *island_is_shown;
};

static inline const struct graph_node *
node_of(const struct ibsa_topology *topology, const struct graph_port *port)
{
	return &topology->nodes[port->node];
}

/*
 * Whether the check handles a link when it visits this end. A link is handled
 * once, at the end with the lower index; but if the other end reports a
 * different link, at both ends.
 */
static inline bool is_first_end(const struct ibsa_topology *topology,
				uint32_t index)
{
	const struct graph_port *port = &topology->ports[index];

	return port->far != TOPOLOGY_NONE &&
	       (topology->ports[port->far].far != index || index < port->far);
}

/* Add a finding with a sentence. Return: 0; -ENOMEM. */
int ibsa__check_finding_add(struct check *check, enum ibsa_finding_kind kind,
			    uint64_t guid, unsigned int port,
			    const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Add a finding about a link. The sentence of the finding is "A to B" and
 * @rest, where A and B are the names of the link's two ports.
 */
int ibsa__check_link_add(struct check *check, enum ibsa_finding_kind kind,
			 const struct ibsa_topology *topology,
			 const struct graph_port *port, const char *rest);

/*
 * Add a finding that a link is slower than @most; @words say in the finding's
 * sentence what @most is.
 */
int ibsa__check_rate_add(struct check *check, enum ibsa_finding_kind kind,
			 const struct graph_port *port, struct link_rate most,
			 const char *words);

/* Return: whether a link is slower than both of its ends support. */
bool ibsa__check_is_degraded(const struct check *check,
			     const struct graph_port *port);

/* Return: whether @rate is known, and lower than @most in width or speed. */
bool ibsa__check_is_slower(struct link_rate rate, struct link_rate most);

/*
 * ibsa__check_node_text() writes a node's name to @out, in a form that is safe
 * to print; ibsa__check_port_text() writes a port, such as "NAME port 1".
 * Return: @out.
 */
const char *ibsa__check_node_text(const struct ibsa_topology *topology,
				  const struct graph_node *node,
				  char out[NAME_TEXT]);
const char *ibsa__check_port_text(const struct ibsa_topology *topology,
				  const struct graph_port *port,
				  char out[PORT_TEXT]);

/* Compare the rails of each host with those of hosts like it. */
int ibsa__check_rails(struct check *check);

/* Functions of check_expected.c, which compare with an expected topology. */

/* Match the nodes of both topologies. Return: 0; -ENOMEM. */
int ibsa__check_prepare(struct check *check);

/* Check a link; set *@is_slower if it is slower than expected. */
int ibsa__check_slower(struct check *check, const struct graph_port *port,
		       bool *is_slower);

/* Check what is missing, new or moved. */
int ibsa__check_expected(struct check *check);

#endif
