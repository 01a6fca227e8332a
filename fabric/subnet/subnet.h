/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet as the embedded SM, or another SM, has configured it: the state that
 * forwarding, the agents of nodes and the SA share. A fabric has one for each
 * part of its topology that no cable connects with the others (part.c): all
 * have the same nodes, ports and end ports, and each configures its own.
 */
#ifndef FABRIC_SUBNET_SUBNET_H
#define FABRIC_SUBNET_SUBNET_H

#include <ibsa/types.h>

#include "base/list.h"
#include "base/map.h"
#include "fabric/subnet/guid.h"
#include "fabric/subnet/observer.h"
#include "fabric/subnet/topology.h"
#include "fabric/tools/clock.h"

enum { PKEYS_MAX = 128 };

/*
 * The embedded SM in SMInfo and SMInfoRecord: priority 0, which is OpenSM's
 * default, and state Master. IBA vol 1, 14.2.5.13.
 */
enum { SM_PRIORITY = 0, SM_STATE_MASTER = 3 };

/* Maximum number of subnets in a topology. */
enum { PARTS_MAX = 64 };

/* The number of the exit port for a LID to which a switch has no route. */
enum { ABOVE_ALL_PORTS = 255 };

/*
 * An end port: a port to which MADs can be sent. An array contains all end
 * ports of the topology by subnet, those of a subnet in the order of GUIDs. The
 * SA's answers contain only discovered ones (is_seen).
 */
struct end_port {
	uint64_t guid;
	uint32_t port; /* index in the topology */
	/*
	 * Index of the switch to which the end port is connected, or to which
	 * it belongs; or NO_INDEX.
	 */
	uint32_t leaf;
	/*
	 * Base LID of the end port, as an SM has last set it; 0: not set yet.
	 */
	uint32_t lid;
	uint8_t lid_count; /* 1 << LMC */
	uint8_t rate;	   /* as a rank */
	uint8_t mtu;	   /* as a code */
	uint8_t part;	   /* number of its subnet */
	/*
	 * The end port is discovered: it has a LID and a route to the SA's
	 * port.
	 */
	bool is_seen : 1;
	/* The port got its LIDs in the last call of ibsa__lids_give(). */
	bool is_new : 1;
};

struct port_handler;
struct switch_tables;

/*
 * Those members of an end port that path queries do not need, in a separate
 * array.
 */
struct end_setup {
	uint16_t *pkeys; /* NULL: only the default P_Key */
	uint16_t pkey_count;
	/* MADs without a P_Key of the table, since an SM has set the counter to 0 */
	uint16_t pkey_violations;
	/* Values of the port's SMSL and SMLID, as an SM has last set them. */
	uint8_t sm_sl;
	uint32_t sm_lid;
	uint32_t reregisters;
	/*
	 * Bits of the port's CapabilityMask that differ from its initial value.
	 */
	uint32_t changed_capabilities;
	bool needs_grh;
	/*
	 * The observers know this port: CHANGE_PORT_FOUND was reported, or was
	 * not necessary.
	 */
	bool is_known;
	/* A client at this port was subscribed when the SM restarted. */
	bool is_forgotten;
	/* Handlers of MADs at the end port: umad files and agents. */
	struct port_handler *handlers;
	/* The umad file that has set the port's bit IsSM, or NULL. */
	const void *issm;
	struct list reports; /* in flight to this port */
};

/* The LIDs in use. A port is found by its base LID. */
struct lids {
	/* Map from a base LID to the index of its end port. */
	struct map ends;
	uint32_t first; /* the first LID to assign */
	uint32_t limit; /* LIDs to assign are lower */
	uint32_t top;	/* The highest LID that was ever in use. */
	uint32_t count; /* LIDs in use */
	/* Number of ports whose base LID is also that of another port. */
	uint32_t doubles;
	/* Bit n is set if ports with an LMC of n may exist. */
	uint8_t lmcs;
};

/* A cable from one switch to another. */
struct hop {
	uint32_t to; /* switch index */
	uint8_t rate;
	uint8_t mtu;
	uint8_t port; /* the entry port of that switch */
};

/*
 * Lowest rate and lowest MTU on a shortest route from one switch to another.
 * Rate 0: there is no route.
 */
struct span {
	uint8_t rate;
	uint8_t mtu;
	/* Exit port of the first switch on the route. */
	uint8_t port;
};

/*
 * NeighborMTU code of a switch's base port 0, which does not depend on its cables.
 */
enum { SWITCH_PORT_MTU = 1 };

struct routes {
	struct hop *hops;
	/*
	 * For each switch: index of its first element in @hops; one more
	 * element contains the end of @hops.
	 */
	uint32_t *first_hop;
	uint32_t *queue; /* for a search */
	/*
	 * For each destination switch, the routes to it; computed at the first
	 * use.
	 */
	struct span **to;
	uint32_t switch_count;
};

/*
 * Upper part of the interface ID of an Omni-Path GID that stands for a LID:
 * this OUI is shifted by 40 bits, and the LID is in the lower bits. Such a GID
 * replaces a LID that is too wide for a field. Linux include/rdma/opa_addr.h.
 */
enum { OPA_GID_OUI = 0x00066a };

/* Length of a MAD of Omni-Path in bytes. */
enum { OPA_MAD_BYTES = 2048 };

/* Memory for the discovery along the cables. */
struct walk {
	uint32_t *queue; /* switches still to be visited */
	uint32_t queued;
	bool *seen; /* by port of the topology */
};

/*
 * Source of the embedded SM's multicast forwarding tables, set by
 * ibsa__multicast_init(). @block writes a block of a switch's table, for the
 * 16 ports from @position on.
 */
struct multicast_source {
	void (*block)(void *arg, const struct topo_node *node, uint32_t block,
		      unsigned int position, uint16_t *out);
	void *arg;
};

struct subnet {
	const struct fabric_clock *clock;
	struct topology topo;
	struct end_port *ends;	  /* of all subnets */
	struct end_setup *setups; /* one for each end port */
	uint32_t end_count;
	/* The end ports of this subnet: their indices, up to @ends_to. */
	uint32_t ends_from;
	uint32_t ends_to;
	uint8_t part; /* number of the subnet */
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
	/* Index of the first router port that is discovered, or NO_INDEX. */
	uint32_t router_end;
	uint64_t gid_prefix;
	struct routes routes;
	struct aliases aliases;
	/*
	 * By node index: the tables that an SM has set; NULL until it sets
	 * one.
	 */
	struct switch_tables **switches;
	struct multicast_source multicast;
	/*
	 * How often the records of the SA have changed: a table that is built
	 * in parts begins anew after a change.
	 */
	uint64_t changes;
	bool is_opa;
	bool sa_running;
	/*
	 * The subnet has no embedded SM: only an SM outside of the fabric
	 * configures it.
	 */
	bool is_bare;
};

/*
 * subnet.c: make the end ports of the topology, for subnet 0, whose SA is at the
 * node @sa_node. *@out_count: the number of subnets. Return: 0, or an error with
 * the reason in @error.
 */
int ibsa__subnet_init(struct subnet *subnet, uint32_t sa_node,
		      uint32_t *out_count, struct ibsa_error *error);
void ibsa__subnet_done(struct subnet *subnet);

/*
 * Make subnet @part of the topology of @first, with the first of its adapters as
 * the SA's node. The caller sets its observers. ibsa__subnet_part_done() frees
 * it, and is called for subnet 0 before ibsa__subnet_done(). Return: 0; -ENOMEM.
 */
int ibsa__subnet_part_init(struct subnet *subnet, const struct subnet *first,
			   uint8_t part) IBSA_MUST_USE;
void ibsa__subnet_part_done(struct subnet *subnet);

/*
 * Discover and configure the ports when the fabric starts. Return: 0, or an
 * error with the reason in @error.
 */
int ibsa__subnet_start(struct subnet *subnet, struct ibsa_error *error);

/*
 * part.c: number the subnets. Those ports that no cable connects with an
 * adapter, or whose subnet has a number above the limit, are in subnet 0, which
 * is that of the port @from; its SM does not discover them. @walk has room for
 * the topology. Return: the number of subnets.
 */
uint32_t ibsa__parts_number(struct topology *topo, struct walk *walk,
			    uint32_t from);

/* Return: the number of the subnet of a port. */
uint8_t ibsa__part_of_port(const struct topology *topo, uint32_t port);

/*
 * Search the subnet from @port: set @walk->seen of all end ports that links
 * connect with it (subnet.c).
 */
void ibsa__walk_from(struct topology *topo, struct walk *walk, uint32_t port);

/*
 * Return: the port at which the SA runs by default: port 0 of a switch, or the
 * first connected port; NO_INDEX: no port is connected.
 */
uint32_t ibsa__subnet_sa_port(const struct topology *topo, uint32_t node);

/* Kind of a sweep: at which ports the SM sets ClientReregister. */
enum sweep {
	SWEEP_FIRST,  /* none: the fabric starts */
	SWEEP_AGAIN,  /* new ports */
	SWEEP_MASTER, /* all ports: the SM has restarted */
};

/*
 * Discover the ports along the cables, as an SM does. Discovered ports get
 * LIDs and the SM's address.
 */
void ibsa__subnet_sweep(struct subnet *subnet, enum sweep sweep);

/*
 * Notify the observers of the ports that were lost and found since the last
 * call. If the SM's own port has no link, the SM discovers nothing, and no
 * port counts as lost.
 */
void ibsa__subnet_report(struct subnet *subnet);

/*
 * Mark the discovered ports as already reported, without notifying the
 * observers.
 */
void ibsa__subnet_take_stock(struct subnet *subnet);

/*
 * lid.c: LIDs. ibsa__lids_are_valid() checks that @lid is a multiple of @count
 * and that these LIDs are in range; ibsa__lids_are_free() checks that no port
 * except @index uses them. ibsa__lids_take() does not fail: ibsa__lids_init()
 * has reserved memory.
 */
int ibsa__lids_init(struct subnet *subnet);
bool ibsa__lids_are_valid(const struct lids *lids, uint32_t lid,
			  uint32_t count);
bool ibsa__lids_are_free(const struct subnet *subnet, uint32_t index,
			 uint32_t lid, uint32_t count);
void ibsa__lids_take(struct subnet *subnet, uint32_t index, uint32_t lid);
void ibsa__lids_drop(struct subnet *subnet, uint32_t index);

/*
 * Assign LIDs to those discovered ports that have none. Return: false: there
 * are not enough LIDs.
 */
bool ibsa__lids_give(struct subnet *subnet);

/* Set the LID of a port, even if another port already has it (lid.c). */
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

/*
 * Return: the end port to which a LID belongs, discovered or not; or NO_INDEX.
 */
static inline uint32_t end_of_lid(const struct subnet *subnet, uint32_t lid)
{
	for (unsigned int lmc = 0; subnet->lids.lmcs >> lmc; lmc++) {
		const uint32_t base = lid >> lmc << lmc;
		uint32_t end;

		if (!(subnet->lids.lmcs >> lmc & 1))
			continue;
		end = map_find(&subnet->lids.ends, base);
		if (end != NO_INDEX && lid - base < subnet->ends[end].lid_count)
			return end;
	}
	return NO_INDEX;
}

/* Return: the discovered end port to which a LID belongs, or NULL. */
static inline const struct end_port *end_by_lid(const struct subnet *subnet,
						uint32_t lid)
{
	const uint32_t end = end_of_lid(subnet, lid);

	if (end == NO_INDEX || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/* Whether an end port belongs to the subnet. */
static inline bool subnet_has_end(const struct subnet *subnet, uint32_t end)
{
	return end >= subnet->ends_from && end < subnet->ends_to;
}

/*
 * Return: the LID of an end port in the SA's answers; 0: the port belongs to
 * another subnet, or the SA hides it, or it is not an end port.
 */
static inline uint32_t subnet_port_lid(const struct subnet *subnet,
				       const struct topo_port *port)
{
	return subnet_has_end(subnet, port->end) ? port->lid : 0;
}

/* Return: the discovered end port with this GUID, or NULL. */
static inline const struct end_port *end_by_guid(const struct subnet *subnet,
						 uint64_t guid)
{
	const uint32_t end = map_find(&subnet->end_of_guid, guid);

	if (!subnet_has_end(subnet, end) || !subnet->ends[end].is_seen)
		return NULL;
	return &subnet->ends[end];
}

/*
 * Return: the value for a 16-bit LID field of a record: 0 if the LID is not a
 * unicast LID of InfiniBand, because its lower 16 bits would be the LID of
 * another port.
 */
static inline uint16_t lid_in_16_bits(uint32_t lid)
{
	return lid <= IBSA_LID_UNICAST_MAX ? (uint16_t)lid : 0;
}

/*
 * Return: the LID in the interface ID of an Omni-Path GID; 0: the GID does not
 * contain a LID.
 */
static inline uint32_t lid_in_gid(const struct subnet *subnet, uint64_t id)
{
	return subnet->is_opa && id >> 40 == OPA_GID_OUI ? (uint32_t)id : 0;
}

/* Return: the number of entries in the P_Key table of a port. */
static inline uint32_t setup_pkey_count(const struct end_setup *setup)
{
	return setup->pkeys ? setup->pkey_count : 1;
}

/*
 * Return: an entry of the port's P_Key table; 0: the entry is empty, or beyond
 * the end of the table.
 */
static inline uint16_t setup_pkey(const struct end_setup *setup, uint32_t index)
{
	if (!setup->pkeys)
		return index ? 0 : IBSA_PKEY_DEFAULT;
	return index < setup->pkey_count ? setup->pkeys[index] : 0;
}

/*
 * Whether two P_Keys match, so that a port with one of them accepts a packet
 * with the other: their lower 15 bits are equal and not 0, and at least one
 * has full membership.
 */
static inline bool pkeys_match(uint16_t a, uint16_t b)
{
	return !((a ^ b) & ~IBSA_PKEY_FULL) && a & ~IBSA_PKEY_FULL &&
	       (a | b) & IBSA_PKEY_FULL;
}

/*
 * pkey.c: P_Keys. Return: the lowest P_Key in the table of @a with which the
 * two ports accept each other's packets; 0: there is none.
 */
uint16_t ibsa__pkey_shared(const struct end_setup *a,
			   const struct end_setup *b);

/*
 * Whether two ports, of switches or adapters, share a partition by OpenSM's
 * rules.
 */
bool ibsa__ports_share_pkey(const struct subnet *subnet,
			    const struct topo_port *a,
			    const struct topo_port *b);

/*
 * ibsa__pkey_is_usable(): whether two ports can communicate with this P_Key.
 * ibsa__pkey_passes(): whether a port accepts a packet with this P_Key.
 */
bool ibsa__pkey_is_usable(const struct end_setup *a, const struct end_setup *b,
			  uint16_t pkey);
bool ibsa__pkey_passes(const struct end_setup *setup, uint16_t pkey);

/*
 * Return: the index of the first P_Key in the port's table that matches @pkey;
 * 0 if none does.
 */
uint16_t ibsa__pkey_index(const struct end_setup *setup, uint16_t pkey);

/*
 * Whether the port is a full or limited member of the partition. In OpenSM,
 * all ports are members of the invalid partitions 0 and 0x8000.
 */
bool ibsa__pkey_has(const struct end_setup *setup, uint16_t pkey);

/* Write GID 0 of the end port, 16 bytes, to @out. */
static inline void end_gid(const struct subnet *subnet,
			   const struct end_port *end, void *out)
{
	uint8_t *raw = out;

	ibsa_put_be64(raw, subnet->gid_prefix);
	ibsa_put_be64(raw + 8, end->guid);
}

/* Return: the rate, as a rank, and the MTU code of a port's link. */
struct span ibsa__port_span(const struct topology *topo, uint32_t port);

/* route.c: routes. Routes must be reset after each change of a cable. */
int ibsa__routes_init(struct routes *routes, const struct topology *topo);
void ibsa__routes_reset(struct routes *routes, const struct topology *topo);
void ibsa__routes_done(struct routes *routes);

/*
 * Find the lowest rate and MTU on the route between two end ports. Return: 0;
 * -ENOENT there is no route; -ENOMEM.
 */
int ibsa__route_span(struct subnet *subnet, const struct end_port *from,
		     const struct end_port *to, struct span *out);

/*
 * ibsa__route_port() returns the exit port of a switch on the route to another
 * switch, ibsa__route_exit() on the route to a LID. 0: the destination is the
 * switch itself; ABOVE_ALL_PORTS: there is no route.
 */
uint8_t ibsa__route_port(struct subnet *subnet, uint32_t from, uint32_t to);
uint8_t ibsa__route_exit(struct subnet *subnet, const struct topo_node *node,
			 uint32_t dlid);

#endif
