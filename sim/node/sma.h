/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet management agents: what every node answers to an SM, and what
 * an SM has set there. Nothing is kept of a node that none has set up: it is
 * then as the built-in SM would have it.
 */
#ifndef SIM_NODE_SMA_H
#define SIM_NODE_SMA_H

#include <ibsa/records.h>

#include "sim/mad/net.h"
#include "sim/subnet/tables.h"

/* Physical states of a port. IBA vol 1, 14.2.5.6. */
enum {
	PHYS_SLEEP = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_LINK_UP = 5,
};

enum { SMP_SM_INFO = 0x0020 /* attribute */ };

enum { VL_ARB_BLOCKS = 4 };

/* Of one port; tables are there once they were set. */
struct sma_port {
	struct ibsa_port_info set; /* those fields that can be */
	uint64_t lease_end_ns;	   /* of its M_Key; 0: nothing ends */
	uint16_t *pkeys;	   /* of a switch's port, PKEY_CAP_LINK */
	uint8_t *sl_to_vl;	   /* SL_TO_VL_LEVELS for each port of entry */
	uint16_t *vl_arb;	   /* VL_ARB_BLOCKS of VL_ARB_BLOCK_ENTRIES */
};

/* Of one node. */
struct sma_node {
	struct sma_port *ports; /* by number, from 0 */
};

/* The agents of all nodes. */
struct nodes {
	struct subnet *subnet;
	struct mad_net *net;
	struct sma_node **sma_nodes; /* by node; NULL until an SM sets any */
	struct list traps;	     /* not repressed yet, as they are due */
	uint32_t trap_ids;
	uint32_t sm_act_count;
};

/* What has been set of a port; NULL: nothing of the node was. */
const struct sma_port *ibsa__sma_port(const struct nodes *nodes,
				      const struct topo_port *port);

/* The same of a node; and to be set, NULL: out of memory. */
struct sma_node *ibsa__sma_node(const struct nodes *nodes, uint32_t node);
struct sma_node *ibsa__sma_make(struct nodes *nodes, uint32_t node);

void ibsa__sma_done(struct nodes *nodes);

/*
 * What a port says of itself, to somebody who came in by @local_port of its
 * node (port_info.c).
 */
void ibsa__port_info(const struct nodes *nodes, const struct topo_port *port,
		     uint8_t local_port, struct ibsa_port_info *out);

/* The capability mask of an end port, of its PortInfo (port_info.c). */
uint32_t ibsa__port_capabilities(const struct subnet *subnet,
				 const struct end_port *end);

/* NodeInfo and NodeDescription at an end port (node_info.c). */
void ibsa__node_info(const struct subnet *subnet, const struct end_port *end,
		     struct ibsa_node *out);

/* One SMP being answered. */
struct smp {
	struct nodes *nodes;
	const struct topo_node *node;
	struct topo_port *port; /* the end port that it has come to */
	const uint8_t *mad;	/* the request */
	uint8_t *data;		/* of the answer; at first as in the request */
	uint64_t now_ns;
	uint32_t modifier;
	uint32_t index; /* of the node */
	uint16_t status;
	uint8_t number; /* of the port that it came in by */
	bool is_set;
};

/*
 * An attribute of SMPs is the part of an SA record from @field on. @data is
 * the SMP's, SMP_DATA_BYTES; what the attribute leaves of it becomes zero.
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
	SMP_INVALID = 0x001c,	  /* a value in it */
	SMP_BUSY = 0x0001,	  /* here: no memory */
};

/* The answers to each attribute; a Set is answered like the Get after it. */
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
 * Let the agent of that port have an SMP; as in struct port_handler. What is
 * not for it is for an SM on the port.
 */
bool ibsa__sma_take(void *arg, const struct message *message,
		    const struct arrival *at, uint64_t now_ns);

/* Answer SMInfo for the built-in SM, if it is at that port; the same. */
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
 * Traps (trap.c): what nodes say to the SM that has set them up, again and
 * again until it represses them. The port has other capabilities; a request had
 * a wrong M_Key.
 */
void ibsa__trap_capabilities(struct nodes *nodes, const struct end_port *end);
void ibsa__trap_m_key(struct nodes *nodes, const struct end_port *end,
		      const struct message *tried);
void ibsa__trap_repressed(struct nodes *nodes, const struct message *message,
			  const struct end_port *end);

/* A link of a switch, or capabilities; as in struct subnet_observer. */
void ibsa__traps_observe(void *arg, const struct subnet_change *change);

/* Send again what is due, and when the next is; as in struct port_handler. */
void ibsa__traps_settle(void *arg, uint64_t now_ns);
uint64_t ibsa__traps_due(void *arg, uint32_t end);

void ibsa__traps_init(struct nodes *nodes);
void ibsa__traps_done(struct nodes *nodes);

#endif
