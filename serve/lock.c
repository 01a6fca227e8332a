/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lock that a server holds while it creates its socket. Of two servers that
 * start at one path at the same time, the second therefore finds the socket of
 * the first.
 *
 * The lock is a file beside the socket that only this user can open. A lock on
 * the directory would not do: in a directory such as /tmp, any user could hold
 * that lock forever.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/large.h"
#include "base/stat.h"
#include "serve/server.h"

/*
 * How long to wait for the lock, in ms: a server holds it only while it
 * creates its socket.
 */
enum { WAIT_MS = 2000, STEP_MS = 5 };

static void name_put(const char *path, char out[SERVER_LOCK_MAX])
{
	snprintf(out, SERVER_LOCK_MAX, "%s.lock", path);
}

/*
 * Whether the lock file is private: other users can neither open nor lock it.
 */
static bool is_private(const large_stat *file)
{
	return S_ISREG(file->st_mode) && file->st_uid == geteuid() &&
	       !(file->st_mode & (S_IRWXG | S_IRWXO));
}

/*
 * Check that the lock file is still at @name. Return: 0; -EAGAIN the process that
 * held the lock before has removed it; or the error from opening it.
 */
static int lock_find(const char *name, const large_stat *file)
{
	large_stat found;
	const int err = ibsa__stat(name, O_NOFOLLOW, &found);

	if (err && err != -ENOENT)
		return err;
	return !err && found.st_dev == file->st_dev &&
			       found.st_ino == file->st_ino
		       ? 0
		       : -EAGAIN;
}

/*
 * Return: the locked file's descriptor; -EAGAIN another process holds the lock;
 * -EEXIST the file is not private; or another error.
 */
static int lock_try(const char *name)
{
	const int fd = open(
		name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		S_IRUSR | S_IWUSR);
	large_stat file;
	int err = 0;

	if (fd < 0)
		err = -errno;
	/* A lock file that exists but cannot be opened is another user's. */
	if (err == -ELOOP || err == -EISDIR ||
	    (err == -EACCES && !ibsa__stat(name, O_NOFOLLOW, &file)))
		return -EEXIST;
	if (err)
		return err;
	if (large_fstat(fd, &file))
		err = -errno;
	else if (!is_private(&file))
		err = -EEXIST;
	else if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EAGAIN;
	else
		err = lock_find(name, &file);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int lock_failed(const char *name, int err, struct ibsa_error *error)
{
	if (err == -EAGAIN)
		return ibsa__fail(error, -EBUSY,
				  "cannot create the socket: another process "
				  "of this user holds the lock %s; stop that "
				  "process or choose another path for the "
				  "socket",
				  name);
	if (err == -EEXIST)
		return ibsa__fail(
			error, err,
			"cannot lock %s: it is not a regular file that only "
			"this user can open; remove it, or choose a socket in "
			"a directory of your own",
			name);
	return err;
}

/*
 * Whether a socket can be created in the directory of @path. Directories of
 * some file systems, such as proc, exist but cannot hold new files.
 */
static bool has_folder(const char *path)
{
	char folder[SERVER_PATH_MAX];
	large_stat found;
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = '\0';
	return !ibsa__stat(slash ? folder : ".", O_DIRECTORY, &found);
}

int ibsa__server_lock(const char *path, struct ibsa_error *error)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	const uint64_t end_ns = clock_now_ns() + WAIT_MS * NS_PER_MS;
	char name[SERVER_LOCK_MAX];
	int fd;

	name_put(path, name);
	while ((fd = lock_try(name)) == -EAGAIN && clock_now_ns() < end_ns)
		nanosleep(&step, NULL);
	if (fd == -ENOENT && has_folder(path))
		return -EOPNOTSUPP;
	return fd < 0 ? lock_failed(name, fd, error) : fd;
}

void ibsa__server_unlock(const char *path, int fd)
{
	char name[SERVER_LOCK_MAX];

	name_put(path, name);
	unlink(name);
	close(fd);
}
