/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the client of a fabric server: the input contains the server's
 * answers on the connection and the data of a umad file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

/* Read packets as a program reads a umad file, with a buffer of @room bytes. */
static void read_all(const uint8_t *bytes, size_t len, size_t room)
{
	struct remote_shared shared = {
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.data = { .fd = socket_with_bytes(bytes, len), .bell_fd = -1 },
	};
	struct remote_file file = { .shared = &shared };
	uint8_t packet[2048];
	ssize_t got;

	do {
		got = ibsa__remote_file_read(&file, packet, room);
		must(got <= (ssize_t)room);
	} while (got > 0);
	pthread_mutex_destroy(&shared.reading);
	close(shared.data.fd);
}

/* Receive packets as a transport does, several at a time. */
static void receive_all(const uint8_t *bytes, size_t len)
{
	struct remote_link link = {
		.data = { .fd = socket_with_bytes(bytes, len), .bell_fd = -1 },
		.inbox = { .room = INBOX_ROOM, .most = INBOX_MOST },
		.timer_fd = -1,
	};
	struct umad_buffer buffers[4];
	int got;

	link.inbox.bytes = ibsa__calloc(1, link.inbox.room);
	must(link.inbox.bytes);
	do {
		got = ibsa__remote_link_receive(&link.base, buffers, 4);
		for (int i = 0; i < got; i++)
			must(buffers[i].len >=
			     UMAD_HEADER_BYTES + REMOTE_MAD_MIN);
	} while (got != -ENODEV);
	close(link.data.fd);
	ibsa__free(link.inbox.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data % 3) {
	case 0:
		server_requests(data + 1, size - 1);
		break;
	case 1:
		read_all(data + 1, size - 1, 320);
		break;
	default:
		receive_all(data + 1, size - 1);
		break;
	}
	return 0;
}
