/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric server in a thread, and who connects to it. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "remote/protocol.h"
#include "served_rig.h"

struct served {
	struct ibsa_fabric *fabric;
	struct ibsa_fabric_server *server;
	struct ibsa_fabric_server_options limits;
	pthread_t thread;
	atomic_bool ends;
	char folder[64];
	char name[96];
	pthread_mutex_t lock;
	pthread_cond_t noted;
	char note[256];
};

const char served_pair[] = "Switch 4 \"S\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n"
			   "Ca 1 \"H1\" # \"left\"\n[1] \"S\"[1]\n"
			   "Ca 1 \"H2\" # \"right\"\n[1] \"S\"[2]\n";

static void note(const char *text, void *arg)
{
	struct served *served = arg;

	pthread_mutex_lock(&served->lock);
	snprintf(served->note, sizeof(served->note), "%s", text);
	pthread_cond_broadcast(&served->noted);
	pthread_mutex_unlock(&served->lock);
}

bool served_noted(struct served *served, const char *part)
{
	struct timespec until;
	bool is_noted;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&served->lock);
	while (!strstr(served->note, part) && !err)
		err = pthread_cond_timedwait(&served->noted, &served->lock,
					     &until);
	is_noted = strstr(served->note, part);
	served->note[0] = '\0';
	pthread_mutex_unlock(&served->lock);
	return is_noted;
}

static void *run(void *arg)
{
	struct served *served = arg;
	int err = 0;

	while (!atomic_load(&served->ends) && (!err || err == -EINTR))
		err = ibsa_fabric_server_wait(served->server, -1);
	return NULL;
}

void served_again(struct served *served)
{
	struct ibsa_fabric_server_options options = served->limits;
	struct ibsa_error error = { .text = "" };

	options.note = note;
	options.arg = served;
	if (ibsa_fabric_server_open(served->fabric, served_path(served),
				    &options, &error, &served->server))
		fail_msg("%s", error.text);
	served_resume(served);
}

struct ibsa_fabric_server *served_pause(struct served *served)
{
	atomic_store(&served->ends, true);
	ibsa_fabric_server_wake(served->server);
	pthread_join(served->thread, NULL);
	return served->server;
}

void served_resume(struct served *served)
{
	atomic_store(&served->ends, false);
	assert_int_equal(pthread_create(&served->thread, NULL, run, served), 0);
}

void served_end(struct served *served)
{
	served_pause(served);
	ibsa_fabric_server_close(served->server);
	served->server = NULL;
}

void served_wake(struct served *served)
{
	ibsa_fabric_server_wake(served->server);
}

struct served *served_start(const char *text)
{
	const struct ibsa_fabric_server_options none = { .note = NULL };

	return served_start_with(text, &none);
}

static struct served *
served_new(struct ibsa_fabric *fabric,
	   const struct ibsa_fabric_server_options *limits)
{
	struct served *served = calloc(1, sizeof(*served));

	assert_non_null(served);
	served->fabric = fabric;
	served->limits = *limits;
	pthread_mutex_init(&served->lock, NULL);
	pthread_cond_init(&served->noted, NULL);
	strcpy(served->folder, "/tmp/ibsa-served-XXXXXX");
	assert_non_null(mkdtemp(served->folder));
	snprintf(served->name, sizeof(served->name), "unix:%s/s",
		 served->folder);
	served_again(served);
	return served;
}

struct served *
served_start_with(const char *text,
		  const struct ibsa_fabric_server_options *limits)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric *fabric = NULL;

	if (ibsa_fabric_parse(text, strlen(text), NULL, &error, &fabric))
		fail_msg("%s", error.text);
	return served_new(fabric, limits);
}

struct served *served_start_on(struct ibsa_fabric *fabric)
{
	const struct ibsa_fabric_server_options none = { .note = NULL };

	return served_new(fabric, &none);
}

void served_stop(struct served *served)
{
	if (served->server)
		served_end(served);
	ibsa_fabric_put(served->fabric);
	assert_int_equal(rmdir(served->folder), 0);
	pthread_mutex_destroy(&served->lock);
	pthread_cond_destroy(&served->noted);
	free(served);
}

const char *served_path(const struct served *served)
{
	return served->name + strlen("unix:");
}

const char *served_name(const struct served *served)
{
	return served->name;
}

struct ibsa_fabric *served_fabric(const struct served *served)
{
	return served->fabric;
}

struct ibsa_client *served_client(const struct served *served, const char *node)
{
	const struct ibsa_options options = {
		.fabric = served->name,
		.device = node,
	};
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client = NULL;

	if (ibsa_open(&options, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

static void greet(int fd, const char *node)
{
	struct {
		struct remote_head head;
		struct remote_hello hello;
	} frame = {
		.head = { .length = sizeof(frame.hello), .type = REMOTE_HELLO },
		.hello = { .version = REMOTE_VERSION },
	};

	snprintf(frame.hello.node, sizeof(frame.hello.node), "%s", node);
	assert_int_equal(send(fd, &frame, sizeof(frame), MSG_NOSIGNAL),
			 sizeof(frame));
	assert_int_equal(recv(fd, &frame, sizeof(frame), MSG_WAITALL),
			 sizeof(frame));
	assert_int_equal(frame.head.err, 0);
}

int served_connect(const struct served *served, const char *node)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 served_path(served));
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (node)
		greet(fd, node);
	return fd;
}

void served_order(const struct served *served, const char *line)
{
	assert_int_equal(ibsa_fabric_command(served_name(served), line, NULL, 0,
					     NULL),
			 0);
}
