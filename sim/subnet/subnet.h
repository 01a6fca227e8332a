/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet as its built-in SM, or another, has set it up: the state that
 * forwarding, the agents of nodes and the SA share.
 */
#ifndef SIM_SUBNET_SUBNET_H
#define SIM_SUBNET_SUBNET_H

#include <ibsa/bits.h>
#include <ibsa/sa.h>
#include <ibsa/sim.h>

#include "base/list.h"
#include "sim/subnet/guid.h"
#include "sim/subnet/observer.h"
#include "sim/tools/clock.h"
#include "sim/tools/map.h"
#include "sim/topology/topology.h"

enum { PKEYS_MAX = 128 };

/*
 * The SM of the fabric in SMInfo and SMInfoRecord: priority 0, OpenSM's default,
 * and state Master. IBA vol 1, 14.2.5.13.
 */
enum { SM_PRIORITY = 0, SM_STATE_MASTER = 3 };

/* What forwarding tables say of a LID that leads nowhere. */
enum { ABOVE_ALL_PORTS = 255 };

/*
 * A port that a MAD can go to, in GUID order: all there are in the file. The
 * SA answers about those that it sees.
 */
struct end_port {
	uint64_t guid;
	uint32_t port;	   /* index in the topology */
	uint32_t leaf;	   /* the switch that it hangs on, or is; or SIM_NONE */
	uint32_t lid;	   /* what the port was last told; 0: nothing yet */
	uint8_t lid_count; /* 1 << LMC */
	uint8_t rate;	   /* rank */
	uint8_t mtu;	   /* code */
	bool is_seen;	   /* a way leads to the SA's port, and it has a LID */
};

struct port_handler;
struct report_listener;
struct switch_tables;

/* The rest of an end port, apart: paths do not ask for it. */
struct end_setup {
	uint16_t *pkeys; /* NULL: the default P_Key alone */
	uint16_t pkey_count;
	uint8_t sm_sl; /* both as the SM has last told it */
	uint32_t sm_lid;
	uint32_t reregisters;
	uint32_t changed_capabilities; /* bits that are not as at first */
	bool needs_grh;
	bool is_known;	   /* to the SM, as what is there */
	bool is_forgotten; /* as a subscriber, by an SM that is a new one */
	struct report_listener *listener; /* gets its Reports, or NULL */
	struct port_handler *handlers;	  /* of the port: its umad files */
	const void *issm;    /* which of them says it has an SM, or NULL */
	struct list reports; /* to this port, not answered yet */
};

/* Who has which LIDs. A port is found by the first of its own. */
struct lids {
	struct map ends;  /* to the index of the end port */
	uint32_t first;	  /* given from here on */
	uint32_t limit;	  /* below it */
	uint32_t top;	  /* the last that was ever in use */
	uint32_t count;	  /* in use */
	uint32_t doubles; /* ports whose LID another has, too */
	uint8_t lmcs;	  /* bit n: a port may have an LMC of n */
};

/* A cable from one switch to another. */
struct hop {
	uint32_t to; /* switch index */
	uint8_t rate;
	uint8_t mtu;
	uint8_t port; /* in by this one of that switch */
};

/*
 * Least rate and MTU from every switch to one, along a shortest route. A
 * rate of 0 says that there is none.
 */
struct span {
	uint8_t rate;
	uint8_t mtu;
	uint8_t port; /* the way out of the switch that it begins at */
};

/* The code of the MTU of a switch's own port, whatever its cables carry. */
enum { SWITCH_PORT_MTU = 1 };

struct routes {
	struct hop *hops;
	uint32_t *first_hop; /* of each switch, and one past the last */
	uint32_t *queue;     /* of a search */
	struct span **to;    /* by destination switch, made when asked for */
	uint32_t switch_count;
};

/*
 * Omni-Path writes a LID that a field cannot hold as a GID, whose interface
 * id is this above 40 bits and the LID. Linux include/rdma/opa_addr.h.
 */
enum { OPA_GID_OUI = 0x00066a };

/* One MAD of Omni-Path. */
enum { OPA_MAD_BYTES = 2048 };

/* Room for a walk along the cables. */
struct walk {
	uint32_t *queue; /* switches to look at */
	uint32_t queued;
	bool *seen; /* by port of the topology */
};

/*
 * The multicast forwarding tables of the built-in SM, which the owner of the
 * groups fills in: a block of a switch's table, for 16 ports from the
 * position on.
 */
struct multicast_source {
	void (*block)(void *arg, const struct topo_node *node, uint32_t block,
		      unsigned int position, uint16_t *out);
	void *arg;
};

struct subnet {
	const struct sim_clock *clock;
	struct topology topo;
	struct end_port *ends;	  /* in GUID order */
	struct end_setup *setups; /* of each */
	uint32_t end_count;
	struct lids lids;
	struct map end_of_guid;
	struct walk walk;
	struct subnet_observer *observers;
	uint32_t *nodes_by_guid;
	uint32_t *adapter_ports;
	uint32_t adapter_port_count;
	uint32_t adapter_count;
	uint32_t sa_end;
	uint32_t pkey_tables; /* ports that have one of their own */
	uint32_t router_end;  /* the way off the subnet, or SIM_NONE */
	uint64_t gid_prefix;
	struct routes routes;
	struct aliases aliases;
	/* By node; NULL until an SM sets any. */
	struct switch_tables **switches;
	struct multicast_source multicast;
	bool is_opa;
	bool sa_running;
	bool is_bare; /* nothing is set up but by an SM from outside */
};

/* Subnet (subnet.c): who is in it. 0 or an error. */
int ibsa__subnet_init(struct subnet *subnet, uint32_t sa_node,
		      struct ibsa_error *error);
void ibsa__subnet_done(struct subnet *subnet);

/* The port that the SA sits on: a switch's own, else the first connected. */
uint32_t ibsa__subnet_sa_port(const struct topology *topo, uint32_t node);

/* Who is asked to register again, besides ports that are new. */
enum sweep {
	SWEEP_FIRST,  /* nobody, not even those: the fabric begins */
	SWEEP_AGAIN,  /* nobody */
	SWEEP_MASTER, /* all: the SM is a new one */
};

/*
 * Look along the cables who is there, as an SM does: those get LIDs, and
 * know the SM.
 */
void ibsa__subnet_sweep(struct subnet *subnet, enum sweep sweep);

/*
 * Report the ports that were lost and found since the last time. An SM whose
 * own port is cut off sees no port, and takes none for lost.
 */
void ibsa__subnet_report(struct subnet *subnet);

/* Take those that are there for what has always been there. */
void ibsa__subnet_take_stock(struct subnet *subnet);

/*
 * LIDs (lid.c). Whether @lid and as many as the port has, or is to have, are
 * valid, and nobody else's. Taking does not fail, after reserve.
 */
int ibsa__lids_init(struct subnet *subnet);
bool ibsa__lids_are_valid(const struct lids *lids, uint32_t lid,
			  uint32_t count);
bool ibsa__lids_are_free(const struct subnet *subnet, uint32_t index,
			 uint32_t lid, uint32_t count);
void ibsa__lids_take(struct subnet *subnet, uint32_t index, uint32_t lid);
void ibsa__lids_drop(struct subnet *subnet, uint32_t index);

/* LIDs for those that are seen and have none. False: there are too few. */
bool ibsa__lids_give(struct subnet *subnet);

/* A port has that LID from now on, whoever else has it (lid.c). */
void ibsa__lids_set(struct subnet *subnet, uint32_t index, uint32_t lid,
		    uint8_t lmc);

/* Have the observers act on a change. */
static inline void subnet_changed(struct subnet *subnet,
				  const struct subnet_change *change)
{
	const struct subnet_observer *observer = subnet->observers;

	for (; observer; observer = observer->next)
		observer->observe(observer->arg, change);
}

static inline struct topo_port *end_topo_port(const struct subnet *subnet,
					      const struct end_port *end)
{
	return &subnet->topo.ports[end->port];
}

static inline struct topo_node *end_topo_node(const struct subnet *subnet,
					      const struct end_port *end)
{
	return &subnet->topo.nodes[end_topo_port(subnet, end)->node];
}

static inline struct end_setup *end_setup(const struct subnet *subnet,
					  const struct end_port *end)
{
	return &subnet->setups[end - subnet->ends];
}

/* The end port that a LID belongs to, seen or not, or SIM_NONE. */
static inline uint32_t end_of_lid(const struct subnet *subnet, uint32_t lid)
{
	for (unsigned int lmc = 0; subnet->lids.lmcs >> lmc; lmc++) {
		const uint32_t base = lid >> lmc << lmc;
		uint32_t end;

		if (!(subnet->lids.lmcs >> lmc & 1))
			continue;
		end = map_find(&subnet->lids.ends, base);
		if (end != SIM_NONE && lid - base < subnet->ends[end].lid_count)
			return end;
	}
	return SIM_NONE;
}

/* The end port that a LID belongs to, or NULL if the SA sees none. */
static inline const struct end_port *end_by_lid(const struct subnet *subnet,
						uint32_t lid)
{
	const uint32_t end = end_of_lid(subnet, lid);

	if (end == SIM_NONE || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/* The end port of that GUID, or NULL if the SA sees none. */
static inline const struct end_port *end_by_guid(const struct subnet *subnet,
						 uint64_t guid)
{
	const uint32_t end = map_find(&subnet->end_of_guid, guid);

	if (end == SIM_NONE || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/*
 * What a record with a field of 16 bits says of a LID: those above the
 * unicast ones of InfiniBand would be others there, and are not shown.
 */
static inline uint16_t lid_in_16_bits(uint32_t lid)
{
	return lid <= IBSA_LID_UNICAST_MAX ? (uint16_t)lid : 0;
}

/* The LID that a GID of Omni-Path with this interface id is; 0: it is none. */
static inline uint32_t lid_in_gid(const struct subnet *subnet, uint64_t id)
{
	return subnet->is_opa && id >> 40 == OPA_GID_OUI ? (uint32_t)id : 0;
}

/* Entries of its P_Key table. */
static inline uint32_t setup_pkey_count(const struct end_setup *setup)
{
	return setup->pkeys ? setup->pkey_count : 1;
}

/* An entry of its P_Key table; 0: an empty one, or past the last. */
static inline uint16_t setup_pkey(const struct end_setup *setup, uint32_t index)
{
	if (!setup->pkeys)
		return index ? 0 : IBSA_PKEY_DEFAULT;
	return index < setup->pkey_count ? setup->pkeys[index] : 0;
}

/* Whether two P_Keys let a packet pass: one partition, and a full member. */
static inline bool pkeys_match(uint16_t a, uint16_t b)
{
	return !((a ^ b) & ~IBSA_PKEY_FULL) && a & ~IBSA_PKEY_FULL &&
	       (a | b) & IBSA_PKEY_FULL;
}

/*
 * P_Keys (pkey.c). The one that both ports can use towards each other: the
 * lowest that is in both tables, as @a has it; 0: there is none.
 */
uint16_t ibsa__pkey_shared(const struct end_setup *a,
			   const struct end_setup *b);

/* Whether two ports of any kind may know of each other, to OpenSM. */
bool ibsa__ports_share_pkey(const struct subnet *subnet,
			    const struct topo_port *a,
			    const struct topo_port *b);

/* Whether they can use that one; whether a packet with it gets in. */
bool ibsa__pkey_is_usable(const struct end_setup *a, const struct end_setup *b,
			  uint16_t pkey);
bool ibsa__pkey_passes(const struct end_setup *setup, uint16_t pkey);

/* Where the first P_Key is that matches, or 0. */
uint16_t ibsa__pkey_index(const struct end_setup *setup, uint16_t pkey);

/*
 * Whether the port is of that partition, in whatever way. Of no partition at
 * all, 0 or 0x8000, everybody is, to OpenSM.
 */
bool ibsa__pkey_has(const struct end_setup *setup, uint16_t pkey);

/* Its GID 0, 16 bytes. */
static inline void end_gid(const struct subnet *subnet,
			   const struct end_port *end, void *out)
{
	uint8_t *raw = out;

	ibsa_put_be64(raw, subnet->gid_prefix);
	ibsa_put_be64(raw + 8, end->guid);
}

/* The link of a port in rank and MTU code. */
struct span ibsa__port_span(const struct topology *topo, uint32_t port);

/* Routes (route.c). To be searched for afresh once a cable has changed. */
int ibsa__routes_init(struct routes *routes, const struct topology *topo);
void ibsa__routes_reset(struct routes *routes, const struct topology *topo);
void ibsa__routes_done(struct routes *routes);

/*
 * The least rate and MTU of the way between two end ports. Return: 0;
 * -ENOENT there is no way; -ENOMEM.
 */
int ibsa__route_span(struct subnet *subnet, const struct end_port *from,
		     const struct end_port *to, struct span *out);

/*
 * The port by which one switch is left towards another, and by which a switch
 * sends on what is for that LID; 0: its own; ABOVE_ALL_PORTS: none.
 */
uint8_t ibsa__route_port(struct subnet *subnet, uint32_t from, uint32_t to);
uint8_t ibsa__route_exit(struct subnet *subnet, const struct topo_node *node,
			 uint32_t dlid);

#endif
