/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attacks on a fabric server. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "attack.h"
#include "../support/descriptors.h"

/* Take part in nothing more until the driver kills this process. */
static void hold(void)
{
	for (;;)
		pause();
}

/* Return: whether the packet was written; false: the server has closed it. */
static bool packet_write(struct remote_file *file, const struct packet *packet)
{
	int err;

	do
		err = ibsa__remote_file_write(file, packet, sizeof(*packet));
	while (err == -EAGAIN);
	return !err;
}

/* Read what has arrived, so that the server has room for more. */
static void packets_skip(struct remote_file *file)
{
	static uint8_t room[1 << 20];
	ssize_t got;

	do
		got = ibsa__data_recv(&file->shared->data, room, sizeof(room));
	while (got > 0);
}

/* Request all records of a kind as fast as the server takes the requests. */
static void tables_flood(const char *address, uint16_t attribute)
{
	struct remote_file file;
	struct packet packet;
	uint32_t agent;

	if (file_open(address, 1, &file, &agent))
		exit(1);
	for (uint32_t tid = 1; tid; tid++) {
		packet = packet_request(IBSA_METHOD_GET_TABLE, attribute, agent,
					tid);
		if (!packet_write(&file, &packet))
			exit(1);
		packets_skip(&file);
		if (tid == 32)
			attack_has_begun();
	}
}

static void tables_of_paths(const char *address, unsigned int nodes)
{
	(void)nodes;
	tables_flood(address, PATH_RECORD);
}

static void tables_of_nodes(const char *address, unsigned int nodes)
{
	(void)nodes;
	tables_flood(address, NODE_RECORD);
}

static void tables_of_ports(const char *address, unsigned int nodes)
{
	(void)nodes;
	tables_flood(address, 0x0012);
}

static void tables_of_links(const char *address, unsigned int nodes)
{
	(void)nodes;
	tables_flood(address, 0x0020);
}

static void tables_of_lanes(const char *address, unsigned int nodes)
{
	(void)nodes;
	tables_flood(address, 0x0013);
}

/* Small requests without end; their answers are read. */
static void requests_flood(const char *address, unsigned int nodes)
{
	struct remote_file file;
	struct packet packet;
	uint32_t agent;

	if (file_open(address, 1, &file, &agent))
		exit(1);
	attack_has_begun();
	for (uint32_t tid = 1; tid; tid++) {
		packet = packet_request(IBSA_METHOD_GET, NODE_RECORD, agent,
					tid);
		packet.mad[MAD_COMPONENT_MASK + 7] = 1;
		ibsa_put_be16(packet.mad + IBSA_SA_HEADER_BYTES,
			      (uint16_t)(1 + tid % nodes));
		if (!packet_write(&file, &packet))
			exit(1);
		packets_skip(&file);
	}
}

/* Many clients request large tables and do not read them. */
static void answers_unread(const char *address, unsigned int nodes)
{
	enum { CLIENTS = 30, TABLES = 20 };
	static struct remote_file files[CLIENTS];
	struct packet packet;
	uint32_t agent;

	(void)nodes;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (file_open(address, i, &files[i], &agent))
			exit(1);
		for (uint32_t tid = 1; tid <= TABLES; tid++) {
			packet = packet_request(IBSA_METHOD_GET_TABLE,
						PATH_RECORD, agent, tid);
			if (!packet_write(&files[i], &packet))
				exit(1);
		}
	}
	attack_has_begun();
	hold();
}

/* Many clients send packets of 256 MiB that never become complete. */
static void packets_incomplete(const char *address, unsigned int nodes)
{
	enum { CLIENTS = 20, PART = 32768 };
	static struct remote_file files[CLIENTS];
	static uint8_t part[PART];
	const struct umad_header header = { .length = REMOTE_PACKET_MAX };
	uint32_t agent;

	(void)nodes;
	for (unsigned int i = 0; i < CLIENTS; i++) {
		size_t sent = 0;

		if (file_open(address, i, &files[i], &agent))
			exit(1);
		(void)!ibsa__data_send(&files[i].shared->data, &header,
				       sizeof(header), NULL, 0, &sent);
	}
	attack_has_begun();
	for (;;) {
		for (unsigned int i = 0; i < CLIENTS; i++) {
			size_t sent = 0;

			(void)!ibsa__data_send(&files[i].shared->data, part,
					       PART, NULL, 0, &sent);
		}
		pause_us(200);
	}
}

static void frame_send(int fd, uint32_t type, const char *body)
{
	const struct remote_head head = { .length = (uint32_t)strlen(body),
					  .type = type };
	char frame[sizeof(head) + 256];

	memcpy(frame, &head, sizeof(head));
	memcpy(frame + sizeof(head), body, head.length);
	if (send(fd, frame, sizeof(head) + head.length, MSG_NOSIGNAL) < 0)
		exit(1);
}

/* Commands, one behind the other, whose answers are read. */
static void commands_flood(const char *address, const char *const *lines)
{
	const int fd = attack_connect(address, "");
	char answer[65536];

	attack_has_begun();
	for (unsigned int i = 0;; i++) {
		frame_send(fd, REMOTE_CONTROL, lines[i % 2]);
		while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
			;
	}
}

static void commands_read(const char *address, unsigned int nodes)
{
	static const char *const lines[] = { "stats", "stats" };

	(void)nodes;
	commands_flood(address, lines);
}

static void commands_change(const char *address, unsigned int nodes)
{
	static const char *const lines[] = { "link down Hca5/1",
					     "link up Hca5/1" };

	(void)nodes;
	commands_flood(address, lines);
}

/* A connected socket that its last close() blocks: SO_LINGER, unsent data. */
static int linger_socket(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const struct linger linger = { .l_onoff = 1, .l_linger = 1000 };
	socklen_t len = sizeof(name);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	static char bytes[1 << 20];

	if (bind(listener, (struct sockaddr *)&name, sizeof(name)) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&name, &len) ||
	    connect(fd, (struct sockaddr *)&name, sizeof(name)))
		exit(1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Send @fd with a byte, and close it here. */
static void fd_pass(int to, int fd)
{
	const struct remote_head head = { .type = REMOTE_WATCH };

	(void)!descriptors_pass(to, &head, sizeof(head), &fd, 1);
	close(fd);
}

/* A descriptor with a request. */
static void descriptor_with_request(const char *address, unsigned int nodes)
{
	(void)nodes;
	fd_pass(attack_connect(address, ""), linger_socket());
	attack_has_begun();
	hold();
}

/* A descriptor before the hello, and the end of the connection. */
static void descriptor_and_end(const char *address, unsigned int nodes)
{
	const int fd = attack_connect(address, NULL);

	(void)nodes;
	fd_pass(fd, linger_socket());
	close(fd);
	attack_has_begun();
	hold();
}

/* A descriptor through the data socket. */
static void descriptor_with_packet(const char *address, unsigned int nodes)
{
	struct remote_file file;
	uint32_t agent;

	(void)nodes;
	if (file_open(address, 1, &file, &agent))
		exit(1);
	fd_pass(file.shared->data.fd, linger_socket());
	attack_has_begun();
	hold();
}

/* Request the issm file of each node. */
static void issm_files(const char *address, unsigned int nodes)
{
	const uint32_t issm = 0;

	for (unsigned int i = 1; i <= nodes; i++) {
		const struct remote_head head = { .length = sizeof(issm),
						  .type = REMOTE_ISSM };
		struct remote_head answer;
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "Hca%u", i);
		fd = attack_connect(address, name);
		(void)!send(fd, &head, sizeof(head), MSG_NOSIGNAL | MSG_MORE);
		(void)!send(fd, &issm, sizeof(issm), MSG_NOSIGNAL);
		(void)!recv(fd, &answer, sizeof(answer), MSG_WAITALL);
		close(fd);
	}
	attack_has_begun();
	hold();
}

/* One process takes all connections that it gets. */
static void connections_hold(const char *address, unsigned int nodes)
{
	enum { CONNECTIONS = 2000 };
	struct rlimit files;

	(void)nodes;
	if (getrlimit(RLIMIT_NOFILE, &files))
		exit(1);
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < CONNECTIONS; i++)
		if (attack_connect_try(address, "") < 0)
			break;
	attack_has_begun();
	hold();
}

const struct attack attacks[] = {
	{ "path-tables", tables_of_paths, 1 },
	{ "path-tables-x4", tables_of_paths, 4 },
	{ "node-tables", tables_of_nodes, 1 },
	{ "port-tables", tables_of_ports, 1 },
	{ "link-tables", tables_of_links, 1 },
	{ "lane-tables", tables_of_lanes, 1 },
	{ "requests", requests_flood, 4 },
	{ "stats", commands_read, 2 },
	{ "links", commands_change, 1 },
	{ "unread", answers_unread, 1 },
	{ "incomplete", packets_incomplete, 1 },
	{ "fd-request", descriptor_with_request, 1, true },
	{ "fd-end", descriptor_and_end, 1, true },
	{ "fd-packet", descriptor_with_packet, 1, true },
	{ "issm", issm_files, 1 },
	{ "connections", connections_hold, 1 },
};
const int attack_count = sizeof(attacks) / sizeof(attacks[0]);
