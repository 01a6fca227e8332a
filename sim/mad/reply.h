/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A buffer for an answer of any size. */
#ifndef SIM_MAD_REPLY_H
#define SIM_MAD_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger answer is refused with status 0x0100. */
#define SA_REPLY_BYTES_MAX ((size_t)256 << 20)

/*
 * The buffer starts with the owner's memory for one MAD, and is moved to the
 * heap when a table needs more.
 */
struct sa_reply {
	uint8_t *bytes;
	size_t len;
	size_t room;
	bool is_owned; /* @bytes are from the heap */
};

void ibsa__sa_reply_done(struct sa_reply *reply);

/*
 * Make room for @len bytes. Return: false: out of memory, or more than the
 * maximum.
 */
bool ibsa__sa_reply_room(struct sa_reply *reply, size_t len);

/* Copy an answer of @len bytes. Return: false: out of memory. */
bool ibsa__sa_reply_put(struct sa_reply *reply, const uint8_t *bytes,
			size_t len);

#endif
