/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of packets in a umad file that wait to be read. */
#include <string.h>

#include "base/alloc.h"
#include "fabric/file/inbox.h"

/* Packets that are not freed after they were read. */
enum { FREE_MAX = 256 };

static struct packet *packet_new(struct inbox *inbox)
{
	struct packet *packet = inbox->free;

	if (packet) {
		inbox->free = packet->next;
		inbox->free_count--;
	} else {
		packet = ibsa__calloc(1, sizeof(*packet));
	}
	if (packet)
		packet->body = (struct sa_reply){
			.bytes = packet->room + SA_REPLY_HEADROOM,
			.room = IBSA_MAD_BYTES,
		};
	return packet;
}

static void packet_release(struct inbox *inbox, struct packet *packet)
{
	ibsa__sa_reply_done(&packet->body);
	if (inbox->free_count == FREE_MAX) {
		ibsa__free(packet);
		return;
	}
	packet->next = inbox->free;
	inbox->free = packet;
	inbox->free_count++;
}

static bool inbox_has_room(const struct inbox *inbox, size_t len)
{
	return !inbox->count || (inbox->count < INBOX_PACKETS_MAX &&
				 inbox->bytes <= SA_REPLY_BYTES_MAX &&
				 len <= SA_REPLY_BYTES_MAX - inbox->bytes);
}

/* Append a packet that has its MAD. */
static void packet_append(struct inbox *inbox, struct packet *packet,
			  const struct umad_header *header)
{
	struct umad_header own = *header;

	own.length = (uint32_t)(sizeof(own) + packet->body.len);
	memcpy(packet_bytes(packet), &own, sizeof(own));
	packet->next = NULL;
	if (inbox->first)
		inbox->last->next = packet;
	else
		inbox->first = packet;
	inbox->last = packet;
	inbox->count++;
	inbox->bytes += own.length;
	*inbox->total += own.length + sizeof(*packet);
}

bool ibsa__inbox_put(struct inbox *inbox, const struct umad_header *header,
		     const uint8_t *mad, size_t len)
{
	struct packet *packet;

	if (!inbox_has_room(inbox, sizeof(*header) + len))
		return false;
	packet = packet_new(inbox);
	if (!packet)
		return false;
	if (!ibsa__sa_reply_put(&packet->body, mad, len)) {
		packet_release(inbox, packet);
		return false;
	}
	packet_append(inbox, packet, header);
	return true;
}

bool ibsa__inbox_take_reply(struct inbox *inbox,
			    const struct umad_header *header,
			    struct sa_reply *reply)
{
	struct packet *packet;

	if (!inbox_has_room(inbox, sizeof(*header) + reply->len))
		return false;
	packet = packet_new(inbox);
	if (!packet)
		return false;
	packet->body = *reply;
	*reply = (struct sa_reply){ .bytes = NULL };
	packet_append(inbox, packet, header);
	return true;
}

static struct packet *first_unlink(struct inbox *inbox)
{
	struct packet *first = inbox->first;

	inbox->first = first->next;
	inbox->count--;
	inbox->bytes -= UMAD_HEADER_BYTES + first->body.len;
	*inbox->total -= UMAD_HEADER_BYTES + first->body.len + sizeof(*first);
	return first;
}

void ibsa__inbox_take(struct inbox *inbox)
{
	if (inbox->first)
		packet_release(inbox, first_unlink(inbox));
}

size_t ibsa__inbox_receive(struct inbox *inbox, struct umad_buffer *buffers,
			   size_t count)
{
	size_t got = 0;

	while (inbox->received) {
		struct packet *packet = inbox->received;

		inbox->received = packet->next;
		packet_release(inbox, packet);
	}
	while (got < count && inbox->first) {
		struct packet *packet = first_unlink(inbox);

		packet->next = inbox->received;
		inbox->received = packet;
		buffers[got++] = (struct umad_buffer){
			.bytes = packet_bytes(packet),
			.len = UMAD_HEADER_BYTES + packet->body.len,
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
