/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packets that a client has not received, within its user's memory. */
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
 * Make a packet. Return: NULL: the memory of the user, or of the system, is
 * short. ibsad_packet_free() frees one that is in no queue.
 */
struct packet *ibsad_packet_new(struct packet_queue *queue, size_t len);
void ibsad_packet_free(struct packet_queue *queue, struct packet *packet);
void ibsad_queue_append(struct packet_queue *queue, struct packet *packet);

/* Return: the first packet, or NULL. */
struct packet *ibsad_queue_first(const struct packet_queue *queue);
void ibsad_queue_take(struct packet_queue *queue);

/*
 * Append a copy of a packet; the header of a packet that was not sent because of
 * @err; or the answer of an SA to a request: a request without an error needs a
 * whole MAD, whose record is in the answer. Return: false: memory is short. As
 * in the kernel, the packet is lost then.
 */
bool ibsad_queue_put(struct packet_queue *queue, const uint8_t *bytes,
		     size_t len);
bool ibsad_queue_return(struct packet_queue *queue, const uint8_t *request,
			int err);
bool ibsad_queue_answer(struct packet_queue *queue, const uint8_t *request,
			uint16_t mad_status);

#endif
