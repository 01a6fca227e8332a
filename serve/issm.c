/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports that run an SM. On a real machine, a port's IsSM bit is set while a
 * program holds /dev/infiniband/issmN open. The server offers one FIFO a port,
 * in a directory beside its socket, and holds the write end. poll() reports
 * POLLERR on the write end while no process holds the read end, and inotify
 * reports each open and close. The bit is therefore cleared when the program
 * exits, however it exits.
 *
 * Source: fifo(7), inotify(7); Linux Documentation/infiniband/user_mad.rst.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/large.h"
#include "base/stat.h"
#include "serve/server.h"

#define FOLDER_SUFFIX ".issm"

/*
 * Maximum number of FIFOs. The descriptors of the FIFOs are a part of
 * OTHER_FILES, which the limit of connections leaves free.
 */
enum { ISSMS_MAX = 32 };

struct folder {
	char path[SERVER_PATH_MAX + sizeof(FOLDER_SUFFIX)];
};

struct fifo {
	char path[sizeof(struct folder) + 32];
};

static const struct serve_ops *server_ops(const struct server *server)
{
	return server->options.ops;
}

static struct folder issm_folder(const struct server *server)
{
	struct folder folder;

	snprintf(folder.path, sizeof(folder.path), "%s%s", server->path,
		 FOLDER_SUFFIX);
	return folder;
}

static struct fifo issm_fifo(const struct server *server, const char *name)
{
	const struct folder folder = issm_folder(server);
	struct fifo fifo;

	snprintf(fifo.path, sizeof(fifo.path), "%s/%.30s", folder.path, name);
	return fifo;
}

/* Whether a process holds the read end of a FIFO open. */
static bool fifo_is_read(int fd)
{
	struct pollfd fifo = { .fd = fd };

	return poll(&fifo, 1, 0) >= 0 && !(fifo.revents & POLLERR);
}

static void issm_update(struct server *server, struct server_issm *issm)
{
	const bool is_on = fifo_is_read(issm->fd);

	if (is_on == issm->is_on)
		return;
	pthread_mutex_lock(server->options.lock);
	/*
	 * Setting IsSM fails while another program's SM runs at the port.
	 * is_on stays false, and the next inotify event tries again.
	 */
	if (!server_ops(server)->file->set_issm(issm->file, is_on))
		issm->is_on = is_on;
	pthread_mutex_unlock(server->options.lock);
}

static void issms_update(struct server *server)
{
	const struct list *at = server->issms.next;

	for (; at != &server->issms; at = at->next)
		issm_update(server, list_object(at, struct server_issm, link));
	server->has_changed = true;
}

/*
 * A program has opened or closed a FIFO. All FIFOs are polled, so it does not
 * matter to which of them the events belong.
 */
static void handle_opens(struct server_source *source, uint32_t events)
{
	struct server *server = source->server;
	char events_read[4096];

	(void)events;
	while (read(source->fd, events_read, sizeof(events_read)) > 0)
		;
	issms_update(server);
	ibsa__issms_tidy(server);
}

static bool folder_is_private(const large_stat *folder)
{
	return folder->st_uid == geteuid() &&
	       !(folder->st_mode & (S_IRWXG | S_IRWXO));
}

/*
 * Check that the directory of the FIFOs is private to this user, and not a
 * symbolic link.
 */
static int folder_check(const char *path)
{
	large_stat found;
	const int err = ibsa__stat(path, O_NOFOLLOW | O_DIRECTORY, &found);

	if (err)
		return err == -ENOTDIR || err == -ELOOP ? -EEXIST : err;
	return folder_is_private(&found) ? 0 : -EEXIST;
}

static int folder_make(struct server *server)
{
	const struct folder folder = issm_folder(server);
	int err;

	if (server->opens.fd >= 0)
		return 0;
	if (mkdir(folder.path, S_IRWXU) && errno != EEXIST)
		return -errno;
	err = folder_check(folder.path);
	if (err)
		return err;
	server->opens.handle = handle_opens;
	server->opens.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (server->opens.fd < 0)
		return -errno;
	if (inotify_add_watch(server->opens.fd, folder.path,
			      IN_OPEN | IN_CLOSE | IN_ONLYDIR) < 0)
		err = -errno;
	else
		err = ibsa__server_watch(&server->opens, EPOLLIN);
	if (err)
		ibsa__source_close(&server->opens);
	return err;
}

/*
 * Open the write end of a FIFO of which a process holds the read end open, such
 * as an SM that runs since before this server was started. Return: the
 * descriptor; -ENXIO no process holds the FIFO open; or another -errno.
 */
static int fifo_adopt(const char *path)
{
	large_stat info;
	const int fd = open(path,
			    O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (!large_fstat(fd, &info) && S_ISFIFO(info.st_mode))
		return fd;
	close(fd);
	return -ENXIO;
}

/*
 * Create a FIFO and open its write end. Opening the write end without blocking
 * succeeds only while a process holds the read end open, so the read end is
 * opened for a moment.
 */
static int fifo_open(const char *path)
{
	int reader;
	int fd = fifo_adopt(path);

	if (fd >= 0)
		return fd;
	if (unlink(path) && errno != ENOENT)
		return -errno;
	if (mkfifo(path, S_IRUSR | S_IWUSR))
		return -errno;
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		unlink(path);
	}
	if (reader >= 0)
		close(reader);
	return fd;
}

/*
 * Close the FIFO. Delete it, except in two cases: a process holds the FIFO
 * open, so that the next server at the same socket can find it; or the file at
 * @path is that of another server, which has replaced the FIFO.
 */
static void fifo_end(const char *path, int fd)
{
	large_stat ours;
	large_stat found;

	if (!fifo_is_read(fd) && !large_fstat(fd, &ours) &&
	    !ibsa__stat(path, O_NOFOLLOW, &found) &&
	    found.st_dev == ours.st_dev && found.st_ino == ours.st_ino)
		unlink(path);
	close(fd);
}

static void issm_free(struct server *server, struct server_issm *issm)
{
	const struct fifo fifo = issm_fifo(server, issm->name);

	if (issm->fd >= 0)
		fifo_end(fifo.path, issm->fd);
	pthread_mutex_lock(server->options.lock);
	if (issm->file)
		issm->file->ops->close(issm->file);
	pthread_mutex_unlock(server->options.lock);
	ibsa__free(issm->name);
	ibsa__free(issm);
}

static int issm_make(struct server *server, const struct serve_port *port,
		     const char *name)
{
	const struct fifo fifo = issm_fifo(server, name);
	struct server_issm *issm = ibsa__calloc(1, sizeof(*issm));
	int err;

	if (!issm)
		return -ENOMEM;
	issm->fd = -1;
	issm->device = port->device;
	issm->name = ibsa__strdup(name);
	err = issm->name ? folder_make(server) : -ENOMEM;
	pthread_mutex_lock(server->options.lock);
	if (!err)
		err = server_ops(server)->open(server->options.owner, port,
					       NULL, &issm->file);
	pthread_mutex_unlock(server->options.lock);
	if (!err) {
		issm->fd = fifo_open(fifo.path);
		err = issm->fd < 0 ? issm->fd : 0;
	}
	if (err) {
		issm_free(server, issm);
		return err;
	}
	list_append(&server->issms, &issm->link);
	server->issm_count++;
	return 0;
}

int ibsa__peer_issm_set(struct server_peer *peer, const struct serve_port *port)
{
	struct server *server = peer->control.server;
	const struct serve_ops *ops = server_ops(server);
	int err;

	ibsa__peer_issm_clear(peer);
	pthread_mutex_lock(server->options.lock);
	err = ops->open(server->options.owner, port, NULL, &peer->issm);
	if (!err)
		err = ops->file->set_issm(peer->issm, true);
	pthread_mutex_unlock(server->options.lock);
	if (err)
		ibsa__peer_issm_clear(peer);
	server->has_changed = true;
	return err;
}

void ibsa__peer_issm_clear(struct server_peer *peer)
{
	struct server *server = peer->control.server;

	if (!peer->issm)
		return;
	pthread_mutex_lock(server->options.lock);
	peer->issm->ops->close(peer->issm);
	pthread_mutex_unlock(server->options.lock);
	peer->issm = NULL;
	server->has_changed = true;
}

static bool peer_has_device(const struct server_peer *peer, uint32_t device)
{
	const struct server *server = peer->control.server;
	bool has_device;

	if (!peer->is_greeted)
		return false;
	pthread_mutex_lock(server->options.lock);
	has_device = server_ops(server)->has_device(server->options.owner,
						    &peer->port, device);
	pthread_mutex_unlock(server->options.lock);
	return has_device;
}

static bool device_has_client(const struct server *server, uint32_t device)
{
	const struct server_peer *peer;

	LIST_EACH(peer, &server->peers, link) {
		if (peer_has_device(peer, device))
			return true;
	}
	return false;
}

static void issm_close(struct server *server, struct server_issm *issm)
{
	list_remove(&issm->link);
	server->issm_count--;
	issm_free(server, issm);
}

/*
 * Close the FIFOs that have been idle for @limit_ns. Return: the time at which
 * the next FIFO will have been idle for @limit_ns; UINT64_MAX: no FIFO is idle.
 */
static uint64_t issms_close_idle(struct server *server, uint64_t limit_ns)
{
	const uint64_t now_ns = clock_now_ns();
	uint64_t due_ns = UINT64_MAX;
	struct server_issm *issm, *next;

	LIST_EACH_SAFE(issm, next, &server->issms, link) {
		if (issm->is_on || fifo_is_read(issm->fd) ||
		    device_has_client(server, issm->device)) {
			issm->idle_ns = 0;
			continue;
		}
		if (!issm->idle_ns)
			issm->idle_ns = now_ns;
		if (now_ns - issm->idle_ns >= limit_ns)
			issm_close(server, issm);
		else if (issm->idle_ns + limit_ns < due_ns)
			due_ns = issm->idle_ns + limit_ns;
	}
	return due_ns;
}

void ibsa__issms_tidy(struct server *server)
{
	const uint64_t due_ns = issms_close_idle(
		server, server->options.patience_ms * NS_PER_MS);

	if (due_ns != UINT64_MAX)
		ibsa__server_alarm(server, due_ns);
}

static bool issm_exists(const struct server *server, const char *name)
{
	const struct list *at = server->issms.next;

	for (; at != &server->issms; at = at->next)
		if (!strcmp(list_object(at, struct server_issm, link)->name,
			    name))
			return true;
	return false;
}

static struct serve_issm_name issm_name(const struct server *server,
					const struct serve_port *port)
{
	struct serve_issm_name name;

	pthread_mutex_lock(server->options.lock);
	server_ops(server)->issm_name(server->options.owner, port, &name);
	pthread_mutex_unlock(server->options.lock);
	return name;
}

int ibsa__issm_path(struct server *server, const struct serve_port *port,
		    char *out, size_t room)
{
	const struct serve_issm_name name = issm_name(server, port);
	struct fifo fifo;
	int err = 0;

	if (!issm_exists(server, name.text)) {
		if (server->issm_count >= ISSMS_MAX)
			(void)issms_close_idle(server, 0);
		err = server->issm_count < ISSMS_MAX
			      ? issm_make(server, port, name.text)
			      : -EMFILE;
	}
	if (err)
		return err;
	fifo = issm_fifo(server, name.text);
	if (strlen(fifo.path) >= room)
		return -ENAMETOOLONG;
	memcpy(out, fifo.path, strlen(fifo.path) + 1);
	return 0;
}

static bool issm_find_port(const struct server *server, const char *name,
			   struct serve_port *out)
{
	bool is_found;

	pthread_mutex_lock(server->options.lock);
	is_found = server_ops(server)->issm_find(server->options.owner, name,
						 out);
	pthread_mutex_unlock(server->options.lock);
	return is_found;
}

/*
 * Use the FIFO of a port that a former server has left, if a process holds the
 * FIFO open.
 */
static void issm_adopt(struct server *server, const char *name)
{
	const struct fifo fifo = issm_fifo(server, name);
	const int fd = fifo_adopt(fifo.path);
	struct serve_port port;

	if (fd < 0)
		return;
	/* Without memory, the port's IsSM stays clear. */
	if (server->issm_count < ISSMS_MAX &&
	    issm_find_port(server, name, &port))
		(void)!issm_make(server, &port, name);
	close(fd);
}

/*
 * Find the SMs that have run since before this server was started: their issm
 * files are FIFOs of the previous server.
 */
void ibsa__issms_adopt(struct server *server)
{
	const struct folder folder = issm_folder(server);
	DIR *all = folder_check(folder.path) ? NULL : opendir(folder.path);
	const large_dirent *entry;

	while (all && (entry = large_readdir(all)))
		if (entry->d_name[0] != '.')
			issm_adopt(server, entry->d_name);
	if (all)
		closedir(all);
	if (!list_is_empty(&server->issms))
		issms_update(server);
}

void ibsa__issms_done(struct server *server)
{
	const struct folder folder = issm_folder(server);

	while (!list_is_empty(&server->issms)) {
		struct server_issm *issm = list_object(
			server->issms.next, struct server_issm, link);

		issm_close(server, issm);
	}
	if (server->opens.fd >= 0)
		rmdir(folder.path);
}
