/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport carries MADs between one local port and the fabric, and the
 * clock with them: the kernel's umad device is one, the embedded fabric
 * another. What runs on one runs on the other.
 */
#ifndef IBSA_TRANSPORT_H
#define IBSA_TRANSPORT_H

#include <ibsa/types.h>

IBSA_BEGIN

/**
 * struct ibsa_address - where a MAD goes to, or came from
 * @lid:         of the other side, host order; 0 if only @gid says where
 * @qpn:         of the other side, 24 bits; 1 for the SA
 * @pkey_index:  in the local port's P_Key table
 * @sl:          service level
 * @path_bits:   low bits of the local LID, for an LMC above 0
 * @lmc:         how many low bits of @lid are path bits of the other side's
 *               port, 0 to 7; 0: as many as at the local port. An SA that is
 *               asked at one LID of its port may answer from another
 * @has_grh:     whether the fields below are meant
 * @gid:         of the other side
 * @gid_index:   in the local port's GID table
 * @hop_limit:   as in the GRH
 * @traffic_class: as in the GRH
 * @flow_label:  20 bits, host order
 */
struct ibsa_address {
	uint32_t lid;
	uint32_t qpn;
	uint16_t pkey_index;
	uint8_t sl;
	uint8_t path_bits;
	uint8_t lmc;
	bool has_grh;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint32_t flow_label;
	struct ibsa_gid gid;
};

/**
 * struct ibsa_message - a MAD that arrived
 * @from: its sender
 * @mad:  the bytes from the MAD header on; valid until the next recv or close
 * @len:  how many; replies of any size arrive whole
 * @err:  0; -ETIMEDOUT if this is not a reply: the transport no longer waits
 *        for the answer to the request whose header @mad holds; another
 *        negative errno: it has refused that request, which was not sent;
 *        -EMSGSIZE if the reply is larger than the transport may
 *        take and only its first part is here
 */
struct ibsa_message {
	struct ibsa_address from;
	const uint8_t *mad;
	size_t len;
	int err;
};

/* What a port's link speaks. */
enum ibsa_link_layer {
	IBSA_LINK_INFINIBAND,
	IBSA_LINK_ETHERNET, /* RoCE: addressed by GID, without an SM */
	IBSA_LINK_OPA,	    /* Omni-Path: LIDs of 32 bits */
};

/**
 * struct ibsa_port_state - what may change at a port while a program runs
 * @gid:        GID 0: subnet prefix and port GUID
 * @lid:        base LID, 0 if none yet
 * @sm_lid:     LID of the subnet manager, 0 if none is known
 * @sm_sl:      service level to reach it with
 * @lmc:        how many low bits of the LID are path bits
 * @port_state: enum ibsa_port_state_code
 * @phys_state: 5 is LinkUp
 * @pkey_index: index of the default P_Key (0xffff, else 0x7fff, else 0)
 * @link:       enum ibsa_link_layer
 * @port_num:   of the port at its device; 0 where the transport does not say
 * @needs_grh:  the port sends nothing without a GRH: every RoCE port, and an
 *              InfiniBand port as far as this is known
 * @reregisters: how often those on this port were to register with the SM
 *              again: it has asked for that, as far as the transport can see
 *              it, or the device went away and came back
 */
struct ibsa_port_state {
	struct ibsa_gid gid;
	uint32_t lid;
	uint32_t sm_lid;
	uint16_t pkey_index;
	uint8_t sm_sl;
	uint8_t lmc;
	uint8_t port_state;
	uint8_t phys_state;
	uint8_t link;
	uint8_t port_num;
	bool needs_grh;
	uint32_t reregisters;
};

/**
 * ibsa_port_has_sm - whether a port can reach a subnet manager
 * @state: of the port
 *
 * Return: true if it knows the LID of one and is neither down nor initializing,
 * where a port carries nothing but subnet management packets; never for RoCE.
 */
static inline bool ibsa_port_has_sm(const struct ibsa_port_state *state)
{
	const uint32_t last = state->link == IBSA_LINK_OPA
				      ? UINT32_C(0xbfffffff)
				      : UINT32_C(0xbfff);

	return state->port_state != 1 && state->port_state != 2 &&
	       state->sm_lid && state->sm_lid <= last &&
	       state->link != IBSA_LINK_ETHERNET;
}

/* What a GID is for; numbers as in rdma-core. */
enum ibsa_gid_type {
	IBSA_GID_IB = 0,
	IBSA_GID_ROCE_V1 = 1,
	IBSA_GID_ROCE_V2 = 2,
};

/**
 * struct ibsa_gid_entry - one entry of a port's GID table
 * @gid:     not zero
 * @index:   in the table
 * @ifindex: of the network interface it belongs to; 0 for none
 * @type:    enum ibsa_gid_type
 */
struct ibsa_gid_entry {
	struct ibsa_gid gid;
	uint32_t index;
	uint32_t ifindex;
	uint8_t type;
};

struct ibsa_transport;

/**
 * struct ibsa_transport_ops - what a transport can do
 * @now_ns: its clock: monotonic, in nanoseconds, from any start
 * @send:   send one MAD; @timeout_ms is how long the sender waits for an
 *          answer before it sends the same MAD again or gives up; 0 if none
 *          is to come, as for an answer of its own.
 *          Return: 0, or a negative errno and nothing was sent. After -EAGAIN,
 *          -EBUSY, -EINTR, -ENOBUFS and -ENOMEM the same MAD is sent again
 *          later; -EALREADY: a MAD with this TransactionID still waits for its
 *          answer
 * @holds:  whether the transport keeps a request until its answer arrives or
 *          its timeout ends, and refuses the same TransactionID until then, as
 *          the kernel does: nothing takes such a request back. NULL: it does
 *          not
 * @recv:   take the next message, without waiting.
 *          Return: 1 and *@out is filled; 0 nothing there; or a negative errno,
 *          of which -ENODEV says, once, that what was under way is lost
 * @fd:     readable when recv may have something; -1 if there is none
 * @wait:   sleep until recv may have something, wake is called or
 *          @timeout_ms has passed (-1: no limit). On a simulated clock, move
 *          it there instead. Return: 0, or -EINTR
 * @wake:   end a wait in another thread, or the next one; any thread
 * @port:   read the state of the local port afresh. Return: 0 or -errno
 * @changed: whether the local port may have changed since the last call, as
 *          far as the transport hears of it by itself; NULL: never
 * @gid:    read an entry of the local port's GID table; any thread. Return: 0;
 *          -ENODATA it is empty; -EINVAL the table has no such entry; or
 *          -errno. NULL: there is no table
 * @pkey:   the same of its P_Key table, without -ENODATA
 * @listen: have recv deliver the SA's Reports, too, which answer nothing, or no
 *          more. Who listens answers each with a ReportResp.
 *          Return: 0; -EBUSY somebody else at the port does; -EOPNOTSUPP; or
 *          another negative errno. NULL: it cannot
 * @holder: after listen returned -EBUSY, write to *@out which process has, or
 *          may have, the Reports, and false if this is not known. The text
 *          may hold any bytes. Waits for nothing. NULL: it is never known
 * @inherited: what a forked child does instead of close: let go of file
 *          descriptors, and leave all else alone, for its parent's threads
 *          may have been at it. NULL: nothing
 * @close:  end it and free it
 *
 * All but wake, gid and pkey belong to the thread that the client belongs to.
 */
struct ibsa_transport_ops {
	uint64_t (*now_ns)(struct ibsa_transport *transport);
	int (*send)(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms);
	bool (*holds)(struct ibsa_transport *transport);
	int (*recv)(struct ibsa_transport *transport, struct ibsa_message *out);
	int (*fd)(struct ibsa_transport *transport);
	int (*wait)(struct ibsa_transport *transport, int timeout_ms);
	void (*wake)(struct ibsa_transport *transport);
	int (*port)(struct ibsa_transport *transport,
		    struct ibsa_port_state *out);
	bool (*changed)(struct ibsa_transport *transport);
	int (*gid)(struct ibsa_transport *transport, uint32_t index,
		   struct ibsa_gid_entry *out);
	int (*pkey)(struct ibsa_transport *transport, uint32_t index,
		    uint16_t *out);
	int (*listen)(struct ibsa_transport *transport, bool on);
	bool (*holder)(struct ibsa_transport *transport,
		       struct ibsa_error *out);
	void (*inherited)(struct ibsa_transport *transport);
	void (*close)(struct ibsa_transport *transport);
};

/* A transport embeds this as its first member. */
struct ibsa_transport {
	const struct ibsa_transport_ops *ops;
};

IBSA_END

#endif
