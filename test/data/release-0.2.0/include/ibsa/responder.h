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
 * @device:    of this machine; NULL: the first with an active InfiniBand port
 * @port:      0: the first active port of the device
 * @node:      of the fabric, as for ibsa_fabric_attach(): the SA receives all
 *             requests as from this node; NULL: the first channel adapter
 * @node_port: 0: its first port with a cable
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
 * @gid:         GID 0 of the port at the opening; clients on RoCE send to it
 * @lid:         at the opening, host byte order; 0 on RoCE
 * @requests:    that arrived, a repeated request each time
 * @answers, @reports: that the kernel accepted for sending
 * @refused:     answers and Reports that could not be sent
 * @unprocessed: requests and responses that could not be passed to the SA
 * @requesters:  different addresses of requesters
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
 * @fabric:  on the real clock; held until the responder is closed
 * @options: NULL: all defaults
 * @error:   receives, on failure, what failed and what to do; may be NULL
 *
 * Requesters need not exist in the fabric. At most 65536 are stored; a further
 * one replaces the oldest. On RoCE, clients must use an IPv6 GID of the port.
 *
 * Return: 0; -EACCES this user may not open the device; -EBUSY another program
 * receives the SA requests at the port; -ENETDOWN, -ENODEV, -ENXIO as
 * ibsa_open(); -EINVAL, -ENOSYS, -EOPNOTSUPP, -ENOMEM; or the system's error
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
 * Return: 0; -ENODEV the device was removed; -EBUSY another program took the SA
 * requests; or another error, then again in each further call
 */
int ibsa_responder_dispatch(struct ibsa_responder *responder) IBSA_MUST_USE
	IBSA_NONNULL(1);

/* For bindings: ibsa_responder_info_get() with the size of @out. */
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
 * Answers that are not sent completely are lost; registrations and
 * subscriptions stay in the fabric.
 */
void ibsa_responder_close(struct ibsa_responder *responder);

IBSA_END

#endif
