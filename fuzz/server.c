/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a fabric server with a client: the input contains what the client
 * sends on its connection and on the data socket of its umad file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/server.h>
#include <ibsa/types.h>

#include "remote/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Kinds of actions; the next byte of the input selects one. */
enum {
	SEND_CONTROL_BYTES,
	SEND_CONTROL_FRAME,
	SEND_CONTROL_ATTACH,
	SEND_BYTES,
	SEND_PACKET,
	KINDS
};

struct client {
	struct ibsa_fabric_server *server;
	int control;
	int data;
	const uint8_t *input;
	size_t size;
};

static void must(bool condition)
{
	if (!condition)
		abort();
}

static const char topology[] = "Switch 4 \"S\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n"
			       "Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
			       "Ca 2 \"H2\" # \"right\"\n[1] \"S\"[2]\n";

static uint8_t take(struct client *client)
{
	if (!client->size)
		return 0;
	client->size--;
	return *client->input++;
}

/* Take as many bytes from the input as its next byte says, at most the rest. */
static const uint8_t *take_bytes(struct client *client, size_t *len)
{
	const uint8_t *at;

	*len = take(client);
	if (*len > client->size)
		*len = client->size;
	at = client->input;
	client->input += *len;
	client->size -= *len;
	return at;
}

/* Let the server handle what has arrived: four rounds, without waiting. */
static void serve(struct client *client)
{
	for (int i = 0; i < 4; i++)
		must(!ibsa_fabric_server_wait(client->server, 0));
}

static void put(int fd, const void *bytes, size_t len)
{
	if (fd >= 0 && send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void frame_send(struct client *client, uint32_t type, const void *body,
		       size_t len)
{
	const struct remote_head head = { .length = (uint32_t)len,
					  .type = type };

	put(client->control, &head, sizeof(head));
	put(client->control, body, len);
}

static void fd_take(struct client *client, struct msghdr *message)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);

	if (!head || head->cmsg_type != SCM_RIGHTS)
		return;
	if (client->data >= 0)
		close(client->data);
	memcpy(&client->data, CMSG_DATA(head), sizeof(client->data));
}

/* Receive the server's answers, and a file descriptor that comes with one. */
static void answers_receive(struct client *client)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char answer[4096];
	ssize_t got;

	do {
		struct iovec part = { answer, sizeof(answer) };
		struct msghdr message = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof(control.room),
		};

		got = recvmsg(client->control, &message,
			      MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got > 0)
			fd_take(client, &message);
	} while (got > 0);
	if (client->data >= 0)
		while (recv(client->data, answer, sizeof(answer),
			    MSG_DONTWAIT) > 0)
			;
}

/* Send a packet of arbitrary bytes; only the length in its header is valid. */
static void send_packet(struct client *client, const uint8_t *bytes, size_t len)
{
	struct {
		struct umad_header header;
		uint8_t mad[IBSA_MAD_BYTES];
	} packet = { .header.length = sizeof(packet) };
	const size_t after = sizeof(packet.header.length) + 16;

	if (len > 16)
		memcpy((uint8_t *)&packet + after, bytes + 16,
		       len - 16 < sizeof(packet) - after
			       ? len - 16
			       : sizeof(packet) - after);
	memcpy(&packet, bytes, len < 16 ? len : 16);
	packet.header.length = sizeof(packet);
	put(client->data, &packet, sizeof(packet));
}

static void step(struct client *client)
{
	const uint8_t kind = take(client) % KINDS;
	const uint8_t *bytes;
	uint8_t type = 0;
	size_t len;

	if (kind == SEND_CONTROL_FRAME)
		type = take(client);
	bytes = take_bytes(client, &len);
	if (kind == SEND_CONTROL_BYTES)
		put(client->control, bytes, len);
	else if (kind == SEND_CONTROL_FRAME)
		frame_send(client, type, bytes, len);
	else if (kind == SEND_CONTROL_ATTACH)
		frame_send(client, REMOTE_ATTACH, NULL, 0);
	else if (kind == SEND_BYTES)
		put(client->data, bytes, len);
	else
		send_packet(client, bytes, len);
	serve(client);
	answers_receive(client);
}

static void connect_to(struct client *client, const char *path)
{
	const struct remote_hello hello = { .version = REMOTE_VERSION,
					    .node = "right" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, path, strlen(path) + 1);
	client->control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(!connect(client->control, (struct sockaddr *)&address,
		      sizeof(address)));
	/* If the next byte is odd, the client sends a valid hello first. */
	if (take(client) % 2)
		frame_send(client, REMOTE_HELLO, &hello, sizeof(hello));
	serve(client);
	answers_receive(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct client client = { .data = -1, .input = data, .size = size };
	struct ibsa_fabric *fabric;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/ibsa-fuzz-%d", (int)getpid());
	must(!ibsa_fabric_parse(topology, sizeof(topology) - 1, NULL, NULL,
				&fabric));
	must(!ibsa_fabric_server_open(fabric, path, NULL, NULL,
				      &client.server));
	connect_to(&client, path);
	while (client.size)
		step(&client);
	if (client.data >= 0)
		close(client.data);
	close(client.control);
	serve(&client);
	ibsa_fabric_server_close(client.server);
	ibsa_fabric_put(fabric);
	return 0;
}
