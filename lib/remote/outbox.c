/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends a transport's packets to a fabric server without waiting: if the data
 * socket accepts only a part of a packet, the rest is stored until the socket
 * is writable.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "remote/link.h"

void ibsa__outbox_reset(struct remote_outbox *outbox)
{
	outbox->at = 0;
	outbox->end = 0;
	outbox->begun_ns = 0;
}

/* A packet was sent as a whole. */
static void packet_count(struct remote_link *link)
{
	link->control.packets += link->address.is_tcp;
}

int ibsa__outbox_push(struct remote_link *link)
{
	struct remote_outbox *outbox = &link->outbox;

	while (outbox->at < outbox->end) {
		const ssize_t sent = send(link->data.fd,
					  outbox->bytes + outbox->at,
					  outbox->end - outbox->at,
					  MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent >= 0)
			outbox->at += (size_t)sent;
		else if (errno == EAGAIN)
			return -EBUSY;
		else if (errno != EINTR)
			return -EIO;
	}
	if (!outbox->begun_ns)
		return 0;
	ibsa__outbox_reset(outbox);
	packet_count(link);
	ibsa__remote_link_limit_set(link);
	ibsa__remote_link_watch_writable(link, false);
	return 0;
}

/*
 * Store the rest of a packet in the outbox. Return: 0; -EIO the rest is too
 * large.
 */
static int outbox_save(struct remote_link *link, const uint8_t *rest,
		       size_t len)
{
	struct remote_outbox *outbox = &link->outbox;

	if (len > sizeof(outbox->bytes))
		return -EIO;
	memcpy(outbox->bytes, rest, len);
	outbox->end = len;
	outbox->begun_ns = clock_now_ns();
	ibsa__remote_link_limit_set(link);
	ibsa__remote_link_watch_writable(link, true);
	return 0;
}

int ibsa__remote_link_send(struct umad_file *file, const void *packet,
			   size_t len)
{
	struct remote_link *link = link_of(file);
	const uint8_t *bytes = packet;
	size_t sent = 0;
	int err = ibsa__outbox_push(link);

	if (!err && len > REMOTE_PACKET_MAX)
		err = -EINVAL;
	if (err)
		return err;
	if (!ibsa__data_has_room(&link->data, len))
		return -EBUSY;
	err = ibsa__data_send(&link->data, bytes, UMAD_HEADER_BYTES,
			      bytes + UMAD_HEADER_BYTES,
			      len - UMAD_HEADER_BYTES, &sent);
	if (!err)
		packet_count(link);
	if (err != -EAGAIN)
		return err;
	return sent ? outbox_save(link, bytes + sent, len - sent) : -EBUSY;
}
