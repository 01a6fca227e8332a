/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends and receives packets at a umad file.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "umad/transport.h"
#include "wire/mad.h"

enum {
	PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
	LARGE_MAD_BYTES = 2048, /* of OPA */
};

static bool is_report_answer(const uint8_t *mad, size_t len)
{
	return len > MAD_METHOD && mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP;
}

/*
 * Choose the agent that sends a MAD: for a ReportResp, the agent for Reports;
 * otherwise the agent of the MAD's class version.
 */
static int agent_choose(struct umad_transport *umad, const uint8_t *mad,
			size_t len, uint32_t *out)
{
	const struct umad_agent *agents = umad->agents;
	enum umad_agent_use use = UMAD_AGENT_SA;

	if (is_report_answer(mad, len)) {
		umad_agents_poll(umad);
		if (agents[UMAD_AGENT_REPORTS].is_registered)
			use = UMAD_AGENT_REPORTS;
	} else if (len > MAD_CLASS_VERSION &&
		   mad[MAD_CLASS_VERSION] == IBSA_CLASS_VERSION_OPA) {
		use = UMAD_AGENT_OPA;
	}
	if (!agents[use].is_registered)
		return -EOPNOTSUPP;
	*out = agents[use].id;
	return 0;
}

static size_t mad_max(const struct umad_transport *umad)
{
	return umad->agents[UMAD_AGENT_OPA].is_registered &&
			       umad->file->ops->has_large_mads
		       ? LARGE_MAD_BYTES
		       : IBSA_MAD_BYTES;
}

int ibsa__umad_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms)
{
	struct umad_transport *umad = umad_of(transport);
	struct {
		struct umad_header header;
		uint8_t mad[LARGE_MAD_BYTES];
	} packet;
	size_t bytes = len;
	int err;

	if (len > mad_max(umad))
		return -EMSGSIZE;
	memset(&packet.header, 0, sizeof(packet.header));
	err = umad_header_address_put(&packet.header, to);
	if (!err)
		err = umad_have(umad);
	if (!err)
		err = agent_choose(umad, mad, len, &packet.header.id);
	if (err)
		return err;
	memcpy(packet.mad, mad, len);
	/*
	 * A MAD that is shorter than 256 bytes is padded: ibsim would send
	 * bytes of its stack after it.
	 */
	if (len < IBSA_MAD_BYTES) {
		memset(packet.mad + len, 0, IBSA_MAD_BYTES - len);
		bytes = IBSA_MAD_BYTES;
	}
	bytes += sizeof(packet.header);
	packet.header.timeout_ms = timeout_ms;
	packet.header.length = (uint32_t)bytes;
	packet.header.reserved[UMAD_IS_FRESH] = umad->is_fresh;
	err = umad->file->ops->send(umad->file, &packet, bytes);
	if (err)
		return ibsa__umad_send_error(umad, err);
	umad->outstanding += timeout_ms != 0;
	return 0;
}

static void message_fill(const uint8_t *packet, size_t len, int err,
			 struct ibsa_message *out)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	umad_header_address_get(&header, &out->from);
	out->mad = packet + UMAD_HEADER_BYTES;
	out->len = len - UMAD_HEADER_BYTES;
	out->err = err ? err : umad_header_status(&header);
}

/*
 * Make room in the buffer for a packet of @bytes. Return: 0; -EMSGSIZE;
 * -ENOMEM.
 */
static int packet_grow(struct umad_transport *umad, size_t bytes)
{
	uint8_t *packet;

	if (bytes > umad->packet_max)
		return -EMSGSIZE;
	if (bytes < 2 * umad->packet_room)
		bytes = 2 * umad->packet_room;
	if (bytes > umad->packet_max)
		bytes = umad->packet_max;
	packet = ibsa__realloc(umad->packet, bytes, 1);
	if (!packet)
		return -ENOMEM;
	umad->packet = packet;
	umad->packet_room = bytes;
	return 0;
}

/*
 * Handle a packet that did not fit into the buffer: the file has copied its
 * header, which contains the required length, and its first segment. Return:
 * 0: the buffer was enlarged, read again; 1: the packet is too large, and
 * *@out is its first segment with an error.
 */
static int packet_too_large(struct umad_transport *umad,
			    struct ibsa_message *out)
{
	const struct umad_header *header =
		(const struct umad_header *)(const void *)umad->packet;
	int err;

	/*
	 * A length that would fit is invalid, and reading again would not end.
	 */
	if (header->length <= umad->packet_room)
		err = -EMSGSIZE;
	else
		err = packet_grow(umad, header->length);
	if (!err)
		return 0;
	message_fill(umad->packet, PACKET_BYTES, err, out);
	/*
	 * The kernel keeps a packet that is too large at the head of its
	 * queue, so the file must be closed and opened again. Replies to
	 * requests of the old file are lost, and the requests are sent again.
	 * The old file is closed first, so that the new file gets its
	 * descriptor.
	 */
	ibsa__umad_shut(umad, false);
	(void)!umad_have(umad);
	return 1;
}

static int recv_error(struct umad_transport *umad, int err)
{
	switch (err) {
	case -EAGAIN:
	case -EINTR:
		return 0;
	case -EIO:
	case -EPIPE:
	case -ENODEV:
		ibsa__umad_lose(umad, -ENODEV);
		return ibsa__umad_loss(umad);
	default:
		return err;
	}
}

/*
 * Read the packets that have arrived. Return: 1; 0 an empty packet was read and
 * is ignored; -EAGAIN no packet has arrived; -ENOSPC the buffer is too small
 * for a packet; or another error.
 */
static int packets_take(struct umad_transport *umad)
{
	int got;

	umad->buffers[0] = (struct umad_buffer){ .bytes = umad->packet,
						 .room = umad->packet_room };
	umad->at = 0;
	umad->held = 0;
	got = umad->file->ops->receive(umad->file, umad->buffers, UMAD_BUFFERS);
	/* An empty packet is ignored. */
	if (got > 0 && !umad->buffers[0].len)
		return 0;
	if (got > 0)
		umad->held = (size_t)got;
	return got > 0 ? 1 : got;
}

/*
 * Return the next of the packets that were read. Return: 1; 0 the packet is
 * shorter than any MAD and is ignored.
 */
static int packet_next(struct umad_transport *umad, struct ibsa_message *out)
{
	const struct umad_buffer *buffer = &umad->buffers[umad->at++];

	if (buffer->len < UMAD_HEADER_BYTES + MAD_HEADER_BYTES)
		return 0;
	message_fill(buffer->bytes, buffer->len, buffer->err, out);
	if (umad->outstanding &&
	    (out->err || out->mad[MAD_METHOD] & METHOD_RESPONSE)) {
		umad->outstanding--;
		umad->expected--;
	}
	return 1;
}

int ibsa__umad_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	struct umad_transport *umad = umad_of(transport);

	for (;;) {
		int got;

		while (umad->at < umad->held)
			if (packet_next(umad, out))
				return 1;
		/*
		 * All expected packets were read: save the system call of a
		 * read that finds nothing. The next call of recv does read,
		 * because the program may have waited with a poll() of its own.
		 */
		if (!umad->expected) {
			umad->expected = UMAD_EXPECTED_ANY;
			return 0;
		}
		if (umad_have(umad) || umad->loss)
			return ibsa__umad_loss(umad);
		got = packets_take(umad);
		if (got > 0)
			continue;
		if (got != -ENOSPC)
			return got ? recv_error(umad, got) : 0;
		if (packet_too_large(umad, out))
			return 1;
	}
}
