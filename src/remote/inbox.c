/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sending and receiving. What has come is taken in one piece, many packets at
 * a time, and a large one straight to where it is read from.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "remote/link.h"
#include "wire/mad.h"

enum {
	FIRST_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

/* The agent for a MAD's method and class version, its third byte. */
static int agent_choose(const struct remote_link *link, const uint8_t *mad,
			size_t len, uint32_t *out)
{
	if (link->has_reports && len > MAD_METHOD &&
	    mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP)
		*out = link->report_agent;
	else if (len <= MAD_CLASS_VERSION ||
		 mad[MAD_CLASS_VERSION] != IBSA_CLASS_VERSION_OPA)
		*out = link->agent;
	else if (link->is_opa)
		*out = link->opa_agent;
	else
		return -EOPNOTSUPP;
	return 0;
}

int ibsa__away_send(struct ibsa_transport *transport,
		    const struct ibsa_address *to, const uint8_t *mad,
		    size_t len, unsigned int timeout_ms)
{
	struct remote_link *link = link_of(transport);
	struct umad_header header = { .timeout_ms = timeout_ms };
	uint8_t whole[IBSA_MAD_BYTES] = { 0 };
	int err;

	if (len > IBSA_MAD_BYTES && !link->is_opa)
		return -EMSGSIZE;
	err = ibsa__umad_address_put(&header, to);
	if (!err)
		err = ibsa__away_have(link);
	if (!err)
		err = agent_choose(link, mad, len, &header.id);
	if (err)
		return err;
	if (len < sizeof(whole)) {
		memcpy(whole, mad, len);
		mad = whole;
		len = sizeof(whole);
	}
	err = ibsa__outbox_send(link, &header, mad, len);
	return err == -EIO ? ibsa__away_lose(link) : err;
}

void ibsa__inbox_reset(struct remote_inbox *inbox)
{
	inbox->at = 0;
	inbox->end = 0;
	inbox->skipped = 0;
	inbox->is_dry = false;
	inbox->has_taken = false;
	inbox->begun_ns = 0;
}

/* Move what is unread to the front, where there is most room behind it. */
static void inbox_pack(struct remote_inbox *inbox)
{
	const size_t unread = inbox->end - inbox->at;

	if (inbox->at && unread)
		memmove(inbox->bytes, inbox->bytes + inbox->at, unread);
	inbox->at = 0;
	inbox->end = unread;
}

/* Leave out what there is of a packet that is too large. */
static void inbox_skip(struct remote_inbox *inbox)
{
	size_t part = inbox->end - inbox->at;

	if (part > inbox->skipped)
		part = inbox->skipped;
	inbox->at += part;
	inbox->skipped -= part;
	inbox->has_taken |= part && !inbox->skipped;
}

/* Take in what is there. Return: 1 something came; 0 nothing; -ENODEV. */
static int inbox_fill(struct remote_inbox *inbox, int fd)
{
	size_t room;
	ssize_t got;

	if (inbox->is_dry) {
		inbox->is_dry = false;
		return 0;
	}
	inbox_pack(inbox);
	room = inbox->room - inbox->end;
	do
		got = recv(fd, inbox->bytes + inbox->end, room, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got <= 0)
		return -ENODEV;
	inbox->end += (size_t)got;
	inbox->is_dry = (size_t)got < room;
	inbox_skip(inbox);
	return 1;
}

/* Have room for a packet of @bytes. False: it is too large. */
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

static int message_fill(const struct umad_header *header, const uint8_t *mad,
			size_t len, int err, struct ibsa_message *out)
{
	ibsa__umad_address_get(header, &out->from);
	out->mad = mad;
	out->len = len;
	out->err = err ? err : ibsa__umad_status(header);
	return 1;
}

/* The start of a packet that there is no room for; the rest is left out. */
static int inbox_cut(struct remote_inbox *inbox,
		     const struct umad_header *header, struct ibsa_message *out)
{
	const uint8_t *mad = inbox->bytes + inbox->at + UMAD_HEADER_BYTES;

	inbox->skipped = header->length;
	inbox_skip(inbox);
	return message_fill(header, mad, IBSA_MAD_BYTES, -EMSGSIZE, out);
}

/*
 * The next packet. Return: 1; 0 not all of it is here; -ENODEV what is here
 * is none.
 */
static int inbox_take(struct remote_inbox *inbox, struct ibsa_message *out)
{
	const size_t unread = inbox->end - inbox->at;
	struct umad_header header;
	const uint8_t *packet;

	if (inbox->skipped || unread < sizeof(header))
		return 0;
	packet = inbox->bytes + inbox->at;
	memcpy(&header, packet, sizeof(header));
	if (header.length < UMAD_HEADER_BYTES + REMOTE_MAD_MIN ||
	    header.length > REMOTE_PACKET_MAX)
		return -ENODEV;
	if (unread >= header.length) {
		inbox->at += header.length;
		inbox->has_taken = true;
		return message_fill(&header, packet + UMAD_HEADER_BYTES,
				    header.length - UMAD_HEADER_BYTES, 0, out);
	}
	if (unread >= FIRST_BYTES && !inbox_grow(inbox, header.length))
		return inbox_cut(inbox, &header, out);
	return 0;
}

/* What is told of a server that is gone, once; then there is nothing. */
static int news(struct remote_link *link)
{
	const int err = link->news;

	link->news = 0;
	return err;
}

/*
 * All that is there was taken: note since when a packet is coming that is not
 * all here. A length that was damaged on its way may say that there is much
 * more of it to come, and all further packets would be taken for its rest.
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
	ibsa__away_limit_set(link);
}

int ibsa__away_recv(struct ibsa_transport *transport, struct ibsa_message *out)
{
	struct remote_link *link = link_of(transport);
	int got = 1;

	if (ibsa__away_have(link) || link->news)
		return news(link);
	if (ibsa__outbox_push(link) == -EIO)
		got = -EIO;
	while (got > 0) {
		got = inbox_take(&link->inbox, out);
		if (got > 0)
			return 1;
		if (!got)
			got = inbox_fill(&link->inbox, link->data);
	}
	if (!got) {
		inbox_limit(link);
		if (!ibsa__away_is_late(link))
			return 0;
	}
	ibsa__away_lose(link);
	return news(link);
}
