/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds other processes and their open files in /proc.
 *
 * Source: proc(5), /proc/PID/comm and /proc/PID/fd.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/large.h"
#include "base/process.h"

enum {
	/* Buffer size for a command name and its line feed. */
	NAME_BYTES = 16,
	/* Maximum number of entries of /proc that one search reads. */
	FOLDERS_MAX = 32768,
	/*
	 * Maximum number of descriptors, of all processes together, that one
	 * search for the users of a file checks; this takes about 100 ms.
	 */
	LINKS_MAX = 65536,
	PATH_BYTES = 512,
};

/*
 * A search for processes that have @file open. @folders is the number of
 * entries of /proc that the search may still read, @links the number of
 * descriptors that it may still check.
 */
struct search {
	const char *file;
	unsigned int folders;
	unsigned int links;
};

static size_t process_name_read(const char *proc, pid_t pid,
				char out[NAME_BYTES])
{
	char path[PATH_BYTES];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%ld/comm", proc, (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	got = read(fd, out, NAME_BYTES);
	close(fd);
	if (got > 0 && out[got - 1] == '\n')
		got--;
	return got > 0 ? (size_t)got : 0;
}

void ibsa__process_text(const char *proc, pid_t pid, struct process_text *out)
{
	char name[NAME_BYTES];
	const size_t len = process_name_read(proc, pid, name);

	if (len)
		snprintf(out->text, sizeof(out->text), "pid %ld (%.*s)",
			 (long)pid, (int)len, name);
	else
		snprintf(out->text, sizeof(out->text), "pid %ld", (long)pid);
}

/*
 * Return: the process id that the name of a directory in /proc stands for; 0
 * for other names.
 */
static pid_t process_folder_pid(const char *name)
{
	pid_t pid = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9' || pid > INT_MAX / 10 - 1)
			return 0;
		pid = 10 * pid + (*name - '0');
	}
	return pid;
}

/*
 * Whether the descriptor's link in /proc/PID/fd names @file. The link is read,
 * not followed: stat() of the file may block in its file system.
 */
static bool fd_link_is(int folder, const char *name, const char *file)
{
	char target[PATH_BYTES];
	const ssize_t len = readlinkat(folder, name, target, sizeof(target));

	return len > 0 && (size_t)len == strlen(file) &&
	       !memcmp(target, file, (size_t)len);
}

static bool process_has_open(const char *proc, pid_t pid, struct search *search)
{
	char path[PATH_BYTES];
	const large_dirent *entry;
	bool has = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/%ld/fd", proc, (long)pid);
	folder = opendir(path);
	if (!folder)
		return false;
	while (!has && search->links && (entry = large_readdir(folder))) {
		search->links--;
		has = fd_link_is(dirfd(folder), entry->d_name, search->file);
	}
	closedir(folder);
	return has;
}

void ibsa__processes_find(const char *proc, const char *file,
			  struct processes *out)
{
	struct search search = {
		.file = file,
		.folders = FOLDERS_MAX,
		.links = LINKS_MAX,
	};
	struct processes found = { .count = 0 };
	const large_dirent *entry;
	DIR *folder = opendir(proc);

	while (folder && search.folders && (entry = large_readdir(folder))) {
		const pid_t pid = process_folder_pid(entry->d_name);

		search.folders--;
		if (!pid || pid == getpid() ||
		    !process_has_open(proc, pid, &search))
			continue;
		if (found.count < PROCESSES_MAX)
			found.pids[found.count] = pid;
		found.count++;
	}
	if (folder)
		closedir(folder);
	*out = found;
}
