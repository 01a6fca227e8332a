/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends the answers of a responder, which may have any size, to requesters.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c and mad_rmpp.c.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "umad/transport.h"
#include "wire/mad.h"

enum {
	/*
	 * Number of retries. If no ACK comes for 2 seconds, the kernel sends
	 * the segments after the last ACK again, at most this many times.
	 * OpenSM uses the same value. The timeout in the umad header must be 0,
	 * which means 2 seconds: with a shorter timeout, the kernel waits that
	 * long only for the first ACK and then without end, because
	 * send_next_seg() sets only the timeout of 2 seconds again, and
	 * wait_for_response() has converted the value to a time.
	 */
	ACK_TRIES = 3,
};

static bool is_in_segments(const uint8_t *mad, size_t len)
{
	return len > MAD_RMPP_FLAGS && mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/*
 * Send an answer by the agent that receives requests: an ACK has the method of
 * a request, so the kernel passes it to this agent, among whose messages it
 * finds the one that the ACK acknowledges.
 */
static int packet_write(struct umad_transport *umad,
			const struct ibsa_address *to, uint64_t id,
			const uint8_t *mad, size_t len,
			struct umad_header *header)
{
	const size_t bytes = UMAD_HEADER_BYTES + len;
	int err;

	header->id = umad->agents[UMAD_AGENT_REQUESTS].id;
	header->length = (uint32_t)bytes;
	if (is_in_segments(mad, len))
		header->retries = ACK_TRIES;
	err = umad_header_address_put(header, to);
	if (err)
		return err;
	memcpy(header + 1, mad, len);
	ibsa_put_be64((uint8_t *)(header + 1) + MAD_TID, id);
	err = umad->file->ops->send(umad->file, header, bytes);
	return err ? ibsa__umad_send_error(umad, err) : 0;
}

int ibsa__umad_answer(struct ibsa_transport *transport,
		      const struct ibsa_address *to, uint64_t id,
		      const uint8_t *mad, size_t len)
{
	struct umad_transport *umad = umad_of(transport);
	struct umad_header *packet;
	int err = umad_have(umad);

	if (err)
		return err;
	if (len < MAD_HEADER_BYTES || len > UINT32_MAX - UMAD_HEADER_BYTES)
		return -EMSGSIZE;
	packet = ibsa__calloc(1, UMAD_HEADER_BYTES + len);
	if (!packet)
		return -ENOMEM;
	err = packet_write(umad, to, id, mad, len, packet);
	ibsa__free(packet);
	return err;
}
