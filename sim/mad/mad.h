/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs between ports of the fabric: what their packets say of them, how they
 * find their way, and who takes them at its end.
 */
#ifndef SIM_MAD_MAD_H
#define SIM_MAD_MAD_H

#include <ibsa/transport.h>

#include "wire/mad.h"

struct mad_net;
struct message;

/* Offsets of the fields of an SMP, in bytes. IBA vol 1, 14.2.1. */
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
};

enum {
	CLASS_SMP_LID = 0x01,
	CLASS_SMP_DIRECT = 0x81,
	CLASS_PERF = 0x04,
};

enum {
	METHOD_RESPONSE = 0x80, /* the bit */
};

/* What a packet says besides its MAD. */
struct sim_mad {
	uint32_t from; /* port of the topology that it has left */
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

/* Where a MAD has come to: for which end port, and in by which port. */
struct arrival {
	uint32_t port;	/* index in the topology; of a switch its port 0 */
	uint8_t number; /* of the port of that node that it came in by */
};

static inline bool mad_is_smp(const uint8_t *mad)
{
	return mad[MAD_CLASS] == CLASS_SMP_LID ||
	       mad[MAD_CLASS] == CLASS_SMP_DIRECT;
}

/* Begin with the way for MADs; end it. */
void ibsa__mads_init(struct mad_net *net);
void ibsa__mads_done(struct mad_net *net);

/* A message to fill, for ibsa__mad_post(), or NULL. */
struct message *ibsa__mad_new(struct mad_net *net);

/*
 * Send it: it arrives at its due_ns, or at @now_ns if that is past, if
 * nothing befalls it. It is the fabric's from now on.
 */
void ibsa__mad_post(struct mad_net *net, struct message *message,
		    uint64_t now_ns);

/* An answer to @request, to be filled, from @port; or NULL. */
struct message *ibsa__mad_answer(struct mad_net *net,
				 const struct message *request, uint32_t port,
				 uint64_t now_ns);

/* Send it back with a status, as it is. */
void ibsa__mad_refuse(struct mad_net *net, const struct message *message,
		      uint32_t port, uint16_t status, uint64_t now_ns);

/*
 * Let arrive what is due by @now_ns; and when the next is due that may reach
 * that end port.
 */
void ibsa__mads_settle(struct mad_net *net, uint64_t now_ns);
uint64_t ibsa__mads_due(const struct mad_net *net, uint32_t end);

/* It has found its way: give it to a handler of the port (deliver.c). */
void ibsa__mad_deliver(struct mad_net *net, struct message *message,
		       const struct arrival *at, uint64_t now_ns);

/* The same of a multicast packet: only agents take it, and none answers. */
void ibsa__mad_deliver_fan(struct mad_net *net, const struct message *message,
			   const struct arrival *at, uint64_t now_ns);

/* To all ports that the multicast forwarding tables lead to (fan.c). */
void ibsa__mad_fan_out(struct mad_net *net, const struct message *message,
		       uint64_t now_ns);

/*
 * Follow the forwarding tables (forward.c), or the path in the SMP itself
 * (direct.c). False: it is lost, and counted.
 */
bool ibsa__mad_forward(struct mad_net *net, const struct message *message,
		       uint32_t dlid, struct arrival *at);
bool ibsa__mad_direct(struct mad_net *net, struct message *message,
		      struct arrival *at);

/*
 * Whether an adapter lets an SMP of class 0x81 out by that port: it is at the
 * beginning of its path, which leads there, or on its way back at the end.
 */
bool ibsa__path_is_sound(const uint8_t *smp, uint8_t number);

#endif
