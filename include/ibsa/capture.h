/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets of an embedded fabric, and the replay of a capture. */
#ifndef IBSA_CAPTURE_H
#define IBSA_CAPTURE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;
struct ibsa_transport;

/**
 * struct ibsa_packet - a packet on a link of the fabric
 * @time_ns: of the fabric's clock, nanoseconds
 * @bytes:   from the LRH to the VCRC, as they are on a wire; network order
 * @len:     how many
 */
struct ibsa_packet {
	uint64_t time_ns;
	const uint8_t *bytes;
	size_t len;
};

/*
 * Called with each packet, while the fabric is locked: it must not call any
 * function on this fabric, nor on a client of it.
 */
typedef void (*ibsa_packet_fn)(const struct ibsa_packet *packet, void *arg);

/**
 * ibsa_fabric_tap - see all that is on the links of the clients
 * @fabric: which
 * @seen:   called with each packet from now on; NULL: no more
 * @arg:    handed to @seen as it is
 *
 * A request is seen when a client sends it, whatever becomes of it, and an
 * answer or a Report when it has arrived at a client. What goes between umad
 * files, and between those and the ports, is seen once, when it is sent. A
 * message of more than one MAD is seen as its RMPP segments, all at one time;
 * there are no acknowledgements of them.
 *
 * Return: 0; -EBUSY somebody else sees them already; -EOPNOTSUPP the fabric
 * is of Omni-Path, whose packets have other headers.
 *
 * Source: IBA vol 1, 7.7 (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.3 (DETH), 13.6.2
 * (RMPP).
 */
int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn seen,
		    void *arg) IBSA_MUST_USE;

/**
 * ibsa_replay_open - a port whose SA answers what it has once answered
 * @path:  a capture: a pcap file of ERF records of InfiniBand (link type 197),
 *         or of InfiniBand packets (link type 247)
 * @error: filled on failure; may be NULL
 * @out:   the transport, for ibsa_options.transport
 *
 * A request is answered as the same question was in the capture: of the same
 * versions, method, attribute, modifier, SM_Key and component mask, and the
 * same record, which in a Get and a GetTable is only what the mask selects.
 * The answer has the new transaction id, comes at once, and whole if it was
 * in RMPP segments. What was asked more than once gets those answers in
 * their order, and then the last for ever. What was asked in vain gets no
 * answer; what was never asked, status 0x000c, whatever an SA would say.
 * Reports do not come. A packet that is cut at the end of the file, and what
 * is neither a request to an SA nor its answer, do not count.
 *
 * The port has the LID of who has asked first, the SM's LID that it has asked
 * at, the P_Key it has asked with, and the GID that a GRH or a PathRecord
 * gives it, or one that is made up. The transport is at a fabric of its own,
 * which ibsa_fabric_load() makes of such a file to be shared: that port is its
 * only adapter, "recorded", on a switch that the SA is on, unless it has asked
 * at its own LID. Its clock is the real one.
 *
 * Return: 0; -EINVAL no @path, no such capture, or nobody asks an SA in it;
 * -ENOENT and the like from opening it; -EFBIG; -ENOMEM; or the error of
 * making a timerfd.
 */
int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE;

IBSA_END

#endif
