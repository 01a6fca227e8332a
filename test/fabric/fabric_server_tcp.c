/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server over TCP: tokens, versions, strangers, and what TCP has in
 * place of descriptors.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ibsa/device.h>
#include <ibsa/records.h>
#include <ibsa/types.h>

#include "remote/connection.h"
#include "remote/file.h"
#include "../support/server_rig.h"

enum {
	IS_SM = 1 << 1,
	STRANGERS = 300,
	STRANGERS_MAX = 128,
	SHORT_MS =
		400, /* for tests that await the end of the server's patience */
	PATIENCE_MS = 60000,
	INPUT_MS = 20000, /* less: a test fails instead of waiting for it */
	CONNECTIONS = 32,
};

static const char folder[] = "/tmp/ibsa-tcp-XXXXXX";

/*
 * A server that listens at a port of 127.0.0.1, and its files of tokens. A test
 * may set the first two members.
 */
struct tcp_rig {
	unsigned int patience_ms; /* 0: PATIENCE_MS */
	unsigned int connections;
	struct server_rig *rig;
	int port;
	char folder[sizeof(folder)];
	char use[64], change[64], other[64];
	char address[128], change_address[128];
};

static void tcp_start_at(struct tcp_rig *tcp, const char *host,
			 bool has_control)
{
	char listen[64];
	struct ibsa_fabric_server_options options = {
		.listen = listen,
		.token = tcp->use,
		.control_token = has_control ? tcp->change : NULL,
		.patience_ms = tcp->patience_ms ? tcp->patience_ms
						: PATIENCE_MS,
		.connections = tcp->connections,
	};

	snprintf(listen, sizeof(listen), "tcp:%s:0", host);
	strcpy(tcp->folder, folder);
	assert_non_null(mkdtemp(tcp->folder));
	snprintf(tcp->use, sizeof(tcp->use), "%s/use", tcp->folder);
	snprintf(tcp->change, sizeof(tcp->change), "%s/change", tcp->folder);
	snprintf(tcp->other, sizeof(tcp->other), "%s/other", tcp->folder);
	tcp->rig = server_start_with(server_pair, &options);
	tcp->port = ibsa_fabric_server_port(server_pause(tcp->rig));
	server_resume(tcp->rig);
	snprintf(tcp->address, sizeof(tcp->address), "tcp:%s:%d,token=%s", host,
		 tcp->port, tcp->use);
	snprintf(tcp->change_address, sizeof(tcp->change_address),
		 "tcp:%s:%d,token=%s", host, tcp->port, tcp->change);
}

static void tcp_start(struct tcp_rig *tcp, bool has_control)
{
	tcp_start_at(tcp, "127.0.0.1", has_control);
}

static void tcp_stop(struct tcp_rig *tcp)
{
	server_stop(tcp->rig);
	unlink(tcp->use);
	unlink(tcp->change);
	unlink(tcp->other);
	assert_int_equal(rmdir(tcp->folder), 0);
}

static int client_open(const char *address, struct ibsa_error *error,
		       struct ibsa_client **out)
{
	const struct ibsa_options options = { .fabric = address,
					      .device = "left" };

	return ibsa_open(&options, error, out);
}

static int path_query(struct ibsa_client *client)
{
	const struct ibsa_path want = { .slid = 1, .dlid = 2 };
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = 10000,
	};
	struct ibsa_path path;

	return ibsa_query_one(client, &query, NULL, &path, sizeof(path));
}

static int tcp_socket(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static void socket_connect(const struct tcp_rig *tcp, int fd)
{
	const struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)tcp->port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};

	assert_int_equal(
		connect(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
}

static int tcp_connect(const struct tcp_rig *tcp)
{
	const int fd = tcp_socket();

	socket_connect(tcp, fd);
	return fd;
}

static void frame_send(int fd, uint32_t type, const void *body, size_t len)
{
	const struct remote_head head = { .length = (uint32_t)len,
					  .type = type };

	char frame[sizeof(head) + REMOTE_HELLO_MAX + 1];

	memcpy(frame, &head, sizeof(head));
	if (len)
		memcpy(frame + sizeof(head), body, len);
	len += sizeof(head);
	assert_int_equal(send(fd, frame, len, MSG_NOSIGNAL), len);
}

static void input_await(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&poll_fd, 1, INPUT_MS), 1);
}

/* Return: the error in an answer, whose body is stored as a text. */
static int answer_recv(int fd, char *text, size_t room)
{
	struct remote_head head;

	input_await(fd);
	assert_int_equal(recv(fd, &head, sizeof(head), MSG_WAITALL),
			 sizeof(head));
	assert_true(head.length < room);
	if (head.length)
		assert_int_equal(recv(fd, text, head.length, MSG_WAITALL),
				 head.length);
	text[head.length] = '\0';
	return head.err;
}

static bool is_closed(int fd)
{
	char byte;

	input_await(fd);
	return recv(fd, &byte, 1, 0) <= 0;
}

/* A hello for the node "right" with the token of the file. */
static struct remote_greeting greeting(const char *token)
{
	struct remote_greeting hello = {
		.hello = { .version = REMOTE_VERSION, .node = "right" },
	};
	struct tcp_token read;

	if (token) {
		assert_int_equal(
			ibsa__token_read(token, TOKEN_ANY, NULL, &read), 0);
		memcpy(hello.token, read.bytes, sizeof(hello.token));
	}
	return hello;
}

static void a_client_is_served(void **state)
{
	struct ibsa_client *client = NULL;
	struct ibsa_error error = { .text = "" };
	struct tcp_rig tcp = { .port = 0 };
	struct stat token;

	(void)state;
	for (int i = 0; i < 3; i++) {
		tcp_start_at(&tcp,
			     (const char *const[]){ "127.0.0.1", "localhost",
						    "[::1]" }[i],
			     false);
		assert_int_equal(stat(tcp.use, &token), 0);
		assert_int_equal(token.st_mode & 07777, 0600);
		if (client_open(tcp.address, &error, &client))
			fail_msg("%s", error.text);
		assert_int_equal(path_query(client), 0);
		assert_int_equal(ibsa_close(client), 0);
		tcp_stop(&tcp);
	}
}

static void token_write(const char *path, const char *text, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void assert_refused(const char *file, int port, int err,
			   const char *reason)
{
	struct ibsa_client *client;
	struct ibsa_error error = { .text = "" };
	char address[128];

	snprintf(address, sizeof(address), "tcp:127.0.0.1:%d,token=%s", port,
		 file);
	assert_int_equal(client_open(address, &error, &client), err);
	if (!strstr(error.text, reason))
		fail_msg("'%s' lacks '%s'", error.text, reason);
}

static void tokens_are_checked(void **state)
{
	static const char zeros[] = "0000000000000000000000000000000000000000"
				    "000000000000000000000000";
	char wrong[80];
	struct tcp_rig tcp = { .port = 0 };

	(void)state;
	tcp_start(&tcp, false);
	assert_refused("/nowhere", tcp.port, -ENOENT, "does not exist");
	token_write(tcp.other, zeros, 0600);
	assert_refused(tcp.other, tcp.port, -EACCES, "does not accept");
	token_write(tcp.other, zeros, 0640);
	assert_refused(tcp.other, tcp.port, -EACCES, "other users can read it");
	for (int i = 0; i < 4; i++) {
		snprintf(wrong, sizeof(wrong), "%s%s", zeros,
			 (const char *const[]){ "0", "\n\n", " \n", "" }[i]);
		if (i == 3)
			wrong[63] = 'g';
		token_write(tcp.other, wrong, 0600);
		assert_refused(tcp.other, tcp.port, -EINVAL, "is not a token");
	}
	token_write(tcp.other, zeros + 1, 0600);
	assert_refused(tcp.other, tcp.port, -EINVAL, "is not a token");
	assert_refused(tcp.folder, tcp.port, -EINVAL, "regular file");
	tcp_stop(&tcp);
}

static int command_send(const char *address, const char *line,
			struct ibsa_error *error)
{
	return ibsa_server_command(address, line, NULL, 0, error);
}

/* Commands that change the fabric need a token of their own, if there is one. */
static void changes_need_their_own_token(void **state)
{
	static const char *const changes[] = { "link down right/1", "sm stop",
					       "fault drop=1", "nonsense" };
	struct ibsa_error error;
	struct tcp_rig tcp = { .port = 0 };

	(void)state;
	for (int has_control = 0; has_control < 2; has_control++) {
		tcp_start(&tcp, has_control);
		assert_int_equal(command_send(tcp.address, "stats", NULL), 0);
		for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
			assert_int_equal(command_send(tcp.address, changes[i],
						      &error),
					 -EACCES);
		assert_non_null(strstr(error.text, "--control-token"));
		if (has_control)
			assert_int_equal(command_send(tcp.change_address,
						      changes[0], NULL),
					 0);
		assert_int_equal(command_send(server_address(tcp.rig),
					      "link up right/1", NULL),
				 0);
		tcp_stop(&tcp);
	}
}

/* Return: the error that answers a hello with this version and length. */
static int hello_try(const struct tcp_rig *tcp, uint32_t version, size_t len,
		     char *text, size_t room)
{
	uint8_t longer[REMOTE_HELLO_MAX + 1] = { 0 };
	struct remote_greeting hello = greeting(tcp->use);
	const int fd = tcp_connect(tcp);
	int err;

	hello.hello.version = version;
	hello.hello.features = 0xff;
	memcpy(longer, &hello, sizeof(hello));
	frame_send(fd, REMOTE_HELLO, longer, len);
	err = answer_recv(fd, text, room);
	close(fd);
	return err;
}

/*
 * The answer to a later client has the version and the features of this server.
 * A client of another byte order, or an earlier one, is refused with the reason.
 */
static void versions_are_negotiated(void **state)
{
	char text[sizeof(struct remote_hello) + 256];
	struct remote_hello answer;
	struct tcp_rig tcp = { .port = 0 };

	(void)state;
	tcp_start(&tcp, false);
	for (int i = 0; i < 2; i++) {
		const size_t len = i ? (size_t)REMOTE_HELLO_MAX
				     : sizeof(struct remote_greeting);

		assert_int_equal(hello_try(&tcp, REMOTE_VERSION + 1, len, text,
					   sizeof(text)),
				 0);
		memcpy(&answer, text, sizeof(answer));
		assert_int_equal(answer.version, REMOTE_VERSION);
		assert_int_equal(answer.features & ~REMOTE_FEATURES, 0);
		assert_int_equal(answer.features & REMOTE_HAS_RINGS, 0);
	}
	for (int i = 0; i < 2; i++) {
		const uint32_t version = i ? __builtin_bswap32(REMOTE_VERSION)
					   : REMOTE_VERSION_FIRST - 1;

		assert_int_equal(hello_try(&tcp, version,
					   sizeof(struct remote_greeting), text,
					   sizeof(text)),
				 -EPROTO);
		assert_non_null(strstr(text, "protocol version"));
	}
	tcp_stop(&tcp);
}

/*
 * Connections without a token do not keep clients out, whatever their number,
 * and end when their time has passed.
 */
static void strangers_do_not_keep_clients_out(void **state)
{
	static int fds[STRANGERS];
	struct ibsa_client *client = NULL;
	struct tcp_rig tcp = { .patience_ms = SHORT_MS };

	(void)state;
	tcp_start(&tcp, false);
	for (int i = 0; i < STRANGERS; i++) {
		fds[i] = tcp_connect(&tcp);
		if (i % 2)
			assert_int_equal(send(fds[i], "\1", 1, MSG_NOSIGNAL),
					 1);
	}
	assert_int_equal(client_open(tcp.address, NULL, &client), 0);
	assert_int_equal(path_query(client), 0);
	assert_int_equal(ibsa_close(client), 0);
	for (int i = 0; i < STRANGERS; i++) {
		assert_true(is_closed(fds[i]));
		close(fds[i]);
	}
	tcp_stop(&tcp);
}

/* One stranger more ends the oldest one. */
static void the_oldest_stranger_ends(void **state)
{
	static int fds[STRANGERS];
	struct tcp_rig tcp = { .port = 0 };

	(void)state;
	tcp_start(&tcp, false);
	for (int i = 0; i < STRANGERS; i++)
		fds[i] = tcp_connect(&tcp);
	for (int i = 0; i < STRANGERS; i++) {
		if (i < STRANGERS - STRANGERS_MAX)
			assert_true(is_closed(fds[i]));
		close(fds[i]);
	}
	tcp_stop(&tcp);
}

/* Without descriptors, clients over TCP wait until there are some again. */
static void clients_over_tcp_wait_for_descriptors(void **state)
{
	struct tcp_rig tcp = { .port = 0 };
	struct remote_greeting hello;
	struct rlimit all, none;
	char text[512];
	int fd;

	(void)state;
	tcp_start(&tcp, false);
	hello = greeting(tcp.use);
	fd = tcp_socket();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = all;
	none.rlim_cur = 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	socket_connect(&tcp, fd);
	assert_true(server_has_noted(tcp.rig, "out of file descriptors"));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_recv(fd, text, sizeof(text)), 0);
	close(fd);
	tcp_stop(&tcp);
}

/* Before the hello, nothing else is answered, and no large frame is read. */
static void strangers_may_only_send_a_hello(void **state)
{
	static const struct remote_head heads[] = {
		{ .type = REMOTE_FILE },
		{ .type = REMOTE_CONTROL, .length = 5 },
		{ .type = REMOTE_HELLO, .length = REMOTE_HELLO_MAX + 1 },
		{ .type = REMOTE_JOIN, .length = REMOTE_TICKET_BYTES + 1 },
		{ .type = REMOTE_JOIN, .length = REMOTE_TICKET_BYTES },
		{ .type = REMOTE_TYPES },
	};
	const struct remote_greeting plain = greeting(NULL);
	static const char rest[32] = "stats";
	char text[256];
	struct tcp_rig tcp = { .port = 0 };
	int fd;

	(void)state;
	tcp_start(&tcp, false);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		fd = tcp_connect(&tcp);
		(void)!send(fd, &heads[i], sizeof(heads[i]), MSG_NOSIGNAL);
		(void)!send(fd, rest, sizeof(rest), MSG_NOSIGNAL);
		while (!is_closed(fd))
			;
		close(fd);
	}
	fd = tcp_connect(&tcp);
	frame_send(fd, REMOTE_HELLO, &plain.hello, sizeof(plain.hello));
	assert_int_equal(answer_recv(fd, text, sizeof(text)), -EACCES);
	assert_true(is_closed(fd));
	close(fd);
	tcp_stop(&tcp);
}

/* The notes of a server are few, however many strangers it ends. */
static void strangers_do_not_fill_the_log(void **state)
{
	const struct remote_head invalid = { .type = REMOTE_TYPES };
	struct tcp_rig tcp = { .port = 0 };

	(void)state;
	tcp_start(&tcp, false);
	for (int i = 0; i < STRANGERS; i++) {
		const int fd = tcp_connect(&tcp);

		(void)!send(fd, &invalid, sizeof(invalid), MSG_NOSIGNAL);
		while (!is_closed(fd))
			;
		close(fd);
	}
	assert_in_range(server_note_count(tcp.rig), 1, STRANGERS / 2);
	tcp_stop(&tcp);
}

static int greet(const struct tcp_rig *tcp)
{
	const struct remote_greeting hello = greeting(tcp->use);
	char text[512];
	const int fd = tcp_connect(tcp);

	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_recv(fd, text, sizeof(text)), 0);
	return fd;
}

/* Greet as a client, and request a port. */
static int attach(const struct tcp_rig *tcp, char *ticket)
{
	const int fd = greet(tcp);

	frame_send(fd, REMOTE_ATTACH, NULL, 0);
	assert_int_equal(answer_recv(fd, ticket, REMOTE_TICKET_BYTES + 1), 0);
	return fd;
}

/* Clients over TCP leave a quarter of the connections to those of this machine. */
static void clients_over_tcp_are_limited(void **state)
{
	enum { MOST = CONNECTIONS - CONNECTIONS / 4 };
	struct tcp_rig tcp = { .connections = CONNECTIONS };
	struct ibsa_client *client = NULL;
	int fds[MOST];

	(void)state;
	tcp_start(&tcp, false);
	for (int i = 0; i < MOST; i++)
		fds[i] = greet(&tcp);
	assert_refused(tcp.use, tcp.port, -EUSERS, "connections over TCP");
	assert_int_equal(client_open(server_address(tcp.rig), NULL, &client),
			 0);
	assert_int_equal(ibsa_close(client), 0);
	for (int i = 0; i < MOST; i++)
		close(fds[i]);
	tcp_stop(&tcp);
}

/* A connection that has greeted is not a data socket. */
static void a_client_cannot_use_a_ticket(void **state)
{
	char ticket[REMOTE_TICKET_BYTES + 1];
	struct tcp_rig tcp = { .port = 0 };
	int client, other, data;

	(void)state;
	tcp_start(&tcp, false);
	client = attach(&tcp, ticket);
	other = greet(&tcp);
	frame_send(other, REMOTE_JOIN, ticket, REMOTE_TICKET_BYTES);
	assert_true(is_closed(other));
	close(other);
	data = tcp_connect(&tcp);
	frame_send(data, REMOTE_JOIN, ticket, REMOTE_TICKET_BYTES);
	frame_send(client, REMOTE_DETACH, NULL, 0);
	assert_int_equal(answer_recv(client, ticket, sizeof(ticket)), 0);
	assert_true(is_closed(data));
	close(data);
	close(client);
	tcp_stop(&tcp);
}

/* A port that is released, or requested again, has no ticket of before. */
static void a_ticket_ends_with_its_port(void **state)
{
	char ticket[REMOTE_TICKET_BYTES + 1];
	char text[64];
	struct tcp_rig tcp = { .port = 0 };
	int client, data;

	(void)state;
	tcp_start(&tcp, false);
	client = attach(&tcp, ticket);
	frame_send(client, REMOTE_DETACH, NULL, 0);
	assert_int_equal(answer_recv(client, text, sizeof(text)), 0);
	data = tcp_connect(&tcp);
	frame_send(data, REMOTE_JOIN, ticket, REMOTE_TICKET_BYTES);
	assert_true(is_closed(data));
	close(data);
	close(client);
	tcp_stop(&tcp);
}

/* A part of a packet, which arrives with the ticket, needs its rest in time. */
static void a_packet_may_follow_the_ticket(void **state)
{
	char frame[REMOTE_TICKET_BYTES + 8] = { 0 };
	char ticket[REMOTE_TICKET_BYTES + 1];
	const struct remote_head head = { .type = REMOTE_JOIN,
					  .length = REMOTE_TICKET_BYTES };
	struct tcp_rig tcp = { .patience_ms = SHORT_MS };
	int client, data;

	(void)state;
	tcp_start(&tcp, false);
	client = attach(&tcp, ticket);
	data = tcp_connect(&tcp);
	memcpy(frame, ticket, REMOTE_TICKET_BYTES);
	assert_int_equal(send(data, &head, sizeof(head),
			      MSG_NOSIGNAL | MSG_MORE),
			 sizeof(head));
	assert_int_equal(send(data, frame, sizeof(frame), MSG_NOSIGNAL),
			 sizeof(frame));
	assert_true(is_closed(client));
	assert_true(server_has_noted(tcp.rig, "did not complete its packet"));
	close(data);
	close(client);
	tcp_stop(&tcp);
}

/* A ticket opens one data socket, and none after its time has passed. */
static void a_ticket_is_used_once(void **state)
{
	char ticket[REMOTE_TICKET_BYTES + 1];
	struct tcp_rig tcp = { .patience_ms = SHORT_MS };
	int fd, first, second;

	(void)state;
	tcp_start(&tcp, false);
	fd = attach(&tcp, ticket);
	first = tcp_connect(&tcp);
	frame_send(first, REMOTE_JOIN, ticket, REMOTE_TICKET_BYTES);
	second = tcp_connect(&tcp);
	frame_send(second, REMOTE_JOIN, ticket, REMOTE_TICKET_BYTES);
	assert_true(is_closed(second));
	close(second);
	close(first);
	assert_true(is_closed(fd));
	close(fd);
	fd = attach(&tcp, ticket);
	assert_true(is_closed(fd));
	assert_true(server_has_noted(tcp.rig, "did not connect its data"));
	close(fd);
	tcp_stop(&tcp);
}

/* Whether the capability mask of the client's port has the bit IsSM. */
static bool has_sm_bit(int fd)
{
	static const char path[] = "class/infiniband/ibsa0/ports/1/cap_mask";
	char text[64];

	frame_send(fd, REMOTE_FILE, path, strlen(path));
	assert_int_equal(answer_recv(fd, text, sizeof(text)), 0);
	return strtoul(text, NULL, 16) & IS_SM;
}

/* A message sets IsSM, until the connection ends. */
static void a_message_says_that_there_is_an_sm(void **state)
{
	const uint32_t number = 0;
	char text[64];
	struct tcp_rig tcp = { .port = 0 };
	int fd, other;

	(void)state;
	tcp_start(&tcp, false);
	fd = greet(&tcp);
	other = greet(&tcp);
	assert_false(has_sm_bit(fd));
	for (int i = 0; i < 2; i++) {
		frame_send(fd, REMOTE_ISSM, &number, sizeof(number));
		assert_int_equal(answer_recv(fd, text, sizeof(text)), 0);
		assert_true(has_sm_bit(other));
	}
	frame_send(other, REMOTE_ISSM, &number, sizeof(number));
	assert_int_equal(answer_recv(other, text, sizeof(text)), -EBUSY);
	close(fd);
	while (has_sm_bit(other))
		poll(NULL, 0, 1);
	close(other);
	tcp_stop(&tcp);
}

static void wrong_options_are_refused(void **state)
{
	static const char *const wrong[] = {
		"127.0.0.1:1",	   "tcp:",
		"tcp:x",	   "tcp:65536",
		"tcp:::1:1",	   "tcp:[::1:1",
		"tcp:256.0.0.1:1", "tcp:example.org:1",
		"tcp::1",
	};
	struct ibsa_error error = { .text = "" };
	struct tcp_rig tcp = { .port = 0 };
	char taken[32];

	(void)state;
	tcp_start(&tcp, false);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(server_try(wrong[i], tcp.use, &error),
				 -EINVAL);
	assert_non_null(strstr(error.text, "write tcp:PORT"));
	assert_int_equal(server_try("tcp:0", NULL, &error), -EINVAL);
	assert_non_null(strstr(error.text, "token"));
	assert_int_equal(server_try(NULL, tcp.use, &error), -EINVAL);
	assert_int_equal(server_try("tcp:0", "/nowhere/t", &error), -ENOENT);
	snprintf(taken, sizeof(taken), "tcp:localhost:%d", tcp.port);
	assert_int_equal(server_try(taken, tcp.use, &error), -EADDRINUSE);
	assert_non_null(strstr(error.text, "choose another"));
	assert_int_equal(server_try("tcp:192.0.2.1:0", tcp.use, &error),
			 -EADDRNOTAVAIL);
	assert_non_null(strstr(error.text, "not an address of this machine"));
	assert_int_equal(server_try("tcp:[::1]:0", tcp.use, &error), 0);
	tcp_stop(&tcp);
}

static void a_wrong_address_is_refused_with_what_to_write(void **state)
{
	static const char *const wrong[][2] = {
		{ "tcp:", "tcp:HOST:PORT,token=FILE" },
		{ "tcp:,token=/t", "tcp:HOST:PORT,token=FILE" },
		{ "tcp:fabric:4096,token=/t", "127.0.0.1 or [::1]" },
		{ "tcp:::1:4096,token=/t", "127.0.0.1 or [::1]" },
		{ "tcp:4096", "write tcp:4096,token=FILE" },
		{ "tcp:[::1]:4096,token=", "write tcp:[::1]:4096,token=FILE" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ibsa_error error = { .text = "" };
		struct ibsa_client *client;

		assert_int_equal(client_open(wrong[i][0], &error, &client),
				 -EINVAL);
		if (!strstr(error.text, wrong[i][1]))
			fail_msg("%s", error.text);
	}
}

/* The error differs from that of a kernel module that is not loaded. */
static void a_missing_token_is_a_missing_server(void **state)
{
	struct ibsa_device_list *list;
	unsigned int version;

	(void)state;
	assert_int_equal(setenv("IBSA_FABRIC",
				"tcp:18515,token=/nonexistent/token", 1),
			 0);
	assert_int_equal(ibsa_devices_read(&list), -ENODEV);
	assert_int_equal(ibsa_umad_version(NULL, &version), -ENODEV);
	unsetenv("IBSA_FABRIC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_served),
		cmocka_unit_test(tokens_are_checked),
		cmocka_unit_test(changes_need_their_own_token),
		cmocka_unit_test(versions_are_negotiated),
		cmocka_unit_test(strangers_do_not_keep_clients_out),
		cmocka_unit_test(the_oldest_stranger_ends),
		cmocka_unit_test(clients_over_tcp_wait_for_descriptors),
		cmocka_unit_test(strangers_may_only_send_a_hello),
		cmocka_unit_test(strangers_do_not_fill_the_log),
		cmocka_unit_test(clients_over_tcp_are_limited),
		cmocka_unit_test(a_client_cannot_use_a_ticket),
		cmocka_unit_test(a_ticket_ends_with_its_port),
		cmocka_unit_test(a_packet_may_follow_the_ticket),
		cmocka_unit_test(a_ticket_is_used_once),
		cmocka_unit_test(a_message_says_that_there_is_an_sm),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(a_wrong_address_is_refused_with_what_to_write),
		cmocka_unit_test(a_missing_token_is_a_missing_server),
	};

	unsetenv("IBSA_FABRIC");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
