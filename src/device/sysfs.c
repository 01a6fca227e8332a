/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files and folders below the sysfs root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/parse.h"
#include "device/sysfs.h"

/* A path that open() would take. */
struct path {
	char text[PATH_MAX];
};

static int path_make(struct path *out, const char *format, va_list args)
{
	const char *root = secure_getenv("SYSFS_PATH");
	int used;
	int len;

	used = snprintf(out->text, sizeof(out->text), "%s/",
			root && *root ? root : "/sys");
	if (used < 0 || (size_t)used >= sizeof(out->text))
		return -ENAMETOOLONG;
	len = vsnprintf(out->text + used, sizeof(out->text) - (size_t)used,
			format, args);
	if (len < 0 || (size_t)len >= sizeof(out->text) - (size_t)used)
		return -ENAMETOOLONG;
	return 0;
}

/*
 * One read of a constant length: sysfs gives a whole file at once, and with
 * a length that the compiler does not know, _FORTIFY_SOURCE would make this
 * __read_chk(), which ibsim's preload does not catch.
 */
static int text_read(int fd, struct ibsa__sysfs_text *out)
{
	ssize_t len = read(fd, out->bytes, IBSA__SYSFS_BYTES);

	if (len < 0)
		return errno ? -errno : -EIO;
	out->bytes[len] = '\0';
	return 0;
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
	/* Without waiting, lest a FIFO in a made-up tree holds us up. */
	fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = text_read(fd, out);
	close(fd);
	return err;
}

static int folder_open(const char *format, va_list args, DIR **out)
{
	struct path path;
	int err = path_make(&path, format, args);

	if (err)
		return err;
	*out = opendir(path.text);
	return *out ? 0 : -errno;
}

int ibsa__sysfs_folder(const char *format, ...)
{
	va_list args;
	DIR *folder;
	int err;

	va_start(args, format);
	err = folder_open(format, args, &folder);
	va_end(args);
	if (!err)
		closedir(folder);
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

static int folder_read(const char *format, va_list args,
		       struct ibsa__names *out)
{
	struct ibsa__names names = { 0 };
	DIR *folder;
	int err;

	err = folder_open(format, args, &folder);
	if (err)
		return err;
	err = names_read(folder, &names);
	closedir(folder);
	if (err) {
		ibsa__names_free(&names);
		return err;
	}
	*out = names;
	return 0;
}

int ibsa__sysfs_names(struct ibsa__names *out, const char *format, ...)
{
	va_list args;
	int err;

	va_start(args, format);
	err = folder_read(format, args, out);
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
	err = folder_read(format, args, out);
	va_end(args);
	return err;
}

void ibsa__names_free(struct ibsa__names *names)
{
	for (size_t i = 0; i < names->count; i++)
		ibsa__free(names->at[i]);
	ibsa__free(names->at);
}
