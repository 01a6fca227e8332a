/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs between ports of the fabric: addresses, forwarding and delivery. */
#ifndef FABRIC_MAD_MAD_H
#define FABRIC_MAD_MAD_H

#include <ibsa/transport.h>

#include "wire/mad.h"

struct mad_net;
struct message;

/* Byte offsets of the fields of an SMP. IBA vol 1, 14.2.1. */
enum {
	SMP_HOP_POINTER = MAD_CLASS_SPECIFIC,
	SMP_HOP_COUNT,
	SMP_M_KEY = MAD_HEADER_BYTES,
	SMP_DR_SLID = 32,
	SMP_DR_DLID = 34,
	SMP_DATA = 64,
	SMP_DATA_BYTES = 64,
	SMP_INITIAL_PATH = 128,
	SMP_RETURN_PATH = 192,
	SMP_PATH_BYTES = 64,
};

/*
 * Direction bit in the first byte of an SMP's status: if it is set, the SMP is
 * on its return path.
 */
enum { SMP_DIRECTION = 0x80 };

enum {
	CLASS_SMP_LID = 0x01,
	CLASS_SMP_DIRECT = 0x81,
	CLASS_PERF = 0x04,
};

/* The headers of a MAD's packet. */
struct mad_headers {
	/* index in the topology of the port that sends the MAD */
	uint32_t from;
	uint32_t slid;
	uint32_t dlid;
	uint32_t src_qpn;
	uint32_t dst_qpn;
	uint32_t flow_label;
	uint16_t pkey;
	uint8_t sl;
	uint8_t traffic_class;
	uint8_t hop_limit;
	bool has_grh;
	struct ibsa_gid sgid;
	struct ibsa_gid dgid;
};

/*
 * Where a MAD has arrived: the end port, and the number of the port through
 * which it came.
 */
struct arrival {
	/*
	 * Index in the topology of the end port at which the MAD has arrived;
	 * for a switch, of its port 0.
	 */
	uint32_t port;
	uint8_t number; /* number of the port of arrival */
};

static inline bool mad_is_smp(const uint8_t *mad)
{
	return mad[MAD_CLASS] == CLASS_SMP_LID ||
	       mad[MAD_CLASS] == CLASS_SMP_DIRECT;
}

/* Initialize and free the links for MADs. */
void ibsa__mads_init(struct mad_net *net);
void ibsa__mads_done(struct mad_net *net);

/*
 * Get a message, which the caller fills in for ibsa__mad_post(). Return: NULL:
 * memory is short.
 */
struct message *ibsa__mad_new(struct mad_net *net);

/*
 * Send a message, which then belongs to the fabric. The message arrives at its
 * due_ns, or at @now_ns if that is later, unless a fault affects it.
 */
void ibsa__mad_post(struct mad_net *net, struct message *message,
		    uint64_t now_ns);

/*
 * Return: a message from @port to the sender of @request, in which the caller
 * fills in the response; or NULL.
 */
struct message *ibsa__mad_answer(struct mad_net *net,
				 const struct message *request, uint32_t port,
				 uint64_t now_ns);

/*
 * Send a GetResp from @port to the sender of a request: a copy of the request
 * with the status @status.
 */
void ibsa__mad_refuse(struct mad_net *net, const struct message *message,
		      uint32_t port, uint16_t status, uint64_t now_ns);

/*
 * ibsa__mads_settle() delivers the MADs that are due by @now_ns.
 * ibsa__mads_due() returns the time at which the next MAD is due that may be
 * for this end port; UINT64_MAX: there is none.
 */
void ibsa__mads_settle(struct mad_net *net, uint64_t now_ns);
uint64_t ibsa__mads_due(const struct mad_net *net, uint32_t end);

/* Pass a MAD that has arrived at its port to the handlers (deliver.c). */
void ibsa__mad_deliver(struct mad_net *net, struct message *message,
		       const struct arrival *at, uint64_t now_ns);

/*
 * Pass a multicast packet to the agents of a port. A multicast packet has no
 * response.
 */
void ibsa__mad_deliver_fan(struct mad_net *net, const struct message *message,
			   const struct arrival *at, uint64_t now_ns);

/*
 * Forward a multicast packet: each switch sends copies to the ports in its
 * multicast forwarding table, except the port at which the packet arrived
 * (fan.c).
 */
void ibsa__mad_fan_out(struct mad_net *net, const struct message *message,
		       uint64_t now_ns);

/*
 * Forward a MAD by the forwarding tables (forward.c), or by the path in a
 * direct-route SMP (direct.c). Return: false: the MAD was lost, which is
 * counted.
 */
bool ibsa__mad_forward(struct mad_net *net, const struct message *message,
		       uint32_t dlid, struct arrival *at);
bool ibsa__mad_direct(struct mad_net *net, struct message *message,
		      struct arrival *at);

/*
 * Whether an adapter sends a direct-route SMP (class 0x81) by this port: the
 * SMP is at the start of a path by this port, or at the end of its return
 * path.
 */
bool ibsa__path_is_sound(const uint8_t *smp, uint8_t number);

#endif
