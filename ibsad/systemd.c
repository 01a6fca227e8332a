/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ibsad/systemd.h"

enum { FIRST_FD = 3 };

int ibsad_systemd_socket(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *fds = getenv("LISTEN_FDS");

	if (!pid || !fds || atol(pid) != (long)getpid())
		return 0;
	if (strcmp(fds, "1") != 0)
		return -EINVAL;
	if (fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) ||
	    fcntl(FIRST_FD, F_SETFL, O_NONBLOCK))
		return -errno;
	return FIRST_FD;
}

void ibsad_systemd_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len;
	int fd;

	if (!path || (*path != '/' && *path != '@') ||
	    strlen(path) >= sizeof(to.sun_path))
		return;
	len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	memcpy(to.sun_path, path, strlen(path));
	/* An abstract name begins with a NUL. */
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		      (struct sockaddr *)&to, (socklen_t)len);
	close(fd);
}
