/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of packets in a umad file that wait to be read. */
#include <string.h>

#include "base/alloc.h"
#include "sim/file/inbox.h"

static struct packet *new_packet(struct inbox *inbox)
{
	struct packet *packet = inbox->free;

	if (packet)
		inbox->free = packet->next;
	else
		packet = ibsa__calloc(1, sizeof(*packet));
	if (packet)
		packet->body = (struct sa_reply){
			.bytes = packet->room,
			.room = sizeof(packet->room),
		};
	return packet;
}

static void release(struct inbox *inbox, struct packet *packet)
{
	ibsa__sa_reply_done(&packet->body);
	packet->next = inbox->free;
	inbox->free = packet;
}

static bool has_room(const struct inbox *inbox, size_t len)
{
	return !inbox->count || (inbox->count < INBOX_PACKETS_MAX &&
				 inbox->bytes <= SA_REPLY_BYTES_MAX &&
				 len <= SA_REPLY_BYTES_MAX - inbox->bytes);
}

bool ibsa__inbox_put(struct inbox *inbox, struct umad_header *header,
		     const uint8_t *mad, size_t len)
{
	const size_t total = sizeof(*header) + len;
	struct packet *packet;

	if (!has_room(inbox, total))
		return false;
	packet = new_packet(inbox);
	if (!packet)
		return false;
	if (!ibsa__sa_reply_room(&packet->body, total)) {
		release(inbox, packet);
		return false;
	}
	header->length = (uint32_t)total;
	memcpy(packet->body.bytes, header, sizeof(*header));
	memcpy(packet->body.bytes + sizeof(*header), mad, len);
	packet->body.len = total;
	packet->next = NULL;
	if (inbox->first)
		inbox->last->next = packet;
	else
		inbox->first = packet;
	inbox->last = packet;
	inbox->count++;
	inbox->bytes += total;
	return true;
}

static struct packet *unlink_first(struct inbox *inbox)
{
	struct packet *first = inbox->first;

	inbox->first = first->next;
	inbox->count--;
	inbox->bytes -= first->body.len;
	return first;
}

void ibsa__inbox_take(struct inbox *inbox)
{
	if (inbox->first)
		release(inbox, unlink_first(inbox));
}

size_t ibsa__inbox_receive(struct inbox *inbox, struct umad_buffer *buffers,
			   size_t count)
{
	size_t got = 0;

	while (inbox->received) {
		struct packet *packet = inbox->received;

		inbox->received = packet->next;
		release(inbox, packet);
	}
	while (got < count && inbox->first) {
		struct packet *packet = unlink_first(inbox);

		packet->next = inbox->received;
		inbox->received = packet;
		buffers[got++] = (struct umad_buffer){
			.bytes = packet->body.bytes,
			.len = packet->body.len,
		};
	}
	return got;
}

void ibsa__inbox_done(struct inbox *inbox)
{
	while (inbox->first)
		ibsa__inbox_take(inbox);
	(void)ibsa__inbox_receive(inbox, NULL, 0);
	while (inbox->free) {
		struct packet *packet = inbox->free;

		inbox->free = packet->next;
		ibsa__free(packet);
	}
}
