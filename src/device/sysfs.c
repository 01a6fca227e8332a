/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and folders below the sysfs root, or what a fabric server has in
 * their place.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/parse.h"
#include "device/sysfs.h"
#include "remote/files.h"

/* A path that open() would take. */
struct path {
	char text[PATH_MAX];
};

/* With a slash behind it; a server has none. */
static int root_put(struct path *out)
{
	const char *root = secure_getenv("SYSFS_PATH");
	int used;

	out->text[0] = '\0';
	if (ibsa__remote_has_files())
		return 0;
	used = snprintf(out->text, sizeof(out->text), "%s/",
			root && *root ? root : "/sys");
	return used < 0 || (size_t)used >= sizeof(out->text) ? -ENAMETOOLONG
							     : used;
}

static int path_make(struct path *out, const char *format, va_list args)
{
	const int used = root_put(out);
	int len;

	if (used < 0)
		return used;
	len = vsnprintf(out->text + used, sizeof(out->text) - (size_t)used,
			format, args);
	if (len < 0 || (size_t)len >= sizeof(out->text) - (size_t)used)
		return -ENAMETOOLONG;
	return 0;
}

/*
 * One read: sysfs gives a whole file at once. Not by read(), nor is a high
 * number closed by close(): to ibsim's preload, which catches both, numbers
 * from 1024 are its own, and a file that the system gave one is another's.
 */
static int text_read(int fd, struct ibsa__sysfs_text *out)
{
	ssize_t len = pread(fd, out->bytes, IBSA__SYSFS_BYTES, 0);

	if (len < 0)
		return errno ? -errno : -EIO;
	out->bytes[len] = '\0';
	return 0;
}

static int text_ask(const char *path, struct ibsa__sysfs_text *out)
{
	size_t len;
	int err = ibsa__remote_file_text(path, out->bytes, IBSA__SYSFS_BYTES,
					 &len);

	if (!err)
		out->bytes[len] = '\0';
	return err;
}

static void file_close(int fd)
{
	enum { IBSIM_MIN = 1024 };

	if (fd < IBSIM_MIN)
		close(fd);
	else
		syscall(SYS_close, fd);
}

int ibsa__sysfs_read(struct ibsa__sysfs_text *out, const char *format, ...)
{
	struct path path;
	va_list args;
	int err;
	int fd;

	va_start(args, format);
	err = path_make(&path, format, args);
	va_end(args);
	if (err)
		return err;
	if (ibsa__remote_has_files())
		return text_ask(path.text, out);
	/* Without waiting, lest a FIFO in a made-up tree holds us up. */
	fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = text_read(fd, out);
	file_close(fd);
	return err;
}

static int name_add(struct ibsa__names *names, const char *name)
{
	char **at = names->at;

	/* Room for a power of two of names; grown when that many are there. */
	if (!(names->count & (names->count - 1))) {
		at = ibsa__realloc(at, names->count ? 2 * names->count : 1,
				   sizeof(*at));
		if (!at)
			return -ENOMEM;
		names->at = at;
	}
	at[names->count] = ibsa__strdup(name);
	if (!at[names->count])
		return -ENOMEM;
	names->count++;
	return 0;
}

static int names_read(DIR *folder, struct ibsa__names *names)
{
	const struct dirent *entry;
	int err = 0;

	errno = 0;
	while (!err && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			err = name_add(names, entry->d_name);
		errno = 0;
	}
	return err ? err : -errno;
}

static int by_name(const void *a, const void *b)
{
	return ibsa__name_compare(*(char *const *)a, *(char *const *)b);
}

static int folder_read(const char *path, struct ibsa__names *names)
{
	DIR *folder = opendir(path);
	int err;

	if (!folder)
		return -errno;
	err = names_read(folder, names);
	closedir(folder);
	return err;
}

/* What a server says is in a folder: names, a NUL behind each. */
static int folder_ask(const char *path, struct ibsa__names *names)
{
	enum { ROOM = 65536 };
	char *said = ibsa__calloc(1, ROOM + 1);
	size_t len = 0;
	int err = said ? ibsa__remote_folder_names(path, said, ROOM, &len)
		       : -ENOMEM;

	for (size_t at = 0; !err && at < len; at += strlen(said + at) + 1)
		err = name_add(names, said + at);
	ibsa__free(said);
	return err;
}

static int names_get(const char *format, va_list args, struct ibsa__names *out)
{
	struct ibsa__names names = { 0 };
	struct path path;
	int err = path_make(&path, format, args);

	if (err)
		return err;
	if (ibsa__remote_has_files())
		err = folder_ask(path.text, &names);
	else
		err = folder_read(path.text, &names);
	if (err) {
		ibsa__names_free(&names);
		return err;
	}
	*out = names;
	return 0;
}

int ibsa__sysfs_folder(const char *format, ...)
{
	struct ibsa__names names = { 0 };
	struct path path;
	va_list args;
	DIR *folder;
	int err;

	va_start(args, format);
	err = path_make(&path, format, args);
	va_end(args);
	if (err)
		return err;
	if (ibsa__remote_has_files()) {
		err = folder_ask(path.text, &names);
		ibsa__names_free(&names);
		return err;
	}
	folder = opendir(path.text);
	if (!folder)
		return -errno;
	closedir(folder);
	return 0;
}

int ibsa__sysfs_names(struct ibsa__names *out, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = names_get(format, args, out);
	va_end(args);
	if (!err && out->count)
		qsort(out->at, out->count, sizeof(*out->at), by_name);
	return err;
}

int ibsa__sysfs_names_unsorted(struct ibsa__names *out, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = names_get(format, args, out);
	va_end(args);
	return err;
}

void ibsa__names_free(struct ibsa__names *names)
{
	for (size_t i = 0; i < names->count; i++)
		ibsa__free(names->at[i]);
	ibsa__free(names->at);
}
