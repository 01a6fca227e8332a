/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the client of a fabric server: the input contains the server's
 * answers on the connection and the data of a umad file, in its socket or in
 * its rings. The server writes anything to the shared memory of the rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "remote/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	INBOX_ROOM = 1024,
	INBOX_MOST = 4096,
	PACKET_BYTES = 320,
	ROOM_LEFT = 100, /* in a ring that is almost full */
};

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* Return: a socket from which exactly these bytes can be read. */
static int socket_with_bytes(const uint8_t *bytes, size_t len)
{
	int fds[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
	if (len && send(fds[1], bytes, len, MSG_NOSIGNAL) < 0)
		must(errno == EAGAIN);
	close(fds[1]);
	return fds[0];
}

static void server_requests(const uint8_t *bytes, size_t len)
{
	struct remote_connection connection = { .fd = socket_with_bytes(bytes,
									len) };
	struct ibsa_error error = { .text = "" };
	char answer[256];
	int err = 0;

	(void)ibsa__remote_is_gone(&connection);
	for (uint32_t type = 0; type < REMOTE_TYPES && !err; type++) {
		struct remote_request request = {
			.type = type,
			.answer = answer,
			.room = sizeof(answer),
		};

		err = ibsa__remote_request(&connection, &request, &error);
		must(err || request.answered <= sizeof(answer));
		must(err <= 0 && memchr(error.text, '\0', sizeof(error.text)));
		ibsa__remote_fds_close(&request.fds);
	}
	ibsa__remote_disconnect(&connection);
}

/*
 * The server: it writes the input to the client's data socket, or to its
 * rings.
 */
struct peer {
	struct rings rings; /* memory is NULL if the socket contains all data */
	const uint8_t *bytes;
	size_t len;
};

/*
 * The first byte of the input is the number of wake-ups, and whether the client
 * has sent so much that its ring is almost full.
 */
static void peer_open(struct peer *peer, struct remote_data *data,
		      const uint8_t *bytes, size_t len, bool has_rings)
{
	const uint8_t how = has_rings && len > 3 ? *bytes : 0;
	const size_t wakes = how % 4;
	int fd;

	*peer = (struct peer){ .bytes = bytes, .len = len };
	remote_data_init(data);
	data->fd = socket_with_bytes(bytes, has_rings ? wakes : len);
	if (!has_rings)
		return;
	must(!ibsa__rings_new(&peer->rings, &fd));
	must(!ibsa__rings_open(&data->rings, fd));
	close(fd);
	data->bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	must(data->bell_fd >= 0);
	if (how & 4)
		data->rings.out.at = RING_BYTES - ROOM_LEFT;
}

static void peer_close(struct peer *peer, struct remote_data *data)
{
	ibsa__rings_close(&peer->rings);
	ibsa__data_close(data);
}

enum { WORDS = 8, STEP_BYTES = 5 };

static void word_write(struct ring_memory *memory, unsigned int which,
		       uint32_t value)
{
	struct ring_shared *in = &memory->to_client;
	struct ring_shared *out = &memory->to_server;
	_Atomic uint32_t *const words[WORDS] = {
		&in->head,  &in->tail,	&in->is_idle,  &in->is_full,
		&out->head, &out->tail, &out->is_idle, &out->is_full,
	};

	atomic_store(words[which], value);
}

/* Write bytes behind the position up to which the server has written. */
static void bytes_write(struct peer *peer, size_t count)
{
	struct ring_memory *memory = peer->rings.memory;
	uint32_t head = atomic_load(&memory->to_client.head);

	for (; count && peer->len; count--, peer->len--, head++)
		memory->to_client_bytes[head % RING_CLIENT_BYTES] =
			*peer->bytes++;
	atomic_store(&memory->to_client.head, head);
}

/*
 * Change positions and flags, or write bytes and publish them. Some changes
 * come at once with the next. Return: false: the input has ended.
 */
static bool peer_write(struct peer *peer)
{
	uint32_t value;
	uint8_t kind;

	do {
		if (!peer->rings.memory || peer->len < STEP_BYTES)
			return false;
		kind = *peer->bytes;
		memcpy(&value, peer->bytes + 1, sizeof(value));
		peer->bytes += STEP_BYTES;
		peer->len -= STEP_BYTES;
		if (kind < 2 * WORDS)
			word_write(peer->rings.memory, kind % WORDS, value);
		else
			bytes_write(peer, kind);
	} while (kind >= WORDS && kind < 2 * WORDS);
	return true;
}

/*
 * Whether the client must refuse the position of the peer when it reads: it
 * has less than @need bytes from before, and the position is invalid.
 */
static bool head_is_invalid(const struct remote_data *data, size_t need)
{
	const struct ring_end *in = &data->rings.in;

	return data->rings.memory && in->seen - in->at < need &&
	       atomic_load(&in->shared->head) - in->at > RING_CLIENT_BYTES;
}

/*
 * Whether the client must refuse it when it writes a packet, before the header
 * or behind it.
 */
static bool tail_is_invalid(const struct remote_data *data)
{
	const struct ring_end *out = &data->rings.out;
	uint32_t unread;

	if (!data->rings.memory ||
	    RING_BYTES - (out->at - out->seen) >= PACKET_BYTES)
		return false;
	unread = out->at - atomic_load(&out->shared->tail);
	return unread > RING_BYTES && unread + UMAD_HEADER_BYTES > RING_BYTES;
}

static void length_check(const uint8_t *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	must(header.length >= UMAD_HEADER_BYTES + REMOTE_MAD_MIN &&
	     header.length <= REMOTE_PACKET_MAX);
}

/* Send packets and read as a program. */
static void read_all(const uint8_t *bytes, size_t len, bool has_rings)
{
	struct remote_shared shared = {
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.writing = PTHREAD_MUTEX_INITIALIZER,
	};
	struct remote_file file = { .shared = &shared };
	const uint8_t sent[PACKET_BYTES] = { 0 };
	uint8_t packet[PACKET_BYTES];
	bool is_invalid;
	struct peer peer;
	bool goes_on;
	ssize_t got;
	int err;

	peer_open(&peer, &shared.data, bytes, len, has_rings);
	do {
		goes_on = peer_write(&peer);
		is_invalid = head_is_invalid(&shared.data, UMAD_HEADER_BYTES);
		got = ibsa__remote_file_read(&file, packet, sizeof(packet));
		must(got <= (ssize_t)sizeof(packet));
		must(got == -EIO || !is_invalid);
		if (got > 0 || got == -ENOSPC)
			length_check(packet);
		if (!goes_on)
			continue;
		is_invalid = tail_is_invalid(&shared.data);
		err = ibsa__remote_file_write(&file, sent, sizeof(sent));
		must(err == -EIO || (!err && !is_invalid));
	} while (got > 0 || goes_on);
	pthread_mutex_destroy(&shared.reading);
	pthread_mutex_destroy(&shared.writing);
	peer_close(&peer, &shared.data);
}

/* Receive packets as a transport does, several at a time. */
static void receive_all(const uint8_t *bytes, size_t len, bool has_rings)
{
	struct remote_link link = {
		.inbox = { .room = INBOX_ROOM, .most = INBOX_MOST },
		.connection = { .fd = -1, .patience_ms = 10000 },
		.epoll_fd = -1,
		.timer_fd = -1,
	};
	const uint8_t packet[PACKET_BYTES] = { 0 };
	struct umad_buffer buffers[4];
	bool is_invalid;
	struct peer peer;
	int got;

	peer_open(&peer, &link.data, bytes, len, has_rings);
	link.inbox.bytes = ibsa__calloc(1, link.inbox.room);
	must(link.inbox.bytes);
	do {
		if (peer_write(&peer)) {
			is_invalid = tail_is_invalid(&link.data);
			got = ibsa__remote_link_send(&link.base, packet,
						     sizeof(packet));
			must(got <= 0 && (got || !is_invalid));
		}
		is_invalid = link.inbox.at == link.inbox.end &&
			     !link.inbox.is_dry &&
			     head_is_invalid(&link.data, 1);
		got = ibsa__remote_link_receive(&link.base, buffers, 4);
		must(got == -ENODEV || !is_invalid);
		for (int i = 0; i < got; i++) {
			must(buffers[i].len >=
			     UMAD_HEADER_BYTES + REMOTE_MAD_MIN);
			length_check(buffers[i].bytes);
		}
	} while (got != -ENODEV);
	peer_close(&peer, &link.data);
	ibsa__free(link.inbox.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data % 5) {
	case 0:
		server_requests(data + 1, size - 1);
		break;
	case 1:
		read_all(data + 1, size - 1, false);
		break;
	case 2:
		receive_all(data + 1, size - 1, false);
		break;
	case 3:
		read_all(data + 1, size - 1, true);
		break;
	default:
		receive_all(data + 1, size - 1, true);
		break;
	}
	return 0;
}
