/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attacks over TCP by clients with and without the token. Each seed chooses a few
 * of the actions below, which then follow each other in random order, without
 * end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "attack.h"
#include "base/random.h"

enum {
	HELD = 200,  /* connections that are open at a time */
	CHOSEN = 3,  /* actions of a seed */
	BEGUN = 100, /* actions until the attack has begun */
	BYTES = 2048,
};

/* @held: the connections, from the one at @next on, which is the oldest */
struct mix {
	struct random random;
	const char *address;
	int held[HELD];
	unsigned int next;
	struct remote_file file;
	uint32_t agent;
	bool has_file;
};

static uint32_t pick(struct mix *mix, uint32_t limit)
{
	return (uint32_t)random_below(&mix->random, limit);
}

static void bytes_fill(struct mix *mix, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)pick(mix, 256);
}

static void bytes_send(int fd, const void *bytes, size_t len)
{
	(void)!send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Hold a connection, and close the oldest one, half of the time by a reset. */
static void hold(struct mix *mix, int fd)
{
	const struct linger reset = { .l_onoff = 1 };
	int *oldest = &mix->held[mix->next++ % HELD];

	if (*oldest >= 0 && pick(mix, 2))
		(void)!setsockopt(*oldest, SOL_SOCKET, SO_LINGER, &reset,
				  sizeof(reset));
	if (*oldest >= 0)
		close(*oldest);
	*oldest = fd;
}

static int stranger(struct mix *mix)
{
	return attack_connect_try(mix->address, NULL);
}

static int client(struct mix *mix)
{
	return attack_connect_try(mix->address, "Hca7");
}

static void open_only(struct mix *mix)
{
	hold(mix, stranger(mix));
}

static void send_garbage(struct mix *mix)
{
	const int fd = stranger(mix);
	uint8_t bytes[BYTES];

	bytes_fill(mix, bytes, sizeof(bytes));
	bytes_send(fd, bytes, 1 + pick(mix, BYTES));
	hold(mix, fd);
}

/* A hello with another token, version or length, or a part of a hello. */
static void send_wrong_hello(struct mix *mix)
{
	struct {
		struct remote_head head;
		struct remote_greeting greeting;
	} frame = {
		.head = { .length = sizeof(frame.greeting),
			  .type = REMOTE_HELLO },
		.greeting = { .hello = { .version = REMOTE_VERSION } },
	};
	const int fd = stranger(mix);

	bytes_fill(mix, frame.greeting.token, sizeof(frame.greeting.token));
	if (!pick(mix, 4))
		frame.greeting.hello.version = pick(mix, 8);
	if (!pick(mix, 4))
		frame.head.length = pick(mix, 2 * REMOTE_HELLO_MAX);
	if (!pick(mix, 4))
		bytes_fill(mix, (uint8_t *)&frame.greeting, 256 - 32);
	bytes_send(fd, &frame,
		   pick(mix, 4) ? sizeof(frame) : pick(mix, sizeof(frame)));
	hold(mix, fd);
}

static void send_wrong_ticket(struct mix *mix)
{
	struct {
		struct remote_head head;
		uint8_t ticket[REMOTE_TICKET_BYTES];
	} frame = {
		.head = { .length = sizeof(frame.ticket), .type = REMOTE_JOIN },
	};
	const int fd = stranger(mix);

	bytes_fill(mix, frame.ticket, sizeof(frame.ticket));
	bytes_send(fd, &frame, sizeof(frame));
	hold(mix, fd);
}

/* Requests of a client that reads no answers: to attach, for IsSM, commands. */
static void send_requests(struct mix *mix)
{
	static const char *const lines[] = { "stats", "link down Hca5/1",
					     "sm stop", "sysfs 0 Hca1" };
	const int fd = client(mix);
	const uint32_t count = 1 + pick(mix, 20);

	for (uint32_t i = 0; i < count; i++) {
		const char *line = lines[pick(mix, 4)];
		struct remote_head head = { .type = pick(mix, REMOTE_TYPES) };
		char frame[sizeof(head) + 64];

		if (head.type >= REMOTE_ISSM)
			head.length = (uint32_t)strlen(line);
		if (head.type == REMOTE_ISSM)
			head.length = sizeof(uint32_t);
		/* After packets that do not come. */
		if (!pick(mix, 8))
			head.err = (int32_t)pick(mix, UINT32_MAX);
		memcpy(frame, &head, sizeof(head));
		memset(frame + sizeof(head), 0, 64);
		if (head.type != REMOTE_ISSM)
			memcpy(frame + sizeof(head), line, strlen(line));
		bytes_send(fd, frame, sizeof(head) + head.length);
	}
	hold(mix, fd);
}

/* Requests to the SA through a umad file, whose replies are not read. */
static void send_packets(struct mix *mix)
{
	struct packet packet;
	size_t sent = 0;

	if (mix->has_file && !pick(mix, 50)) {
		ibsa__remote_file_close(&mix->file);
		mix->has_file = false;
	}
	if (!mix->has_file &&
	    file_open(mix->address, 1, &mix->file, &mix->agent))
		return;
	mix->has_file = true;
	/* The data socket outlives the connection. */
	if (!pick(mix, 100))
		ibsa__remote_disconnect(&mix->file.connection);
	packet = packet_request(pick(mix, 4) ? IBSA_METHOD_GET
					     : IBSA_METHOD_GET_TABLE,
				pick(mix, 2) ? NODE_RECORD : PATH_RECORD,
				mix->agent, pick(mix, UINT32_MAX));
	if (!pick(mix, 200))
		bytes_fill(mix, packet.mad, sizeof(packet.mad));
	if (!pick(mix, 1000))
		packet.header.length = pick(mix, UINT32_MAX);
	(void)!ibsa__data_send(&mix->file.shared->data, &packet, sizeof(packet),
			       NULL, 0, &sent);
	/* After a part of a packet, the server waits for its rest. */
	if (sent && sent < sizeof(packet)) {
		ibsa__remote_file_close(&mix->file);
		mix->has_file = false;
	}
}

static void (*const actions[])(struct mix *mix) = {
	open_only,	   send_garbage,  send_wrong_hello,
	send_wrong_ticket, send_requests, send_packets,
};

void attack_over_tcp(const char *address, uint64_t seed)
{
	static struct mix mix;
	void (*chosen[CHOSEN])(struct mix * mix);

	mix.random.state = seed;
	mix.address = address;
	for (int i = 0; i < HELD; i++)
		mix.held[i] = -1;
	for (int i = 0; i < CHOSEN; i++)
		chosen[i] = actions[pick(&mix,
					 sizeof(actions) / sizeof(actions[0]))];
	for (uint64_t i = 0;; i++) {
		chosen[pick(&mix, CHOSEN)](&mix);
		if (i == BEGUN)
			attack_has_begun();
	}
}
