/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ibsad/state.h"

static const char file_name[] = "registrations";

size_t ibsad_state_format(const struct state_row *row, bool is_end,
			  char out[STATE_LINE_MAX])
{
	int len = snprintf(out, STATE_LINE_MAX,
			   "%c %u %u %" PRIx64 " %" PRIu64 " ",
			   is_end ? '-' : '+', row->port, (unsigned)row->user,
			   row->mask, row->end_ns);

	for (size_t i = 0; i < row->size; i++)
		len += snprintf(out + len, STATE_LINE_MAX - (size_t)len, "%02x",
				row->record[i]);
	len += snprintf(out + len, STATE_LINE_MAX - (size_t)len, "\n");
	return (size_t)len;
}

static bool record_parse(const char *text, struct state_row *out)
{
	const size_t digits = strspn(text, "0123456789abcdef");

	if (digits % 2 || digits / 2 > sizeof(out->record))
		return false;
	out->size = digits / 2;
	for (size_t i = 0; i < out->size; i++) {
		unsigned int byte;

		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		out->record[i] = (uint8_t)byte;
	}
	return true;
}

bool ibsad_state_parse(const char *line, struct state_row *out,
		       bool *out_is_end)
{
	struct state_row row = { .port = 0 };
	unsigned int user;
	char kind;
	int used = 0;

	if (sscanf(line, "%c %" SCNu32 " %u %" SCNx64 " %" SCNu64 " %n", &kind,
		   &row.port, &user, &row.mask, &row.end_ns, &used) != 5 ||
	    !used || (kind != '+' && kind != '-') ||
	    !record_parse(line + used, &row))
		return false;
	row.user = user;
	*out = row;
	*out_is_end = kind == '-';
	return true;
}

static int lines_read(struct ibsad_state *state,
		      void (*restore)(const struct state_row *row, bool is_end,
				      void *arg),
		      void *arg)
{
	FILE *file = fopen(state->path, "re");
	char line[STATE_LINE_MAX];
	struct state_row row;
	bool is_end;

	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while (fgets(line, sizeof(line), file)) {
		if (ibsad_state_parse(line, &row, &is_end))
			restore(&row, is_end, arg);
	}
	fclose(file);
	return 0;
}

int ibsad_state_open(struct ibsad_state *state, const char *folder,
		     void (*restore)(const struct state_row *row, bool is_end,
				     void *arg),
		     void *arg)
{
	int len;

	*state = (struct ibsad_state){ .fd = -1 };
	if (!folder)
		return 0;
	len = snprintf(state->path, sizeof(state->path), "%s/%s", folder,
		       file_name);
	if ((size_t)len >= sizeof(state->path) - sizeof(".new"))
		return -ENAMETOOLONG;
	return lines_read(state, restore, arg);
}

void ibsad_state_close(struct ibsad_state *state)
{
	if (state->fd >= 0)
		close(state->fd);
	state->fd = -1;
}

/* The next line must not follow a part of one. */
static void part_remove(int fd, ssize_t bytes)
{
	const off_t end = lseek(fd, 0, SEEK_END);

	(void)!ftruncate(fd, end - bytes);
}

int ibsad_state_put(struct ibsad_state *state, const struct state_row *row,
		    bool is_end)
{
	char line[STATE_LINE_MAX];
	const size_t len = ibsad_state_format(row, is_end, line);
	ssize_t done;

	if (state->fd < 0)
		return 0;
	done = write(state->fd, line, len);
	if (done < 0)
		return -errno;
	if ((size_t)done < len) {
		part_remove(state->fd, done);
		return -ENOSPC;
	}
	state->lines++;
	return 0;
}

static void new_path(const struct ibsad_state *state, char *out, size_t room)
{
	snprintf(out, room, "%s.new", state->path);
}

int ibsad_state_begin(struct ibsad_state *state, int *out_fd)
{
	char path[sizeof(state->path) + 8];

	if (!*state->path) {
		*out_fd = -1;
		return 0;
	}
	new_path(state, path, sizeof(path));
	*out_fd = state->fd;
	state->fd = open(path,
			 O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC |
				 O_NOFOLLOW,
			 S_IRUSR | S_IWUSR);
	if (state->fd < 0) {
		state->fd = *out_fd;
		return -errno;
	}
	state->lines = 0;
	return 0;
}

int ibsad_state_end(struct ibsad_state *state, int fd)
{
	char path[sizeof(state->path) + 8];

	if (!*state->path)
		return 0;
	new_path(state, path, sizeof(path));
	if (fd >= 0)
		close(fd);
	return rename(path, state->path) ? -errno : 0;
}
