/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric from the inside: what its SA, its links and its ports share. */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <pthread.h>

#include <ibsa/bits.h>
#include <ibsa/sa.h>
#include <ibsa/sim.h>

#include "base/random.h"
#include "sim/service.h"
#include "sim/subscription.h"
#include "sim/topology.h"

/* An end port with a LID: what the SA answers about, in GUID order. */
struct end_port {
	uint64_t guid;
	uint32_t port; /* index in the topology */
	uint32_t leaf; /* the switch that it hangs on, or is; or SIM_NONE */
	uint16_t lid;
	uint8_t lid_count; /* 1 << LMC */
	uint8_t rate;	   /* rank */
	uint8_t mtu;	   /* code */
};

/* A cable from one switch to another. */
struct hop {
	uint32_t to; /* switch index */
	uint8_t rate;
	uint8_t mtu;
};

/*
 * Least rate and MTU from every switch to one, along a shortest route. A
 * rate of 0 says that there is none.
 */
struct span {
	uint8_t rate;
	uint8_t mtu;
};

struct routes {
	struct hop *hops;
	uint32_t *first_hop; /* of each switch, and one past the last */
	uint32_t *queue;     /* of a search */
	struct span **to;    /* by destination switch, made when asked for */
	uint32_t switch_count;
};

struct fault_state {
	struct ibsa_fault fault;
	unsigned int left; /* strikes until it ends, if it counts them */
	bool active;
};

struct ibsa_fabric {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of a virtual clock, for those who wait */
	unsigned int references;
	struct topology topo;
	struct end_port *ends; /* in GUID order */
	uint32_t end_count;
	uint32_t lid_count;
	uint32_t *end_of_lid; /* SIM_NONE: free */
	uint32_t lid_limit;   /* LIDs below it are in end_of_lid */
	uint32_t lid_top;     /* the last in use */
	struct map end_of_guid;
	uint32_t *nodes_by_guid;
	uint32_t *adapter_ports;
	uint32_t adapter_port_count;
	uint32_t adapter_count;
	uint32_t sa_end;
	uint32_t router_end; /* the way off the subnet, or SIM_NONE */
	uint64_t gid_prefix;
	struct routes routes;
	struct services services;
	struct subscriptions subscriptions;
	struct random random;
	struct fault_state faults[IBSA_FAULT_KINDS];
	struct ibsa_fabric_stats stats;
	uint64_t virtual_ns;
	uint64_t latency_ns;
	bool is_virtual;
	bool sa_running;
};

/* The fabric's clock, in nanoseconds. */
uint64_t ibsa__fabric_now(const struct ibsa_fabric *fabric);

void ibsa__fabric_hold(struct ibsa_fabric *fabric);

/* The first channel adapter of the file, or SIM_NONE. */
uint32_t ibsa__fabric_first_adapter(const struct ibsa_fabric *fabric);

/* What a client on that port would read; the fabric is locked. */
void ibsa__fabric_port_state(const struct ibsa_fabric *fabric, uint32_t index,
			     struct ibsa_port_state *out);

/* Subnet (subnet.c): who is in it, and with which LID. 0 or an error. */
int ibsa__subnet_init(struct ibsa_fabric *fabric, uint32_t sa_node,
		      struct ibsa_error *error);
void ibsa__subnet_done(struct ibsa_fabric *fabric);

static inline struct topo_port *end_topo_port(const struct ibsa_fabric *fabric,
					      const struct end_port *end)
{
	return &fabric->topo.ports[end->port];
}

static inline struct topo_node *end_topo_node(const struct ibsa_fabric *fabric,
					      const struct end_port *end)
{
	return &fabric->topo.nodes[end_topo_port(fabric, end)->node];
}

/* The end port that a LID belongs to, or NULL. */
static inline const struct end_port *
end_by_lid(const struct ibsa_fabric *fabric, uint32_t lid)
{
	if (lid >= fabric->lid_limit || fabric->end_of_lid[lid] == SIM_NONE)
		return NULL;
	return &fabric->ends[fabric->end_of_lid[lid]];
}

/* The end port of that GUID, or NULL. */
static inline const struct end_port *
end_by_guid(const struct ibsa_fabric *fabric, uint64_t guid)
{
	const uint32_t end = map_find(&fabric->end_of_guid, guid);

	return end == SIM_NONE ? NULL : &fabric->ends[end];
}

/* Its GID 0, 16 bytes. */
static inline void end_gid(const struct ibsa_fabric *fabric,
			   const struct end_port *end, void *out)
{
	uint8_t *raw = out;

	ibsa_put_be64(raw, fabric->gid_prefix);
	ibsa_put_be64(raw + 8, end->guid);
}

/* The link of a port in rank and MTU code. */
struct span ibsa__port_span(const struct topology *topo, uint32_t port);

/* Routes (route.c). */
int ibsa__routes_init(struct routes *routes, const struct topology *topo);
void ibsa__routes_done(struct routes *routes);

/*
 * The least rate and MTU of the way between two end ports. Return: 0;
 * -ENOENT there is no way; -ENOMEM.
 */
int ibsa__route_span(struct ibsa_fabric *fabric, const struct end_port *from,
		     const struct end_port *to, struct span *out);

/* Whether a fault of that kind strikes now; counts it if so. */
bool ibsa__fault_strikes(struct ibsa_fabric *fabric, enum ibsa_fault_kind kind);

#endif
