/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of packets in a umad file that wait to be read. */
#ifndef SIM_FILE_INBOX_H
#define SIM_FILE_INBOX_H

#include "umad/file.h"
#include "sim/sa/sa.h"

struct packet {
	struct packet *next;
	struct sa_reply body; /* header and MAD */
	uint8_t room[UMAD_HEADER_BYTES + IBSA_MAD_BYTES];
};

struct inbox {
	struct packet *first;
	struct packet *last;
	struct packet *received; /* what the last receive has returned */
	struct packet *free;
	size_t count;
	size_t bytes;
};

/*
 * Maximum number of packets in the queue of a umad file. The packets' bytes are
 * limited, too, to SA_REPLY_BYTES_MAX; an empty queue accepts a packet of any
 * size.
 */
enum { INBOX_PACKETS_MAX = 131072 };

/*
 * Append a packet to the queue: @header, in which this function sets the
 * length, and the MAD. Return: false: the queue is full, or memory is short.
 */
bool ibsa__inbox_put(struct inbox *inbox, struct umad_header *header,
		     const uint8_t *mad, size_t len);

/* Remove the first packet from the queue, if there is one. */
void ibsa__inbox_take(struct inbox *inbox);

/*
 * Remove at most @count packets from the queue. They are valid until the next
 * call. Return: the number of packets.
 */
size_t ibsa__inbox_receive(struct inbox *inbox, struct umad_buffer *buffers,
			   size_t count);

void ibsa__inbox_done(struct inbox *inbox);

#endif
