/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of an embedded fabric, and the replay of a capture.
 *
 * ibsa_fabric_tap  call a function with each packet of a fabric
 * ibsa_replay_open open a capture as a port whose SA replays it
 *
 * Any thread may call these functions. They are in libibsa-fabric: link with
 * the flags of "pkg-config ibsa-fabric".
 */
#ifndef IBSA_CAPTURE_H
#define IBSA_CAPTURE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;
struct ibsa_transport;

/**
 * struct ibsa_packet - a packet on a link of the fabric
 * @time_ns: at which it leaves the port that sends it, on the fabric's clock
 * @bytes:   from the LRH to the VCRC, as on a wire; valid until the callback
 *           returns
 */
struct ibsa_packet {
	uint64_t time_ns;
	const uint8_t *bytes;
	size_t len;
};

/*
 * Called with each packet, while the fabric is locked: the callback must not
 * call any function with this fabric or its clients.
 */
typedef void (*ibsa_packet_fn)(const struct ibsa_packet *packet, void *arg);

/**
 * ibsa_fabric_tap - call a function with each packet of a fabric
 * @report: called at the port that sends the packet, also if it is lost later.
 *          NULL: end this
 *
 * @report is called while the fabric is locked: it must not call functions with
 *          this fabric or its clients.
 *
 * Return: 0; -EBUSY the fabric has a function already; -EOPNOTSUPP Omni-Path
 *
 * Source: IBA vol 1, 7.7 (LRH), 7.8 (checksums), 8.3 (GRH), 9.2 (BTH), 9.3.3
 * (DETH), 13.6.2 (RMPP).
 */
int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn report,
		    void *arg) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_replay_open - open a capture as a port whose SA replays it
 * @path:  a pcap file of link type 197 (ERF) or 247 (InfiniBand)
 * @error: after an error, a sentence that tells what failed; may be NULL
 * @out:   for ibsa_options.transport
 *
 * A request gets the replies that the same request has in the capture, in their
 * order, the last one again and again; a request that is not in the capture
 * gets status 0x000c. LIDs, P_Key and GID of the port are those of the capture.
 *
 * Return: 0; -EINVAL no such file format, or no request to an SA; -ENOENT,
 * -EFBIG, -ENOMEM; or the error of the file or of timerfd_create(2)
 */
int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE IBSA_NONNULL(3);

IBSA_END

#endif
