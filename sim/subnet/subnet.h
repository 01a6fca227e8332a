/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet as the embedded SM, or another SM, has configured it: the state that
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
 * The embedded SM in SMInfo and SMInfoRecord: priority 0, which is OpenSM's
 * default, and state Master. IBA vol 1, 14.2.5.13.
 */
enum { SM_PRIORITY = 0, SM_STATE_MASTER = 3 };

/* Exit port of a LID without a route. */
enum { ABOVE_ALL_PORTS = 255 };

/*
 * An end port: a port that MADs can be sent to. The array has all end ports of
 * the topology, in order of GUIDs. The SA answers only about discovered ones
 * (is_seen).
 */
struct end_port {
	uint64_t guid;
	uint32_t port; /* index in the topology */
	/*
	 * the switch to which the end port is connected, or of which it is a
	 * part; or SIM_NONE
	 */
	uint32_t leaf;
	uint32_t lid;	   /* LID as last set by an SM; 0: not set yet */
	uint8_t lid_count; /* 1 << LMC */
	uint8_t rate;	   /* as a rank */
	uint8_t mtu;	   /* as a code */
	/* discovered: it has a LID and a route to the SA's port */
	bool is_seen;
};

struct port_handler;
struct switch_tables;

/*
 * The rest of an end port, in an array of its own: path queries do not need it.
 */
struct end_setup {
	uint16_t *pkeys; /* NULL: only the default P_Key */
	uint16_t pkey_count;
	uint8_t sm_sl; /* sm_sl and sm_lid: as last set by an SM */
	uint32_t sm_lid;
	uint32_t reregisters;
	/* bits that differ from the initial mask */
	uint32_t changed_capabilities;
	bool needs_grh;
	bool is_known;	   /* reported to the observers as found */
	bool is_forgotten; /* it was subscribed when the SM restarted */
	/* handlers of MADs to the port: umad files and agents */
	struct port_handler *handlers;
	const void *issm;    /* the handler that set the IsSM bit, or NULL */
	struct list reports; /* in flight to this port */
};

/* LIDs in use. A port is found by its base LID. */
struct lids {
	struct map ends;  /* base LID to the index of the end port */
	uint32_t first;	  /* the first LID to assign */
	uint32_t limit;	  /* LIDs to assign are lower */
	uint32_t top;	  /* the highest LID that was ever in use */
	uint32_t count;	  /* LIDs in use */
	uint32_t doubles; /* ports with the LID of another port */
	uint8_t lmcs;	  /* bit n: ports with an LMC of n may exist */
};

/* A cable from one switch to another. */
struct hop {
	uint32_t to; /* switch index */
	uint8_t rate;
	uint8_t mtu;
	uint8_t port; /* the entry port of that switch */
};

/*
 * Lowest rate and MTU of a shortest route from one switch to another. Rate 0:
 * there is no route.
 */
struct span {
	uint8_t rate;
	uint8_t mtu;
	uint8_t port; /* the exit port of the first switch */
};

/* The MTU code of a switch's own port, whatever its cables support. */
enum { SWITCH_PORT_MTU = 1 };

struct routes {
	struct hop *hops;
	/* offsets by switch; the last element is the end of the last switch */
	uint32_t *first_hop;
	uint32_t *queue;  /* for a search */
	struct span **to; /* by destination switch; computed at first use */
	uint32_t switch_count;
};

/*
 * Omni-Path: a LID that is too wide for a field is written as a GID. The
 * interface ID is this OUI, shifted by 40 bits, and the LID. Linux
 * include/rdma/opa_addr.h.
 */
enum { OPA_GID_OUI = 0x00066a };

/* Bytes of a MAD of Omni-Path. */
enum { OPA_MAD_BYTES = 2048 };

/* Memory for the discovery along the cables. */
struct walk {
	uint32_t *queue; /* switches still to be visited */
	uint32_t queued;
	bool *seen; /* by port of the topology */
};

/*
 * The multicast forwarding tables of the embedded SM, as a callback of the
 * folder that has the groups: write a block of a switch's table, for 16 ports
 * from @position on.
 */
struct multicast_source {
	void (*block)(void *arg, const struct topo_node *node, uint32_t block,
		      unsigned int position, uint16_t *out);
	void *arg;
};

struct subnet {
	const struct sim_clock *clock;
	struct topology topo;
	struct end_port *ends;	  /* in order of GUIDs */
	struct end_setup *setups; /* one for each end port */
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
	uint32_t pkey_tables; /* number of ports with a P_Key table */
	uint32_t router_end; /* the first discovered router port, or SIM_NONE */
	uint64_t gid_prefix;
	struct routes routes;
	struct aliases aliases;
	/* By node; NULL until an SM sets tables. */
	struct switch_tables **switches;
	struct multicast_source multicast;
	bool is_opa;
	bool sa_running;
	bool is_bare; /* configured only by an SM outside of the fabric */
};

/*
 * Subnet (subnet.c): discovery. Return: 0, or an error with the reason in
 * @error.
 */
int ibsa__subnet_init(struct subnet *subnet, uint32_t sa_node,
		      struct ibsa_error *error);
void ibsa__subnet_done(struct subnet *subnet);

/* The port that the SA uses: a switch's port 0, or the first connected port. */
uint32_t ibsa__subnet_sa_port(const struct topology *topo, uint32_t node);

/* Ports that the SM asks to register again. */
enum sweep {
	SWEEP_FIRST,  /* none: the fabric starts */
	SWEEP_AGAIN,  /* new ports */
	SWEEP_MASTER, /* all ports: the SM has restarted */
};

/*
 * Discover the ports along the cables, as an SM does. Discovered ports get LIDs
 * and the SM's address.
 */
void ibsa__subnet_sweep(struct subnet *subnet, enum sweep sweep);

/*
 * Report the ports that were lost and found since the last call. If the SM's
 * own port has no link, the SM discovers nothing, and no port counts as lost.
 */
void ibsa__subnet_report(struct subnet *subnet);

/* Take the discovered ports as reported, without a report. */
void ibsa__subnet_take_stock(struct subnet *subnet);

/*
 * LIDs (lid.c). Check that @lid and the following @count, or as many as the
 * port has, are valid, or not used by another port. ibsa__lids_take() does not
 * fail: ibsa__lids_init() has reserved memory.
 */
int ibsa__lids_init(struct subnet *subnet);
bool ibsa__lids_are_valid(const struct lids *lids, uint32_t lid,
			  uint32_t count);
bool ibsa__lids_are_free(const struct subnet *subnet, uint32_t index,
			 uint32_t lid, uint32_t count);
void ibsa__lids_take(struct subnet *subnet, uint32_t index, uint32_t lid);
void ibsa__lids_drop(struct subnet *subnet, uint32_t index);

/*
 * Assign LIDs to discovered ports that have none. Return: false: there are too
 * few LIDs.
 */
bool ibsa__lids_give(struct subnet *subnet);

/* Set the LID of a port, even if another port has it (lid.c). */
void ibsa__lids_set(struct subnet *subnet, uint32_t index, uint32_t lid,
		    uint8_t lmc);

/* Call all observers. */
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

/* The end port that a LID belongs to, discovered or not, or SIM_NONE. */
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

/* The discovered end port that a LID belongs to, or NULL. */
static inline const struct end_port *end_by_lid(const struct subnet *subnet,
						uint32_t lid)
{
	const uint32_t end = end_of_lid(subnet, lid);

	if (end == SIM_NONE || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/* The discovered end port with that GUID, or NULL. */
static inline const struct end_port *end_by_guid(const struct subnet *subnet,
						 uint64_t guid)
{
	const uint32_t end = map_find(&subnet->end_of_guid, guid);

	if (end == SIM_NONE || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/*
 * The LID in a record's field of 16 bits: 0 if it is not a unicast LID of
 * InfiniBand. Its lower bits would be another port's LID.
 */
static inline uint16_t lid_in_16_bits(uint32_t lid)
{
	return lid <= IBSA_LID_UNICAST_MAX ? (uint16_t)lid : 0;
}

/*
 * The LID in the interface ID of an Omni-Path GID; 0: the GID does not contain
 * a LID.
 */
static inline uint32_t lid_in_gid(const struct subnet *subnet, uint64_t id)
{
	return subnet->is_opa && id >> 40 == OPA_GID_OUI ? (uint32_t)id : 0;
}

/* Number of entries in the P_Key table. */
static inline uint32_t setup_pkey_count(const struct end_setup *setup)
{
	return setup->pkeys ? setup->pkey_count : 1;
}

/* An entry of the P_Key table; 0: it is empty, or beyond the end. */
static inline uint16_t setup_pkey(const struct end_setup *setup, uint32_t index)
{
	if (!setup->pkeys)
		return index ? 0 : IBSA_PKEY_DEFAULT;
	return index < setup->pkey_count ? setup->pkeys[index] : 0;
}

/*
 * Whether a port with one of two P_Keys accepts a packet with the other P_Key:
 * their lower 15 bits are equal, and at least one has full membership.
 */
static inline bool pkeys_match(uint16_t a, uint16_t b)
{
	return !((a ^ b) & ~IBSA_PKEY_FULL) && a & ~IBSA_PKEY_FULL &&
	       (a | b) & IBSA_PKEY_FULL;
}

/*
 * P_Keys (pkey.c). The lowest P_Key, in the table of @a, with which the ports
 * accept each other's packets; 0: there is none.
 */
uint16_t ibsa__pkey_shared(const struct end_setup *a,
			   const struct end_setup *b);

/* Whether two ports of any kind share a partition, by OpenSM's rules. */
bool ibsa__ports_share_pkey(const struct subnet *subnet,
			    const struct topo_port *a,
			    const struct topo_port *b);

/*
 * Whether two ports can communicate with that P_Key; whether a port accepts a
 * packet with that P_Key.
 */
bool ibsa__pkey_is_usable(const struct end_setup *a, const struct end_setup *b,
			  uint16_t pkey);
bool ibsa__pkey_passes(const struct end_setup *setup, uint16_t pkey);

/* Index of the first matching P_Key, or 0. */
uint16_t ibsa__pkey_index(const struct end_setup *setup, uint16_t pkey);

/*
 * Whether the port is a full or limited member of the partition. To OpenSM, all
 * ports are members of the invalid partitions 0 and 0x8000.
 */
bool ibsa__pkey_has(const struct end_setup *setup, uint16_t pkey);

/* Write GID 0 of the end port, 16 bytes. */
static inline void end_gid(const struct subnet *subnet,
			   const struct end_port *end, void *out)
{
	uint8_t *raw = out;

	ibsa_put_be64(raw, subnet->gid_prefix);
	ibsa_put_be64(raw + 8, end->guid);
}

/* The rate, as a rank, and the MTU code of a port's link. */
struct span ibsa__port_span(const struct topology *topo, uint32_t port);

/* Routes (route.c). Reset after each change of a cable. */
int ibsa__routes_init(struct routes *routes, const struct topology *topo);
void ibsa__routes_reset(struct routes *routes, const struct topology *topo);
void ibsa__routes_done(struct routes *routes);

/*
 * The lowest rate and MTU of the route between two end ports. Return: 0;
 * -ENOENT there is no route; -ENOMEM.
 */
int ibsa__route_span(struct subnet *subnet, const struct end_port *from,
		     const struct end_port *to, struct span *out);

/*
 * The exit port of a switch on the route to another switch; the exit port for a
 * LID. 0: the switch itself; ABOVE_ALL_PORTS: there is no route.
 */
uint8_t ibsa__route_port(struct subnet *subnet, uint32_t from, uint32_t to);
uint8_t ibsa__route_exit(struct subnet *subnet, const struct topo_node *node,
			 uint32_t dlid);

#endif
