/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about the rails of a host, from a comparison with hosts like it. */
#ifndef COMMAND_RAILS_H
#define COMMAND_RAILS_H

#include <ibsa/topology.h>

#include "names/roles.h"
#include "names/nodes.h"
#include "names/target.h"

enum { HOST_TEXT = TARGET_NAME_BYTES + 1 };

/**
 * struct rails - the comparison of all hosts that an SA shows
 * @topology:    topology with the hosts; NULL: there is none
 * @is_borrowed: the topology belongs to the caller
 */
struct rails {
	struct ibsa_topology *topology;
	bool is_borrowed;
};

/**
 * struct rail_finding - what is wrong with a rail of a host
 * @kind:      IBSA_FINDING_RAIL_MISSING, or another of these
 * @name:      name of the kind of the finding
 * @node_guid: node GUID of the adapter; if the adapter is missing, that of
 *             another adapter of the host
 * @device:    name of the adapter, such as mlx5_3
 * @what:      the sentence of the finding
 */
struct rail_finding {
	enum ibsa_finding_kind kind;
	const char *name;
	uint64_t node_guid;
	char device[TARGET_NAME_BYTES + 1];
	struct ibsa_error what;
};

/*
 * Compare the hosts: rails_read() their adapters by name, and the switches to
 * which these are connected, for which @client queries all LinkRecords, unless the
 * SA refuses them; rails_read_rates() also their rates; rails_use() all of this,
 * in a topology that was read before and stays valid.
 *
 * Return: the exit status; a failure is printed. The caller frees @out in any
 * case.
 */
int rails_read(struct ibsa_client *client, const struct nodes *nodes,
	       struct rails *out);
int rails_read_rates(struct ibsa_client *client, const struct nodes *nodes,
		     struct rails *out);
int rails_use(struct ibsa_topology *topology, struct rails *out);
void rails_free(struct rails *rails);

/*
 * Find the next finding about a rail of the host, beginning with the finding
 * *@index; the caller sets *@index to 0 before the first call. Return: false:
 * there is no further finding.
 */
bool rails_next(const struct rails *rails, const char *host, size_t *index,
		struct rail_finding *out);

/*
 * Whether @name is HOST/DEVICE, and the host lacks this rail: find the finding
 * about that, and the name of the host.
 */
bool rails_find_missing(const struct rails *rails, const char *name,
			char out_host[HOST_TEXT], struct rail_finding *out);

/*
 * Set the roles that the comparison tells: a port that was never up is not
 * uncabled if it is a rail of the hosts like this one, which is missing; and
 * leaf_roles_set(), if the SA shows @client all nodes and links.
 */
void rails_roles_set(struct ibsa_client *client, const struct rails *rails,
		     const char *host, struct machine_port *ports,
		     size_t count);

/*
 * Set the roles of those ports for compute that are for storage, as their leaf
 * switches tell: at such a leaf switch, at least half of the ports of other
 * hosts, and three, are of hosts with fewer than half as many ports as this
 * one; and at the leaf switches of most ports of this host, at most a quarter.
 */
void leaf_roles_set(const struct ibsa_topology *topology, const char *host,
		    struct machine_port *ports, size_t count);

/* Print all of these findings as messages. */
void rails_print(const struct rails *rails, const char *host);

/*
 * If rails of other hosts are missing, print a message: a job that uses all
 * ports of its hosts has fewer ports at some of them.
 */
void rails_print_unequal(const struct rails *rails, const char *host);

/*
 * Set the reason why there is no path to a port: the rail is missing. The
 * reason is certain only if the SA shows all nodes to this port.
 */
void rails_reason(const struct cli *cli, const struct rail_finding *rail,
		  struct ibsa_reason *out);

/*
 * Write the first word of a node description, which is the name of the host.
 * Return: @out.
 */
const char *host_of(const char *description, char out[HOST_TEXT]);

#endif
