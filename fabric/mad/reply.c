/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A buffer for an SA reply of any size. */
#include <string.h>

#include "base/alloc.h"
#include "fabric/mad/reply.h"

/* Return: the memory on the heap that holds the reply. */
static uint8_t *reply_memory(const struct sa_reply *reply)
{
	return reply->bytes - SA_REPLY_HEADROOM;
}

static bool reply_grow(struct sa_reply *reply, size_t want)
{
	size_t room = reply->room;
	uint8_t *bytes;

	if (want > SA_REPLY_BYTES_MAX)
		return false;
	while (room < want)
		room *= 2;
	if (room > SA_REPLY_BYTES_MAX)
		room = SA_REPLY_BYTES_MAX;
	bytes = ibsa__realloc(reply->is_owned ? reply_memory(reply) : NULL,
			      SA_REPLY_HEADROOM + room, 1);
	if (!bytes)
		return false;
	bytes += SA_REPLY_HEADROOM;
	if (!reply->is_owned)
		memcpy(bytes, reply->bytes, reply->len);
	reply->bytes = bytes;
	reply->room = room;
	reply->is_owned = true;
	return true;
}

void ibsa__sa_reply_done(struct sa_reply *reply)
{
	if (reply->is_owned)
		ibsa__free(reply_memory(reply));
}

bool ibsa__sa_reply_room(struct sa_reply *reply, size_t len)
{
	return len <= reply->room || reply_grow(reply, len);
}

bool ibsa__sa_reply_put(struct sa_reply *reply, const uint8_t *bytes,
			size_t len)
{
	if (!ibsa__sa_reply_room(reply, len))
		return false;
	memcpy(reply->bytes, bytes, len);
	reply->len = len;
	return true;
}
