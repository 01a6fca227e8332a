/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SA's side of a port: requests come in, answers of any size go out.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c and mad_rmpp.c.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "umad_dev/transport.h"
#include "umad_dev/umad.h"
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

int ibsa__umad_serve(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);
	int err = ibsa__umad_have(umad);

	if (!err)
		err = ibsa__umad_device_serve(&umad->file);
	if (!err)
		umad->serves = true;
	return err;
}

static bool is_in_segments(const uint8_t *mad, size_t len)
{
	return len > MAD_RMPP_FLAGS && mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/*
 * By the agent that takes requests: an ACK has the method of one, and so
 * finds its way to the sender of what it is about.
 */
static int packet_write(struct umad_transport *umad,
			const struct ibsa_address *to, const uint8_t *mad,
			size_t len, struct umad_header *header)
{
	const size_t bytes = UMAD_HEADER_BYTES + len;
	ssize_t written;
	int err;

	header->id = umad->file.request_agent;
	header->length = (uint32_t)bytes;
	if (is_in_segments(mad, len))
		header->retries = ACK_TRIES;
	err = ibsa__umad_address_put(header, to);
	if (err)
		return err;
	memcpy(header + 1, mad, len);
	errno = 0;
	written = write(umad->file.fd, header, bytes);
	return written < 0 ? ibsa__umad_write_error(umad, written) : 0;
}

int ibsa__umad_answer(struct ibsa_transport *transport,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len)
{
	struct umad_transport *umad = umad_of(transport);
	struct umad_header *packet;
	int err = ibsa__umad_have(umad);

	if (err)
		return err;
	if (len > UINT32_MAX - UMAD_HEADER_BYTES)
		return -EMSGSIZE;
	packet = ibsa__calloc(1, UMAD_HEADER_BYTES + len);
	if (!packet)
		return -ENOMEM;
	err = packet_write(umad, to, mad, len, packet);
	ibsa__free(packet);
	return err;
}
