/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives packets from the data socket of a fabric server: one recv() reads
 * many packets. A large packet is received directly into the buffer in which
 * it is returned.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "remote/link.h"

enum {
	FIRST_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

void ibsa__inbox_reset(struct remote_inbox *inbox)
{
	*inbox = (struct remote_inbox){
		.bytes = inbox->bytes,
		.room = inbox->room,
		.most = inbox->most,
	};
}

/*
 * Move the bytes of the inbox that were not taken yet to its front, to make
 * room behind them.
 */
static void inbox_pack(struct remote_inbox *inbox)
{
	const size_t unread = inbox->end - inbox->at;

	if (inbox->at && unread)
		memmove(inbox->bytes, inbox->bytes + inbox->at, unread);
	inbox->at = 0;
	inbox->end = unread;
}

/* Discard the received bytes of a packet that is too large. */
static void inbox_skip(struct remote_inbox *inbox)
{
	size_t part = inbox->end - inbox->at;

	if (part > inbox->skipped)
		part = inbox->skipped;
	inbox->at += part;
	inbox->skipped -= part;
	inbox->has_taken |= part && !inbox->skipped;
}

/*
 * Receive the bytes that have arrived. Return: 1 some bytes; 0 none, or the
 * previous call has received all; -ENODEV the server closed the socket.
 */
static int inbox_fill(struct remote_inbox *inbox, struct remote_data *data)
{
	size_t room;
	ssize_t got;

	if (inbox->is_dry) {
		inbox->is_dry = false;
		return 0;
	}
	inbox_pack(inbox);
	room = inbox->room - inbox->end;
	got = ibsa__data_recv(data, inbox->bytes + inbox->end, room);
	if (got == -EAGAIN)
		return 0;
	if (got < 0)
		return -ENODEV;
	inbox->end += (size_t)got;
	inbox->is_dry = (size_t)got < room;
	inbox_skip(inbox);
	return 1;
}

/*
 * Make room in the inbox for a packet of @bytes. Return: false: the packet is
 * too large, or memory is short.
 */
static bool inbox_grow(struct remote_inbox *inbox, size_t bytes)
{
	uint8_t *more;

	if (bytes <= inbox->room)
		return true;
	if (bytes > inbox->most)
		return false;
	more = ibsa__realloc(inbox->bytes, bytes, 1);
	if (!more)
		return false;
	inbox->bytes = more;
	inbox->room = bytes;
	return true;
}

/*
 * Return the beginning of a packet that is too large in @out; its other bytes
 * will be discarded.
 */
static void inbox_cut(struct remote_inbox *inbox, size_t len,
		      struct umad_buffer *out)
{
	*out = (struct umad_buffer){
		.bytes = inbox->bytes + inbox->at,
		.len = FIRST_BYTES,
		.err = -EMSGSIZE,
	};
	inbox->skipped = len;
	inbox_skip(inbox);
}

/*
 * Take the next packet from the inbox. @may_move: the receive operation has
 * taken no packet yet, so no returned packet points into the buffer, and the
 * buffer may be moved. Return: 1, also for the beginning of a packet that is
 * too large; 0 the packet is incomplete; -ENODEV its length is invalid.
 */
static int inbox_take(struct remote_inbox *inbox, bool may_move,
		      struct umad_buffer *out)
{
	const size_t unread = inbox->end - inbox->at;
	struct umad_header header;

	if (inbox->skipped || unread < sizeof(header))
		return 0;
	memcpy(&header, inbox->bytes + inbox->at, sizeof(header));
	if (header.length < UMAD_HEADER_BYTES + REMOTE_MAD_MIN ||
	    header.length > REMOTE_PACKET_MAX)
		return -ENODEV;
	if (unread >= header.length) {
		*out = (struct umad_buffer){
			.bytes = inbox->bytes + inbox->at,
			.len = header.length,
		};
		inbox->at += header.length;
		inbox->has_taken = true;
		return 1;
	}
	if (!may_move || unread < FIRST_BYTES ||
	    inbox_grow(inbox, header.length))
		return 0;
	inbox_cut(inbox, header.length, out);
	return 1;
}

/*
 * Take all complete packets from the inbox. Return: their number; -ENODEV the
 * length of the first is invalid.
 */
static int inbox_take_all(struct remote_inbox *inbox,
			  struct umad_buffer *buffers, size_t count)
{
	size_t taken = 0;

	while (taken < count) {
		const int got = inbox_take(inbox, !taken, &buffers[taken]);

		if (got < 0 && !taken)
			return got;
		if (got <= 0)
			break;
		taken++;
	}
	return (int)taken;
}

/*
 * Record when the incomplete packet began to arrive, after all complete packets
 * were taken. If the packet's length field is corrupted, its rest may never
 * arrive, and all further packets would be taken as a part of it; therefore the
 * connection is closed after the timeout.
 */
static void inbox_limit(struct remote_link *link)
{
	struct remote_inbox *inbox = &link->inbox;
	const bool is_coming = inbox->skipped || inbox->end > inbox->at;

	if (!is_coming && !inbox->begun_ns)
		return;
	if (is_coming && inbox->begun_ns && !inbox->has_taken)
		return;
	inbox->has_taken = false;
	inbox->begun_ns = is_coming ? clock_now_ns() : 0;
	ibsa__remote_link_limit_set(link);
}

int ibsa__remote_link_receive(struct umad_file *file,
			      struct umad_buffer *buffers, size_t count)
{
	struct remote_link *link = link_of(file);
	int got = 1;

	if (ibsa__outbox_push(link) == -EIO)
		return -EIO;
	while (got > 0) {
		const int taken = inbox_take_all(&link->inbox, buffers, count);

		if (taken)
			return taken;
		got = inbox_fill(&link->inbox, &link->data);
	}
	if (got)
		return got;
	inbox_limit(link);
	return ibsa__remote_link_is_late(link) ? -ENODEV : -EAGAIN;
}
