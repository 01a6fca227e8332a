/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sending and receiving at a umad file.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "umad/transport.h"
#include "wire/mad.h"

enum {
	PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

static bool is_report_answer(const uint8_t *mad, size_t len)
{
	return len > MAD_METHOD && mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP;
}

/*
 * The agent for a MAD's class version, its third byte; for the answer to a
 * Report the one that the Report came to.
 */
static int agent_choose(const struct umad_transport *umad, const uint8_t *mad,
			size_t len, uint32_t *out)
{
	const struct umad_agent *agents = umad->agents;
	enum umad_agent_use use = UMAD_AGENT_SA;

	if (agents[UMAD_AGENT_REPORTS].is_there && is_report_answer(mad, len))
		use = UMAD_AGENT_REPORTS;
	else if (len > MAD_CLASS_VERSION &&
		 mad[MAD_CLASS_VERSION] == IBSA_CLASS_VERSION_OPA)
		use = UMAD_AGENT_OPA;
	if (!agents[use].is_there)
		return -EOPNOTSUPP;
	*out = agents[use].id;
	return 0;
}

int ibsa__umad_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms)
{
	struct umad_transport *umad = umad_of(transport);
	/* Always a whole MAD: ibsim would send its stack's contents behind. */
	struct {
		struct umad_header header;
		uint8_t mad[IBSA_MAD_BYTES];
	} packet = {
		.header.timeout_ms = timeout_ms,
		.header.length = PACKET_BYTES,
	};
	int err;

	if (len > sizeof(packet.mad))
		return -EMSGSIZE;
	err = ibsa__umad_address_put(&packet.header, to);
	if (!err)
		err = ibsa__umad_have(umad);
	if (!err)
		err = agent_choose(umad, mad, len, &packet.header.id);
	if (err)
		return err;
	memcpy(packet.mad, mad, len);
	err = umad->file->ops->send(umad->file, &packet, sizeof(packet));
	return err ? ibsa__umad_send_error(umad, err) : 0;
}

static int message_fill(const struct umad_transport *umad, size_t len, int err,
			struct ibsa_message *out)
{
	const struct umad_header *header =
		(const struct umad_header *)(const void *)umad->packet;

	ibsa__umad_address_get(header, &out->from);
	out->mad = umad->packet + UMAD_HEADER_BYTES;
	out->len = len - UMAD_HEADER_BYTES;
	out->err = err ? err : ibsa__umad_status(header);
	return 1;
}

/* Make room for a packet of @bytes. 0, -EMSGSIZE or -ENOMEM. */
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
 * The kernel has copied the header, whose length is what it takes, and the
 * first segment. 0 to read again, or 1: the reply's end is in *@out.
 */
static int packet_too_large(struct umad_transport *umad,
			    struct ibsa_message *out)
{
	const struct umad_header *header =
		(const struct umad_header *)(const void *)umad->packet;
	int err;

	/* A length that would fit is a nonsense that must not go on for ever. */
	if (header->length <= umad->packet_room)
		err = -EMSGSIZE;
	else
		err = packet_grow(umad, header->length);
	if (!err)
		return 0;
	message_fill(umad, PACKET_BYTES, err, out);
	/*
	 * The kernel keeps it at the head of its queue, and the one way past
	 * it that does not read it is a new file. Answers that were on their
	 * way to the old one are lost, and their requests sent again. Closed
	 * first, it leaves its descriptor to the new one.
	 */
	ibsa__umad_drop(umad);
	(void)!ibsa__umad_have(umad);
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

int ibsa__umad_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	struct umad_transport *umad = umad_of(transport);

	for (;;) {
		ssize_t len;

		if (ibsa__umad_have(umad) || umad->loss)
			return ibsa__umad_loss(umad);
		len = umad->file->ops->receive(umad->file, umad->packet,
					       umad->packet_room);
		if (len >= UMAD_HEADER_BYTES + MAD_HEADER_BYTES)
			return message_fill(umad, (size_t)len, 0, out);
		/* Shorter than any MAD: nobody's answer. */
		if (len > 0)
			continue;
		if (len != -ENOSPC)
			return len ? recv_error(umad, (int)len) : 0;
		if (packet_too_large(umad, out))
			return 1;
	}
}
