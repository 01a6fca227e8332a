/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A responder: answers SA requests that arrive at a port of this machine, with
 * the SA of an embedded fabric.
 *
 * ibsa_responder_open       answer SA requests at a port of this machine
 * ibsa_responder_fd         file descriptor to poll
 * ibsa_responder_timeout_ms longest time to poll it; -1: no limit
 * ibsa_responder_dispatch   process requests and timers, without waiting
 * ibsa_responder_info_get   port, GID, LID and counters
 * ibsa_responder_close      close a responder
 *
 * Only one thread at a time may call functions with a responder; a forked child
 * may only close it. The functions are in libibsa-fabric: link with the flags
 * of "pkg-config ibsa-fabric".
 */
#ifndef IBSA_RESPONDER_H
#define IBSA_RESPONDER_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;

struct ibsa_responder;

/**
 * struct ibsa_responder_options - how to open a responder; zero: the default of
 * a member
 * @device:    device of this machine; a RoCE device must be named. NULL: the
 *             first with an active InfiniBand port
 * @port:      port of @device; 0: the first active one, InfiniBand before RoCE
 * @node:      as for ibsa_fabric_attach(); the responder sends all requests to
 *             the fabric's SA from this node. NULL: the first channel adapter
 * @node_port: port of @node; 0: the first port with a cable
 * @no_environment: as ibsa_environment_ignore(), for this responder
 */
struct ibsa_responder_options {
	const char *device;
	unsigned int port;
	const char *node;
	unsigned int node_port;
	bool no_environment;
	uint8_t reserved[3];
};

/**
 * struct ibsa_responder_info - port, GID, LID and counters of a responder
 * @device:      valid until the responder is closed
 * @port:        port of @device
 * @gid:         GID 0 of the port when the responder was opened; on RoCE,
 *               clients send requests to it
 * @lid:         LID of the port when the responder was opened, host byte order;
 *               0 on RoCE
 * @requests:    requests that arrived; each retry counts
 * @answers, @reports: replies and Reports that the kernel accepted for sending
 * @refused:     replies and Reports that could not be sent
 * @unprocessed: requests and ReportResps not passed to the fabric's SA
 * @requesters:  addresses from which requests came; a replaced one counts again
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

int ibsa_responder_open_sized(struct ibsa_fabric *fabric,
			      const struct ibsa_responder_options *options,
			      size_t size, struct ibsa_error *error,
			      struct ibsa_responder **out) IBSA_MUST_USE
	IBSA_NONNULL(1, 5);

/**
 * ibsa_responder_open - answer SA requests at a port of this machine
 * @fabric:  without virtual clock; the responder holds a reference to it until
 *           the responder is closed
 * @options: NULL: all defaults
 * @error:   receives, on failure, what failed and what to do; may be NULL
 *
 * Requesters need not be nodes of @fabric. The responder stores the addresses
 * of 65536 requesters; a further address replaces the oldest. On RoCE, clients
 * must use an IPv6 GID of the port.
 *
 * Return: 0; -EACCES this user may not open the device; -EBUSY another program
 * receives the SA requests at the port, or another client of @fabric receives
 * Reports to the node; -ENETDOWN, -ENODEV, -ENXIO, -ENOSYS as ibsa_open(), also
 * for the node; -EINVAL @fabric has a virtual clock; -EOPNOTSUPP the device is
 * simulated by ibsim; -ENOMEM; or the system's error
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

int ibsa_responder_fd(const struct ibsa_responder *responder) IBSA_NONNULL(1);

int ibsa_responder_timeout_ms(const struct ibsa_responder *responder)
	IBSA_NONNULL(1);

/**
 * ibsa_responder_dispatch - process requests and timers, without waiting
 *
 * Return: 0; -ENODEV the device was removed; -EBUSY another program receives
 * the SA requests now; or another error. After an error, each further call
 * returns the same error
 */
int ibsa_responder_dispatch(struct ibsa_responder *responder) IBSA_MUST_USE
	IBSA_NONNULL(1);

void ibsa_responder_info_get_sized(const struct ibsa_responder *responder,
				   struct ibsa_responder_info *out, size_t size)
	IBSA_NONNULL(1, 2);

IBSA_INLINE void ibsa_responder_info_get(const struct ibsa_responder *responder,
					 struct ibsa_responder_info *out)
{
	ibsa_responder_info_get_sized(responder, out, sizeof(*out));
}

/**
 * ibsa_responder_close - close a responder
 *
 * Replies and Reports not sent completely are lost. Registrations and
 * subscriptions of the requesters stay in the fabric.
 */
void ibsa_responder_close(struct ibsa_responder *responder);

IBSA_END

#endif
