/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A buffer for an SA reply of any size. */
#ifndef FABRIC_MAD_REPLY_H
#define FABRIC_MAD_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umad/header.h"

/* Maximum size of an SA reply. A larger one is refused with status 0x0100. */
#define SA_REPLY_BYTES_MAX ((size_t)256 << 20)

/*
 * Bytes that a buffer on the heap has before @bytes: room for the header of the
 * umad file that receives the reply.
 */
enum { SA_REPLY_HEADROOM = UMAD_HEADER_BYTES };

/*
 * A buffer for an SA reply. The buffer starts with the owner's memory for one
 * MAD, and moves to the heap when a table needs more.
 */
struct sa_reply {
	uint8_t *bytes;
	size_t len;
	size_t room;
	bool is_owned; /* @bytes are from the heap */
};

void ibsa__sa_reply_done(struct sa_reply *reply);

/*
 * Make room for a reply of @len bytes. Return: false: memory is short, or @len
 * is above the maximum.
 */
bool ibsa__sa_reply_room(struct sa_reply *reply, size_t len);

/*
 * Copy a reply of @len bytes into the buffer. Return: false: memory is short.
 */
bool ibsa__sa_reply_put(struct sa_reply *reply, const uint8_t *bytes,
			size_t len);

#endif
