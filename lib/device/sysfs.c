/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads device files below /sys or below the root of a test tree. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/large.h"
#include "device/sysfs.h"

struct sysfs_files {
	struct device_files base;
	char root[];
};

struct path {
	char text[PATH_MAX];
};

static int path_make(const struct device_files *files, const char *path,
		     struct path *out)
{
	const struct sysfs_files *sysfs = (const struct sysfs_files *)files;
	const int len = snprintf(out->text, sizeof(out->text), "%s/%s",
				 sysfs->root, path);

	return len < 0 || (size_t)len >= sizeof(out->text) ? -ENAMETOOLONG : 0;
}

/*
 * Read a file of sysfs: one call returns the whole file. The function reads
 * with pread(), and closes descriptors from 1024 on by a raw system call:
 * ibsim's preload library replaces read() and close(), and treats these
 * descriptors as its own, although the system may have assigned one to this
 * file.
 */
static int file_text_read(int fd, struct ibsa__file_text *out)
{
	ssize_t len = pread(fd, out->bytes, IBSA__FILE_BYTES, 0);

	if (len < 0)
		return errno ? -errno : -EIO;
	out->bytes[len] = '\0';
	return 0;
}

static void file_close(int fd)
{
	enum { IBSIM_MIN = 1024 };

	if (fd < IBSIM_MIN)
		close(fd);
	else
		syscall(SYS_close, fd);
}

static int sysfs_read(struct device_files *files, const char *path,
		      struct ibsa__file_text *out)
{
	struct path whole;
	int err = path_make(files, path, &whole);
	int fd;

	if (err)
		return err;
	/* O_NONBLOCK: a FIFO in a test tree must not block. */
	fd = open(whole.text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = file_text_read(fd, out);
	file_close(fd);
	return err;
}

static int folder_read(DIR *folder, struct ibsa__names *names)
{
	const large_dirent *entry;
	int err = 0;

	errno = 0;
	while (!err && (entry = large_readdir(folder))) {
		if (entry->d_name[0] != '.')
			err = ibsa__names_add(names, entry->d_name);
		errno = 0;
	}
	return err ? err : -errno;
}

static int sysfs_list(struct device_files *files, const char *path,
		      struct ibsa__names *names)
{
	struct path whole;
	DIR *folder;
	int err = path_make(files, path, &whole);

	if (err)
		return err;
	folder = opendir(whole.text);
	if (!folder)
		return -errno;
	if (names)
		err = folder_read(folder, names);
	closedir(folder);
	return err;
}

static void sysfs_free(struct device_files *files)
{
	ibsa__free(files);
}

int ibsa__sysfs_open(const char *root, struct device_files **out)
{
	static const struct device_files_ops ops = {
		.read = sysfs_read,
		.list = sysfs_list,
		.free = sysfs_free,
	};
	const char *text = root && *root ? root : "/sys";
	const size_t bytes = strlen(text) + 1;
	struct sysfs_files *sysfs = ibsa__calloc(1, sizeof(*sysfs) + bytes);

	if (!sysfs)
		return -ENOMEM;
	ibsa__files_init(&sysfs->base, &ops);
	memcpy(sysfs->root, text, bytes);
	*out = &sysfs->base;
	return 0;
}
