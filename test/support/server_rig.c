/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric server in a thread, and connections to it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "remote/file.h"
#include "remote/protocol.h"
#include "remote/transport.h"
#include "server_rig.h"

struct server_rig {
	struct ibsa_fabric *fabric;
	struct ibsa_fabric_server *server;
	struct ibsa_fabric_server_options limits;
	pthread_t thread;
	atomic_bool ends;
	char folder[64];
	char path[80]; /* of the socket */
	/* Over TCP: the address to listen at, and the files of the tokens. */
	char listen[32];
	char token[80];
	char control_token[80];
	char name[128];
	pthread_mutex_t lock;
	pthread_cond_t noted;
	char note[256];
	unsigned int note_count;
};

const char server_pair[] = "Switch 4 \"S\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n"
			   "Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
			   "Ca 1 \"H2\" # \"right\"\n[1] \"S\"[2]\n";

static void note(const char *text, void *arg)
{
	struct server_rig *server = arg;

	pthread_mutex_lock(&server->lock);
	snprintf(server->note, sizeof(server->note), "%s", text);
	server->note_count++;
	pthread_cond_broadcast(&server->noted);
	pthread_mutex_unlock(&server->lock);
}

bool server_has_noted(struct server_rig *server, const char *part)
{
	struct timespec until;
	bool is_noted;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&server->lock);
	while (!strstr(server->note, part) && !err)
		err = pthread_cond_timedwait(&server->noted, &server->lock,
					     &until);
	is_noted = strstr(server->note, part);
	server->note[0] = '\0';
	pthread_mutex_unlock(&server->lock);
	return is_noted;
}

unsigned int server_note_count(struct server_rig *server)
{
	unsigned int count;

	pthread_mutex_lock(&server->lock);
	count = server->note_count;
	pthread_mutex_unlock(&server->lock);
	return count;
}

static void *run(void *arg)
{
	struct server_rig *server = arg;
	int err = 0;

	while (!atomic_load(&server->ends) && (!err || err == -EINTR))
		err = ibsa_fabric_server_wait(server->server, -1);
	return NULL;
}

bool server_is_over_tcp(void)
{
	return getenv("IBSA_TEST_TCP");
}

/* The first time at any port, and then at the same one. */
static void tcp_set(const struct server_rig *server,
		    struct ibsa_fabric_server_options *options)
{
	options->listen = *server->listen ? server->listen : "tcp:0";
	options->token = server->token;
	options->control_token = server->control_token;
}

static void tcp_note(struct server_rig *server)
{
	snprintf(server->listen, sizeof(server->listen), "tcp:127.0.0.1:%d",
		 ibsa_fabric_server_port(server->server));
	snprintf(server->name, sizeof(server->name), "%s,token=%s",
		 server->listen, server->control_token);
}

void server_restart(struct server_rig *server)
{
	struct ibsa_fabric_server_options options = server->limits;
	struct ibsa_error error = { .text = "" };

	options.report = note;
	options.arg = server;
	if (server_is_over_tcp())
		tcp_set(server, &options);
	if (ibsa_fabric_server_open(server->fabric, server_path(server),
				    &options, &error, &server->server))
		fail_msg("%s", error.text);
	if (server_is_over_tcp())
		tcp_note(server);
	server_resume(server);
}

struct ibsa_fabric_server *server_pause(struct server_rig *server)
{
	atomic_store(&server->ends, true);
	ibsa_fabric_server_wake(server->server);
	pthread_join(server->thread, NULL);
	return server->server;
}

void server_resume(struct server_rig *server)
{
	atomic_store(&server->ends, false);
	assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
}

void server_end(struct server_rig *server)
{
	server_pause(server);
	ibsa_fabric_server_close(server->server);
	server->server = NULL;
}

void server_wake(struct server_rig *server)
{
	ibsa_fabric_server_wake(server->server);
}

struct server_rig *server_start(const char *text)
{
	const struct ibsa_fabric_server_options none = { .report = NULL };

	return server_start_with(text, &none);
}

static struct server_rig *
server_rig_new(struct ibsa_fabric *fabric,
	       const struct ibsa_fabric_server_options *limits)
{
	struct server_rig *server = calloc(1, sizeof(*server));

	assert_non_null(server);
	server->fabric = fabric;
	server->limits = *limits;
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->noted, NULL);
	strcpy(server->folder, "/tmp/ibsa-server-XXXXXX");
	assert_non_null(mkdtemp(server->folder));
	snprintf(server->path, sizeof(server->path), "%s/s", server->folder);
	snprintf(server->token, sizeof(server->token), "%s/t", server->folder);
	snprintf(server->control_token, sizeof(server->control_token), "%s/c",
		 server->folder);
	snprintf(server->name, sizeof(server->name), "unix:%s", server->path);
	server_restart(server);
	return server;
}

struct server_rig *
server_start_with(const char *text,
		  const struct ibsa_fabric_server_options *limits)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric *fabric = NULL;

	if (ibsa_fabric_parse(text, strlen(text), NULL, &error, &fabric))
		fail_msg("%s", error.text);
	return server_rig_new(fabric, limits);
}

struct server_rig *server_start_on(struct ibsa_fabric *fabric)
{
	const struct ibsa_fabric_server_options none = { .report = NULL };

	return server_rig_new(fabric, &none);
}

void server_stop(struct server_rig *server)
{
	if (server->server)
		server_end(server);
	ibsa_fabric_put(server->fabric);
	unlink(server->token);
	unlink(server->control_token);
	assert_int_equal(rmdir(server->folder), 0);
	pthread_mutex_destroy(&server->lock);
	pthread_cond_destroy(&server->noted);
	free(server);
}

const char *server_path(const struct server_rig *server)
{
	return server->path;
}

const char *server_address(const struct server_rig *server)
{
	return server->name;
}

struct ibsa_fabric *server_fabric(const struct server_rig *server)
{
	return server->fabric;
}

struct ibsa_client *server_client(const struct server_rig *server,
				  const char *node)
{
	const struct ibsa_options options = {
		.fabric = server->name,
		.device = node,
	};
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client = NULL;

	if (ibsa_open(&options, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

struct ibsa_transport *server_transport(const struct server_rig *server,
					const char *node)
{
	struct ibsa_transport *transport = NULL;
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(server->name, node, NULL, 0,
						   NULL, &address),
			 0);
	assert_int_equal(ibsa__remote_open(&address, 1 << 20, NULL, &transport),
			 0);
	return transport;
}

static void greet(int fd, const struct remote_address *address)
{
	struct {
		struct remote_head head;
		struct remote_greeting greeting;
	} frame = { .head = { .type = REMOTE_HELLO } };
	const size_t answer = sizeof(frame.head) + sizeof(struct remote_hello);
	size_t len = ibsa__remote_hello_put(address, &frame.greeting);

	frame.greeting.hello.features = 0;
	frame.head.length = (uint32_t)len;
	len += sizeof(frame.head);
	assert_int_equal(send(fd, &frame, len, MSG_NOSIGNAL), len);
	assert_int_equal(recv(fd, &frame, answer, MSG_WAITALL), answer);
	assert_int_equal(frame.head.err, 0);
}

static int connect_at(const char *fabric, const char *node)
{
	struct remote_connection connection;
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(fabric, node ? node : "",
						   NULL, 0, NULL, &address),
			 0);
	assert_int_equal(ibsa__remote_connect_begin(&connection, &address, true,
						    NULL),
			 0);
	assert_int_equal(fcntl(connection.fd, F_SETFL, 0), 0);
	if (node)
		greet(connection.fd, &address);
	return connection.fd;
}

int server_connect(const struct server_rig *server, const char *node)
{
	return connect_at(server_address(server), node);
}

int server_connect_unix(const struct server_rig *server, const char *node)
{
	char name[sizeof(server->path) + sizeof(REMOTE_PREFIX)];

	snprintf(name, sizeof(name), REMOTE_PREFIX "%s", server_path(server));
	return connect_at(name, node);
}

int server_try(const char *listen, const char *token, struct ibsa_error *error)
{
	const struct ibsa_fabric_server_options options = { .listen = listen,
							    .token = token };
	struct ibsa_fabric_server *server = NULL;
	struct ibsa_fabric *fabric = NULL;
	int err;

	assert_int_equal(ibsa_fabric_parse(server_pair, strlen(server_pair),
					   NULL, NULL, &fabric),
			 0);
	err = ibsa_fabric_server_open(fabric, "/tmp/ibsa-tcp-none", &options,
				      error, &server);
	assert_int_equal(server != NULL, !err);
	ibsa_fabric_server_close(server);
	ibsa_fabric_put(fabric);
	return err;
}

void server_command(const struct server_rig *server, const char *line)
{
	assert_int_equal(ibsa_server_command(server_address(server), line, NULL,
					     0, NULL),
			 0);
}

int server_file_open(const struct server_rig *server, const char *node,
		     struct remote_file *out)
{
	struct remote_address address;

	assert_int_equal(ibsa__remote_address_find(server_address(server), node,
						   NULL, 0, NULL, &address),
			 0);
	return ibsa__remote_file_open(&address, NULL, out);
}

uint32_t server_agent_register(struct remote_file *file)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};

	assert_int_equal(file->base.ops->register_agent2(&file->base, &request),
			 0);
	return request.id;
}

void server_send_bytes(struct remote_file *file, const void *bytes, size_t len)
{
	struct remote_data *data = &file->shared->data;
	size_t sent = 0;
	int err;

	do
		err = ibsa__data_send(data, bytes, len, NULL, 0, &sent);
	while (err == -EAGAIN &&
	       !ibsa__data_await(data, POLLOUT, 10000, clock_now_ns()));
	assert_int_equal(err, 0);
}
