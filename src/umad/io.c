/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sending and receiving.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "umad/transport.h"

enum {
	PACKET_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
	MAD_HEADER_BYTES = 24, /* what is left of a request that timed out */
};

/* -1 has an errno; ibsim also returns other negative numbers without one. */
static int io_error(ssize_t result)
{
	if (result == -1)
		return errno ? -errno : -EIO;
	return result < -1 ? (int)result : -EIO;
}

static int send_error(int err)
{
	/*
	 * A packet of ours is refused as invalid only for its transaction id:
	 * an earlier MAD that has it waits for its answer.
	 */
	if (err == -EINVAL)
		return -EBUSY;
	return err == -EIO || err == -EPIPE ? -ENODEV : err;
}

int ibsa__umad_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms)
{
	const struct umad_transport *umad = umad_of(transport);
	/* Always a whole MAD: ibsim would send its stack's contents behind. */
	struct {
		struct umad_header header;
		uint8_t mad[IBSA_MAD_BYTES];
	} packet = {
		.header.id = umad->file.agent,
		.header.timeout_ms = ibsa__umad_timeout(timeout_ms),
		.header.length = PACKET_BYTES,
	};
	ssize_t written;
	int err;

	if (umad->gone)
		return -ENODEV;
	if (len > sizeof(packet.mad))
		return -EMSGSIZE;
	err = ibsa__umad_address_put(&packet.header, to);
	if (err)
		return err;
	memcpy(packet.mad, mad, len);
	errno = 0;
	written = write(umad->file.fd, &packet, sizeof(packet));
	if (written < 0)
		return send_error(io_error(written));
	return 0;
}

static int device_gone(struct umad_transport *umad)
{
	/* Or its hang-up would end every wait at once. */
	ibsa__umad_unwatch(umad);
	umad->gone = true;
	return -ENODEV;
}

/*
 * The kernel keeps a packet that did not fit at the head of its queue. The
 * one way past it that does not read it is a new file; answers that were on
 * their way to the old one are lost, and their requests sent again.
 */
static int file_renew(struct umad_transport *umad)
{
	struct umad_file file;
	int err;

	err = ibsa__umad_file_open(umad->place.umad, NULL, &file);
	if (err)
		return device_gone(umad);
	ibsa__umad_unwatch(umad);
	close(umad->file.fd);
	umad->file = file;
	err = ibsa__umad_watch(umad);
	if (err)
		return device_gone(umad);
	return 0;
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
	file_renew(umad);
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
		return device_gone(umad);
	default:
		return err;
	}
}

int ibsa__umad_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	struct umad_transport *umad = umad_of(transport);

	while (!umad->gone) {
		ssize_t len;
		int err;

		errno = 0;
		len = read(umad->file.fd, umad->packet, umad->packet_room);
		if (len >= UMAD_HEADER_BYTES + MAD_HEADER_BYTES)
			return message_fill(umad, (size_t)len, 0, out);
		/* Shorter than any MAD: nobody's answer. */
		if (len > 0)
			continue;
		err = len ? io_error(len) : -EAGAIN;
		if (err != -ENOSPC)
			return recv_error(umad, err);
		if (packet_too_large(umad, out))
			return 1;
	}
	return -ENODEV;
}
