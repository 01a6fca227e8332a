/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that wait in a umad file to be read. */
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

/* What may wait; an empty inbox takes a packet of any size. */
enum { INBOX_PACKETS_MAX = 131072 };

/*
 * Put a MAD behind its header, which is given the length. False: it is full,
 * or there is no memory.
 */
bool ibsa__inbox_put(struct inbox *inbox, struct umad_header *header,
		     const uint8_t *mad, size_t len);

/* Take the first out, if there is one. */
void ibsa__inbox_take(struct inbox *inbox);

/*
 * Take out as many as there are, @count at most, which stay until the next call.
 * Return: how many.
 */
size_t ibsa__inbox_receive(struct inbox *inbox, struct umad_buffer *buffers,
			   size_t count);

void ibsa__inbox_done(struct inbox *inbox);

#endif
