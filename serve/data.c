/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets between a client and its umad file. Small packets are sent and
 * received in batches; a large packet is sent directly from the queue. If a
 * client does not read, the queue of its file fills up, and MADs to the client
 * are dropped.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/clock.h"
#include "serve/server.h"

enum {
	SMALL_BYTES = 4096, /* Packets up to this size are sent in a batch. */
	/*
	 * First allocation in bytes for a large packet that arrives in parts.
	 */
	PART_FIRST_BYTES = 1 << 16,
};

static bool bytes_resize(struct server_bytes *bytes, size_t room)
{
	uint8_t *more;

	if (room <= bytes->room)
		return true;
	more = ibsa__realloc(bytes->at, room, 1);
	if (!more)
		return false;
	bytes->at = more;
	bytes->room = room;
	return true;
}

bool ibsa__bytes_grow(struct server_bytes *bytes, size_t count)
{
	return !ARRAY_GROW(bytes->at, bytes->room, bytes->count + count);
}

void ibsa__bytes_free(struct server_bytes *bytes)
{
	ibsa__free(bytes->at);
	*bytes = (struct server_bytes){ NULL };
}

/* Append; false: out of memory. */
static bool bytes_add(struct server_bytes *bytes, const void *more, size_t len)
{
	if (!ibsa__bytes_grow(bytes, len))
		return false;
	memcpy(bytes->at + bytes->count, more, len);
	bytes->count += len;
	return true;
}

/*
 * A transfer of packets has failed: the client has gone, or has written an
 * invalid position to its ring. Disconnect it.
 */
static void bytes_failed(struct server_peer *peer, ssize_t err)
{
	const char *why = NULL;

	if (err == -EPROTO)
		why = "its ring is invalid";
	else if (err == -EBADMSG)
		why = "it sent a descriptor";
	ibsa__peer_disconnect(peer, why);
}

/*
 * Start or stop waiting for room in the client's socket. With rings, nothing is
 * done: the client writes to the eventfd after it has made room in its ring.
 */
static void data_await_room(struct server_peer *peer, bool on)
{
	const uint32_t events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;

	if (peer->rings.memory || peer->data.fd < 0)
		return;
	if (ibsa__server_watch(&peer->data, events))
		ibsa__peer_disconnect(peer, "out of memory for its packets");
}

/*
 * Send the rest of packets that the client's socket or ring had no room for.
 * Return: true: all of it was sent.
 */
static bool pending_send(struct server_peer *peer)
{
	struct server_bytes *pending = &peer->pending;
	ssize_t sent;

	if (!pending->count)
		return true;
	sent = ibsa__peer_bytes_send(peer, pending->at, pending->count);
	if (sent < 0) {
		bytes_failed(peer, sent);
		return false;
	}
	pending->count -= (size_t)sent;
	memmove(pending->at, pending->at + sent, pending->count);
	if (!pending->count)
		ibsa__bytes_free(pending);
	return !pending->count;
}

/*
 * Send packets; if the client's socket or ring is full, store the rest. Return:
 * true: all was sent.
 */
static bool packets_send(struct server_peer *peer, const void *data, size_t len)
{
	const ssize_t sent = ibsa__peer_bytes_send(peer, data, len);

	if (sent == (ssize_t)len)
		return true;
	if (sent < 0)
		bytes_failed(peer, sent);
	else if (!bytes_add(&peer->pending, (const char *)data + sent,
			    len - (size_t)sent))
		ibsa__peer_disconnect(peer, "out of memory for its packets");
	return false;
}

static pthread_mutex_t *peer_lock(const struct server_peer *peer)
{
	return peer->control.server->options.lock;
}

/* What the server took from the client's queue while it held the lock. */
struct gathered {
	/*
	 * Number of bytes of small packets that were put into the server's
	 * out_batch.
	 */
	size_t used;
	/*
	 * If @used is 0: the first packet of the queue, if it is large;
	 * otherwise NULL.
	 */
	const uint8_t *large;
	size_t len; /* of @large */
	bool has_more;
	uint64_t due_ns; /* time of the next event of the client's umad file */
};

/*
 * Move small packets from the client's queue to the server's out_batch. A large
 * packet stays in the queue until it is sent. The caller holds the lock.
 */
static void packets_gather(struct server_peer *peer, struct gathered *out)
{
	const struct serve_file_ops *ops = peer_file_ops(peer);
	uint8_t *batch = peer->control.server->out_batch;
	const uint8_t *packet;
	size_t len;

	while ((packet = ops->head(peer->file, &len)) && len <= SMALL_BYTES &&
	       out->used + len <= SERVER_BATCH_BYTES) {
		memcpy(batch + out->used, packet, len);
		out->used += len;
		ops->take(peer->file);
		peer->control.server->stats.packets_out++;
	}
	out->has_more = packet;
	if (out->used)
		return;
	out->large = packet;
	out->len = len;
}

/*
 * Process the events of the client's umad file that are due, even if the client
 * has no room for packets: otherwise they would remain due, and the timer would
 * expire again at once.
 */
static struct gathered queue_gather(struct server_peer *peer, bool has_room)
{
	struct gathered out = { 0 };

	pthread_mutex_lock(peer_lock(peer));
	peer_file_ops(peer)->settle(peer->file);
	list_remove(&peer->ready);
	if (has_room)
		packets_gather(peer, &out);
	out.due_ns = peer_file_ops(peer)->due_ns(peer->file);
	pthread_mutex_unlock(peer_lock(peer));
	return out;
}

/*
 * Send the rest of a large packet to the client. Return: true: all of it was
 * sent.
 */
static bool packet_send_large(struct server_peer *peer, const uint8_t *packet,
			      size_t len)
{
	const ssize_t sent = ibsa__peer_bytes_send(
		peer, packet + peer->head_sent, len - peer->head_sent);

	if (sent < 0) {
		bytes_failed(peer, sent);
		return false;
	}
	peer->head_sent += (size_t)sent;
	if (peer->head_sent < len)
		return false;
	peer->head_sent = 0;
	pthread_mutex_lock(peer_lock(peer));
	peer_file_ops(peer)->take(peer->file);
	pthread_mutex_unlock(peer_lock(peer));
	peer->control.server->stats.packets_out++;
	return true;
}

/* Return: true: everything was sent. */
static bool gathered_send(struct server_peer *peer, const struct gathered *got)
{
	if (got->large)
		return packet_send_large(peer, got->large, got->len);
	return !got->used ||
	       packets_send(peer, peer->control.server->out_batch, got->used);
}

/* Maximum number of batches that one call sends to a client. */
enum { FLUSH_BATCHES = 16 };

void ibsa__peer_flush(struct server_peer *peer)
{
	bool has_room = peer->data.fd >= 0 && !peer->has_ended &&
			pending_send(peer);
	struct gathered got;
	int count = 0;

	if (peer->is_gone)
		return;
	do {
		got = queue_gather(peer, has_room);
		has_room = has_room && gathered_send(peer, &got);
	} while (has_room && got.has_more && ++count < FLUSH_BATCHES);
	if (has_room && got.has_more) {
		peer->has_output = true;
		ibsa__peer_activate(peer);
	}
	if (!peer->is_gone)
		data_await_room(peer, !has_room && !peer->has_ended);
	if (!peer->is_gone)
		ibsa__server_alarm(peer->control.server, got.due_ns);
}

/*
 * Write a packet of the client to its umad file. An error cannot be returned
 * through the socket: instead, the packet with the error is queued for the
 * client. The caller holds the lock.
 */
static void packet_post(struct server_peer *peer, const uint8_t *packet,
			size_t len)
{
	struct server *server = peer->control.server;
	const int err = peer->file->ops->send(peer->file, packet, len);

	if (err) {
		peer_file_ops(peer)->refuse(peer->file, packet, err);
		server->stats.packets_refused++;
	}
	server->stats.packets_in++;
	peer->packets++;
}

/*
 * Return: the length of the packet that begins here; 0: the length is invalid.
 */
static size_t packet_length(const uint8_t *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	if (header.length < sizeof(header) + REMOTE_MAD_MIN ||
	    header.length > REMOTE_PACKET_MAX)
		return 0;
	return header.length;
}

/* Return: how often the packet may be sent. */
static uint64_t packet_cost(const uint8_t *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	return (uint64_t)header.retries + 1;
}

/*
 * Whether the client's turn is over: its time has passed at the last packet
 * that has read the clock, or its umad file has work to do.
 */
static bool turn_is_over(struct server_peer *peer)
{
	const uint64_t now_ns = peer->file->ops->now_ns(peer->file);

	peer_limit_turn(peer, now_ns);
	return now_ns >= peer->until_ns || peer_has_work(peer);
}

/*
 * Write complete packets to the client's umad file until the client's turn is
 * over. Return: the number of their bytes; SIZE_MAX: a packet is invalid.
 */
static size_t packets_post_all(struct server_peer *peer, const uint8_t *at,
			       size_t count)
{
	bool is_over = false;
	size_t used = 0;
	size_t len = 0;

	pthread_mutex_lock(peer_lock(peer));
	while (count - used >= UMAD_HEADER_BYTES && !is_over) {
		len = packet_length(at + used);
		if (!len || len > count - used ||
		    !ibsa__peer_charge(peer, packet_cost(at + used)))
			break;
		packet_post(peer, at + used, len);
		used += len;
		is_over = turn_is_over(peer);
	}
	pthread_mutex_unlock(peer_lock(peer));
	peer->bytes_ahead -= used < peer->bytes_ahead ? used
						      : peer->bytes_ahead;
	return count - used >= UMAD_HEADER_BYTES && !len ? SIZE_MAX : used;
}

/* Whether the first packet in @part is complete, or invalid. */
static bool part_is_complete(const struct server_bytes *part)
{
	return part->count >= UMAD_HEADER_BYTES &&
	       packet_length(part->at) <= part->count;
}

/*
 * A client has a deadline while its packet is incomplete, but not while
 * complete packets wait for the client's next turn.
 */
static void part_set_deadline(struct server_peer *peer)
{
	ibsa__source_set_deadline(&peer->data,
				  peer->part.count &&
					  !part_is_complete(&peer->part));
}

/* Write the complete packets in @peer->part to the umad file. */
static void part_packets_write(struct server_peer *peer)
{
	struct server_bytes *part = &peer->part;
	const size_t used = packets_post_all(peer, part->at, part->count);

	if (used == SIZE_MAX) {
		ibsa__peer_disconnect(peer, "it sent an invalid packet");
		return;
	}
	part->count -= used;
	memmove(part->at, part->at + used, part->count);
	if (used)
		ibsa__source_set_deadline(&peer->data, false);
	part_set_deadline(peer);
	if (!part->count)
		ibsa__bytes_free(part);
}

/*
 * Return: the number of bytes that the client's partial packet still lacks, as
 * far as it is known yet.
 */
static size_t part_lacks(const struct server_bytes *part)
{
	size_t len;

	if (part->count < UMAD_HEADER_BYTES)
		return UMAD_HEADER_BYTES - part->count;
	len = packet_length(part->at);
	return len > part->count ? len - part->count : 0;
}

/*
 * Read more of the client's partial packet. The buffer grows by at most
 * PART_FIRST_BYTES more than the bytes that have arrived, so that a packet
 * whose header states a large length uses no memory before its bytes arrive.
 */
static void part_read(struct server_peer *peer)
{
	struct server_bytes *part = &peer->part;
	size_t want = part_lacks(part);
	ssize_t got;

	if (want > part->count + PART_FIRST_BYTES)
		want = part->count + PART_FIRST_BYTES;
	if (!bytes_resize(part, part->count + want)) {
		ibsa__peer_disconnect(peer, "out of memory for its packet");
		return;
	}
	got = ibsa__peer_bytes_recv(peer, part->at + part->count, want);
	if (got < 0) {
		bytes_failed(peer, got);
		return;
	}
	if (!got)
		peer->has_data = false;
	part->count += (size_t)got;
	part_packets_write(peer);
}

static void batch_read(struct server_peer *peer)
{
	uint8_t *batch = peer->control.server->in_batch;
	const ssize_t got = ibsa__peer_bytes_recv(peer, batch,
						  SERVER_BATCH_BYTES);
	size_t used;

	if (!got) {
		peer->has_data = false;
		return;
	}
	/*
	 * The client has closed the data socket without REMOTE_DETACH, for
	 * example by close(2): the server closes the connection, too.
	 */
	if (got < 0) {
		bytes_failed(peer, got);
		return;
	}
	used = packets_post_all(peer, batch, (size_t)got);
	if (used == SIZE_MAX)
		ibsa__peer_disconnect(peer, "it sent an invalid packet");
	if (peer->is_gone || used == (size_t)got)
		return;
	if (bytes_add(&peer->part, batch + used, (size_t)got - used))
		part_set_deadline(peer);
	else
		ibsa__peer_disconnect(peer, "out of memory for its packet");
}

static void packets_read(struct server_peer *peer)
{
	if (part_is_complete(&peer->part))
		part_packets_write(peer);
	else if (peer->part.count)
		part_read(peer);
	else
		batch_read(peer);
}

void ibsa__peer_data_event(struct server_source *source, uint32_t events)
{
	struct server_peer *peer = list_object(source, struct server_peer,
					       data);

	if (events & ~(uint32_t)EPOLLOUT)
		peer->has_data = true;
	/*
	 * A request that was written may have been answered at once, or may
	 * have set a deadline.
	 */
	peer->has_output = true;
	ibsa__peer_activate(peer);
}

bool ibsa__peer_data_begin(struct server_peer *peer, const uint8_t *bytes,
			   size_t len)
{
	if (len && !bytes_add(&peer->part, bytes, len))
		return false;
	peer->has_output = true;
	ibsa__peer_activate(peer);
	return true;
}

void ibsa__peer_mark(struct server_peer *peer)
{
	if (peer->file)
		peer->bytes_ahead = peer->part.count +
				    ibsa__peer_bytes_most(peer);
	ibsa__peer_activate(peer);
}

bool ibsa__peer_has_packets(const struct server_peer *peer)
{
	if (!peer->file || peer->held_until_ns)
		return false;
	return part_is_complete(&peer->part) ||
	       (peer->rings.memory ? !ibsa__ring_is_empty(&peer->rings.in)
				   : peer->has_data);
}

void ibsa__peer_data_end(struct server_source *source, uint32_t events)
{
	struct server_peer *peer = list_object(source, struct server_peer,
					       data);

	(void)events;
	if (peer->is_ending)
		return;
	peer->is_ending = true;
	ibsa__peer_mark(peer);
}

static void work_continue(struct server_peer *peer)
{
	const struct serve_file_ops *ops = peer_file_ops(peer);

	peer_limit_turn(peer, clock_now_ns());
	pthread_mutex_lock(peer_lock(peer));
	if (peer->is_ending)
		ops->drop_work(peer->file);
	else
		ops->work(peer->file, peer->until_ns);
	pthread_mutex_unlock(peer_lock(peer));
}

static void file_serve(struct server_peer *peer)
{
	peer->has_output = false;
	if (peer_has_work(peer))
		work_continue(peer);
	/* Over TCP, the client may not have connected its data socket yet. */
	if (!peer_has_work(peer) && !peer->held_until_ns && peer->data.fd >= 0)
		packets_read(peer);
	if (!peer->is_gone)
		ibsa__peer_flush(peer);
}

void ibsa__peer_serve(struct server_peer *peer)
{
	if (peer->file)
		file_serve(peer);
	else
		peer->has_output = false;
}
