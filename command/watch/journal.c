/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries of the systemd journal. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "watch/journal.h"

static const struct sockaddr_un address = {
	.sun_family = AF_UNIX,
	.sun_path = "/run/systemd/journal/socket",
};

int journal_open(void)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	/*
	 * Disconnect the socket from the journal, so that entries also reach a
	 * journal that has restarted.
	 */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) ==
		    0 &&
	    connect(fd, &none, sizeof(none)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void journal_field(struct journal_entry *entry, const char *name,
		   const char *format, ...)
{
	char *start = entry->text + entry->len;
	const size_t room = sizeof(entry->text) - entry->len;
	int len = snprintf(start, room, "%s=", name);
	va_list args;
	int more;

	if (len < 0 || (size_t)len >= room)
		return;
	va_start(args, format);
	more = vsnprintf(start + len, room - (size_t)len, format, args);
	va_end(args);
	if (more < 0 || (size_t)(len + more) + 1 >= room)
		return;
	for (char *at = start; *at; at++)
		if (*at == '\n')
			*at = ' ';
	start[len + more] = '\n';
	entry->len += (size_t)(len + more) + 1;
}

int journal_send(int fd, const struct journal_entry *entry)
{
	ssize_t sent = sendto(fd, entry->text, entry->len, MSG_NOSIGNAL,
			      (const struct sockaddr *)&address,
			      sizeof(address));

	return sent < 0 ? -errno : 0;
}
