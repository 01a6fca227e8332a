/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA of an embedded fabric at a real port of this machine. */
#ifndef IBSA_RESPONDER_H
#define IBSA_RESPONDER_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

struct ibsa_responder;

/**
 * struct ibsa_responder_options - zero is the default throughout
 * @device: of this machine, as "mlx5_0"; NULL: the first with an active
 *          InfiniBand port
 * @port:   its port; 0: the first active one
 * @node:   name or node id of the channel adapter of the fabric that those who
 *          ask are taken for; NULL: the first of the file
 * @node_port: its port; 0: the first with a cable
 */
struct ibsa_responder_options {
	const char *device;
	unsigned int port;
	const char *node;
	unsigned int node_port;
};

/**
 * struct ibsa_responder_info - where a responder is and what has passed it
 * @device:   of this machine; lives as long as the responder
 * @port:     its port
 * @gid:      its GID 0, under which the SA can be asked
 * @lid:      its LID, host order; 0 on RoCE
 * @requests: MADs that came for the SA
 * @answers:  those that the kernel has taken to send
 * @reports:  Reports that it has taken, each try
 * @refused:  answers and Reports that it has not: most often since an answer
 *            to the same request is still on its way
 * @unheard:  requests that are none for the fabric, as one too large, or came
 *            when there was no memory
 * @requesters: how many have asked so far, told apart by address and QP
 */
struct ibsa_responder_info {
	const char *device;
	unsigned int port;
	struct ibsa_gid gid;
	uint32_t lid;
	uint64_t requests;
	uint64_t answers;
	uint64_t reports;
	uint64_t refused;
	uint64_t unheard;
	uint64_t requesters;
};

/**
 * ibsa_responder_open - let a fabric's SA answer at a port of this machine
 * @fabric:  which; held until the responder is closed; on the real clock
 * @options: NULL for all defaults
 * @error:   filled on failure with what was wrong and what to do; may be NULL
 * @out:     the responder; ibsa_responder_close() ends it
 *
 * From then on requests to the SA that arrive at the port, from anywhere on
 * the network that it is really on, are the fabric's, and its answers go back
 * to whoever has asked. Those who ask need not be in the fabric: all are taken
 * for @options->node, and see of it what that port may see. What befalls MADs
 * in the fabric (ibsa_fabric_fault()) befalls them, once for a whole answer.
 *
 * Who has subscribed gets Reports, and its ReportResp reaches the SA.
 * Requesters are 65536 at most: beyond, the one who came first is forgotten,
 * and its Reports go to the one who has taken its place.
 *
 * The kernel sends answers in segments where they are large, and waits for 2
 * seconds when one is lost. GetMulti comes in as one MAD or is not heard. A GID
 * of IPv4 does not do to be asked under: the requester's kernel takes no answer
 * from there.
 *
 * Return: 0; -EINVAL the fabric has a virtual clock; -ENODEV there is no such
 * device here, or no such node in the fabric; -ENXIO one of the two has no such
 * port; -ENETDOWN one of the two has no link; -EBUSY another program here is
 * the SA at the port, as a subnet manager is, or another client in the fabric
 * listens to Reports at the node's port; -EACCES not permitted; -ENOSYS the
 * RDMA or umad modules are not loaded; -EOPNOTSUPP the kernel is too old, or
 * the device is simulated; -ENOMEM; or the system's error.
 *
 * A responder belongs to one thread at a time, and not to a forked child.
 *
 * Source: IBA vol 1, 13.5.3 (GetMulti, RMPP), 15.2 (SA); Linux
 * Documentation/infiniband/user_mad.rst.
 */
int ibsa_responder_open(struct ibsa_fabric *fabric,
			const struct ibsa_responder_options *options,
			struct ibsa_error *error,
			struct ibsa_responder **out) IBSA_MUST_USE;

/**
 * ibsa_responder_fd - what to wait for
 * @responder: which
 *
 * Return: a file descriptor that is readable when ibsa_responder_dispatch() has
 * something to do. It stays the same and remains the responder's.
 */
int ibsa_responder_fd(const struct ibsa_responder *responder);

/**
 * ibsa_responder_timeout_ms - how long to wait at most
 * @responder: which
 *
 * Return: milliseconds until ibsa_responder_dispatch() is to be called though the
 * fd is not readable; -1: no such need, as is nearly always so.
 */
int ibsa_responder_timeout_ms(const struct ibsa_responder *responder);

/**
 * ibsa_responder_dispatch - let pass what is there, without waiting
 * @responder: which
 *
 * It takes at most 256 requests at a time; the fd is still readable then.
 *
 * Return: 0; -ENODEV the device has gone, -EBUSY another program has become
 * the SA at its port while its file had to be opened anew, or another error
 * of the device: all three for good; nothing passes any more.
 */
int ibsa_responder_dispatch(struct ibsa_responder *responder) IBSA_MUST_USE;

/**
 * ibsa_responder_info_get - where a responder is and what has passed it
 * @responder: which
 * @out:  the answer
 */
void ibsa_responder_info_get(const struct ibsa_responder *responder,
			     struct ibsa_responder_info *out);

/**
 * ibsa_responder_close - end it
 * @responder: or NULL
 *
 * Answers that the kernel has not sent completely by then are lost. What was
 * registered with the SA and subscribed to stays in the fabric.
 */
void ibsa_responder_close(struct ibsa_responder *responder);

IBSA_END

#endif
