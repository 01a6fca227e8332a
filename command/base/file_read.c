/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a whole file, pipe or device that the user names. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_read.h"
#include "base/complain.h"

/*
 * Maximum size of a file: the output of ibsa topology --format net for 49,151 nodes
 * has less than 100 MB. A limit is necessary because a device may never end.
 */
enum { FILE_MB_MAX = 256, FIRST_BYTES = 1 << 16 };

enum { WRITER_MS = 10000, WRITER_POLL_MS = 20 };

/* A file being read, without blocking in open(2) or read(2). */
struct file_reader {
	int fd;
	bool has_writer;      /* or needs none */
	unsigned int wait_ms; /* how long a FIFO may still have no writer */
	struct file_text *out;
	size_t room;
};

/*
 * Enlarge the buffer. The limit of the buffer has two bytes more than the
 * largest file: one to notice that the file is larger, and one for the NUL.
 */
static int room_grow(struct file_reader *reader)
{
	const size_t limit = ((size_t)FILE_MB_MAX << 20) + 2;
	size_t room = reader->room ? 2 * reader->room : FIRST_BYTES;
	char *text;

	if (reader->room == limit)
		return -EFBIG;
	if (room > limit)
		room = limit;
	text = realloc(reader->out->text, room);
	if (!text)
		return -ENOMEM;
	reader->out->text = text;
	reader->room = room;
	return 0;
}

/*
 * Wait after a read without data. A FIFO that has had no writer yet reads as if
 * at its end: wait for a writer. Return: 1 at the end of the file; 0 to read
 * again; or -ETIMEDOUT.
 */
static int data_wait(struct file_reader *reader, bool is_end)
{
	struct pollfd fd = { .fd = reader->fd, .events = POLLIN };

	if (!is_end) {
		reader->has_writer = true;
		poll(&fd, 1, -1);
		return 0;
	}
	if (reader->has_writer)
		return 1;
	if (poll(&fd, 1, WRITER_POLL_MS) > 0)
		reader->has_writer = true;
	else if (reader->wait_ms < WRITER_POLL_MS)
		return -ETIMEDOUT;
	else
		reader->wait_ms -= WRITER_POLL_MS;
	return 0;
}

static int all_read(struct file_reader *reader)
{
	struct file_text *out = reader->out;
	int err = 0;

	while (!err) {
		ssize_t got;

		/* One byte is left for the NUL. */
		if (out->len + 1 >= reader->room)
			err = room_grow(reader);
		if (err)
			return err;
		got = read(reader->fd, out->text + out->len,
			   reader->room - out->len - 1);
		if (got > 0) {
			out->len += (size_t)got;
			reader->has_writer = true;
		} else if (got == 0 || errno == EAGAIN) {
			err = data_wait(reader, got == 0);
		} else if (errno != EINTR) {
			err = -errno;
		}
	}
	if (err == 1)
		out->text[out->len] = '\0';
	return err == 1 ? 0 : err;
}

static int file_open(const char *path, unsigned int timeout_ms,
		     struct file_reader *reader)
{
	struct stat file;

	reader->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (reader->fd < 0)
		return -errno;
	if (fstat(reader->fd, &file) != 0)
		return -errno;
	reader->out->is_regular = S_ISREG(file.st_mode);
	reader->has_writer = !S_ISFIFO(file.st_mode);
	reader->wait_ms = timeout_ms ? timeout_ms : WRITER_MS;
	return 0;
}

static int read_failed(const char *path, int err, struct ibsa_error *error)
{
	const char *reason = strerror(-err);
	char large[48];

	snprintf(large, sizeof(large), "it has more than %d MB", FILE_MB_MAX);
	if (err == -EFBIG)
		reason = large;
	else if (err == -ETIMEDOUT)
		reason = "no program writes to this FIFO; start it first, or "
			 "use a longer --timeout";
	else if (err == -ENXIO)
		reason = "it is not a file but a socket or a device; a fabric "
			 "server is named with --fabric unix:PATH";
	snprintf(error->text, sizeof(error->text), "cannot read '%.100s': %s",
		 path, reason);
	return err;
}

int file_read(const char *path, unsigned int timeout_ms,
	      struct ibsa_error *error, struct file_text *out)
{
	struct file_reader reader = { .out = out };
	int err;

	*out = (struct file_text){ .text = NULL };
	err = file_open(path, timeout_ms, &reader);
	if (!err)
		err = all_read(&reader);
	if (reader.fd >= 0)
		close(reader.fd);
	if (!err)
		return 0;
	free(out->text);
	return read_failed(path, err, error);
}

/* The byte order mark, which some editors write at the start of a file. */
static const char utf8_mark[] = "\xef\xbb\xbf";

int lines_open(struct lines *lines, const char *option, const char *path,
	       unsigned int timeout_ms)
{
	struct ibsa_error error;

	*lines = (struct lines){ .file = NULL };
	if (file_read(path, timeout_ms, &error, &lines->whole) == 0)
		return CLI_DONE;
	return fail_usage("%s: %s", option, error.text);
}

void lines_close(struct lines *lines)
{
	free(lines->whole.text);
}

static int byte_read(struct lines *lines)
{
	const size_t at = lines->size++;

	if (!lines->file)
		return at < lines->whole.len
			       ? (unsigned char)lines->whole.text[at]
			       : EOF;
	if (at < (size_t)LINES_MB << 20)
		return getc_unlocked(lines->file);
	lines->err = -EFBIG;
	return EOF;
}

/*
 * Read a line into @text, or its beginning if it is too long. Return: its
 * length in @text; -1 at the end and after an error.
 */
static ssize_t line_read(struct lines *lines, bool *out_is_cut)
{
	size_t len = 0;
	int next = byte_read(lines);

	*out_is_cut = false;
	if (next == EOF)
		return -1;
	for (; next != EOF && next != '\n'; next = byte_read(lines)) {
		*out_is_cut = len == LINE_BYTES;
		if (!*out_is_cut)
			lines->text[len++] = (char)next;
	}
	lines->text[len] = '\0';
	return lines->err ? -1 : (ssize_t)len;
}

char *lines_next(struct lines *lines, const char **out_why)
{
	char *text = lines->text;
	bool is_cut;
	ssize_t len = lines->err ? -1 : line_read(lines, &is_cut);

	*out_why = NULL;
	if (len < 0) {
		if (lines->file && !lines->err && ferror(lines->file))
			lines->err = errno ? -errno : -EIO;
		return NULL;
	}
	lines->number++;
	if (strlen(text) != (size_t)len)
		*out_why = "there is a NUL byte in it";
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	if (lines->number == 1 && strncmp(text, utf8_mark, 3) == 0)
		text += 3;
	text += strspn(text, " \t");
	if (*text == '#')
		*text = '\0';
	if (*text && is_cut)
		*out_why = "it is too long";
	return text;
}

const char *lines_error_text(const struct lines *lines)
{
	return lines->err == -EFBIG ? "it has more than 256 MB"
				    : strerror(-lines->err);
}
