/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts: the nodes whose descriptions begin with the same word. A host with
 * several adapters has one node for each; the descriptions of the nodes are
 * "HOST DEVICE".
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
 * @nodes:     decoded NodeRecords, one for each port
 * @count:     number of entries in @nodes
 * @name:      one of: a whole node description; the first word of one, which is
 *             the name of a host; HOST/DEVICE, which means the description
 *             "HOST DEVICE"
 * @out:       receives a copy of the records that match, which
 *             ibsa_host_ports_free() frees; NULL if none matches
 * @out_count: receives the number of entries in @out
 *
 * Names match without regard to the case of ASCII letters. Selects only the
 * nodes that match best: an equal description or first word is better than
 * HOST/DEVICE, and each is better with the same case. If channel adapters are
 * among these nodes, only the channel adapters are selected. The records are ordered by description as strverscmp(3) does
 * ("mlx5_9" before "mlx5_10"), then by node GUID, then by port number.
 *
 * Return: 0, also if no node matches; -EINVAL @name is NULL or empty; -ENOMEM.
 * After an error @out is unchanged. Any thread may call ibsa_host_select().
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
 * ibsa_host_ports - query the SA for the ports of a host
 * @client:    an open client
 * @name:      as for ibsa_host_select()
 * @out:       receives the records, which ibsa_host_ports_free() frees; NULL if
 *             none matches
 * @out_count: receives the number of entries in @out
 *
 * Queries all NodeRecords and waits for the reply, as ibsa_query_wait() does.
 * The SA returns only ports that its SM has set up; OpenSM returns only those
 * that share a P_Key with the port of @client.
 *
 * Return: 0, also if no node matches; -EINVAL @name is NULL or empty; -ENOMEM;
 * or the error of ibsa_query_wait(). After an error @out is unchanged. Only one
 * thread at a time may call ibsa_host_ports() and other functions with the same
 * client.
 */
IBSA_INLINE IBSA_MUST_USE int ibsa_host_ports(struct ibsa_client *client,
					      const char *name,
					      struct ibsa_node **out,
					      size_t *out_count)
{
	return ibsa_host_ports_sized(client, name, sizeof(**out), out,
				     out_count);
}

/**
 * ibsa_host_ports_free - free the records of a host
 * @ports: from ibsa_host_ports() or ibsa_host_select(); NULL: nothing happens
 *
 * Any thread may call ibsa_host_ports_free().
 */
void ibsa_host_ports_free(struct ibsa_node *ports);

IBSA_END

#endif
