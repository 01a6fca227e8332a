/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads whole files and pipes into memory. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/read_file.h"

/* First size of the buffer for a file, and maximum size of a file. */
enum { FIRST_BYTES = 1 << 16, FILE_BYTES_MAX = 1 << 30 };

/*
 * Read a file to its end into *@text, which grows as needed. Return: the
 * number of bytes or -errno.
 */
static ssize_t file_read_all(int fd, char **text)
{
	size_t room = 0, len = 0;

	for (;;) {
		ssize_t got;

		if (len == FILE_BYTES_MAX)
			return -EFBIG;
		if (ARRAY_GROW(*text, room, room ? len + 1 : FIRST_BYTES))
			return -ENOMEM;
		got = read(fd, *text + len, room - len);
		if (!got)
			return (ssize_t)len;
		if (got > 0)
			len += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
}

/* Read all of an open file or pipe. The caller frees @out. */
static int read_fd(int fd, char **out, size_t *out_len)
{
	char *text = NULL;
	const ssize_t len = file_read_all(fd, &text);

	if (len < 0) {
		ibsa__free(text);
		return (int)len;
	}
	*out = text;
	*out_len = (size_t)len;
	return 0;
}

int ibsa__read_file(const char *path, char **out, size_t *out_len)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = read_fd(fd, out, out_len);
	close(fd);
	return err;
}
