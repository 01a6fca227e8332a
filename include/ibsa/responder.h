/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A responder: answers SA requests that arrive at a port of this machine, with
 * the SA of an embedded fabric.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_RESPONDER_H
#define IBSA_RESPONDER_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

struct ibsa_responder;

/**
 * struct ibsa_responder_options - how to open a responder; zero is the default
 * of each member
 * @device: name of the device of this machine, such as "mlx5_0"; NULL: the
 *          first device with an active InfiniBand port. A RoCE device is used
 *          only if it is named
 * @port:   port number of the device; 0: the first active InfiniBand port of
 *          the device, or else its first active RoCE port
 * @node:   name or node id of a channel adapter of the fabric, as for
 *          ibsa_fabric_attach(): the SA of the fabric receives all requests as
 *          if they came from this node; NULL: the first channel adapter of the
 *          fabric
 * @node_port: port number of @node; 0: its first port with a cable
 * @no_environment: ignore all environment variables, as if they were unset; see
 *          ibsa_environment_ignore()
 */
struct ibsa_responder_options {
	const char *device;
	unsigned int port;
	const char *node;
	unsigned int node_port;
	bool no_environment;
};

/**
 * struct ibsa_responder_info - port, GID, LID and counters of a responder
 * @device:   name of the device; valid until the responder is closed
 * @port:     port number of the responder
 * @gid:      GID at index 0 of the port when the responder was opened; clients
 *            on RoCE send requests to it
 * @lid:      LID of the port when the responder was opened, to which clients on
 *            InfiniBand send requests, host byte order; 0 on RoCE
 * @requests: requests to the SA that arrived at the port of the responder; a
 *            request of several MADs counts once, a repeated request each time
 * @answers:  answers that the kernel accepted for sending; an answer of several
 *            segments counts once
 * @reports:  Reports that the kernel accepted for sending; each try of a Report
 *            counts
 * @refused:  answers and Reports that could not be sent, usually because the
 *            kernel is still sending an earlier answer to the same request
 * @unprocessed:  of @requests, and of the responses to Reports, those that the
 *            responder could not send to the SA of the fabric, for example
 *            because they were too large or too small, or memory was short
 * @requesters: number of different requesters so far. Two requests come from
 *            different requesters if their source LIDs, source GIDs, queue
 *            pairs or P_Keys differ, or the LIDs or GIDs of the responder to
 *            which they were sent. A requester that was replaced, see
 *            ibsa_responder_open(), counts again
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
	uint64_t unprocessed;
	uint64_t requesters;
};

/* For bindings: ibsa_responder_open() with the size of @options. */
int ibsa_responder_open_sized(struct ibsa_fabric *fabric,
			      const struct ibsa_responder_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ibsa_responder **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 5);

/**
 * ibsa_responder_open - answer SA requests at a port of this machine
 * @fabric:  a fabric on the real clock; held until the responder is closed
 * @options: NULL: all defaults
 * @error:   receives, on failure, one sentence that tells what failed and what
 *           to do; may be NULL
 * @out:     receives the responder; ibsa_responder_close() closes it
 *
 * The responder passes SA requests that arrive at the port to the SA of
 * @fabric, and sends the answers of that SA back to the requesters. The
 * requesters need not exist in the fabric: its SA receives all requests as if
 * they came from @options->node, and its replies contain what this node may
 * receive. Faults of the fabric (ibsa_fabric_fault()) affect an answer as a
 * whole, not single RMPP segments.
 *
 * Get, Set, GetTable, GetMulti and Delete of class version 2 are processed, but
 * not a GetMulti request of more than one MAD, which counts as unprocessed. A
 * requester that subscribes receives Reports, and the SA of the fabric receives
 * the ReportResps of the requester. The responder stores at most 65536
 * requesters. A further requester replaces the oldest, and then receives the
 * Reports to which the oldest had subscribed.
 *
 * The kernel sends large answers as RMPP segments. If no acknowledgement
 * arrives within 2 seconds, the kernel sends the segments that are not
 * acknowledged again, at most three times. On RoCE, clients must use an IPv6
 * GID of the port: their kernels discard answers that come from an IPv4 GID.
 *
 * Only one thread at a time may call functions with a responder, and a forked
 * child must not call them.
 *
 * Return: 0; -EACCES this user may not open the umad device file; -EBUSY
 * another program, such as a subnet manager, receives the SA requests at the
 * port, or another client in the fabric receives the Reports at the node's
 * port; -EINVAL the fabric has a virtual clock; -ENETDOWN the port is not
 * active, or the node's port has no cable; -ENODEV there is no such device, or
 * the fabric has no such node; -ENOMEM; -ENOSYS the RDMA or umad modules are
 * not loaded; -ENXIO the device or the node has no such port; -EOPNOTSUPP the
 * kernel's umad interface is too old, or the device belongs to ibsim; or the
 * system's error. After an error @out is unchanged.
 *
 * Source: IBA vol 1, 13.5.3 (GetMulti, RMPP), 15.2 (SA); Linux
 * Documentation/infiniband/user_mad.rst.
 */
IBSA_INLINE IBSA_MUST_USE int
ibsa_responder_open(struct ibsa_fabric *fabric,
		    const struct ibsa_responder_options *options,
		    struct ibsa_error *error, struct ibsa_responder **out)
{
	return ibsa_responder_open_sized(fabric, options, sizeof(*options),
					 error, out);
}

/**
 * ibsa_responder_fd - the file descriptor to poll for reading
 * @responder: an open responder
 *
 * Poll the fd for at most ibsa_responder_timeout_ms(): some work, such as
 * opening the device file again, does not make it readable.
 *
 * Return: an fd that is readable when ibsa_responder_dispatch() has something
 * to receive. The fd belongs to the responder and stays the same.
 */
int ibsa_responder_fd(const struct ibsa_responder *responder) IBSA_NONNULL(1);

/**
 * ibsa_responder_timeout_ms - how long to poll the fd at most
 * @responder: an open responder
 *
 * Return: milliseconds after which ibsa_responder_dispatch() must be called
 * even if the fd is not readable; -1: no limit.
 */
int ibsa_responder_timeout_ms(const struct ibsa_responder *responder)
	IBSA_NONNULL(1);

/**
 * ibsa_responder_dispatch - process received requests and timers, without
 * waiting
 * @responder: an open responder
 *
 * One call processes at most 256 requests; if more are waiting, the fd stays
 * readable, or ibsa_responder_timeout_ms() returns 0.
 *
 * Return: 0; -ENODEV the device was removed; -EBUSY another program registered
 * for the SA requests while the responder opened the device file again, which
 * the responder does, for example, after a request of more than 64 KiB; or
 * another error of the device. After an error, ibsa_responder_dispatch()
 * processes nothing any more, and each further call returns the same error.
 */
int ibsa_responder_dispatch(struct ibsa_responder *responder) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_responder_info_get() with the size of @out. */
void ibsa_responder_info_get_sized(const struct ibsa_responder *responder,
				   struct ibsa_responder_info *out, size_t size)
	IBSA_NONNULL(1, 2);

/**
 * ibsa_responder_info_get - port, GID, LID and counters of a responder
 * @responder: an open responder
 * @out:       receives the port of this machine, its GID and LID, and the
 *             counters
 */
IBSA_INLINE void ibsa_responder_info_get(const struct ibsa_responder *responder,
					 struct ibsa_responder_info *out)
{
	ibsa_responder_info_get_sized(responder, out, sizeof(*out));
}

/**
 * ibsa_responder_close - close a responder
 * @responder: an open responder; NULL: nothing happens
 *
 * Answers and Reports that the kernel has not sent completely are lost.
 * Registrations and subscriptions that requesters made through the responder
 * stay in the fabric. In a forked child, ibsa_responder_close() closes the
 * child's copies of the descriptors of its parent's responder, which continues
 * in the parent; the other functions that return a number return -EINVAL or -1.
 */
void ibsa_responder_close(struct ibsa_responder *responder);

IBSA_END

#endif
