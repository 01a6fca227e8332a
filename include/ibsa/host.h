/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts: the nodes whose descriptions begin with the same word. A host with
 * several adapters has one node for each; their descriptions are "HOST DEVICE".
 *
 * ibsa_host_select     select the ports of a host from NodeRecords
 * ibsa_host_ports      query the SA for the ports of a host, and wait
 * ibsa_host_ports_free free the records of a host
 */
#ifndef IBSA_HOST_H
#define IBSA_HOST_H

#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/text.h>

IBSA_BEGIN

/* For bindings: ibsa_host_select() with the size of @nodes. */
int ibsa_host_select_sized(const struct ibsa_node *nodes, size_t size,
			   size_t count, const char *name,
			   struct ibsa_node **out,
			   size_t *out_count) IBSA_MUST_USE;

/**
 * ibsa_host_select - select the ports of a host from NodeRecords
 * @nodes: decoded NodeRecords, one for each port
 * @name:  a whole description; its first word, the host; or HOST/DEVICE
 * @out:   receives copies, which ibsa_host_ports_free() frees; NULL if none
 *         matches
 *
 * Selects what matches best: without regard to case only if nothing else does,
 * and channel adapters only if there is one. Ordered by description, node GUID
 * and port number. Any thread may call it.
 *
 * Return: 0, also if no node matches; -EINVAL no @name; -ENOMEM
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_host_select(const struct ibsa_node *nodes,
					       size_t count, const char *name,
					       struct ibsa_node **out,
					       size_t *out_count)
{
	return ibsa_host_select_sized(nodes, sizeof(*nodes), count, name, out,
				      out_count);
}

/* For bindings: ibsa_host_ports() with the size of struct ibsa_node. */
int ibsa_host_ports_sized(struct ibsa_client *client, const char *name,
			  size_t size, struct ibsa_node **out,
			  size_t *out_count) IBSA_MUST_USE
	IBSA_NONNULL(1, 4, 5);

/**
 * ibsa_host_ports - query the SA for the ports of a host, and wait
 * @name: as for ibsa_host_select()
 * @out:  as for ibsa_host_select()
 *
 * Queries all NodeRecords: use ibsa_host_select() for several names.
 *
 * Return: as ibsa_host_select(), or the error of ibsa_query_wait()
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_host_ports(struct ibsa_client *client,
					      const char *name,
					      struct ibsa_node **out,
					      size_t *out_count)
{
	return ibsa_host_ports_sized(client, name, sizeof(**out), out,
				     out_count);
}

void ibsa_host_ports_free(struct ibsa_node *ports);

IBSA_END

#endif
