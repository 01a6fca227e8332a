/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Write the text and close the file. Return: 0 or -errno. */
static int stream_write(FILE *file, const char *text, size_t len)
{
	int err = 0;

	if (fwrite(text, 1, len, file) != len || fflush(file) != 0)
		err = -errno;
	if (fclose(file) != 0 && !err)
		err = -errno;
	return err;
}

static int descriptor_write(int fd, const char *text, size_t len)
{
	FILE *file = fdopen(fd, "w");
	int err = -errno;

	if (file)
		return stream_write(file, text, len);
	close(fd);
	return err;
}

static int file_replace(const char *path, mode_t mode, const char *text,
			size_t len)
{
	char *name = NULL;
	int err = -ENOMEM;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return err;
	fd = mkostemp(name, O_CLOEXEC);
	err = fd < 0 ? -errno : descriptor_write(fd, text, len);
	if (!err && (chmod(name, mode) != 0 || rename(name, path) != 0))
		err = -errno;
	if (err && fd >= 0)
		unlink(name);
	free(name);
	return err;
}

static int special_write(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "we");

	return file ? stream_write(file, text, len) : -errno;
}

/* Return: what to do after an error, or "". */
static const char *advice(int err)
{
	switch (-err) {
	case EISDIR:
		return "; name a file in it";
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case EPERM:
	case EROFS:
		return "; check that its folder exists and is writable";
	default:
		return "";
	}
}

int file_write(const char *path, mode_t mode, const char *text, size_t len)
{
	char *real = realpath(path, NULL);
	struct stat what;
	int err;

	if (real && stat(real, &what) == 0 && !S_ISREG(what.st_mode))
		err = special_write(real, text, len);
	else
		err = file_replace(real ? real : path, mode, text, len);
	free(real);
	if (!err)
		return CLI_DONE;
	complain("cannot write '%s': %s%s", path, strerror(-err), advice(err));
	return CLI_DEVICE;
}
