/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts: the nodes whose descriptions begin with the same word. A host with
 * several adapters has a node for each, described as "HOST DEVICE"; see also
 * ibsa_host_match() and ibsa_host_device() in <ibsa/text.h>.
 */
#ifndef IBSA_HOST_H
#define IBSA_HOST_H

#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/text.h>

IBSA_BEGIN

/**
 * ibsa_host_select - the ports that a name means, of records that are there
 * @nodes:     NodeRecords, one a port
 * @count:     of them
 * @name:      a host's, a node's, or HOST/DEVICE
 * @out:       a copy of those that match, for ibsa_host_ports_free()
 * @out_count: of them; 0: none matches, and @out is NULL
 *
 * Of all that match, those that match best are taken; if there are channel
 * adapters among them, only these. They are in the order of their devices'
 * names, by number ("mlx5_10" after "mlx5_9"), then of port numbers.
 *
 * Return: 0; -EINVAL no name, or an empty one; -ENOMEM.
 */
int ibsa_host_select(const struct ibsa_node *nodes, size_t count,
		     const char *name, struct ibsa_node **out,
		     size_t *out_count) IBSA_MUST_USE;

/**
 * ibsa_host_ports - ask the SA for the ports that a name means
 * @client:    an open client
 * @name:      as of ibsa_host_select()
 * @out:       the ports, for ibsa_host_ports_free()
 * @out_count: of them; 0: none matches, and @out is NULL
 *
 * Asks for all nodes and waits, as ibsa_ask() does. The SA knows the ports
 * that its subnet manager has set up: others are not among them.
 *
 * Return: 0; -EINVAL no name, or an empty one; -ENOMEM; or the error of
 * ibsa_ask().
 */
int ibsa_host_ports(struct ibsa_client *client, const char *name,
		    struct ibsa_node **out, size_t *out_count) IBSA_MUST_USE;

/**
 * ibsa_host_ports_free - free what the two calls above gave
 * @ports: or NULL
 */
void ibsa_host_ports_free(struct ibsa_node *ports);

IBSA_END

#endif
