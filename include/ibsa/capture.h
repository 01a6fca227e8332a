/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of an embedded fabric, and the replay of a capture.
 *
 * The functions are in libibsa-fabric: link with the flags of "pkg-config
 * ibsa-fabric".
 */
#ifndef IBSA_CAPTURE_H
#define IBSA_CAPTURE_H

#include <ibsa/types.h>

IBSA_BEGIN

struct ibsa_fabric;
struct ibsa_transport;

/**
 * struct ibsa_packet - a packet on a link of the fabric
 * @time_ns: time in nanoseconds at which the packet leaves the port that sends
 *           it; the time of a reply or Report includes latency_us of struct
 *           ibsa_fabric_options. The clock is CLOCK_MONOTONIC, or, if the
 *           fabric has a virtual clock, that clock, which starts at 0
 * @bytes:   from the LRH to the VCRC, as on a wire, network order; valid until
 *           the callback returns
 * @len:     number of bytes
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
 * @fabric: a fabric
 * @report: called with each packet from now on. NULL: end this; after the
 *          return, no call of the previous function is running
 * @arg:    passed to @report unchanged
 *
 * @report is called once for each packet, at the port that sends the packet,
 * even if the packet is lost later. A message of several MADs appears as its
 * RMPP segments, all with the same time; the fabric sends no RMPP
 * acknowledgements.
 * @report is called while the fabric is locked, in the thread whose call makes
 * a port send the packet, such as a dispatch of a client. @report must not call
 * any function with this fabric or its clients.
 *
 * Return: 0; -EBUSY the fabric already has a function: end it with NULL first;
 * -EOPNOTSUPP the fabric is an Omni-Path fabric, whose packets have other
 * headers. Any thread may call ibsa_fabric_tap().
 *
 * Source: IBA vol 1, 7.7 (LRH), 7.8 (checksums), 8.3 (GRH), 9.2 (BTH), 9.3.3
 * (DETH), 13.6.2 (RMPP).
 */
int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn report,
		    void *arg) IBSA_MUST_USE IBSA_NONNULL(1);

/**
 * ibsa_replay_open - open a capture as a port whose SA replays it
 * @path:  a pcap file of ERF records of InfiniBand (link type 197), or of
 *         InfiniBand packets (link type 247)
 * @error: after an error, a sentence that tells what failed; may be NULL
 * @out:   receives the transport, for ibsa_options.transport: ibsa_close()
 *         closes it; if ibsa_open() fails, the program closes it
 *
 * A request gets the reply that the same request has in the capture: with the
 * same base and class versions, method, attribute, modifier, SM_Key and
 * component mask, and the same record. Of the record, Get and GetTable of an
 * attribute in ibsa_record_at() compare only the fields in the component mask;
 * other requests compare all bytes. The reply has the TransactionID of the new
 * request and arrives at once, as one message, even if the capture has the
 * reply in RMPP segments. If the capture has the same request several times,
 * not counting retries, the replies are returned in the order of the capture;
 * after the last reply, the last reply is returned again. A request without a
 * whole reply in the capture gets no reply; the reply to a request that is not
 * in the capture has status 0x000c. Reports in the capture are not replayed. A
 * packet that is truncated at the end of the file, and packets that are neither
 * a request to an SA nor the reply to one, are ignored. Only the GID of the
 * port can come from such a packet.
 *
 * The values of the port come from the capture. The first request gives the LID
 * (the source LID), the SM LID (the destination LID) and the P_Key of the port.
 * The GID of the port is the first of these that exists: the source GID in the
 * GRH of the first request; the source GID of the last MAD before the first
 * request that has a GRH and is not a response, from any sender; the SGID or
 * DGID that the first suitable PathRecord of a reply has for the LID of the
 * port; fe80::10:1. The port is active; its rate is 4xSDR.
 *
 * Each transport of ibsa_replay_open() has a fabric of its own, on the real
 * clock. For several clients on one fabric, call ibsa_fabric_load() with the
 * path of the capture instead. The only channel adapter of the fabric is
 * "recorded", which has the port. The port is connected to the switch "recorded
 * SA". The SA runs on this switch or, if the requester sent to its own LID, on
 * "recorded".
 *
 * Return: 0; -EINVAL @path is NULL, the file is not a pcap file of these two
 * link types, or it contains no request to an SA; -ENOENT the file does not
 * exist; -EFBIG the file is 1 GiB or larger; -ENOMEM; or the error from opening
 * or reading the file, or of timerfd_create(2). After an error @out is
 * unchanged. Any thread may call ibsa_replay_open().
 */
int ibsa_replay_open(const char *path, struct ibsa_error *error,
		     struct ibsa_transport **out) IBSA_MUST_USE IBSA_NONNULL(3);

IBSA_END

#endif
