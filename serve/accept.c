/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accepts the clients of a server, and refuses those above its limits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "serve/tcp.h"

enum {
	ACCEPTS_MAX = 64, /* in one round */
	/*
	 * Over TCP, less: to accept and to end a connection takes the kernel
	 * some ten microseconds, for which all clients wait.
	 */
	TCP_ACCEPTS_MAX = 16,
	/*
	 * Time until accept4() is called again after it has failed because no
	 * descriptor was free.
	 */
	ACCEPT_RETRY_MS = 100,
	/*
	 * Number of slots above the limit of connections that only connections
	 * for commands may use.
	 */
	RESERVED = 16,
	/*
	 * One process gets at most a quarter of the slots (SHARE), but at least
	 * SHARE_MIN. All clients over TCP get at most three quarters.
	 */
	SHARE = 4,
	SHARE_MIN = 8,
	RESERVED_SHARE = RESERVED / SHARE,
	/* Minimum time between two notes about refused clients in the log. */
	NOTE_MS = 1000,
};

void ibsa__server_reenable(struct server *server)
{
	/*
	 * If epoll_ctl() fails here, the next disconnection or the timer calls
	 * this function again.
	 */
	if (server->is_accept_paused && server->listener.fd >= 0)
		(void)!ibsa__server_watch(&server->listener, EPOLLIN);
	if (server->is_accept_paused && server->tcp.fd >= 0)
		(void)!ibsa__server_watch(&server->tcp, EPOLLIN);
}

/* Return: the process at the other end of a connection. */
static struct ucred peer_process(int fd)
{
	const struct ucred no_process = { .uid = (uid_t)-1 };
	struct ucred process;
	socklen_t len = sizeof(process);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &process, &len)
		       ? no_process
		       : process;
}

static bool process_is_allowed(const struct server *server,
			       const struct ucred *process)
{
	return server->options.any_user || process->uid == geteuid() ||
	       process->uid == 0;
}

/*
 * Take a slot for a connection of process @pid. Process id 0 stands for all
 * processes in other PID namespaces, which are not limited one by one. Return:
 * false: @max slots are in use, or this process uses @share slots, or memory is
 * short.
 */
static bool slot_take(struct server_slots *slots, pid_t pid, uint32_t max,
		      uint32_t share)
{
	const uint32_t found = pid ? map_find(&slots->used_by, (uint64_t)pid)
				   : MAP_NONE;
	const uint32_t used = found == MAP_NONE ? 0 : found;

	if (slots->used >= max || used >= share ||
	    (pid && ibsa__map_put(&slots->used_by, (uint64_t)pid, used + 1)))
		return false;
	slots->used++;
	return true;
}

static void slot_give(struct server_slots *slots, pid_t pid)
{
	const uint32_t used = pid ? map_find(&slots->used_by, (uint64_t)pid)
				  : 0;

	slots->used--;
	ibsa__map_remove(&slots->used_by, (uint64_t)pid);
	/* This cannot fail, because removing the key has made room. */
	if (used > 1)
		(void)!ibsa__map_put(&slots->used_by, (uint64_t)pid, used - 1);
}

static struct server_slots *slots_of(struct server *server, bool is_reserved)
{
	return is_reserved ? &server->reserved : &server->slots;
}

static bool server_slot_take(struct server *server, pid_t pid,
			     bool *out_is_reserved)
{
	const uint32_t max = server->options.connections;
	const uint32_t share = pid == SERVER_TCP_PID ? max - max / SHARE
						     : max / SHARE;

	*out_is_reserved = !slot_take(&server->slots, pid, max,
				      share < SHARE_MIN ? SHARE_MIN : share);
	return !*out_is_reserved ||
	       slot_take(&server->reserved, pid, RESERVED, RESERVED_SHARE);
}

void ibsa__peer_leave(struct server_peer *peer)
{
	struct server *server = peer->control.server;

	if (peer_is_stranger(peer)) {
		ibsa__stranger_remove(peer);
	} else {
		slot_give(slots_of(server, peer->is_reserved), peer->pid);
		server->stats.clients--;
	}
	ibsa__user_leave(peer->user);
}

static void peer_count(struct server *server)
{
	server->stats.accepted++;
	server->stats.clients++;
}

static int peer_accept(struct server *server, int fd, pid_t pid,
		       struct serve_user *user, struct server_peer **out)
{
	struct server_peer *peer = ibsa__calloc(1, sizeof(*peer));

	if (!peer)
		return -ENOMEM;
	peer->control = (struct server_source){
		.handle = ibsa__peer_receive,
		.server = server,
		.fd = fd,
	};
	peer->data = (struct server_source){ .server = server, .fd = -1 };
	peer->bell = peer->data;
	peer->pid = pid;
	peer->user = user;
	peer->control.deadline_ns = UINT64_MAX;
	peer->data.deadline_ns = UINT64_MAX;
	list_init(&peer->ready);
	list_init(&peer->active);
	list_init(&peer->stranger);
	if (ibsa__server_watch(&peer->control, EPOLLIN)) {
		ibsa__free(peer);
		return -ENOMEM;
	}
	list_append(&server->peers, &peer->link);
	ibsa__source_set_deadline(&peer->control, true);
	*out = peer;
	return 0;
}

/*
 * Stop accepting clients, because no descriptor or memory is left for another
 * one. Clients wait in the listen backlog. The server accepts again when a
 * client disconnects, or after ACCEPT_RETRY_MS: another part of this process
 * may have used the descriptors.
 */
static void listener_pause(struct server *server)
{
	if (!server->is_accept_paused)
		ibsa__server_note(server, "new clients must wait: the process "
					  "is out of file descriptors or "
					  "memory");
	server->is_accept_paused = true;
	(void)!ibsa__server_watch(&server->listener, 0);
	if (server->tcp.fd >= 0)
		(void)!ibsa__server_watch(&server->tcp, 0);
	ibsa__server_alarm(server,
			   clock_now_ns() + ACCEPT_RETRY_MS * NS_PER_MS);
}

/*
 * accept4() has failed: either no client is waiting, or there is no descriptor
 * or memory for the next one.
 */
static void accept_failed(struct server *server, int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM)
		listener_pause(server);
	else
		server->is_accept_paused = false;
}

/*
 * The reason for refusing a client: text for the client, in which %s stands for
 * the server's title, and text for the server's log.
 */
struct refusal {
	int err;
	const char *text;
	const char *note;
};

static const struct refusal another_users = {
	-EACCES, "permission denied: the %s belongs to another user",
	"its process belongs to another user"
};
static const struct refusal too_many = {
	-EUSERS, "the %s has reached its limit of connections",
	"the limit of connections is reached"
};
static const struct refusal too_large_share = {
	-EUSERS, "this process has reached its limit of connections",
	"its process has reached its limit of connections"
};
static const struct refusal too_many_of_user = {
	-EUSERS, "this user has reached its limit of connections to the %s",
	"its user has reached its limit of connections"
};
static const struct refusal too_many_over_tcp = {
	-EUSERS, "the %s has reached its limit of connections over TCP",
	"the limit of connections over TCP is reached"
};
static const struct refusal no_token = {
	-EUSERS, "", "it has sent no valid token over TCP"
};
static const struct refusal no_memory = { -ENOMEM, "the %s is out of memory",
					  "out of memory" };

static void refusal_note(struct server *server, const struct refusal *why)
{
	struct refusals *refusals = &server->refusals;
	const uint64_t now_ns = clock_now_ns();

	server->stats.disconnected++;
	refusals->count++;
	if (refusals->note_ns &&
	    now_ns - refusals->note_ns < NOTE_MS * NS_PER_MS)
		return;
	if (refusals->count == 1)
		ibsa__server_note(server, "refused a client: %s", why->note);
	else
		ibsa__server_note(server,
				  "refused %" PRIu64 " clients; the last one: "
				  "%s",
				  refusals->count, why->note);
	*refusals = (struct refusals){ .note_ns = now_ns };
}

/*
 * Refuse a client: send the answer to its hello before the hello arrives. If
 * the send fails, the client receives end of file.
 */
static void connection_refuse(struct server *server, int fd,
			      const struct refusal *why)
{
	struct {
		struct remote_head head;
		char text[128];
	} answer = {
		.head = { .type = REMOTE_HELLO, .err = why->err },
	};

	snprintf(answer.text, sizeof(answer.text), why->text,
		 server->options.title);
	answer.head.length = (uint32_t)strlen(answer.text);
	refusal_note(server, why);
	(void)!send(fd, &answer, sizeof(answer.head) + answer.head.length,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	ibsa__server_fd_close(server, fd);
}

static const struct refusal *limit_reached(const struct server *at, pid_t pid)
{
	if (pid == SERVER_TCP_PID)
		return &too_many_over_tcp;
	return at->slots.used < at->options.connections ? &too_large_share
							: &too_many;
}

int ibsa__peer_check_slot(const struct server_peer *peer, bool is_command,
			  struct ibsa_error *error)
{
	const struct refusal *why = limit_reached(peer->control.server,
						  peer->pid);

	if (!peer->is_reserved || is_command)
		return 0;
	return ibsa__fail(error, why->err, why->text,
			  peer->control.server->options.title);
}

void ibsa__peer_refuse(struct server_peer *peer)
{
	refusal_note(peer->control.server,
		     limit_reached(peer->control.server, peer->pid));
	ibsa__peer_disconnect(peer, NULL);
}

void ibsa__stranger_refuse(struct server_peer *peer)
{
	refusal_note(peer->control.server, &no_token);
	ibsa__peer_disconnect(peer, NULL);
}

int ibsa__stranger_take_slot(struct server_peer *peer, struct ibsa_error *error)
{
	struct server *server = peer->control.server;

	if (!server_slot_take(server, peer->pid, &peer->is_reserved))
		return ibsa__fail(error, too_many_over_tcp.err,
				  too_many_over_tcp.text,
				  server->options.title);
	ibsa__stranger_remove(peer);
	peer_count(server);
	return 0;
}

/* Accept a client of @user. Return: NULL; or why it is refused. */
static const struct refusal *user_accept(struct server *server, int fd,
					 pid_t pid, struct serve_user *user)
{
	struct server_peer *peer;
	bool is_reserved;

	if (!server_slot_take(server, pid, &is_reserved))
		return limit_reached(server, pid);
	if (peer_accept(server, fd, pid, user, &peer)) {
		slot_give(slots_of(server, is_reserved), pid);
		return &no_memory;
	}
	peer_count(server);
	peer->is_reserved = is_reserved;
	/*
	 * A connection for commands keeps its slot; any other connection
	 * returns it before the next client is accepted.
	 */
	if (is_reserved)
		ibsa__peer_receive(&peer->control, EPOLLIN);
	return NULL;
}

/* Accept a connection over TCP, whose user is not known. */
static void stranger_accept(struct server *server, int fd)
{
	struct server_peer *peer;
	bool is_short;
	struct serve_user *user = ibsa__user_enter(server, (uid_t)-1,
						   &is_short);

	ibsa__tcp_socket_set(fd);
	if (!user) {
		connection_refuse(server, fd,
				  is_short ? &no_memory : &too_many_of_user);
		return;
	}
	if (peer_accept(server, fd, SERVER_TCP_PID, user, &peer)) {
		ibsa__user_leave(user);
		connection_refuse(server, fd, &no_memory);
		return;
	}
	peer->is_tcp = true;
	ibsa__stranger_add(peer);
	/* Its hello has probably arrived, and makes room for other strangers. */
	ibsa__peer_receive(&peer->control, EPOLLIN);
}

static void connection_accept(struct server *server, int fd)
{
	const struct ucred process = peer_process(fd);
	const struct refusal *why = &another_users;
	struct serve_user *user = NULL;
	bool is_short;

	if (process_is_allowed(server, &process)) {
		user = ibsa__user_enter(server, process.uid, &is_short);
		why = is_short ? &no_memory : &too_many_of_user;
	}
	if (user) {
		why = user_accept(server, fd, process.pid, user);
		if (why)
			ibsa__user_leave(user);
	}
	if (why)
		connection_refuse(server, fd, why);
}

void ibsa__server_accept(struct server_source *source, uint32_t events)
{
	struct server *server = source->server;
	const bool is_tcp = source == &server->tcp;
	const int most = is_tcp ? TCP_ACCEPTS_MAX : ACCEPTS_MAX;

	(void)events;
	/*
	 * The number of clients accepted at a time is limited, so that many
	 * new clients do not delay the connected ones.
	 */
	for (int i = 0; i < most; i++) {
		int fd;

		if (ibsa__server_is_closing(server)) {
			listener_pause(server);
			return;
		}
		if (is_tcp && !ibsa__strangers_have_room(server))
			return;
		fd = accept4(source->fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			accept_failed(server, errno);
			return;
		}
		if (is_tcp)
			stranger_accept(server, fd);
		else
			connection_accept(server, fd);
	}
}
