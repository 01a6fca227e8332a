/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of packets in a umad file that wait to be read. */
#ifndef FABRIC_FILE_INBOX_H
#define FABRIC_FILE_INBOX_H

#include "umad/file.h"
#include "fabric/sa/sa.h"

struct packet {
	struct packet *next;
	/* Holds the MAD; the umad header is stored before the MAD's bytes. */
	struct sa_reply body;
	uint8_t room[SA_REPLY_HEADROOM + IBSA_MAD_BYTES];
};

/* Return: the umad header of the packet, behind which the MAD is. */
static inline uint8_t *packet_bytes(const struct packet *packet)
{
	return packet->body.bytes - UMAD_HEADER_BYTES;
}

struct inbox {
	struct packet *first;
	struct packet *last;
	/*
	 * The packets that the last call of receive returned; they are valid
	 * until the next call.
	 */
	struct packet *received;
	struct packet *free;
	size_t free_count;
	/* Number and bytes of the packets that wait to be read. */
	size_t count;
	size_t bytes;
	/* Sum of the memory of all files' queues, in bytes. */
	size_t *total;
};

/*
 * Maximum number of packets in the queue of a umad file. The packets' bytes are
 * limited, too, to SA_REPLY_BYTES_MAX; an empty queue accepts a packet of any
 * size.
 */
enum { INBOX_PACKETS_MAX = 131072 };

/*
 * Append a packet to the queue: a copy of @header, with the length, and of the
 * MAD. ibsa__inbox_take_reply() takes the memory of @reply instead of a copy,
 * so that a large table need not be copied; @reply->is_owned must be set.
 * Return: false: the queue is full, or memory is short; @reply is unchanged.
 */
bool ibsa__inbox_put(struct inbox *inbox, const struct umad_header *header,
		     const uint8_t *mad, size_t len);
bool ibsa__inbox_take_reply(struct inbox *inbox,
			    const struct umad_header *header,
			    struct sa_reply *reply);

/* Return: the bytes of memory that the queue uses. */
static inline size_t inbox_memory(const struct inbox *inbox)
{
	return inbox->bytes + inbox->count * sizeof(struct packet);
}

/* Remove the first packet from the queue, if there is one. */
void ibsa__inbox_take(struct inbox *inbox);

/*
 * Remove at most @count packets from the queue. The removed packets are valid
 * until the next call. Return: the number of packets.
 */
size_t ibsa__inbox_receive(struct inbox *inbox, struct umad_buffer *buffers,
			   size_t count);

void ibsa__inbox_done(struct inbox *inbox);

#endif
