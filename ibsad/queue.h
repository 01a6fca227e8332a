/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packets that a client has not received; their memory counts in the quota
 * of the client's user.
 */
#ifndef IBSAD_QUEUE_H
#define IBSAD_QUEUE_H

#include "base/list.h"
#include "serve/serve.h"

enum {
	QUEUE_FIRST_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
	QUEUE_HEADER_BYTES = UMAD_HEADER_BYTES + MAD_HEADER_BYTES,
};

/* A packet for the client; @len counts its umad header. */
struct packet {
	struct list link;
	size_t len;
	uint8_t bytes[];
};

/* @total: the bytes of memory of all queues */
struct packet_queue {
	struct server_peer *client;
	struct list packets;
	size_t bytes;
	size_t *total;
};

void ibsad_queue_init(struct packet_queue *queue, struct server_peer *client,
		      size_t *total);
void ibsad_queue_done(struct packet_queue *queue);

/*
 * Make a packet of @len bytes. Return: NULL: the quota of the user or the
 * memory of the system is used up. ibsad_packet_free() frees a packet that is
 * in no queue.
 */
struct packet *ibsad_packet_new(struct packet_queue *queue, size_t len);
void ibsad_packet_free(struct packet_queue *queue, struct packet *packet);
void ibsad_queue_append(struct packet_queue *queue, struct packet *packet);

/* Return: the first packet, or NULL. */
struct packet *ibsad_queue_first(const struct packet_queue *queue);
void ibsad_queue_take(struct packet_queue *queue);

/*
 * Append a packet to the queue. ibsad_queue_put(): a copy of @bytes.
 * ibsad_queue_return(): the header of @request, which was not sent because of
 * @err. ibsad_queue_answer(): the reply of an SA to @request with @mad_status;
 * if this is 0, @request must be a whole MAD, whose record is copied. Return:
 * false: there is not enough memory, and the packet is lost, as in the kernel.
 */
bool ibsad_queue_put(struct packet_queue *queue, const uint8_t *bytes,
		     size_t len);
bool ibsad_queue_return(struct packet_queue *queue, const uint8_t *request,
			int err);
bool ibsad_queue_answer(struct packet_queue *queue, const uint8_t *request,
			uint16_t mad_status);

#endif
