/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SA's side of a port: answers of any size go out.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c and mad_rmpp.c.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "umad/transport.h"
#include "wire/mad.h"

enum {
	/*
	 * The kernel sends what follows the last ACK again when 2 seconds have
	 * passed without one, and so many times until it gives up, as OpenSM
	 * has it do. Told to wait for less, it does so for the first ACK only,
	 * and then for ever: send_next_seg() sets the time anew for 2 seconds
	 * alone, and wait_for_response() has made a date of it.
	 */
	ACK_TRIES = 3,
};

static bool is_in_segments(const uint8_t *mad, size_t len)
{
	return len > MAD_RMPP_FLAGS && mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/*
 * By the agent that takes requests: an ACK has the method of one, and so
 * finds its way to the sender of what it is about.
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
	err = ibsa__umad_address_put(header, to);
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
	int err = ibsa__umad_have(umad);

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
