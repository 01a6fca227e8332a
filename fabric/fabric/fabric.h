/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric: its subnets, each with its links, the agents of its nodes and its
 * SA.
 */
#ifndef FABRIC_FABRIC_FABRIC_H
#define FABRIC_FABRIC_FABRIC_H

#include <pthread.h>

#include "fabric/capture/capture.h"
#include "fabric/file/file.h"
#include "fabric/sa/sa.h"
#include "umad/fabric_ops.h"

struct recording;

/*
 * All adapters, sorted by host and then by the name of the device (seat.c).
 * @adapters is NULL until a host is searched for the first time.
 */
struct fabric_hosts {
	uint32_t *adapters;
	uint32_t count;
};

/*
 * A part of the fabric that no cable connects with the others: its subnet, links,
 * agents of nodes, SA and files.
 */
struct fabric_part {
	struct subnet subnet;
	struct mad_net net;
	struct nodes nodes;
	struct sa sa;
	struct port_files files;
	struct port_handler built_in[4];
	struct subnet_observer observing[3];
};

struct ibsa_fabric {
	struct fabric_base base;
	/* Link in the list of objects that a forked child has closed. */
	struct list inherited;
	/* Value of ibsa__process() when the fabric was made. */
	unsigned int process;
	pthread_mutex_t lock;
	struct fabric_clock clock;
	/* Clients wait for this condition variable if the clock is virtual. */
	pthread_cond_t changed;
	unsigned int references;
	/* Part 0, whose subnet has the topology; and the others. */
	struct fabric_part first;
	struct fabric_part *others;
	uint32_t part_count;
	struct fabric_hosts hosts;
	struct capture capture;
	/* The recorded answers that replace the SA; NULL: the SA answers. */
	struct recording *recording;
};

/* Return: part @index of the fabric, below @part_count. */
static inline struct fabric_part *fabric_part(struct ibsa_fabric *fabric,
					      uint32_t index)
{
	return index ? &fabric->others[index - 1] : &fabric->first;
}

/* Return: the part with a port of the topology. */
static inline struct fabric_part *fabric_part_of(struct ibsa_fabric *fabric,
						 uint32_t port)
{
	return fabric_part(
		fabric, ibsa__part_of_port(&fabric->first.subnet.topo, port));
}

static inline const struct subnet *
fabric_subnet_of(const struct ibsa_fabric *fabric, uint32_t port)
{
	const uint8_t part = ibsa__part_of_port(&fabric->first.subnet.topo,
						port);

	return part ? &fabric->others[part - 1].subnet : &fabric->first.subnet;
}

/*
 * Return: false in a forked child, for a fabric of its parent: another thread
 * may have held its lock during the fork.
 */
bool ibsa__fabric_is_ours(const struct ibsa_fabric *fabric);

/* Return: the first channel adapter in the topology file, or NO_INDEX. */
uint32_t ibsa__fabric_first_adapter(const struct ibsa_fabric *fabric);

/* Whether a port of the adapter is active. */
bool ibsa__adapter_is_active(const struct ibsa_fabric *fabric, uint32_t node);

/*
 * Return: the node with this name or id; the first adapter if @name is NULL;
 * or NO_INDEX.
 */
uint32_t ibsa__fabric_find_node(const struct ibsa_fabric *fabric,
				const char *name);

/*
 * Find a node by its name or id, or an adapter by "HOST/DEVICE" or the name of
 * its host. The name of a host stands for the first of its adapters with an
 * active port, in the order of their names; if no adapter of the host has an
 * active port, for the first of its adapters. NULL: the first adapter. Return:
 * the node's index, or NO_INDEX.
 */
uint32_t ibsa__fabric_find_adapter(const struct ibsa_fabric *fabric,
				   const char *name);

/*
 * Do what ibsa_fabric_attach() does, with a message that names @path, the file
 * of the fabric; NULL: the fabric belongs to the program.
 */
int ibsa__fabric_attach(struct ibsa_fabric *fabric, const char *path,
			const char *name, unsigned int port,
			struct ibsa_error *error,
			struct ibsa_transport **out) IBSA_MUST_USE;

/*
 * Return: the node id, which is unique, of the adapter that
 * ibsa__fabric_find_adapter() finds, valid until ibsa_fabric_put(); NULL if it
 * finds none. Any thread may call this.
 */
const char *ibsa__fabric_adapter_id(struct ibsa_fabric *fabric,
				    const char *name);

/*
 * Find a port of the node with index @index. Number 0 means port 0 of a switch;
 * for other nodes, the first port with a cable, or port 1 if no port has a
 * cable. Return: the port's index; NO_INDEX: the node has no port with this
 * number.
 */
uint32_t ibsa__fabric_find_port(const struct ibsa_fabric *fabric,
				uint32_t index, unsigned int number);

/*
 * Fill @out with the state that a client at this port reads. The fabric is
 * locked.
 */
void ibsa__fabric_port_state(const struct ibsa_fabric *fabric, uint32_t index,
			     struct ibsa_port_state *out);

#endif
