/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A transport sends and receives the MADs of one local port, and provides the
 * clock. The library has transports for umad files of the kernel, for ports of
 * a fabric server, and for ports of an embedded fabric; a program may pass a
 * transport of its own to ibsa_open().
 *
 * ibsa_port_has_sm whether a port can send requests to an SM
 */
#ifndef IBSA_TRANSPORT_H
#define IBSA_TRANSPORT_H

#include <ibsa/types.h>

IBSA_BEGIN

/**
 * struct ibsa_address - the destination or the source of a MAD
 * @lid:        LID of the peer, host byte order; 0: only @gid is used, as on
 *              RoCE
 * @qpn:        QP number of the peer; 1 for the SA, unless it redirects
 *              requests
 * @pkey_index: index in the local port's P_Key table
 * @path_bits:  low bits of the local LID to use
 * @lmc:        LMC of the peer's port: the number of low bits of @lid that may
 *              differ in the source of a reply; 0: the LMC of the local port
 * @has_grh:    whether the MAD has a GRH; if not, the following members are
 *              unused
 * @gid:        GID of the peer, network byte order
 * @gid_index:  index in the local port's GID table
 * @flow_label: host byte order
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
 * struct ibsa_message - a MAD that arrived, or the end of a request
 * @from: source of the MAD; unused if @mad is the header of a request
 * @mad:  the bytes, from the MAD header on; valid until the next call of recv
 *        or close of the transport
 * @len:  number of bytes at @mad. A reply of several RMPP segments arrives as
 *        one message
 * @err:  0: @mad is a MAD that arrived; -EMSGSIZE: @mad is the first part of a
 *        MAD that is larger than the transport accepts; -ETIMEDOUT: @mad is the
 *        header of a request to which no reply arrived within its timeout;
 *        -ENOMEM: there was not enough memory, and @mad is the first part of a
 *        reply or the header of a request; another negative errno: @mad is the
 *        header of a request that send had accepted, but that was not sent
 */
struct ibsa_message {
	struct ibsa_address from;
	const uint8_t *mad;
	size_t len;
	int err;
	uint8_t reserved[4];
};

/* Link layer of a port. */
enum ibsa_link_layer {
	IBSA_LINK_INFINIBAND,
	IBSA_LINK_ETHERNET, /* RoCE: addresses are GIDs, and there is no SM */
	IBSA_LINK_OPA,	    /* Omni-Path: LIDs have 32 bits */
};

/**
 * struct ibsa_port_state - state of a local port, in host byte order
 * @gid:          GID at index 0, network byte order
 * @lid, @sm_lid: 0: none
 * @pkey_index:   index of P_Key 0xffff, or else of 0x7fff, or else 0
 * @phys_state:   PortPhysicalState; 5 is LinkUp
 * @port_num:     number of the port at its device; 0: unknown
 * @needs_grh:    each MAD needs a GRH, as far as the transport can tell
 * @reregisters:  increases when the SM asks clients to register again, or when
 *                the device returns; need not start at 0
 */
struct ibsa_port_state {
	struct ibsa_gid gid;
	uint32_t lid;
	uint32_t sm_lid;
	uint16_t pkey_index;
	uint8_t sm_sl;
	uint8_t lmc;
	enum ibsa_port_state_code port_state;
	uint8_t phys_state;
	enum ibsa_link_layer link;
	uint8_t port_num;
	bool needs_grh;
	uint32_t reregisters;
};

/**
 * ibsa_port_has_sm - whether a port can send requests to an SM
 *
 * A port can if @state has the unicast LID of an SM, the link is not Ethernet,
 * and the port is neither down nor initializing: in these two states, a port
 * sends only subnet management packets.
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

/* Types of GIDs; the numbers are those of rdma-core. */
enum ibsa_gid_type {
	IBSA_GID_IB = 0,
	IBSA_GID_ROCE_V1 = 1,
	IBSA_GID_ROCE_V2 = 2,
};

/**
 * struct ibsa_gid_entry - one entry of a port's GID table
 * @ifindex: index of the network interface; 0: none
 */
struct ibsa_gid_entry {
	struct ibsa_gid gid;
	uint32_t index;
	uint32_t ifindex;
	enum ibsa_gid_type type;
};

struct ibsa_transport;

/**
 * struct ibsa_transport_ops - operations of a transport
 * @size:   sizeof(struct ibsa_transport_ops)
 * @now_ns: returns the time of a monotonic clock, in nanoseconds
 * @send:   sends one MAD. @timeout_ms is how long the client waits for a reply
 *          before it sends the MAD again or gives up; 0: no reply will come.
 *          Return: 0; or a negative errno, and nothing was sent. After -EAGAIN,
 *          -EBUSY, -EINTR, -ENOBUFS and -ENOMEM the client sends a request
 *          again later. -EALREADY: a request with this TransactionID still
 *          waits for its reply; the client sends the MAD again when the timeout
 *          of that request has passed. If the client has sent no MAD with this
 *          TransactionID yet, -EALREADY means that the port cannot send to @to,
 *          and the request fails with -EINVAL. After other errors the request
 *          fails
 * @recv:   receives the next message without waiting. Return: 1, and *@out is
 *          the message; 0: there is no message; or a negative errno, after
 *          which the client calls recv again later. -ENODEV, returned once: the
 *          device disappeared, and all requests in flight are lost; the client
 *          sends them again
 * @fd:     returns a descriptor that is readable when recv may have a message;
 *          -1: none
 * @wait:   waits until recv may have a message, wake was called, or @timeout_ms
 *          has passed (-1: no limit). With a virtual clock, advances the clock
 *          to the first of these times instead. Return: 0, also after
 *          @timeout_ms; or a negative errno: -EINTR a signal ended the call
 * @wake:   ends the call of wait in another thread, or the next one; any thread
 *          may call it
 * @port:   reads the state of the local port into the first @size bytes at
 *          @out, which are zero. Return: 0; -ENODEV or -ENOENT the device
 *          disappeared: to the client, the port is down; or another negative
 *          errno: to the client, the port is unchanged
 * @close:  closes and frees the transport
 * @holds:  returns whether the transport, like the kernel, holds each request
 *          until its reply arrives or its timeout passes, and until then
 *          refuses another request with its TransactionID. NULL: it does not
 * @changed: returns true if an event of the local port has arrived since the
 *          last call; the client then calls port. NULL: the transport receives
 *          no events of the port
 * @gid:    reads an entry of the local port's GID table; any thread may call
 *          it. Return: 0; -ENODATA the entry is empty; -EINVAL the table has no
 *          such entry; or another negative errno. NULL: the table is not
 *          available
 * @pkey:   reads an entry of the local port's P_Key table; any thread may call
 *          it. Return: 0, also for an empty entry, which is 0; -EINVAL the
 *          table has no such entry; or another negative errno. NULL: the table
 *          is not available
 * @listen: if @on is true, recv delivers Reports of the SA from now on, in
 *          addition to replies; the client answers each Report with a
 *          ReportResp. If @on is false, recv no longer delivers Reports.
 *          Return: 0; -EBUSY another program or client receives the Reports at
 *          this port; -EOPNOTSUPP the port cannot receive Reports; or another
 *          negative errno. NULL: Reports are not available
 * @holder: called after listen returned -EBUSY: writes to @out->text, with a
 *          NUL, which process receives, or may receive, the Reports. Does not
 *          wait. The text may contain any bytes. Return: true; false if the
 *          transport cannot find the process. NULL: the transport can never
 *          find the process
 * @inherited: what a forked child calls instead of close: closes the file
 *          descriptors, but neither frees nor changes anything else, because
 *          threads of the parent may have been using the transport. NULL: the
 *          transport has no file descriptors
 *
 * An operation may be NULL only if its description above says what NULL means;
 * such operations are the last members. The client calls one of the operations
 * of a transport at a time, except wake, gid and pkey, which any thread may
 * call at any time.
 */
struct ibsa_transport_ops {
	size_t size;
	uint64_t (*now_ns)(struct ibsa_transport *transport);
	int (*send)(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms);
	int (*recv)(struct ibsa_transport *transport, struct ibsa_message *out);
	int (*fd)(struct ibsa_transport *transport);
	int (*wait)(struct ibsa_transport *transport, int timeout_ms);
	void (*wake)(struct ibsa_transport *transport);
	int (*port)(struct ibsa_transport *transport,
		    struct ibsa_port_state *out, size_t size);
	void (*close)(struct ibsa_transport *transport);
	bool (*holds)(struct ibsa_transport *transport);
	bool (*changed)(struct ibsa_transport *transport);
	int (*gid)(struct ibsa_transport *transport, uint32_t index,
		   struct ibsa_gid_entry *out);
	int (*pkey)(struct ibsa_transport *transport, uint32_t index,
		    uint16_t *out);
	int (*listen)(struct ibsa_transport *transport, bool on);
	bool (*holder)(struct ibsa_transport *transport,
		       struct ibsa_error *out);
	void (*inherited)(struct ibsa_transport *transport);
};

/**
 * IBSA_TRANSPORT_HAS - whether a transport has an operation
 * @operation: a member of struct ibsa_transport_ops that may be NULL
 *
 * A transport that was compiled with an older header has a shorter struct.
 */
#define IBSA_TRANSPORT_HAS(transport, operation)          \
	(offsetof(struct ibsa_transport_ops, operation) < \
		 (transport)->ops->size &&                \
	 (transport)->ops->operation != NULL)

/* The first member of the struct of each transport. */
struct ibsa_transport {
	const struct ibsa_transport_ops *ops;
};

IBSA_END

#endif
