/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet management agents: they answer SMPs at each node, and store the
 * values that an SM outside of the fabric sets there. A node that no such SM
 * has configured has no stored values, but those of the embedded SM.
 */
#ifndef FABRIC_NODE_SMA_H
#define FABRIC_NODE_SMA_H

#include <ibsa/records.h>

#include "fabric/mad/net.h"
#include "fabric/subnet/tables.h"

/* Physical states of a port. IBA vol 1, 14.2.5.6. */
enum {
	PHYS_SLEEP = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_LINK_UP = 5,
};

enum { SMP_SM_INFO = 0x0020 /* attribute */ };

enum { VL_ARB_BLOCKS = 4 };

/*
 * Values that an SM outside of the fabric has set at a port. Tables are NULL
 * until this SM has set them.
 */
struct sma_port {
	/*
	 * The PortInfo that the SM has set; only the fields that a Set can
	 * change are valid.
	 */
	struct ibsa_port_info set;
	/*
	 * Time at which the lease of the M_Key ends; 0: the lease does not run.
	 */
	uint64_t lease_end_ns;
	/*
	 * P_Key table of a switch's external port, with PKEY_CAP_LINK entries.
	 */
	uint16_t *pkeys;
	/* SLtoVL tables: SL_TO_VL_LEVELS values for each input port. */
	uint8_t *sl_to_vl;
	/*
	 * VL arbitration: VL_ARB_BLOCKS blocks of VL_ARB_BLOCK_ENTRIES entries.
	 */
	uint16_t *vl_arb;
};

/* Values that an SM outside of the fabric has set at the ports of a node. */
struct sma_node {
	struct sma_port *ports; /* by number, from 0 */
};

/* The agents of all nodes. */
struct nodes {
	struct subnet *subnet;
	struct mad_net *net;
	/*
	 * By node index: values that an SM outside of the fabric has set; NULL
	 * until it sets a value at the node.
	 */
	struct sma_node **sma_nodes;
	/*
	 * Traps that the SM has not repressed yet, in the order of their next
	 * retry.
	 */
	struct list traps;
	uint32_t trap_ids;
	uint32_t sm_act_count;
};

/*
 * Return: the values that an SM outside of the fabric has set at a port; NULL:
 * it has set none at this node.
 */
const struct sma_port *ibsa__sma_port(const struct nodes *nodes,
				      const struct topo_port *port);

/*
 * Values that an SM outside of the fabric has set at a node. ibsa__sma_node()
 * returns NULL if there are none; ibsa__sma_make() creates them if they do not
 * exist, and returns NULL if memory is short.
 */
struct sma_node *ibsa__sma_node(const struct nodes *nodes, uint32_t node);
struct sma_node *ibsa__sma_make(struct nodes *nodes, uint32_t node);

void ibsa__sma_done(struct nodes *nodes);

/*
 * Fill the PortInfo of a port (port_info.c). @local_port is the port through
 * which the SMP has arrived.
 */
void ibsa__port_info(const struct nodes *nodes, const struct topo_port *port,
		     uint8_t local_port, struct ibsa_port_info *out);

/*
 * Before the link of a port is trained: set its rate to the greatest that both
 * its ends enable (sma_port.c).
 */
void ibsa__port_match(struct nodes *nodes, struct topo_port *port);

/* Return: the CapabilityMask in the PortInfo of an end port (port_info.c). */
uint32_t ibsa__port_capabilities(const struct subnet *subnet,
				 const struct end_port *end);

/*
 * Fill in the NodeInfo and NodeDescription that an end port reports
 * (node_info.c).
 */
void ibsa__node_info(const struct subnet *subnet, const struct end_port *end,
		     struct ibsa_node *out);

/* An SMP that is being answered. */
struct smp {
	struct nodes *nodes;
	const struct topo_node *node;
	struct topo_port *port; /* The end port to which the SMP was sent. */
	const uint8_t *mad;	/* the request */
	/* Data of the response; at first a copy of the request's data. */
	uint8_t *data;
	uint64_t now_ns;
	uint32_t modifier;
	uint32_t index; /* of the node */
	uint16_t status;
	/* Number of the port by which the SMP arrived. */
	uint8_t number;
	bool is_set;
};

/*
 * An attribute of SMPs is a part of an SA record: the part from @field on.
 * Encoding fills the SMP_DATA_BYTES of @data; bytes after the attribute are
 * set to zero.
 */
#define SMA_AT(record, field) \
	(offsetof(struct ibsa__##record##_bits, field) / 8)
#define SMA_ENCODE(record, field, host, data)                                  \
	ibsa__sma_encode(&ibsa_##record##_record, SMA_AT(record, field), host, \
			 data)
#define SMA_DECODE(record, field, data, host) \
	ibsa_##record##_record.decode((data)-SMA_AT(record, field), host)

void ibsa__sma_encode(const struct ibsa_record *record, size_t at,
		      const void *host, uint8_t *data);

enum {
	SMP_UNSUPPORTED = 0x000c, /* method and attribute */
	SMP_INVALID = 0x001c,	  /* a value of the attribute */
	SMP_BUSY = 0x0001,	  /* here: out of memory */
};

/*
 * One function for each attribute of SMPs. The function handles Get and Set;
 * the response to a Set has the new values.
 */
void ibsa__sma_node_description(struct smp *smp);
void ibsa__sma_node_info(struct smp *smp);
void ibsa__sma_switch_info(struct smp *smp);
void ibsa__sma_guid_info(struct smp *smp);
void ibsa__sma_port_info(struct smp *smp);
void ibsa__sma_extended_port_info(struct smp *smp);
void ibsa__sma_pkey_table(struct smp *smp);
void ibsa__sma_sl_to_vl(struct smp *smp);
void ibsa__sma_vl_arbitration(struct smp *smp);
void ibsa__sma_linear_forwarding(struct smp *smp);
void ibsa__sma_multicast_forwarding(struct smp *smp);

/*
 * Whether the agents of a node refuse the method of a MAD: all but Get, Set, the
 * messages to a manager, and responses. Source: Linux
 * drivers/infiniband/hw/qib/qib_mad.c, process_subn().
 */
static inline bool method_is_refused(const uint8_t *mad)
{
	const uint8_t method = mad[MAD_METHOD];

	return method != IBSA_METHOD_GET && method != IBSA_METHOD_SET &&
	       method != METHOD_SEND && method != METHOD_TRAP &&
	       method != IBSA_METHOD_REPORT && !mad_is_response(mad);
}

/*
 * Process an SMP at a port, if it is for the node's agent; other SMPs are for
 * an SM at the port. This function is the member take of a struct port_handler.
 */
bool ibsa__sma_take(void *arg, const struct message *message,
		    const struct arrival *at, uint64_t now_ns);

/*
 * Answer a Get of SMInfo for the embedded SM, if that is at this port. This
 * function is the member take of a struct port_handler.
 */
bool ibsa__sma_take_sm_info(void *arg, const struct message *message,
			    const struct arrival *at, uint64_t now_ns);

/* Trap numbers. IBA vol 1, 14.2.5.1 and 15.2.5.12. */
enum trap {
	TRAP_GID_IN_SERVICE = 64,
	TRAP_GID_OUT_OF_SERVICE = 65,
	TRAP_GROUP_CREATED = 66,
	TRAP_GROUP_DELETED = 67,
	TRAP_LINK_STATE = 128,
	TRAP_LOCAL_CHANGES = 144,
};

/*
 * Traps (trap.c) that a node sends to an SM outside of the fabric that has
 * configured it: for changed capabilities, and for an SMP with a wrong M_Key.
 * A trap is repeated until the SM represses it, but only a few times.
 */
void ibsa__trap_capabilities(struct nodes *nodes, const struct end_port *end);
void ibsa__trap_m_key(struct nodes *nodes, const struct end_port *end,
		      const struct message *tried);
void ibsa__trap_repressed(struct nodes *nodes, const struct message *message,
			  const struct end_port *end);

/*
 * Send traps for changed links and capabilities; called through struct
 * subnet_observer.
 */
void ibsa__traps_observe(void *arg, const struct subnet_change *change);

/*
 * ibsa__traps_settle() sends the traps that are due again; ibsa__traps_due()
 * returns the time at which the next one is due. Both functions are members of
 * a struct port_handler.
 */
void ibsa__traps_settle(void *arg, uint64_t now_ns);
uint64_t ibsa__traps_due(void *arg, uint32_t end);

void ibsa__traps_init(struct nodes *nodes);
void ibsa__traps_done(struct nodes *nodes);

#endif
