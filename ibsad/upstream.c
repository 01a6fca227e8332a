/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "client/files.h"
#include "ibsad/daemon.h"

static void file_close(struct upstream *upstream, int fd)
{
	if (upstream->file->ops->close)
		upstream->file->ops->close(upstream->file);
	else
		close(fd);
	upstream->file = NULL;
}

int ibsad_upstream_open(struct upstream *upstream, struct daemon *daemon,
			uint32_t port, void *data)
{
	struct ibsad_ports *ports = &daemon->ports;
	int fd;
	int err;

	*upstream = (struct upstream){ .daemon = daemon, .fd = -1 };
	fd = ibsa__files_umad_open(ports->files, ports->at[port].umad,
				   &upstream->file);
	if (fd < 0)
		return fd;
	if (!upstream->file) {
		upstream->plain = umad_fd(fd);
		upstream->file = &upstream->plain.base;
	}
	err = ibsad_poll_add(daemon, fd, data);
	if (err)
		file_close(upstream, fd);
	else
		upstream->fd = fd;
	return err;
}

void ibsad_upstream_lose(struct upstream *upstream)
{
	if (upstream->fd >= 0)
		epoll_ctl(upstream->daemon->poll_fd, EPOLL_CTL_DEL,
			  upstream->fd, NULL);
	upstream->fd = -1;
}

void ibsad_upstream_close(struct upstream *upstream)
{
	const int fd = upstream->fd;

	ibsad_upstream_lose(upstream);
	if (upstream->file)
		file_close(upstream, fd);
}
