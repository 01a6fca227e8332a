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

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "remote/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INBOX_ROOM = 1024, INBOX_MOST = 4096 };

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

static void peer_open(struct peer *peer, struct remote_data *data,
		      const uint8_t *bytes, size_t len, bool has_rings)
{
	const size_t wakes = has_rings && len > 3 ? *bytes % 4 : 0;
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
}

static void peer_close(struct peer *peer, struct remote_data *data)
{
	ibsa__rings_close(&peer->rings);
	ibsa__data_close(data);
}

/*
 * Change a position or a flag, or write bytes behind the position up to which
 * the server has written, and publish them. Return: false: the input has ended.
 */
static bool peer_write(struct peer *peer)
{
	enum { WORDS = 8, STEP_BYTES = 5 };
	struct ring_memory *memory = peer->rings.memory;
	struct ring_shared *in;
	struct ring_shared *out;
	uint32_t value;
	uint8_t kind;

	if (!memory || peer->len < STEP_BYTES)
		return false;
	in = &memory->to_client;
	out = &memory->to_server;
	_Atomic uint32_t *const words[WORDS] = {
		&in->head,  &in->tail,	&in->is_idle,  &in->is_full,
		&out->head, &out->tail, &out->is_idle, &out->is_full,
	};
	kind = *peer->bytes;
	memcpy(&value, peer->bytes + 1, sizeof(value));
	peer->bytes += STEP_BYTES;
	peer->len -= STEP_BYTES;
	if (kind < WORDS) {
		atomic_store(words[kind], value);
		return true;
	}
	value = atomic_load(&in->head);
	for (; kind && peer->len; kind--, peer->len--, value++)
		memory->to_client_bytes[value % RING_CLIENT_BYTES] =
			*peer->bytes++;
	atomic_store(&in->head, value);
	return true;
}

/* Send packets and read as a program, with a buffer of @room bytes. */
static void read_all(const uint8_t *bytes, size_t len, size_t room,
		     bool has_rings)
{
	struct remote_shared shared = {
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.writing = PTHREAD_MUTEX_INITIALIZER,
	};
	struct remote_file file = { .shared = &shared };
	uint8_t packet[2048] = { 0 };
	struct peer peer;
	bool goes_on;
	ssize_t got;

	peer_open(&peer, &shared.data, bytes, len, has_rings);
	do {
		goes_on = peer_write(&peer);
		got = ibsa__remote_file_read(&file, packet, room);
		must(got <= (ssize_t)room);
		if (goes_on)
			must(ibsa__remote_file_write(&file, packet, room) <= 0);
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
		.epoll_fd = -1,
		.timer_fd = -1,
	};
	const uint8_t packet[320] = { 0 };
	struct umad_buffer buffers[4];
	struct peer peer;
	int got;

	peer_open(&peer, &link.data, bytes, len, has_rings);
	link.inbox.bytes = ibsa__calloc(1, link.inbox.room);
	must(link.inbox.bytes);
	do {
		if (peer_write(&peer))
			must(ibsa__remote_link_send(&link.base, packet,
						    sizeof(packet)) <= 0);
		got = ibsa__remote_link_receive(&link.base, buffers, 4);
		for (int i = 0; i < got; i++)
			must(buffers[i].len >=
			     UMAD_HEADER_BYTES + REMOTE_MAD_MIN);
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
		read_all(data + 1, size - 1, 320, false);
		break;
	case 2:
		receive_all(data + 1, size - 1, false);
		break;
	case 3:
		read_all(data + 1, size - 1, 320, true);
		break;
	default:
		receive_all(data + 1, size - 1, true);
		break;
	}
	return 0;
}
