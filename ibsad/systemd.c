/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ibsad/systemd.h"

enum { FIRST_FD = 3 };

/* The name of a socket that ibsad has created itself. */
static const char own_name[] = "standalone";

int ibsad_systemd_socket(bool *out_is_own)
{
	const char *pid = getenv("LISTEN_PID");
	const char *fds = getenv("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");

	*out_is_own = names && !strcmp(names, own_name);
	if (!pid || !fds || atol(pid) != (long)getpid())
		return 0;
	if (strcmp(fds, "1") != 0)
		return -EINVAL;
	if (fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) ||
	    fcntl(FIRST_FD, F_SETFL, O_NONBLOCK))
		return -errno;
	return FIRST_FD;
}

/* Make @fd the first descriptor that the next program inherits. */
static int fd_pass(int fd)
{
	if (fd == FIRST_FD)
		return fcntl(FIRST_FD, F_SETFD, 0) ? -errno : 0;
	return dup2(fd, FIRST_FD) < 0 ? -errno : 0;
}

int ibsad_systemd_replace(int listener, bool is_own, char **argv)
{
	const int before = fcntl(FIRST_FD, F_DUPFD_CLOEXEC, FIRST_FD + 1);
	char pid[sizeof("-2147483648")];
	int err = before < 0 ? -errno : fd_pass(listener);

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (!err &&
	    (setenv("LISTEN_PID", pid, 1) || setenv("LISTEN_FDS", "1", 1) ||
	     setenv("LISTEN_FDNAMES", is_own ? own_name : "", 1)))
		err = -errno;
	if (!err) {
		execvp(argv[0], argv);
		err = -errno;
	}
	if (before >= 0) {
		(void)!dup3(before, FIRST_FD, O_CLOEXEC);
		close(before);
	}
	return err;
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
