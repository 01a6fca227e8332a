/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that a transport sends, without waiting: if the data socket takes
 * only a part of one, the rest is kept until the socket is writable.
 */
#include <errno.h>

#include "base/clock.h"
#include "remote/link.h"

void ibsa__outbox_reset(struct remote_outbox *outbox)
{
	outbox->at = 0;
	outbox->end = 0;
	outbox->begun_ns = 0;
}

int ibsa__outbox_push(struct remote_link *link)
{
	struct remote_outbox *outbox = &link->outbox;

	while (outbox->at < outbox->end) {
		const ssize_t sent = send(link->data,
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
	ibsa__remote_link_limit_set(link);
	ibsa__remote_link_watch_writable(link, false);
	return 0;
}

/* Return: 0; -EIO the rest is too large to keep. */
static int outbox_save(struct remote_link *link,
		       const struct remote_packet *packet)
{
	struct remote_outbox *outbox = &link->outbox;

	outbox->end = ibsa__remote_packet_rest(packet, outbox->bytes,
					       sizeof(outbox->bytes));
	if (!outbox->end)
		return -EIO;
	outbox->begun_ns = clock_now_ns();
	ibsa__remote_link_limit_set(link);
	ibsa__remote_link_watch_writable(link, true);
	return 0;
}

int ibsa__outbox_send(struct remote_link *link,
		      const struct umad_header *header, const void *mad,
		      size_t len)
{
	struct remote_packet packet;
	int err = ibsa__outbox_push(link);

	if (!err)
		err = ibsa__remote_packet_init(&packet, header, mad, len);
	if (!err)
		err = ibsa__remote_packet_send(&packet, link->data);
	if (err != -EAGAIN)
		return err;
	return packet.is_begun ? outbox_save(link, &packet) : -EBUSY;
}
