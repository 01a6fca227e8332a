/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients of a fabric server: let in, told of changes, sent away. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/stat.h"
#include "sim/server/server.h"

enum {
	BACKLOG = 1024,
	ACCEPTS_MAX = 64, /* of a round */
	LATE_RECHECK_MS =
		100, /* before a client that is late is looked at again */
	ACCEPT_RETRY_MS = 100, /* before descriptors are looked for again */
};

static int server_listen_failed(const char *path, int err,
				struct ibsa_error *error)
{
	char reason[64];

	switch (err) {
	case -EADDRINUSE:
		return ibsa__fail(error, err,
				  "a fabric server is running at %s: end it, "
				  "or name another socket",
				  path);
	case -EEXIST:
		return ibsa__fail(error, err,
				  "%s is something else than a socket, and "
				  "stays: name another path",
				  path);
	case -ENOENT:
		return ibsa__fail(error, err,
				  "no socket can be made at %s: its folder is "
				  "not there; make that, or name another path",
				  path);
	case -ENOTDIR:
		return ibsa__fail(error, err,
				  "no socket can be made at %s: what should be "
				  "its folder is none; name another path",
				  path);
	case -EOPNOTSUPP:
		return ibsa__fail(error, err,
				  "no socket can be made at %s: the file "
				  "system there has none; name a path "
				  "elsewhere, such as in /tmp",
				  path);
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return ibsa__fail(error, err,
				  "not permitted to make a socket at %s: name "
				  "a path in a folder that you may write to, "
				  "such as /tmp",
				  path);
	default:
		return ibsa__fail(
			error, err,
			"no socket can be made at %s: %s; name "
			"another path",
			path, ibsa__errno_text(-err, reason, sizeof(reason)));
	}
}

static struct sockaddr_un
server_address(const struct ibsa_fabric_server *server)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, server->path, sizeof(server->path));
	return address;
}

/* 0: a socket is there, or nothing; -EEXIST something else. */
static int socket_path_check_kind(const char *path)
{
	large_stat found;
	int err = ibsa__stat(path, O_NOFOLLOW, &found);

	if (err)
		return err == -ENOENT ? 0 : err;
	return S_ISSOCK(found.st_mode) ? 0 : -EEXIST;
}

/* 0: nobody listens at the socket that is there; else why it stays. */
static int socket_path_check_stale(const struct ibsa_fabric_server *server)
{
	const struct sockaddr_un address = server_address(server);
	const int fd = socket(AF_UNIX,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = socket_path_check_kind(server->path);
	/* EAGAIN: so many wait to be let in that there is no room for more. */
	if (!err &&
	    (!connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	     errno == EAGAIN))
		err = -EADDRINUSE;
	else if (!err && errno != ECONNREFUSED && errno != ENOENT)
		err = -errno;
	close(fd);
	return err;
}

/* Only the owner may connect: the mode is the socket's before it has a name. */
static int socket_bind(struct ibsa_fabric_server *server, int fd)
{
	const struct sockaddr_un address = server_address(server);
	large_stat made;
	int err;

	if (fchmod(fd, S_IRUSR | S_IWUSR))
		return -errno;
	/* The folder is there: /proc and its like have no room for files. */
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	err = ibsa__stat(server->path, O_NOFOLLOW, &made);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err) {
		unlink(server->path);
		return err;
	}
	server->device = made.st_dev;
	server->inode = made.st_ino;
	server->listener.fd = fd;
	return 0;
}

/* What is there may be another's; while ours is open, its number is not. */
void ibsa__server_unlink(const struct ibsa_fabric_server *server)
{
	large_stat found;

	if (!ibsa__stat(server->path, O_NOFOLLOW, &found) &&
	    found.st_dev == server->device && found.st_ino == server->inode)
		unlink(server->path);
}

static int socket_make(struct ibsa_fabric_server *server)
{
	const int fd = socket(AF_UNIX,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = socket_path_check_stale(server);
	if (!err && unlink(server->path) && errno != ENOENT)
		err = -errno;
	if (!err)
		err = socket_bind(server, fd);
	if (err)
		close(fd);
	return err;
}

void ibsa__peer_free(struct server_peer *peer)
{
	list_remove(&peer->link);
	ibsa__bytes_free(&peer->request_bytes);
	ibsa__bytes_free(&peer->sent_state);
	ibsa__free(peer);
}

void ibsa__server_reenable(struct ibsa_fabric_server *server)
{
	/* Should it fail, the next client that goes, or the timer, tries. */
	if (server->is_accept_paused && server->listener.fd >= 0)
		(void)!ibsa__server_watch(&server->listener, EPOLLIN);
}

static const char *peer_node_name(const struct server_peer *peer)
{
	const struct topology *topo =
		&peer->control.server->fabric->subnet.topo;

	return peer->is_greeted ? topo->nodes[peer->node].name : "";
}

void ibsa__peer_send_failed(struct server_peer *peer, ssize_t sent,
			    const char *why)
{
	const bool has_ended = sent < 0 &&
			       (errno == EPIPE || errno == ECONNRESET);

	ibsa__peer_disconnect(peer, has_ended ? NULL : why);
}

void ibsa__peer_disconnect(struct server_peer *peer, const char *why)
{
	struct ibsa_fabric_server *server = peer->control.server;

	if (peer->is_gone)
		return;
	if (why) {
		server->stats.disconnected++;
		ibsa__server_note(server, "a client%s%s is sent away: %s",
				  peer->is_greeted ? " at " : "",
				  peer_node_name(peer), why);
	}
	peer->is_gone = true;
	ibsa__peer_detach(peer);
	ibsa__source_close(&peer->control);
	list_remove(&peer->link);
	list_append(&server->gone, &peer->link);
	server->stats.clients--;
	ibsa__server_reenable(server);
}

void ibsa__source_set_deadline(struct server_source *source, bool is_begun)
{
	struct ibsa_fabric_server *server = source->server;

	if (!is_begun) {
		source->deadline_ns = UINT64_MAX;
	} else if (source->deadline_ns == UINT64_MAX) {
		source->deadline_ns = clock_now_ns() +
				      server->options.patience_ms * NS_PER_MS;
		ibsa__server_alarm(server, source->deadline_ns);
	}
}

/* Whether its time is over; what has come and was not read is not its fault. */
static bool source_is_late(const struct server_source *source, uint64_t now_ns)
{
	uint64_t due_ns = source->deadline_ns;
	char byte;

	if (due_ns == UINT64_MAX)
		return false;
	if (due_ns <= now_ns) {
		if (recv(source->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0)
			return true;
		due_ns = now_ns + LATE_RECHECK_MS * NS_PER_MS;
	}
	ibsa__server_alarm(source->server, due_ns);
	return false;
}

void ibsa__peer_check_deadlines(struct server_peer *peer, uint64_t now_ns)
{
	if (peer->is_gone)
		return;
	if (source_is_late(&peer->control, now_ns))
		ibsa__peer_disconnect(peer, peer->is_greeted
						    ? "half a question is all "
						      "that comes"
						    : "it does not say hello");
	else if (source_is_late(&peer->data, now_ns))
		ibsa__peer_disconnect(peer, "half a packet is all that comes");
}

/* The process at the other end of a connection. */
static struct ucred peer_process(int fd)
{
	const struct ucred no_process = { .uid = (uid_t)-1 };
	struct ucred process;
	socklen_t len = sizeof(process);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &process, &len)
		       ? no_process
		       : process;
}

static bool process_is_allowed(const struct ucred *process)
{
	return process->uid == geteuid() || process->uid == 0;
}

static int peer_accept(struct ibsa_fabric_server *server, int fd, pid_t pid)
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
	peer->pid = pid;
	peer->control.deadline_ns = UINT64_MAX;
	peer->data.deadline_ns = UINT64_MAX;
	list_init(&peer->ready);
	if (ibsa__server_watch(&peer->control, EPOLLIN)) {
		ibsa__free(peer);
		return -ENOMEM;
	}
	list_append(&server->peers, &peer->link);
	ibsa__source_set_deadline(&peer->control, true);
	server->stats.accepted++;
	server->stats.clients++;
	return 0;
}

/*
 * Those who cannot be let in for want of descriptors stay in line, and nobody
 * listens to the line until a client has gone, or for a while: others in this
 * process may have had them.
 */
static void listener_pause(struct ibsa_fabric_server *server)
{
	if (!server->is_accept_paused)
		ibsa__server_note(server, "clients have to wait: there are no "
					  "descriptors for more");
	server->is_accept_paused = true;
	(void)!ibsa__server_watch(&server->listener, 0);
	ibsa__server_alarm(server,
			   clock_now_ns() + ACCEPT_RETRY_MS * NS_PER_MS);
}

/* Nobody is in line any more, or nobody can be let in. */
static void accept_failed(struct ibsa_fabric_server *server, int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM)
		listener_pause(server);
	else
		server->is_accept_paused = false;
}

/* Why somebody is not let in: what it is told, and what the program is. */
struct refusal {
	int err;
	char text[64];
	char note[48];
};

static const struct refusal another_users = {
	-EACCES, "not permitted: the fabric server is another user's",
	"it is another user's"
};
static const struct refusal too_many = {
	-EUSERS, "the fabric server has all the connections that it takes",
	"there are as many as may be"
};
static const struct refusal no_memory = { -ENOMEM,
					  "the fabric server is out of memory",
					  "memory is short" };

/* Said before it asks; if it cannot be said, it sees the end. */
static void connection_refuse(struct ibsa_fabric_server *server, int fd,
			      const struct refusal *why)
{
	struct {
		struct remote_head head;
		char text[sizeof(why->text)];
	} answer = {
		.head = {
			.type = REMOTE_HELLO,
			.err = why->err,
			.length = (uint32_t)strlen(why->text),
		},
	};

	memcpy(answer.text, why->text, sizeof(answer.text));
	server->stats.disconnected++;
	ibsa__server_note(server, "a client is not let in: %s", why->note);
	(void)!send(fd, &answer, sizeof(answer.head) + answer.head.length,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void connection_accept(struct ibsa_fabric_server *server, int fd)
{
	const struct ucred process = peer_process(fd);

	if (!process_is_allowed(&process))
		connection_refuse(server, fd, &another_users);
	else if (server->stats.clients >= server->options.connections)
		connection_refuse(server, fd, &too_many);
	else if (peer_accept(server, fd, process.pid))
		connection_refuse(server, fd, &no_memory);
}

static void handle_listener(struct server_source *source, uint32_t events)
{
	struct ibsa_fabric_server *server = source->server;

	(void)events;
	/* Those who come without end do not keep it from the others. */
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		const int fd = accept4(source->fd, NULL, NULL,
				       SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			accept_failed(server, errno);
			return;
		}
		connection_accept(server, fd);
	}
}

int ibsa__server_listen(struct ibsa_fabric_server *server,
			struct ibsa_error *error)
{
	const int lock = ibsa__server_lock(server->path, error);
	int err;

	if (lock == -EBUSY || lock == -EEXIST)
		return lock;
	err = lock < 0 ? lock : socket_make(server);
	if (lock >= 0)
		ibsa__server_unlock(server->path, lock);
	if (err)
		return server_listen_failed(server->path, err, error);
	server->listener.handle = handle_listener;
	err = ibsa__server_watch(&server->listener, EPOLLIN);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

static void peer_send_event(struct server_peer *peer)
{
	/* Not @goes: it holds the answer to a command. */
	uint8_t *frame = peer->control.server->in_batch;
	struct remote_head head = { .type = REMOTE_EVENT };
	uint8_t *state = frame + sizeof(head);
	const size_t len = ibsa__peer_state(peer, state);
	ssize_t sent;

	if (len == peer->sent_state.count &&
	    !memcmp(state, peer->sent_state.at, len))
		return;
	ibsa__peer_state_sent(peer, state, len);
	head.length = (uint32_t)len;
	memcpy(frame, &head, sizeof(head));
	sent = send(peer->control.fd, frame, sizeof(head) + len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent != (ssize_t)(sizeof(head) + len))
		ibsa__peer_send_failed(peer, sent,
				       "it does not read what it asked for");
}

void ibsa__peers_send_events(struct ibsa_fabric_server *server)
{
	struct list *at = server->peers.next;

	while (at != &server->peers) {
		struct server_peer *peer = list_object(at, struct server_peer,
						       link);

		at = at->next;
		if (peer->is_watching)
			peer_send_event(peer);
	}
}
