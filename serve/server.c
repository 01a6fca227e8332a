/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server: how it is opened and closed, and its event loop. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/close.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/registry.h"
#include "serve/tcp.h"

enum {
	EVENTS_MAX = 64, /* in one round */
	/* Maximum number of rounds in one call of ibsa__server_wait(). */
	ROUNDS_MAX = 16,
	/* maximum number of descriptors of one connection */
	CONNECTION_FILES = 3,
	/*
	 * Number of file descriptors reserved for the server itself and the
	 * rest of the program; the others limit the number of clients.
	 */
	OTHER_FILES = 64,
};

void ibsa__server_note(struct server *server, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!server->options.note)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	server->options.note(text, server->options.arg);
}

int ibsa__server_watch(struct server_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };
	const int how = source->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (source->is_watched && events == source->events)
		return 0;
	if (epoll_ctl(source->server->epoll_fd, how, source->fd, &event))
		return -errno;
	source->is_watched = true;
	source->events = events;
	return 0;
}

int ibsa__source_repeat(struct server_source *source)
{
	source->events = 0;
	return ibsa__server_watch(source, EPOLLIN | EPOLLET);
}

void ibsa__source_unwatch(struct server_source *source)
{
	if (source->is_watched)
		epoll_ctl(source->server->epoll_fd, EPOLL_CTL_DEL, source->fd,
			  NULL);
	source->is_watched = false;
}

/*
 * close(2) alone does not suffice if a forked child has a copy of the descriptor:
 * it would stay in the epoll set, see epoll(7), and the peer of a socket would
 * not receive end of file.
 */
void ibsa__source_close(struct server_source *source)
{
	ibsa__source_unwatch(source);
	if (source->fd >= 0)
		ibsa__server_fd_close(source->server, source->fd);
	source->fd = -1;
}

/*
 * Descriptors that are being closed in threads of their own. The threads may
 * outlive the server.
 */
struct server_closings {
	atomic_uint count;
	/* Number of references: of the server and of each closing thread. */
	atomic_uint references;
};

static void closings_put(struct server_closings *closings)
{
	if (atomic_fetch_sub(&closings->references, 1) == 1)
		ibsa__free(closings);
}

static void closing_end(void *arg)
{
	struct server_closings *closings = arg;

	atomic_fetch_sub(&closings->count, 1);
	closings_put(closings);
}

void ibsa__server_fd_close(struct server *server, int fd)
{
	/*
	 * shutdown() succeeds only on sockets. After shutdown(), no message
	 * with descriptors can arrive.
	 */
	if (shutdown(fd, SHUT_RDWR) || !ibsa__socket_holds_fds(fd)) {
		close(fd);
		return;
	}
	atomic_fetch_add(&server->closings->count, 1);
	atomic_fetch_add(&server->closings->references, 1);
	ibsa__close_apart(fd, closing_end, server->closings);
}

bool ibsa__server_is_closing(const struct server *server)
{
	enum { CLOSINGS_MAX = 64 };

	return atomic_load(&server->closings->count) >= CLOSINGS_MAX;
}

void ibsa__server_alarm(struct server *server, uint64_t due_ns)
{
	struct itimerspec at = { 0 };

	if (due_ns >= server->alarm_ns)
		return;
	server->alarm_ns = due_ns;
	if (!due_ns)
		due_ns = 1;
	at.it_value = clock_timespec(due_ns);
	timerfd_settime(server->timer.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/*
 * Process what is due at the client's umad file, such as timeouts, and send the
 * packets in its queue.
 */
static void peer_settle(struct server_peer *peer)
{
	if (peer->file && !peer->is_gone)
		ibsa__peer_flush(peer);
}

static void peers_settle_all(struct server *server)
{
	const uint64_t now_ns = clock_now_ns();
	struct list *at = server->peers.next;

	while (at != &server->peers) {
		struct server_peer *peer = list_object(at, struct server_peer,
						       link);

		at = at->next;
		peer_settle(peer);
		ibsa__peer_release(peer, now_ns);
		ibsa__peer_check_deadlines(peer, now_ns);
	}
}

/*
 * The timer has expired. The timer does not tell which umad file is due, so all
 * files are processed. A MAD that was delayed may change a port.
 */
static void handle_timer(struct server_source *source, uint32_t events)
{
	struct server *server = source->server;
	uint64_t count;

	(void)events;
	if (read(source->fd, &count, sizeof(count)) != sizeof(count))
		return;
	server->alarm_ns = UINT64_MAX;
	server->is_changing = false;
	server->has_changed = true;
	ibsa__issms_tidy(server);
	ibsa__server_reenable(server);
}

/*
 * The program has woken the server, because it may have changed ports or
 * queued packets.
 */
static void handle_waker(struct server_source *source, uint32_t events)
{
	uint64_t count;

	(void)events;
	if (read(source->fd, &count, sizeof(count)) == sizeof(count))
		source->server->has_changed = true;
}

/* The rings of active clients are read in each round, after its events. */
static void handle_repeater(struct server_source *source, uint32_t events)
{
	(void)source;
	(void)events;
}

static void handle_input(struct server_source *source, uint32_t events)
{
	struct server *server = source->server;

	(void)events;
	server->had_input = true;
	server->options.ops->input(server->options.owner);
}

/* Return: the next client with packets to send, or NULL. */
static struct server_peer *next_ready(struct server *server)
{
	struct server_peer *peer = NULL;

	pthread_mutex_lock(server->options.lock);
	if (list_is_empty(&server->ready)) {
		server->is_serving = false;
		server->queues =
			server->options.ops->memory(server->options.owner);
	} else {
		peer = list_object(server->ready.next, struct server_peer,
				   ready);
		list_remove(&peer->ready);
	}
	pthread_mutex_unlock(server->options.lock);
	return peer;
}

static void flush_ready(struct server *server)
{
	struct server_peer *peer;

	while ((peer = next_ready(server)))
		peer_settle(peer);
}

static void free_gone(struct server *server)
{
	while (!list_is_empty(&server->gone))
		ibsa__peer_free(list_object(server->gone.next,
					    struct server_peer, link));
}

static void events_handle(const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++) {
		struct server_source *source = events[i].data.ptr;

		if (source->fd >= 0)
			source->handle(source, events[i].events);
	}
}

static void begin_serving(struct server *server)
{
	pthread_mutex_lock(server->options.lock);
	server->is_serving = true;
	pthread_mutex_unlock(server->options.lock);
}

/* After a change of ports: process all umad files, and send the new states. */
static void changes_publish(struct server *server)
{
	server->has_changed = false;
	peers_settle_all(server);
	ibsa__peers_send_events(server);
}

/* Wait for events and handle them. Return: 0 or -errno. */
static int round_serve(struct server *server, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	const int count = epoll_wait(server->epoll_fd, events, EVENTS_MAX,
				     timeout_ms);

	if (count < 0)
		return -errno;
	begin_serving(server);
	events_handle(events, count);
	ibsa__peers_serve_active(server);
	/*
	 * A change of a port is sent to a client before the packets that the
	 * client may receive because of the change.
	 */
	if (server->has_changed)
		ibsa__peers_send_events(server);
	flush_ready(server);
	if (server->has_changed)
		changes_publish(server);
	ibsa__server_limit_memory(server);
	free_gone(server);
	return 0;
}

bool ibsa__server_is_ours(const struct server *server)
{
	return server->process == ibsa__process();
}

/*
 * As long as clients are active, rounds follow each other without a wait, so
 * that clients and server need not wake each other.
 */
int ibsa__server_wait(struct server *server, int timeout_ms)
{
	int err;

	if (!ibsa__server_is_ours(server))
		return -EINVAL;
	server->had_input = false;
	err = round_serve(server, timeout_ms);
	for (int i = 1; !err && !list_is_empty(&server->active); i++) {
		if (i == ROUNDS_MAX || server->had_input)
			return ibsa__source_repeat(&server->repeater);
		err = round_serve(server, 0);
	}
	return err;
}

void ibsa__server_wake(struct server *server)
{
	if (ibsa__server_is_ours(server))
		fd_wake(server->waker.fd);
}

int ibsa__server_fd(const struct server *server)
{
	return ibsa__server_is_ours(server) ? server->epoll_fd : -1;
}

int ibsa__server_listener(const struct server *server)
{
	return server->listener.fd;
}

uint16_t ibsa__server_tcp_port(const struct server *server)
{
	return server->tcp_port;
}

struct server_stats ibsa__server_stats(const struct server *server)
{
	return server->stats;
}

void ibsa__server_changed(struct server *server)
{
	server->has_changed = true;
}

void ibsa__server_changes_soon(struct server *server)
{
	if (server->is_changing)
		return;
	server->is_changing = true;
	ibsa__server_alarm(server,
			   clock_now_ns() + SERVE_SETTLE_MS * NS_PER_MS);
}

/*
 * Close a server of the parent in a forked child: only the child's copies of
 * the descriptors. The epoll file, which both have, stays as it is.
 */
static void server_close_inherited(struct server *server)
{
	struct server_issm *issm;
	struct server_peer *peer;

	LIST_EACH(peer, &server->peers, link) {
		fd_close(&peer->control.fd);
		fd_close(&peer->data.fd);
		fd_close(&peer->bell.fd);
	}
	LIST_EACH(issm, &server->issms, link)
		fd_close(&issm->fd);
	fd_close(&server->listener.fd);
	fd_close(&server->tcp.fd);
	fd_close(&server->timer.fd);
	fd_close(&server->waker.fd);
	fd_close(&server->repeater.fd);
	fd_close(&server->opens.fd);
	fd_close(&server->epoll_fd);
	ibsa__inherit(&server->inherited);
}

/*
 * Close the listening socket, so that no client connects to a server that is
 * closing. A socket whose file stays is another program's, too, as that of
 * systemd: shutdown() would end it for the next server.
 */
static void listener_close(struct server *server)
{
	if (server->listener.fd < 0)
		return;
	ibsa__server_unlink(server);
	if (server->options.path_stays) {
		(void)!ibsa__server_watch(&server->listener, 0);
		fd_close(&server->listener.fd);
	}
	ibsa__source_close(&server->listener);
}

void ibsa__server_close(struct server *server)
{
	if (!server)
		return;
	if (!ibsa__server_is_ours(server)) {
		server_close_inherited(server);
		return;
	}
	listener_close(server);
	ibsa__source_close(&server->tcp);
	while (!list_is_empty(&server->peers))
		ibsa__peer_disconnect(list_object(server->peers.next,
						  struct server_peer, link),
				      NULL);
	free_gone(server);
	ibsa__issms_done(server);
	ibsa__source_close(&server->timer);
	ibsa__source_close(&server->waker);
	ibsa__source_close(&server->repeater);
	ibsa__source_close(&server->opens);
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	ibsa__map_done(&server->slots.used_by);
	ibsa__map_done(&server->reserved.used_by);
	ibsa__free(server->in_batch);
	closings_put(server->closings);
	ibsa__free(server);
}

static void source_init(struct server_source *source, struct server *server,
			void (*then)(struct server_source *, uint32_t))
{
	*source = (struct server_source){
		.handle = then,
		.server = server,
		.fd = -1,
	};
}

/*
 * Return: the number of connections that the limit of file descriptors allows.
 */
static uint32_t connections_limit(bool has_tcp)
{
	const rlim_t others = OTHER_FILES +
			      (has_tcp ? SERVER_STRANGER_FILES : 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return IBSA_DEFAULT_CONNECTIONS;
	if (limit.rlim_cur < others + CONNECTION_FILES)
		return 1;
	limit.rlim_cur = (limit.rlim_cur - others) / CONNECTION_FILES;
	return limit.rlim_cur < UINT32_MAX ? (uint32_t)limit.rlim_cur
					   : UINT32_MAX;
}

static void options_set_limits(struct server_options *options)
{
	const uint32_t most = connections_limit(options->tcp);

	if (!options->connections)
		options->connections = IBSA_DEFAULT_CONNECTIONS;
	if (options->connections > most)
		options->connections = most;
	if (!options->patience_ms)
		options->patience_ms = IBSA_DEFAULT_PATIENCE_MS;
	if (!options->memory_mb)
		options->memory_mb = IBSA_DEFAULT_MEMORY_MB;
}

static struct server *server_new(const struct server_options *options)
{
	struct server *server = ibsa__calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->in_batch = ibsa__calloc(2, SERVER_BATCH_BYTES);
	server->closings = ibsa__calloc(1, sizeof(*server->closings));
	if (!server->in_batch || !server->closings) {
		ibsa__free(server->in_batch);
		ibsa__free(server->closings);
		ibsa__free(server);
		return NULL;
	}
	atomic_init(&server->closings->references, 1);
	server->out_batch = server->in_batch + SERVER_BATCH_BYTES;
	source_init(&server->listener, server, NULL);
	source_init(&server->tcp, server, NULL);
	source_init(&server->timer, server, handle_timer);
	source_init(&server->waker, server, handle_waker);
	source_init(&server->repeater, server, handle_repeater);
	source_init(&server->input, server, handle_input);
	source_init(&server->opens, server, NULL);
	list_init(&server->peers);
	list_init(&server->strangers);
	list_init(&server->users);
	list_init(&server->gone);
	list_init(&server->issms);
	list_init(&server->ready);
	list_init(&server->active);
	server->process = ibsa__process();
	server->epoll_fd = -1;
	server->alarm_ns = UINT64_MAX;
	server->options = *options;
	options_set_limits(&server->options);
	return server;
}

static int open_fds(struct server *server)
{
	int err;

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->timer.fd = timerfd_create(CLOCK_MONOTONIC,
					  TFD_CLOEXEC | TFD_NONBLOCK);
	server->waker.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	server->repeater.fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->epoll_fd < 0 || server->timer.fd < 0 ||
	    server->waker.fd < 0 || server->repeater.fd < 0)
		return -errno;
	err = ibsa__server_watch(&server->timer, EPOLLIN);
	if (!err)
		err = ibsa__server_watch(&server->waker, EPOLLIN);
	if (!err)
		err = ibsa__source_repeat(&server->repeater);
	if (!err && server->options.input_fd) {
		server->input.fd = server->options.input_fd;
		err = ibsa__server_watch(&server->input, EPOLLIN);
	}
	return err;
}

static int socket_path_check(const char *path, const char *title,
			     struct ibsa_error *error)
{
	if (!path || !*path)
		return ibsa__fail(error, -EINVAL,
				  "cannot open a %s: it needs a path for its "
				  "socket",
				  title);
	if (strlen(path) >= SERVER_PATH_MAX)
		return ibsa__fail(error, -ENAMETOOLONG,
				  "cannot create a socket at %.40s...: the "
				  "path has more than %d bytes; choose a "
				  "shorter path",
				  path, SERVER_PATH_MAX - 1);
	return 0;
}

int ibsa__server_open(const char *path, const struct server_options *options,
		      struct ibsa_error *error, struct server **out)
{
	struct server *server;
	int err = socket_path_check(path, options->title, error);

	if (err)
		return err;
	server = server_new(options);
	if (!server)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	memcpy(server->path, path, strlen(path) + 1);
	err = open_fds(server);
	if (err)
		ibsa__fail(error, err,
			   "cannot open a %s: cannot create its epoll file, "
			   "timer or eventfd: %s",
			   options->title, ibsa__errno_text(-err).bytes);
	else
		err = ibsa__server_listen(server, error);
	if (!err)
		err = ibsa__server_listen_tcp(server, error);
	if (err) {
		ibsa__server_close(server);
		return err;
	}
	ibsa__issms_adopt(server);
	*out = server;
	return 0;
}
