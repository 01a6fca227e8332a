/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "ibsad/queue.h"
#include "wire/mad.h"

enum { METHOD_GET_TRACE_TABLE = 0x13 };

void ibsad_queue_init(struct packet_queue *queue, struct server_peer *client,
		      size_t *total)
{
	*queue = (struct packet_queue){ .client = client, .total = total };
	list_init(&queue->packets);
}

void ibsad_queue_done(struct packet_queue *queue)
{
	while (!list_is_empty(&queue->packets))
		ibsad_queue_take(queue);
}

static uint32_t packet_cost(size_t len)
{
	return (uint32_t)(sizeof(struct packet) + len);
}

struct packet *ibsad_packet_new(struct packet_queue *queue, size_t len)
{
	const uint32_t cost = packet_cost(len);
	struct serve_user *user = ibsa__peer_user(queue->client);
	struct packet *packet = NULL;

	if (!ibsa__user_take(user, SERVE_BYTES, cost))
		return NULL;
	packet = ibsa__calloc(1, cost);
	if (!packet) {
		ibsa__user_give(user, SERVE_BYTES, cost);
		return NULL;
	}
	packet->len = len;
	queue->bytes += cost;
	*queue->total += cost;
	return packet;
}

void ibsad_packet_free(struct packet_queue *queue, struct packet *packet)
{
	const uint32_t cost = packet_cost(packet->len);

	ibsa__user_give(ibsa__peer_user(queue->client), SERVE_BYTES, cost);
	queue->bytes -= cost;
	*queue->total -= cost;
	ibsa__free(packet);
}

void ibsad_queue_append(struct packet_queue *queue, struct packet *packet)
{
	struct umad_header header;

	memcpy(&header, packet->bytes, sizeof(header));
	header.length = (uint32_t)packet->len;
	memcpy(packet->bytes, &header, sizeof(header));
	list_append(&queue->packets, &packet->link);
	ibsa__peer_ready(queue->client);
}

struct packet *ibsad_queue_first(const struct packet_queue *queue)
{
	return list_is_empty(&queue->packets)
		       ? NULL
		       : list_object(queue->packets.next, struct packet, link);
}

void ibsad_queue_take(struct packet_queue *queue)
{
	struct packet *packet = ibsad_queue_first(queue);

	list_take(&packet->link);
	ibsad_packet_free(queue, packet);
}

bool ibsad_queue_put(struct packet_queue *queue, const uint8_t *bytes,
		     size_t len)
{
	struct packet *packet = ibsad_packet_new(queue, len);

	if (!packet)
		return false;
	memcpy(packet->bytes, bytes, len);
	ibsad_queue_append(queue, packet);
	return true;
}

static void status_set(uint8_t *packet, int err)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	header.status = (uint32_t)-err;
	memcpy(packet, &header, sizeof(header));
}

bool ibsad_queue_return(struct packet_queue *queue, const uint8_t *request,
			int err)
{
	uint8_t packet[QUEUE_HEADER_BYTES];

	memcpy(packet, request, sizeof(packet));
	status_set(packet, err);
	return ibsad_queue_put(queue, packet, sizeof(packet));
}

/* Return: the method of the response; OpenSM's osm_sa_send_error() */
static uint8_t response_method(uint8_t method)
{
	switch (method) {
	case IBSA_METHOD_SET:
		return IBSA_METHOD_GET_RESP;
	case METHOD_GET_TRACE_TABLE:
		return IBSA_METHOD_GET_TABLE_RESP;
	default:
		return method | METHOD_RESPONSE;
	}
}

bool ibsad_queue_answer(struct packet_queue *queue, const uint8_t *request,
			uint16_t mad_status)
{
	uint8_t packet[QUEUE_FIRST_BYTES] = { 0 };
	uint8_t *mad = packet + UMAD_HEADER_BYTES;

	memcpy(packet, request,
	       mad_status ? QUEUE_HEADER_BYTES : QUEUE_FIRST_BYTES);
	status_set(packet, 0);
	mad[MAD_METHOD] = response_method(mad[MAD_METHOD]);
	ibsa_put_be16(mad + MAD_STATUS, mad_status);
	return ibsad_queue_put(queue, packet, sizeof(packet));
}
