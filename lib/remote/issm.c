/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An issm file at a server over TCP, which has no FIFO that this process could
 * open: the FIFO is in this process. To open its write end waits until it has a
 * reader, and poll() reports POLLERR on the write end when it has none any more.
 * In between, a connection to the server keeps the port's bit IsSM set.
 *
 * Source: fifo(7), poll(2), proc(5); serve/issm.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/close.h"
#include "base/fd.h"
#include "base/large.h"
#include "base/registry.h"
#include "base/stat.h"
#include "remote/issm.h"

enum { RETRY_MS = 1000 };

/* @fd, @inode: of the FIFO, which has no name but that in /proc */
struct issm {
	struct remote_address address;
	uint32_t number;
	int fd;
	large_inode inode;
};

struct issm_path {
	char text[32];
};

static struct issm_path issm_path(const struct issm *issm)
{
	struct issm_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", issm->fd);
	return path;
}

/* Whether the program has closed the descriptor, and perhaps reused its number. */
static bool is_lost(const struct issm *issm, int fd)
{
	large_stat info;

	return large_fstat(fd, &info) || !S_ISFIFO(info.st_mode) ||
	       info.st_ino != issm->inode;
}

/* Set IsSM. Return: a connection that keeps it set. */
static int issm_request(const struct issm *issm,
			struct remote_connection *connection)
{
	struct remote_address address = issm->address;
	struct remote_request request = {
		.type = REMOTE_ISSM,
		.body = &issm->number,
		.len = sizeof(issm->number),
	};
	int err = ibsa__remote_connect(connection, &address, NULL);

	if (err)
		return err;
	err = ibsa__remote_request(connection, &request, NULL);
	if (err)
		ibsa__remote_disconnect(connection);
	return err;
}

/*
 * Keep IsSM set while the FIFO has a reader. After the server has ended, or
 * while another program's SM runs at the port, try again.
 */
static void issm_hold(const struct issm *issm, int writer)
{
	struct pollfd ends[] = { { .fd = writer }, { .events = POLLIN } };

	while (!ends[0].revents) {
		struct remote_connection connection;
		const int err = issm_request(issm, &connection);

		ends[1].fd = err ? -1 : connection.fd;
		(void)!poll(ends, 2, err ? RETRY_MS : -1);
		if (err)
			continue;
		ibsa__remote_disconnect(&connection);
		if (!ends[0].revents)
			(void)!poll(ends, 1, RETRY_MS);
	}
}

/* Thread: keep IsSM set whenever a program has the FIFO open. */
static void *issm_run(void *arg)
{
	const struct issm *issm = arg;
	const struct issm_path path = issm_path(issm);

	while (!is_lost(issm, issm->fd)) {
		int writer = open(path.text, O_WRONLY | O_CLOEXEC);

		if (writer >= 0 && !is_lost(issm, writer))
			issm_hold(issm, writer);
		if (writer < 0)
			break;
		fd_close(&writer);
	}
	return NULL;
}

/* Make a FIFO that has a name only in /proc. */
static int fifo_make(struct issm *issm)
{
	char folder[] = "/tmp/ibsa-issm-XXXXXX";
	char name[sizeof(folder) + sizeof("/issm")];
	large_stat info;
	int err = 0;

	if (!mkdtemp(folder))
		return -errno;
	snprintf(name, sizeof(name), "%s/issm", folder);
	if (mkfifo(name, S_IRUSR | S_IWUSR))
		err = -errno;
	if (!err) {
		issm->fd = open(name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
		if (issm->fd < 0 || large_fstat(issm->fd, &info))
			err = -errno;
		unlink(name);
	}
	rmdir(folder);
	if (!err)
		issm->inode = info.st_ino;
	return err;
}

static int issm_make(const char *name, void *arg, void **out)
{
	struct issm *issm = ibsa__calloc(1, sizeof(*issm));
	large_stat found;
	int err;

	(void)name;
	if (!issm)
		return -ENOMEM;
	*issm = *(const struct issm *)arg;
	issm->fd = -1;
	err = fifo_make(issm);
	/* Without /proc, the program could not open the FIFO. */
	if (!err)
		err = ibsa__stat(issm_path(issm).text, 0, &found);
	if (!err && !ibsa__thread_start(issm_run, issm))
		err = -EAGAIN;
	if (err) {
		fd_close(&issm->fd);
		ibsa__free(issm);
		return err;
	}
	*out = issm;
	return 0;
}

int ibsa__remote_issm_file(const struct remote_address *address,
			   uint32_t number, char *out, size_t room)
{
	struct issm wanted = { .address = *address, .number = number };
	struct issm_path path;
	void *found;
	char name[512];
	int err;

	snprintf(name, sizeof(name), "issm %s %s/%s/%u/%d %u", address->path,
		 address->node, address->device, address->port,
		 address->is_machine, number);
	/* The reference stays: the program may open the file at any time. */
	err = ibsa__registry_get(name, issm_make, &wanted, &found);
	if (err)
		return err;
	path = issm_path(found);
	if (strlen(path.text) >= room)
		return -ENAMETOOLONG;
	memcpy(out, path.text, strlen(path.text) + 1);
	return 0;
}
