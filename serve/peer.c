/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of a server: listens for them, sends events to them, and
 * disconnects them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/stat.h"
#include "serve/tcp.h"

enum {
	BACKLOG = 1024,
	/*
	 * Time between two checks of a deadline that has passed while data of
	 * the client are unread.
	 */
	LATE_RECHECK_MS = 100,
};

/* Whether a file exists at the path, and belongs to another user. */
static bool path_is_others(const char *path)
{
	large_stat found;

	return !ibsa__stat(path, O_NOFOLLOW, &found) &&
	       found.st_uid != geteuid();
}

static int server_listen_failed(const struct server *server, int err,
				struct ibsa_error *error)
{
	const char *path = server->path;

	if ((err == -EACCES || err == -EPERM) && path_is_others(path))
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: the file "
				  "there belongs to another user; choose "
				  "another path",
				  path);
	switch (err) {
	case -EADDRINUSE:
		return ibsa__fail(error, err,
				  "cannot listen at %s: a %s is "
				  "already running there; stop it or choose "
				  "another path",
				  path, server->options.title);
	case -EEXIST:
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: the path "
				  "exists and is not a socket; choose another "
				  "path",
				  path);
	case -ENOENT:
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: its "
				  "directory does not exist; create the "
				  "directory or choose another path",
				  path);
	case -ENOTDIR:
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: its parent "
				  "is not a directory; choose another path",
				  path);
	case -EOPNOTSUPP:
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: its file "
				  "system does not support sockets; choose a "
				  "path elsewhere, such as in /tmp",
				  path);
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return ibsa__fail(error, err,
				  "cannot create a socket at %s: its "
				  "directory is not writable; choose a path "
				  "in a directory that you may write to, such "
				  "as /tmp",
				  path);
	default:
		return ibsa__fail(
			error, err,
			"cannot create a socket at %s: %s; choose another path",
			path, ibsa__errno_text(-err).bytes);
	}
}

static struct sockaddr_un server_address(const struct server *server)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, server->path, sizeof(server->path));
	return address;
}

/*
 * Check what is at the socket's path. Return: 0 a socket or nothing; -EEXIST
 * something else.
 */
static int socket_path_check_kind(const char *path)
{
	large_stat found;
	int err = ibsa__stat(path, O_NOFOLLOW, &found);

	if (err)
		return err == -ENOENT ? 0 : err;
	return S_ISSOCK(found.st_mode) ? 0 : -EEXIST;
}

/*
 * Check that the path can be used. Return: 0 no server listens at it, so that
 * a socket there may be replaced; -EADDRINUSE a server listens; -EEXIST the
 * path is not a socket; or another error.
 */
static int socket_path_check_stale(const struct server *server)
{
	const struct sockaddr_un address = server_address(server);
	const int fd = socket(AF_UNIX,
			      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = socket_path_check_kind(server->path);
	/*
	 * connect() fails with EAGAIN if a server listens at the path and its
	 * backlog is full.
	 */
	if (!err &&
	    (!connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	     errno == EAGAIN))
		err = -EADDRINUSE;
	else if (!err && errno != ECONNREFUSED && errno != ENOENT)
		err = -errno;
	close(fd);
	return err;
}

/* bind() applies the umask to the mode of the socket; chmod() does not. */
enum {
	ANY_USER_MODE = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH |
			S_IWOTH
};

/*
 * Bind the socket to its path. Unless the options permit any user, only this
 * user and root may connect to it: fchmod() is called before bind(), so that the
 * socket's file never has another mode.
 */
static int socket_bind(struct server *server, int fd)
{
	const struct sockaddr_un address = server_address(server);
	large_stat made;
	int err;

	if (fchmod(fd, S_IRUSR | S_IWUSR))
		return -errno;
	/*
	 * The directory of the path exists, because the lock file was created
	 * in it or has_folder() found it: ENOENT means that its file system,
	 * such as proc, cannot hold new files.
	 */
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return errno == ENOENT ? -EOPNOTSUPP : -errno;
	err = ibsa__stat(server->path, O_NOFOLLOW, &made);
	if (!err && server->options.any_user &&
	    chmod(server->path, ANY_USER_MODE))
		err = -errno;
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

/*
 * Remove the socket's name, unless another server has replaced the socket.
 * While our socket is open, no other socket has its inode number.
 */
void ibsa__server_unlink(const struct server *server)
{
	large_stat found;

	if (!ibsa__stat(server->path, O_NOFOLLOW, &found) &&
	    found.st_dev == server->device && found.st_ino == server->inode)
		unlink(server->path);
}

static int socket_make(struct server *server)
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

static const char *peer_device_name(const struct server_peer *peer)
{
	const struct server *server = peer->control.server;

	if (!peer->is_greeted)
		return "";
	return server->options.ops->name(server->options.owner,
					 peer->port.device);
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
	struct server *server = peer->control.server;

	if (peer->is_gone)
		return;
	/* Any program can be a stranger: few notes are about strangers. */
	if (why && peer_is_stranger(peer)) {
		ibsa__stranger_refuse(peer);
		return;
	}
	if (why) {
		server->stats.disconnected++;
		ibsa__server_note(server, "disconnected a client%s%s: %s",
				  peer->is_greeted ? " at " : "",
				  peer_device_name(peer), why);
	}
	peer->is_gone = true;
	list_remove(&peer->active);
	ibsa__peer_detach(peer);
	ibsa__peer_issm_clear(peer);
	ibsa__source_close(&peer->control);
	list_remove(&peer->link);
	ibsa__peer_count_memory(peer);
	list_append(&server->gone, &peer->link);
	ibsa__peer_leave(peer);
	ibsa__issms_tidy(server);
	ibsa__server_reenable(server);
}

void ibsa__source_set_deadline(struct server_source *source, bool is_begun)
{
	struct server *server = source->server;

	if (!is_begun) {
		source->deadline_ns = UINT64_MAX;
	} else if (source->deadline_ns == UINT64_MAX) {
		source->deadline_ns = clock_now_ns() +
				      server->options.patience_ms * NS_PER_MS;
		ibsa__server_alarm(server, source->deadline_ns);
	}
}

/* Whether bytes of a frame, or of a packet, have arrived that were not read. */
static bool has_arrived(const struct server_peer *peer,
			const struct server_source *source)
{
	char byte;

	if (source == &peer->data)
		return ibsa__peer_bytes_arrived(peer);
	return recv(source->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/*
 * Whether the deadline of a client's frame or packet has passed. If data have
 * arrived that the server has not read, the client has twice the time.
 */
static bool source_is_late(const struct server_peer *peer,
			   const struct server_source *source, uint64_t now_ns)
{
	const struct server *server = source->server;
	uint64_t due_ns = source->deadline_ns;

	if (due_ns == UINT64_MAX)
		return false;
	if (due_ns <= now_ns) {
		if (!has_arrived(peer, source) ||
		    now_ns - due_ns >= server->options.patience_ms * NS_PER_MS)
			return true;
		due_ns = now_ns + LATE_RECHECK_MS * NS_PER_MS;
	}
	ibsa__server_alarm(source->server, due_ns);
	return false;
}

/* A client that has closed its connection need not complete anything. */
static void late_disconnect(struct server_peer *peer, const char *why)
{
	ibsa__peer_disconnect(peer, peer->has_ended ? NULL : why);
}

void ibsa__peer_check_deadlines(struct server_peer *peer, uint64_t now_ns)
{
	if (peer->is_gone)
		return;
	/* The client may have written to its ring without waking the server. */
	if (peer->data.deadline_ns <= now_ns && ibsa__peer_has_packets(peer))
		ibsa__peer_activate(peer);
	if (source_is_late(peer, &peer->control, now_ns))
		late_disconnect(peer,
				peer->is_greeted
					? "it did not complete its request in "
					  "time"
					: "it did not send its hello in time");
	else if (source_is_late(peer, &peer->data, now_ns))
		late_disconnect(peer,
				peer->has_ticket
					? "it did not connect its data socket "
					  "in time"
					: "it did not complete its packet in "
					  "time");
}

/* Take the socket that the options have, and its file unless it stays. */
static int listener_take(struct server *server)
{
	large_stat found;

	server->listener.fd = server->options.listener;
	if (!server->options.path_stays &&
	    !ibsa__stat(server->path, O_NOFOLLOW, &found)) {
		server->device = found.st_dev;
		server->inode = found.st_ino;
	}
	return 0;
}

static int listener_open(struct server *server, struct ibsa_error *error)
{
	int lock;
	int err;

	if (server->options.listener)
		return listener_take(server);
	lock = ibsa__server_lock(server->path, error);
	if (lock == -EBUSY || lock == -EEXIST)
		return lock;
	err = lock < 0 ? lock : socket_make(server);
	if (lock >= 0)
		ibsa__server_unlock(server->path, lock);
	return err ? server_listen_failed(server, err, error) : 0;
}

int ibsa__server_listen(struct server *server, struct ibsa_error *error)
{
	int err = listener_open(server, error);

	if (err)
		return err;
	server->listener.handle = ibsa__server_accept;
	err = ibsa__server_watch(&server->listener, EPOLLIN);
	return err ? ibsa__fail(error, err, "cannot wait for clients at %s: %s",
				server->path, ibsa__errno_text(-err).bytes)
		   : 0;
}

static void peer_send_event(struct server_peer *peer)
{
	/*
	 * The frame is made in in_batch, since out_batch may hold the answer
	 * to the command that caused the event.
	 */
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
				       "it does not read its events");
}

void ibsa__peers_send_events(struct server *server)
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
