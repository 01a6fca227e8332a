/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_write.h"
#include "base/complain.h"

enum { LINKS_MAX = 40 }; /* as in Linux */

struct new_file {
	const char *path; /* as it was given; for messages */
	char *real;	  /* without the links */
	/*
	 * The name of the new file; NULL: the text is written to the path
	 * directly.
	 */
	char *name;
	bool has_foreign_link;
	mode_t mode;
	int fd;
};

/*
 * Return: what the user can do after the error @err, as the end of a message;
 * "": no advice.
 */
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

static int cannot_write(const struct new_file *file, int err)
{
	return fail_device("cannot write '%s': %s%s", file->path,
			   strerror(-err), advice(err));
}

/* Return: the path of @name in the folder of @path; NULL: out of memory. */
static char *path_beside(const char *path, const char *name)
{
	char *copy = strdup(path);
	char *out = NULL;

	if (!copy || asprintf(&out, "%s/%s", dirname(copy), name) < 0)
		out = NULL;
	free(copy);
	return out;
}

/*
 * Whether Linux follows this link if the sysctl fs.protected_symlinks is set.
 * Source: Linux, fs/namei.c, may_follow_link().
 */
static bool may_follow(const char *path, const struct stat *link)
{
	const mode_t shared = S_ISVTX | S_IWOTH;
	char *folder = path_beside(path, ".");
	struct stat what;
	bool may = folder && stat(folder, &what) == 0 &&
		   ((what.st_mode & shared) != shared ||
		    link->st_uid == geteuid() || link->st_uid == what.st_uid);

	free(folder);
	return may;
}

/*
 * Open @file->real with O_PATH, without following a link. Return: the
 * descriptor, or a negative errno.
 */
static int real_open(const struct new_file *file, struct stat *out)
{
	const int fd = open(file->real, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (fd >= 0 && fstat(fd, out) == 0)
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Replace the path @file->real by the path to which the link leads. A link of
 * /proc, such as /proc/self/fd/1, may lead to a file without a path:
 * @file->real then stays the same. Return: 1: @file->real is replaced; 0: it is
 * the same; -ENOENT: the link leads nowhere; or another negative errno.
 */
static int link_follow(struct new_file *file, int link)
{
	char target[PATH_MAX];
	const ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);
	struct stat what;
	char *next;

	if (len < 0)
		return -errno;
	target[len] = '\0';
	next = *target == '/' ? strdup(target)
			      : path_beside(file->real, target);
	if (!next)
		return -ENOMEM;
	if (lstat(next, &what) != 0) {
		free(next);
		return stat(file->real, &what) == 0 ? 0 : -errno;
	}
	free(file->real);
	file->real = next;
	return 1;
}

static int link_refuse(struct new_file *file)
{
	file->has_foreign_link = true;
	return -EACCES;
}

/*
 * Follow the links at the end of the path. Return: 1: the file exists, and @out
 * is its state; 0: the file does not exist; if @file->real is a link, it leads
 * nowhere and will be replaced; or a negative errno.
 */
static int links_follow(struct new_file *file, struct stat *out)
{
	int got = 1;

	for (int i = 0; i < LINKS_MAX && got > 0; i++) {
		const int fd = real_open(file, out);

		if (fd < 0)
			got = fd;
		else if (!S_ISLNK(out->st_mode))
			got = 0;
		else if (may_follow(file->real, out))
			got = link_follow(file, fd);
		else
			got = link_refuse(file);
		if (fd >= 0)
			close(fd);
	}
	if (got > 0)
		return -ELOOP;
	if (!got)
		return 1;
	return got == -ENOENT ? 0 : got;
}

static mode_t new_mode(void)
{
	const mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Open the file that is written. Return: a descriptor or a negative errno. */
static int target_open(struct new_file *file)
{
	struct stat what;
	const int found = links_follow(file, &what);
	int fd;

	if (found < 0)
		return found;
	if (found && !S_ISREG(what.st_mode)) {
		/*
		 * With O_CREAT, Linux refuses another user's FIFO in a folder
		 * such as /tmp: sysctl fs.protected_fifos.
		 */
		fd = open(file->real,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
				  (S_ISLNK(what.st_mode) ? 0 : O_NOFOLLOW),
			  0666);
		return fd < 0 ? -errno : fd;
	}
	file->mode = found ? what.st_mode & 0777 : new_mode();
	if (asprintf(&file->name, "%s.XXXXXX", file->real) < 0) {
		file->name = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->name, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void new_file_free(struct new_file *file)
{
	free(file->real);
	free(file->name);
}

static int new_file_open(struct new_file *file, const char *path)
{
	*file = (struct new_file){ .path = path, .real = strdup(path) };
	file->fd = file->real ? target_open(file) : -ENOMEM;
	if (file->fd >= 0)
		return CLI_DONE;
	if (file->has_foreign_link)
		complain("cannot write '%s': the symbolic link belongs to "
			 "another user, and all users may write to its "
			 "directory; remove the link, or name its target",
			 path);
	else
		(void)cannot_write(file, file->fd);
	new_file_free(file);
	return CLI_DEVICE;
}

/*
 * Close the new file. If @is_complete is set, rename it to the path; otherwise
 * remove it. Return: the exit status; a failure is printed.
 */
static int new_file_close(struct new_file *file, bool is_complete)
{
	int status = CLI_DONE;
	int err = 0;

	if (file->name && is_complete && fchmod(file->fd, file->mode) != 0)
		err = -errno;
	if (close(file->fd) != 0 && !err)
		err = -errno;
	if (file->name && is_complete && !err &&
	    rename(file->name, file->real) != 0)
		err = -errno;
	if (file->name && (err || !is_complete))
		unlink(file->name);
	if (err)
		status = cannot_write(file, err);
	new_file_free(file);
	return status;
}

int text_write(int fd, const char *text, size_t len)
{
	while (len) {
		const ssize_t put = write(fd, text, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		len -= (size_t)put;
	}
	return 0;
}

int file_write(const char *path, const char *text, size_t len)
{
	struct new_file file;
	int status = new_file_open(&file, path);
	int err;

	if (status != CLI_DONE)
		return status;
	err = text_write(file.fd, text, len);
	if (err)
		status = cannot_write(&file, err);
	else
		return new_file_close(&file, true);
	(void)new_file_close(&file, false);
	return status;
}

/* Append bytes, and '\0' after them. Return: 0 if there is no memory. */
static ssize_t memory_text_append(void *arg, const char *bytes, size_t len)
{
	struct memory_text *memory = arg;

	if (memory->room - memory->len <= len) {
		const size_t room = 2 * memory->room + len + 1;
		char *text = memory->has_failed ? NULL
						: realloc(memory->text, room);

		memory->has_failed |= !text;
		if (!text)
			return 0;
		memory->text = text;
		memory->room = room;
	}
	memcpy(memory->text + memory->len, bytes, len);
	memory->len += len;
	memory->text[memory->len] = '\0';
	return (ssize_t)len;
}

int memory_text_open(struct memory_text *memory)
{
	*memory = (struct memory_text){ .len = 0 };
	/* So that @text is valid even if nothing is written. */
	(void)memory_text_append(memory, "", 0);
	memory->file = fopencookie(
		memory, "w",
		(cookie_io_functions_t){ .write = memory_text_append });
	return memory->file ? CLI_DONE : no_memory();
}

int memory_text_close(struct memory_text *memory)
{
	if (ferror(memory->file))
		memory->has_failed = true;
	if (fclose(memory->file) != 0)
		memory->has_failed = true;
	return memory->has_failed ? no_memory() : CLI_DONE;
}
